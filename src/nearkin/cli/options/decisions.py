"""Options of the commands about decisions of people."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import click

from nearkin.cli.parameters import argument, option

_documents = partial(option, panel="Documents")
_decision = partial(option, panel="The decision")
_change = partial(option, panel="The change")
_output = partial(option, panel="Output")

FieldValue = Annotated[
    str,
    argument(metavar="FIELD[=VALUE]", help="Tag to set, such as responsive=yes or privileged."),
]
Field = Annotated[str, argument(metavar="FIELD", help="Name of the tag to remove.")]
IdsFile = Annotated[
    Path | None,
    _documents(
        "--from",
        help="File with the ids of the documents: one per line, or a column of a .csv, .tsv, .jsonl or .parquet file, "
        "or of a load file.",
    ),
]
IdsColumn = Annotated[
    str | None, _documents("--id", metavar="COLUMN", help="Column of --from with the ids. [default: guessed]")
]
IdsEncoding = Annotated[
    str,
    option(
        "--encoding",
        panel="Documents",
        help="Encoding of text, CSV and TSV of --from that is neither UTF-8 nor begins with a byte order mark, for "
        "example cp1252. [default: such text is unreadable]",
    ),
]
ValueColumn = Annotated[
    str | None,
    _documents(
        "--value",
        metavar="COLUMN",
        help="Set the tag FIELD of each document to its value in this column of --from; rows without a value are "
        "skipped.",
    ),
]
OfGroup = Annotated[int | None, _documents("--group", help="All documents of this group; see nearkin groups.")]
GroupThreshold = Annotated[
    float | None,
    _documents("--threshold", help="Minimum Jaccard similarity of the groups. [default: 0.5]"),
]
GroupGamma = Annotated[
    float | None,
    _documents("--gamma", help="Maximum distance (gamma) of the groups, for groups by letter counts."),
]
NoteThreshold = Annotated[
    float | None,
    _documents(
        "--threshold",
        help="Only with --group-note: minimum Jaccard similarity of the groups. All other decisions hold at every "
        "threshold. [default: 0.5]",
    ),
]
NoteGamma = Annotated[
    float | None,
    _documents(
        "--gamma", help="Only with --group-note: maximum distance (gamma) of the groups, for groups by letter counts."
    ),
]
PurgedIds = Annotated[list[str] | None, argument(metavar="DOC_ID...", help="Ids of the documents to erase.")]
Copies = Annotated[
    bool, _documents("--copies", help="Also remove and erase other documents that have one of these texts.")
]
By = Annotated[
    str | None,
    _change(help="Name that the activity log records. [default: your user name]"),
]
DryRun = Annotated[bool, _change("--dry-run", help="Show what would be changed, and change nothing.")]
Yes = Annotated[bool, _change("--yes", help="Change more than 100 documents.")]
YesRemove = Annotated[bool, _change("--yes", help="Remove more than 100 documents.")]
YesErase = Annotated[bool, _change("--yes", help="Erase the texts.")]
NeverGroup = Annotated[
    tuple[str, str] | None,
    _decision("--never-group", metavar="DOC_ID DOC_ID", help="Never put these two documents into one group."),
]
SplitOff = Annotated[
    tuple[str, str] | None,
    _decision(
        "--split-off",
        metavar="DOC_ID DOC_ID",
        help="Take the first document out of the group of the second. Members with the same text as the first, and "
        "members linked to the second only through the first, leave, too; the others stay with the second.",
    ),
]
SameGroup = Annotated[
    tuple[str, str] | None,
    _decision("--same-group", metavar="DOC_ID DOC_ID", help="Always put these two documents into one group."),
]
Principal = Annotated[
    str | None, _decision("--principal", metavar="DOC_ID", help="Make a document the principal of its group.")
]
Note = Annotated[
    tuple[str, str] | None,
    _decision("--note", metavar="DOC_ID TEXT", help="Note on a document; an empty text removes the current note."),
]
GroupNote = Annotated[
    tuple[int, str] | None,
    _decision("--group-note", metavar="GROUP TEXT", help="Note on a group; an empty text removes the current note."),
]


def _activity_number(text: str) -> int:
    """Return the number of an activity."""
    if not (text.isascii() and text.isdecimal() and len(text) < 19 and int(text)):
        raise click.BadParameter(f"{text!r} is not an activity number; `nearkin log COLLECTION` lists them.")
    return int(text)


_activity_number.__name__ = "int"  # the help shows it as the type


ActivityNumber = Annotated[
    int,
    argument(metavar="NUMBER", type=_activity_number, help="Number of the activity; see nearkin log."),
]
LabelsFileIfAny = Annotated[
    Path | None,
    argument(metavar="[LABELS]", help="CSV, TSV, JSON Lines or Parquet file of ids and labels."),
]
TagOfLabels = Annotated[
    str | None, _documents("--tag", metavar="FIELD", help="Tag whose values are the labels; see nearkin tags.")
]
Since = Annotated[
    str | None,
    _output(help="List activities since this date or time, such as 2026-11-23T10:00 (UTC)."),
]
OfDocument = Annotated[str | None, _output("--of", metavar="DOC_ID", help="List activities on this document.")]
