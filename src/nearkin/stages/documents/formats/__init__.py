"""The formats that documents are read in; `FORMATS` has them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from nearkin.stages.documents.formats.delimited import Csv, Tsv
from nearkin.stages.documents.formats.format import Format
from nearkin.stages.documents.formats.jsonl import JsonLines
from nearkin.stages.documents.formats.lines import Lines, TextLines
from nearkin.stages.documents.formats.tables import TABLES
from nearkin.stages.documents.formats.whole_file import WholeFile
from nearkin.stages.documents.formats.wikipedia import Wikipedia

if TYPE_CHECKING:
    from nearkin.stages.documents.head import Head

__all__ = ["FORMATS", "FORMAT_OF_SUFFIX", "TABLES", "WITHOUT_COLUMNS", "StoredFormat", "names_with_hints", "sniffed"]

_ALL: tuple[Format, ...] = (
    JsonLines(),
    *TABLES.values(),
    Csv(),
    Tsv(),
    Lines(),
    TextLines(),
    WholeFile(),
    Wikipedia(),
)
FORMATS = {one.name: one for one in _ALL}
"""Every format by its name, in the order in which help texts list them, and in which content is tried."""
FORMAT_OF_SUFFIX = {suffix: one.name for one in _ALL for suffix in one.suffixes}
WITHOUT_COLUMNS = tuple(one.name for one in _ALL if not one.has_columns)
"""Formats whose texts and ids have their places."""
StoredFormat = Literal["collection", "results"]
"""What Nearkin itself stores documents in: a collection, or the directory of a finished run."""


def sniffed(head: Head) -> str | None:
    """The name of the format whose beginning this is, an unmistakable one first; None for a text like any other."""
    tried = sorted(_ALL, key=lambda one: not one.is_unmistakable)
    return next((one.name for one in tried if one.is_begun_by(head)), None)


def names_with_hints() -> str:
    """The names of all formats, for a help text.

    Examples
    --------
    >>> names_with_hints()[:38]
    'jsonl, parquet, arrow, csv, tsv, lines'
    """
    *most, last = [f"{one.name} ({one.hint})" if one.hint else one.name for one in _ALL]
    return f"{', '.join(most)} or {last}"
