"""Options of the commands about a collection."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from nearkin.cli.parameters import argument, option
from nearkin.options import declared
from nearkin.options.declared import Options, Same

_collection = partial(option, panel="The collection")
_alike = partial(declared.option, panel="Tolerance")
_GAMMA = (
    "Maximum Euclidean distance of two vectors of letter counts, divided by the norm of {}; 0: the same counts. Finds "
    "every document within this distance; similar documents may be farther away. At least 0 and below 1. "
    "[default: 0.025]"
)
_versions = partial(option, panel="Dates")
_output = partial(option, panel="Output")

Place = Annotated[
    str,
    argument(
        metavar="COLLECTION",
        # a help text at 80 columns cuts off words of more than 35 characters
        help="A directory, or postgresql://USER@HOST/DATABASE. Parts of the URL may be omitted, as for psql; "
        "USER:PASSWORD, HOST:PORT and a final ?schema=NAME are accepted, too.",
    ),
]
Wave = Annotated[
    str | None,
    _collection(help="Name of a new or existing wave. [default: wave 1, wave 2, …]"),
]
WaveToRemove = Annotated[
    str | None,
    _collection(
        "--wave",
        help="Remove all documents whose current version came in this wave. Earlier versions, of other waves, do "
        "not become current.",
    ),
]
ChosenAlphabet = Annotated[
    str | None,
    _collection(
        "--alphabet",
        help="Letters that a new collection counts: universal (letters of every script) or latin (A to Z, a to z, 0 to "
        "9). --measure letters and gamma use these counts. [default: universal]",
    ),
]
ChosenIgnored = Annotated[
    Path | None,
    _collection(
        "--ignore",
        metavar="FILE",
        help="File of passages that do not count in a new collection, as for nearkin dedup. The stored texts are "
        "unchanged.",
    ),
]
ChosenIgnoredNumbers = Annotated[bool, _collection("--ignore-numbers", help="Ignore digits in a new collection.")]
ChosenIndex = Annotated[
    str | None,
    _collection(
        "--index",
        help="Similarity index of a new collection, for --measure index and similar_by_index, such as 43B:k=40 or "
        "1A:k=4. [default: 43B:k=40]",
    ),
]
Cache = Annotated[
    Path | None,
    _collection(
        help="Directory for the index of a collection in PostgreSQL. [default: $XDG_CACHE_HOME/nearkin, else "
        "~/.cache/nearkin]",
    ),
]
Wait = Annotated[
    float | None,
    _collection(
        metavar="SECONDS",
        min=0,
        help="Maximum time to wait while another process is writing; then the command ends with exit code 9. "
        "[default: 2]",
    ),
]
ReadOnly = Annotated[
    bool,
    _collection(
        "--read-only",
        help="Write nothing, for a collection on a read-only medium. Missing parts of its index are built for this "
        "command only, which takes longer.",
    ),
]
DocId = Annotated[str, argument(metavar="DOC_ID", help="Id of a document.")]
DocIdIfAny = Annotated[str | None, argument(metavar="DOC_ID", help="Id of a document of the collection.")]
DocIds = Annotated[list[str] | None, argument(metavar="DOC_ID...", help="Ids of documents.")]
Compared = Annotated[
    list[str],
    argument(
        metavar="[COLLECTION] A B",
        help="Two files; or a collection and two ids; or, with --file, a collection and one id.",
    ),
]
VersionA = Annotated[
    int | None,
    _collection("--version-a", help="Version of A. [default: the current version]"),
]
VersionB = Annotated[
    int | None,
    _collection("--version-b", help="Version of B. [default: the current version]"),
]
File = Annotated[Path | None, _collection("--file", help="Query with this file instead of a stored document.")]
TextGiven = Annotated[str | None, _collection("--text", help="Query with this text instead of a stored document.")]
FileEncoding = Annotated[
    str,
    _collection(
        "--encoding",
        help="Encoding of --file if it is neither UTF-8 nor begins with a byte order mark, for example cp1252. "
        "[default: such a file is unreadable]",
    ),
]


@dataclass(unsafe_hash=True, kw_only=True)
class ToleranceOptions(Options):
    """Similarity of a search."""

    measure: Same[str | None] = _alike(
        help="jaccard: shared word 5-grams, by --threshold. letters: letter counts, by --gamma. index: one "
        "number per text, by --tolerance; misses similar texts and finds unrelated ones. containment: share of one "
        "text's word 5-grams in the other, by --threshold. [default: jaccard]",
    )
    gamma: Same[float | None] = _alike(kind=float, help=_GAMMA.format("the vector of the query"))
    threshold: Same[float | None] = _alike(
        kind=float,
        help="Minimum Jaccard similarity; with --measure containment, the minimum of that measure. "
        "[default: 0.5; for containment 0.9]",
    )
    tolerance: Same[float | None] = _alike(
        kind=float, help="Maximum relative difference of similarity indexes; only for index. [default: 0.3]"
    )


@dataclass(unsafe_hash=True, kw_only=True)
class GroupTolerance(Options):
    """Similarity of the members of a group."""

    measure: Same[str | None] = _alike(
        help="jaccard: shared word 5-grams, by --threshold. letters: letter counts, by --gamma; texts with the same "
        "letters may be unrelated. [default: jaccard]",
    )
    threshold: Same[float | None] = _alike(
        kind=float, help="Minimum Jaccard similarity of a match, for --measure jaccard. [default: 0.5]"
    )
    gamma: Same[float | None] = _alike(kind=float, help=_GAMMA.format("the longer vector"))


GroupOverlay = Annotated[
    str | None,
    _output(
        "--overlay",
        metavar="TOOL",
        help="Write --out as an overlay instead, with the field names of relativity, everlaw, reveal, purview or "
        "plain.",
    ),
]
Limit = Annotated[int, _output(min=1, help="Maximum number of results to print; the total is always shown.")]
At = Annotated[
    str | None,
    _versions(
        "--at",
        metavar="YYYY-MM-DD",
        help="Mark the version in force on this date: the newest with this date or an earlier one.",
    ),
]
DateTag = Annotated[
    str | None,
    _versions("--date-tag", metavar="FIELD", help="Tag with the dates of the documents. [default: date]"),
]
Uncounted = Annotated[
    bool,
    _output(
        "--uncounted", help="Instead of the counts, list the documents with too few letters for --measure letters."
    ),
]
Problems = Annotated[
    bool,
    _output(
        "--problems", help="Instead of the counts, list the documents that could not be stored, or got another id."
    ),
]
Html = Annotated[Path | None, _output("--html", help="Also write the comparison to this HTML file.")]
Docx = Annotated[
    Path | None,
    _output("--docx", help="Also write a Word document with the changes from A to B tracked."),
]
Ignore = Annotated[
    list[str] | None,
    _output(
        "--ignore",
        metavar="KINDS",
        help="Differences that do not count: case, punctuation, numbers, or several of them joined by commas. White "
        "space never counts.",
    ),
]
Since = Annotated[
    str | None,
    _output(
        "--since",
        metavar="WAVE",
        help="List what changed in the stored groups since the end of this wave. Compares with the first run of "
        "nearkin groups after this wave and before the next one; without such a run, it fails. If you add more "
        "documents to the wave after that run, they count as changes.",
    ),
]
Direct = Annotated[
    bool,
    _output(
        "--direct",
        help="Instead of the groups, list their members, without the indirect ones.",
    ),
]
MakePrincipal = Annotated[
    str | None,
    _collection("--make-principal", help="Make this document the principal of its group."),
]
LabelIdColumn = Annotated[
    str | None,
    _collection("--id", metavar="COLUMN", help="Column of LABELS with the ids. [default: guessed]"),
]
LabelColumn = Annotated[
    str | None,
    _collection(
        "--label",
        metavar="COLUMN",
        help="Column of LABELS with the labels. [default: guessed if only one column fits]",
    ),
]


_wanted = partial(option, panel="Documents")

Version = Annotated[int | None, _wanted("--version", help="Version to show. [default: the current version]")]
TextOnly = Annotated[bool, _output("--text-only", help="Print the text and nothing else, unchanged, for a pipe.")]
OfWave = Annotated[str | None, _wanted("--wave", help="Only documents that this wave added.")]
ExceptionsOfWave = Annotated[str | None, _wanted("--wave", help="Only exceptions of this wave.")]
OfCurrentWave = Annotated[str | None, _wanted("--wave", help="Only documents whose current version this wave added.")]
SearchedWords = Annotated[
    list[str],
    argument(metavar="WORDS...", help='Words, "quoted phrases" and beginnings of words before a *.'),
]
OfSource = Annotated[
    str | None,
    _wanted("--source", metavar="PATTERN", help="Only documents from files whose name matches: * and ? as in --id."),
]
IdPattern = Annotated[
    str | None,
    _wanted("--id", metavar="PATTERN", help="Only documents whose id matches: * any characters, ? one character."),
]
OfReason = Annotated[str | None, _wanted("--reason", help="Only exceptions with this reason, such as encrypted.")]
OfKind = Annotated[str | None, _wanted("--kind", help="Only files of this kind by content, such as pdf.")]
OnlyWithoutText = Annotated[bool, _wanted("--no-text", help="Only files that gave no text.")]
OnlyPartial = Annotated[bool, _wanted("--partial", help="Only files that gave a part of their text.")]
OnlyRemoved = Annotated[bool, _wanted("--removed", help="List the removed documents instead, each with its last text.")]
AllVersions = Annotated[
    bool, _wanted("--all-versions", help="List every stored version, also replaced and removed ones.")
]
AddedSince = Annotated[
    str | None,
    _wanted(metavar="DATE", help="Only versions added since this date or time (UTC), such as 2026-03-01."),
]
AddedBefore = Annotated[str | None, _wanted(metavar="DATE", help="Only versions added before this date or time (UTC).")]
WithTag = Annotated[
    str | None,
    _wanted("--tag", metavar="FIELD[=VALUE]", help="Only documents with this tag; without =, whatever its value."),
]
MembersOf = Annotated[
    int | None, _wanted("--group", metavar="NUMBER", help="Only members of this group; see nearkin groups.")
]
HasNearDuplicates = Annotated[
    bool, _wanted("--has-near-duplicates", help="Only documents whose group contains another text; see nearkin groups.")
]
HasCopies = Annotated[
    bool, _wanted("--has-copies", help="Only documents with the same text, to the character, as another document.")
]
Sorted = Annotated[
    str,
    _output("--sort", help="id, added (the newest first), length (the longest first), wave, or date (by tags)."),
]
IdsFile = Annotated[
    Path | None,
    _wanted(
        "--from",
        metavar="FILE",
        help="Remove the documents with the ids in this file: one per line, or a column of a .csv, .tsv, .jsonl or "
        ".parquet file.",
    ),
]
IdsColumn = Annotated[
    str | None, _wanted("--id", metavar="COLUMN", help="Column of --from with the ids. [default: guessed]")
]
DryRun = Annotated[bool, _output("--dry-run", help="List the documents that would be removed, and change nothing.")]
DryRunOfAdd = Annotated[
    bool, _output("--dry-run", help="Count what would be stored, list what would be removed, and change nothing.")
]
ComparedFile = Annotated[
    Path | None, _wanted("--file", help="Compare the document A of the COLLECTION with this file.")
]
