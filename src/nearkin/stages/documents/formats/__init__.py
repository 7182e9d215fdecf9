"""Formats of documents; `FORMATS` has them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from nearkin.stages.documents.formats.delimited import Csv, Tsv
from nearkin.stages.documents.formats.extracted import Eml, Extracted, Html
from nearkin.stages.documents.formats.format import Copied, Format, Holding
from nearkin.stages.documents.formats.jsonl import JsonLines
from nearkin.stages.documents.formats.lines import Lines, TextLines
from nearkin.stages.documents.formats.load_file import LoadFile
from nearkin.stages.documents.formats.subrip import SubRip
from nearkin.stages.documents.formats.tables import TABLES
from nearkin.stages.documents.formats.whole_file import WholeFile
from nearkin.stages.documents.formats.wikipedia import Wikipedia

if TYPE_CHECKING:
    from nearkin.stages.documents.head import Head

__all__ = [
    "FORMATS", "FORMAT_OF_SUFFIX", "TABLES", "WITH_COLUMNS", "Copied", "StoredFormat", "has_columns", "holding",
    "is_kept_as_it_is", "is_of_documents", "names_with_hints", "sniffed",
]  # fmt: skip

_ALL: tuple[Format, ...] = (
    JsonLines(),
    *TABLES.values(),
    Csv(),
    Tsv(),
    Lines(),
    TextLines(),
    WholeFile(),
    SubRip(),
    Wikipedia(),
    LoadFile(),
    Extracted(),
    Html(),
    Eml(),
)
FORMATS = {one.name: one for one in _ALL}
"""Every format by name, in the order of help texts and of recognition by content."""
FORMAT_OF_SUFFIX = {suffix: one.name for one in _ALL for suffix in one.suffixes}
WITH_COLUMNS = tuple(one.name for one in _ALL if one.has_columns)
"""Names of the formats with named columns."""
StoredFormat = Literal["collection", "results", "table"]
"""Names of documents that are not in files: a collection, the directory of a finished run, a table in memory."""


def holding(name: str) -> Holding:
    """Return the kind of content of a format; Nearkin's own storage contains records.

    Examples
    --------
    >>> holding("file"), holding("collection")
    ('one document', 'records')
    """
    return FORMATS[name].holds if name in FORMATS else "records"


def is_of_documents(name: str | None) -> bool:
    """Whether a file of a format is a document or contains some, instead of records; None is no format."""
    return name is not None and holding(name) != "records"


def is_kept_as_it_is(name: str | None) -> bool:
    """Whether kept documents of a format are copied in this format; those of others become JSON Lines."""
    return isinstance(FORMATS.get(name or ""), Copied)


def has_columns(name: str) -> bool:
    """Whether texts and ids are in named columns, as in a collection and the results of a run."""
    return name not in FORMATS or FORMATS[name].has_columns


def sniffed(head: Head) -> str | None:
    """Return the name of the format that this beginning indicates, unmistakable formats first; None for plain text."""
    tried = sorted(FORMATS.values(), key=lambda one: not one.is_unmistakable)
    return next((one.name for one in tried if one.is_begun_by(head)), None)


def names_with_hints() -> str:
    """Return the names of all formats, for a help text.

    Examples
    --------
    >>> names_with_hints()[:38]
    'jsonl, parquet, arrow, csv, tsv, lines'
    """
    *most, last = [f"{one.name} ({one.hint})" if one.hint else one.name for one in FORMATS.values()]
    return f"{', '.join(most)} or {last}"
