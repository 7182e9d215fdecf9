"""Definitions of the options of all commands: names, help and panels.

Each panel has a function that makes its options. If an option is None when not given, its help states the default,
which may come from a preset or from the input.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from nearkin.cli.parameters import argument, option
from nearkin.nouns import one_of
from nearkin.stages.verification.measures import MEASURES

_input = partial(option, panel="Input")
_search = partial(option, panel="What is a near-duplicate")
_choice = partial(option, panel="What is kept")
_output = partial(option, panel="Output")
_run = partial(option, panel="The run")

# -- Input ------------------------------------------------------------------------------------------------------------

Corpus = Annotated[
    list[str],
    argument(metavar="INPUT...", help="Files, folders or globs, as for nearkin dedup."),
]
FinishedRun = Annotated[Path, argument(metavar="DIR", help="Results of nearkin dedup.")]
Text = Annotated[
    str | None,
    _input(
        metavar="COLUMN",
        help="Column with the text; every file with columns must have it. If its name differs between files, omit "
        "--text, so that the column of each file is guessed, or rename columns. [default: guessed and printed]",
    ),
]
Title = Annotated[
    str | None,
    _input(
        metavar="COLUMN",
        help="Column with a headline, which is put before the text with a space. [default: none]",
    ),
]
_ID = "Column with the id. The id of a file that is one document is its path below the given folder."
Id = Annotated[
    str | None,
    _input(
        "--id",
        metavar="COLUMN",
        help=f"{_ID} If a row has no id, its id in the results is null, and pages and messages call it file:line. If "
        "no document of the input has an id, file:line is the id of each. [default: guessed and printed]",
    ),
]
StoredId = Annotated[
    str | None,
    _input(
        "--id",
        metavar="COLUMN",
        help=f"{_ID} A row without an id gets the id file:line. [default: guessed and printed]",
    ),
]
Encoding = Annotated[
    str,
    _input(
        help="Encoding of text, CSV and TSV that is neither UTF-8 nor begins with a byte order mark, for example "
        "cp1252. [default: such text is unreadable]",
    ),
]
Documents = Annotated[int, _input(help="Number of documents to use; every pair of them is compared.")]
Against = Annotated[
    list[str] | None,
    _input(
        help="Drop from INPUT what already occurs here: files, a collection, or results of nearkin dedup. Repeatable. "
        "Quote a pattern ('crawl/*.jsonl'): if the shell expands it, only the first file belongs to --against; the "
        "others become INPUT. Documents of INPUT are not compared with each other.",
    ),
]
AgainstText = Annotated[
    str | None,
    _input(
        "--against-text",
        metavar="COLUMN",
        help="Column with the text in the files of --against. [default: as --text, or guessed and printed]",
    ),
]
AgainstId = Annotated[
    str | None,
    _input(
        "--against-id",
        metavar="COLUMN",
        help="Column with the id in the files of --against. [default: as --id, or guessed and printed]",
    ),
]

# -- What is a near-duplicate -----------------------------------------------------------------------------------------

Preset = Annotated[
    str | None,
    _search(help="fineweb, stack, ediscovery or contracts: starting points that other options override."),
]
FamilyThreshold = Annotated[
    float | None,
    _search(
        "--threshold",
        help="Minimum similarity to the principal, above 0 and up to 1; for a collection, the threshold of its "
        "groups. [default: 0.6; for a collection 0.5]",
    ),
]
FamilyShingle = Annotated[
    str | None,
    _search(
        "--shingle",
        help="words:N or chars:N. If given, the stored groups and decisions of a collection are not used. "
        "[default: words:3]",
    ),
]
HigherThreshold = Annotated[float, _search(help="Minimum similarity; at least the threshold of the run.")]

# -- Threads ----------------------------------------------------------------------------------------------------------

_threads = partial(option, panel="Threads")

WindowDays = Annotated[
    float,
    _threads(
        "--window-days",
        metavar="DAYS",
        help="Maximum number of days between an answer and the mail to which it is joined by subject, if its headers "
        "name no mail in the input; the two must share an address. 0 turns this off.",
    ),
]
NewTextOnly = Annotated[
    bool,
    _threads(
        "--new-text-only",
        help="Compare only the new text of a mail with later ones, without quoted text and signature. These are found "
        "by plain rules, which can be wrong. Some quoted text may then be in none of the inclusive mails.",
    ),
]

# -- What is kept -----------------------------------------------------------------------------------------------------

OtherGroup = Annotated[str | None, _choice(help="principal or component. [default: as in the run]")]

# -- Output -----------------------------------------------------------------------------------------------------------

Out = Annotated[Path, _output("--out", help="Directory for the results.")]
OutBeside = Annotated[
    Path | None,
    _output("--out", help="Directory for the results. [default: DIR/threshold-T]"),
]
WriteKept = Annotated[
    bool,
    _output("--write-kept", help="Also write the cleaned corpus, in the format of the input or as JSON Lines."),
]
Annotate = Annotated[
    bool,
    _output("--annotate", help="Also write all records with their group, similarity and verdict, into annotated/."),
]
Report = Annotated[bool, _output("--report/--no-report", help="Write report.html.")]
Overlay = Annotated[
    str | None,
    _output(
        "--overlay",
        metavar="TOOL",
        help="Also write an overlay with the field names of relativity, everlaw, reveal, purview or plain, keyed on "
        "the control number.",
    ),
]
Carry = Annotated[
    list[str] | None,
    _output(
        "--carry",
        metavar="COLUMN",
        help="Copy this column of the input into documents.parquet; the report counts by its values. Repeatable.",
    ),
]
Json = Annotated[bool, _output("--json", help="Print the result as JSON and nothing else.")]
Quiet = Annotated[bool, _output("--quiet", "-q", help="Print only errors and warnings.")]

# -- The run ----------------------------------------------------------------------------------------------------------

Resume = Annotated[
    bool,
    _run(
        "--resume",
        help="Continue an interrupted run; the results are the same, byte for byte.",
    ),
]
Overwrite = Annotated[bool, _run("--overwrite", help="Replace the results of an earlier run.")]
Threads = Annotated[int, _run(help="Worker threads; 0 means one per CPU core.")]
Memory = Annotated[str, _run(help="Memory limit, for example 2GiB; at least 256MiB.")]

# -- Signatures -------------------------------------------------------------------------------------------------------

_signature = partial(option, panel="Signatures")

Method = Annotated[
    str,
    _signature(
        help="minhash (one bit per slot), weighted-topsig (needs statistics: from --statistics, counted first, or "
        "--online), topsig, simhash (SHAKE-256), simhash-fast."
    ),
]
Bits = Annotated[int, _signature(help="Length of a signature: a multiple of 8 from 8 to 1024.")]
Features = Annotated[str, _signature(help="Features to count: chars:N or words:N.")]
RawNormalise = Annotated[str, _signature(help="Differences to ignore: nfkc, case, space, joined by commas, or none.")]
RawIgnoreFile = Annotated[
    Path | None,
    _signature(
        "--ignore",
        metavar="FILE",
        help="File of passages that do not count, as for nearkin dedup.",
    ),
]
RawIgnoreNumbers = Annotated[bool, _signature("--ignore-numbers", help="Ignore digits.")]
Density = Annotated[
    float | None,
    _signature(
        help="Share of nonzero entries in a topsig vector, above 0 and up to 1. [default: 1/sqrt(bits)]",
    ),
]
SignatureSeed = Annotated[int, _signature("--seed", help="Random seed of the signatures.")]
StatisticsFile = Annotated[
    Path | None,
    _signature(
        "--statistics",
        help="Feature counts, from nearkin statistics. [default: count the input first]",
    ),
]
Online = Annotated[
    bool,
    _signature(
        "--online",
        help="Sign each document with the counts of this document and all before it; report how many bits the final "
        "counts would change.",
    ),
]
SignatureFile = Annotated[Path, argument(metavar="SIGNATURES", help="A file that nearkin sign wrote.")]
AgainstSignatures = Annotated[
    Path | None,
    _search(
        "--against", help="Compare with the signatures of this file: id_a is from SIGNATURES, id_b from this file."
    ),
]
Distance = Annotated[
    int | None,
    _search(help="Maximum number of different bits. [default: 3 in 32 for minhash, else 3]"),
]
Query = Annotated[
    str | None, _search(help="Print only the neighbours of the document with this id, the nearest first.")
]
Verify = Annotated[
    str | None,
    _search(
        help="Read the documents again and drop pairs below this similarity of the shingles of --shingle: "
        f"{one_of(f'{name}:T' for name in MEASURES)}."
    ),
]
VerifyShingle = Annotated[
    str,
    _search(
        "--shingle",
        help="Shingles for --verify: words:N or chars:N. They need not be the features of the signatures.",
    ),
]
VerifyNormalise = Annotated[
    str,
    _search(
        "--normalise",
        help="Differences that --verify ignores: nfkc, case, space, joined by commas, or none.",
    ),
]
Equal = Annotated[
    str,
    _search(
        help="Pairs of documents with the same signature. all: every pair. first: only pairs with the first of them.",
    ),
]
OutFile = Annotated[Path, _output("--out", help="File for the result.")]
OutFileIfAny = Annotated[Path | None, _output("--out", help="File for the result.")]
PairsFile = Annotated[
    Path | None,
    _output(
        "--out",
        help="File for the pairs: .parquet, .csv, .tsv or .jsonl; Parquet without a suffix.",
    ),
]
OverwriteFile = Annotated[bool, _output("--overwrite", help="Replace the file of --out.")]
