"""Options of the commands that show, list and search stored documents."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

_wanted = partial(typer.Option, rich_help_panel="Documents", show_default=False)
_output = partial(typer.Option, rich_help_panel="Output")

Version = Annotated[int | None, _wanted("--version", help="Version to show. [dim]default: the current version[/]")]
TextOnly = Annotated[bool, _output("--text-only", help="Print the text and nothing else, unchanged, for a pipe.")]
OfWave = Annotated[str | None, _wanted("--wave", help="Only documents that this wave added.")]
ExceptionsOfWave = Annotated[str | None, _wanted("--wave", help="Only exceptions of this wave.")]
OfCurrentWave = Annotated[str | None, _wanted("--wave", help="Only documents whose current version this wave added.")]
SearchedWords = Annotated[
    list[str],
    typer.Argument(
        metavar="WORDS...", help='Words, "quoted phrases" and beginnings of words before a *.', show_default=False
    ),
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
    str, _output("--sort", help="id, added (the newest first), length (the longest first), wave, or date (by tags).")
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
    str | None, _wanted("--id", metavar="COLUMN", help="Column of --from with the ids. [dim]default: guessed[/]")
]
DryRun = Annotated[bool, _output("--dry-run", help="List the documents that would be removed, and change nothing.")]
DryRunOfAdd = Annotated[
    bool, _output("--dry-run", help="Count what would be stored, list what would be removed, and change nothing.")
]
ComparedFile = Annotated[
    Path | None, _wanted("--file", help="Compare the document A of the COLLECTION with this file.")
]
