"""Formats of documents: `FORMATS` lists what a format is called and which class of the folder `readers` reads it."""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass
from typing import Any, Literal, get_args

Holding = Literal["records", "one document", "documents"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of documents.

    Parameters
    ----------
    hint, listed
        Explanation in the help text of ``--format``; entry in that of input files, empty if another entry includes it.
    magic
        First bytes of tables that name their columns and types; others have none.
    holds : {"records", "one document", "documents"}
        "documents" are nested, as in a mail with attachments. A folder of the latter two is one of documents, not of
        tables.
    is_settled
        Whether the suffix determines the format; otherwise the reader inspects the content.
    is_unmistakable
        Whether the reader's `begins` is conclusive: it is tried first, and such a file is not refused as foreign.
    is_copied
        Whether kept documents are copied byte for byte, or row for row; those of others become JSON Lines.
    """

    name: str
    of: str
    in_words: str
    a_file: str = ""
    hint: str = ""
    listed: str = ""
    suffixes: tuple[str, ...] = ()
    magic: tuple[bytes, ...] = ()
    holds: Holding = "records"
    has_columns: bool = False
    has_types: bool = False
    is_settled: bool = True
    is_unmistakable: bool = False
    is_copied: bool = False

    @property
    def reader(self) -> Any:
        """Its `.reader.Reader`, or a subclass with more methods."""
        return _reader(self.of)

    @property
    def is_extracted(self) -> bool:
        """Whether workers extract its texts with libraries."""
        return self.of.startswith("extracted:")


@functools.cache
def _reader(of: str) -> Any:
    module, _, name = of.partition(":")
    return getattr(importlib.import_module(f"{__package__}.readers.{module}"), name)()


KIND_OF_SUFFIX = {
    ".pdf": "pdf", ".docx": "docx", ".docm": "docx", ".dotx": "docx", ".dotm": "docx", ".doc": "doc", ".dot": "doc",
    ".xlsx": "xlsx", ".xlsm": "xlsx", ".xltx": "xlsx", ".xls": "xls", ".xlt": "xls",
    ".pptx": "pptx", ".pptm": "pptx", ".ppsx": "pptx", ".ppt": "ppt", ".pps": "ppt",
    ".odt": "odt", ".ott": "odt", ".ods": "ods", ".odp": "odp", ".rtf": "rtf", ".epub": "epub",
    ".html": "html", ".htm": "html", ".xhtml": "html", ".eml": "eml", ".emlx": "eml", ".mbox": "mbox", ".msg": "msg",
    ".pst": "pst", ".ost": "pst", ".zip": "zip", ".tar": "tar", ".tgz": "tar", ".tbz2": "tar", ".txz": "tar",
}  # fmt: skip
"""Kinds by suffix, in lower case."""


def _suffixes(*kinds: str) -> tuple[str, ...]:
    return tuple(suffix for suffix, kind in KIND_OF_SUFFIX.items() if kind in kinds)


_ALL = (
    Format(name="jsonl", of="jsonl:JsonLines", listed="JSON Lines", in_words="JSON Lines",
           suffixes=(".jsonl", ".ndjson", ".json"), has_columns=True, has_types=True, is_copied=True),
    Format(name="parquet", of="parquet:Parquet", listed="Parquet", in_words="Parquet", a_file="a Parquet file",
           suffixes=(".parquet", ".pq"), magic=(b"PAR1",), has_columns=True, has_types=True, is_unmistakable=True,
           is_copied=True),
    Format(name="arrow", of="arrow:Arrow", listed="Arrow", in_words="Arrow", a_file="an Arrow file",
           suffixes=(".arrow", ".feather", ".ipc"), magic=(b"ARROW1\0\0", b"\xff\xff\xff\xff"), has_columns=True,
           has_types=True, is_unmistakable=True),
    Format(name="csv", of="delimited:Csv", listed="CSV", in_words="CSV", suffixes=(".csv",), has_columns=True,
           is_copied=True),
    Format(name="tsv", of="delimited:Tsv", listed="TSV", in_words="TSV with a header", suffixes=(".tsv", ".tab"),
           has_columns=True, is_settled=False, is_copied=True),
    Format(name="lines", of="lines:Lines", hint="ID<TAB>TEXT", listed="ID<TAB>TEXT lines",
           in_words="lines of ID<TAB>TEXT", is_copied=True),
    Format(name="text-lines", of="lines:TextLines", hint="a document per line", in_words="a document per line",
           is_copied=True),
    Format(name="file", of="whole_file:WholeFile", hint="a document per file", in_words="one text document",
           holds="one document", is_copied=True),
    Format(name="subrip", of="subrip:SubRip", hint="SubRip subtitles", listed="SubRip subtitles",
           in_words="SubRip subtitles", suffixes=(".srt",), holds="one document", is_copied=True),
    Format(name="wikipedia", of="wikipedia:Wikipedia", listed="dumps of Wikipedia", in_words="a dump of Wikipedia",
           is_unmistakable=True),
    Format(name="warc", of="warc:Warc", listed="web archives (WARC)", in_words="a web archive",
           suffixes=(".warc", ".wet"), has_columns=True, is_unmistakable=True),
    Format(name="load-file", of="load_file:LoadFile", hint="Concordance DAT, or CSV like it",
           listed="load files (Concordance DAT)", in_words="a load file", suffixes=(".dat",), has_columns=True,
           is_settled=False, is_unmistakable=True),
    Format(name="document", of="extracted:Extracted",
           hint="office files, PDF, mail, HTML and archives, by their content",
           listed="documents (PDF, Word, Excel, PowerPoint, OpenDocument, RTF, EPUB, HTML, mail, ZIP, tar)",
           in_words="documents", suffixes=_suffixes(*{*KIND_OF_SUFFIX.values()} - {"html", "eml"}), holds="documents"),
    Format(name="html", of="extracted:Html", hint="the text of a page", in_words="an HTML page",
           suffixes=_suffixes("html"), holds="documents"),
    Format(name="eml", of="extracted:Eml", hint="a mail with its attachments", in_words="a mail",
           suffixes=_suffixes("eml"), holds="documents"),
)  # fmt: skip
FORMATS = {one.name: one for one in _ALL}
"""Every format by name, in the order of help texts and of recognition by content."""
FORMAT_OF_SUFFIX = {suffix: one.name for one in _ALL for suffix in one.suffixes}
WITH_COLUMNS = tuple(one.name for one in _ALL if one.has_columns)
"""Names of the formats with named columns."""
TABLES = {one.name: one for one in _ALL if one.magic}
"""Tables in files that name their columns and types."""
StoredFormat = Literal["collection", "results", "table"]
"""Names of documents that are not in files: a collection, the directory of a finished run, a table in memory."""
STORED: tuple[str, ...] = get_args(StoredFormat)


def is_of_documents(name: str | None) -> bool:
    """Whether a file of a format is a document or contains some, instead of records."""
    return name in FORMATS and FORMATS[name].holds != "records"


def has_columns(name: str) -> bool:
    """Whether texts and ids are in named columns, as in a collection and the results of a run."""
    return name not in FORMATS or FORMATS[name].has_columns


def table_begun_by(data: bytes) -> Format | None:
    """Return the format of a table that begins with these bytes.

    Examples
    --------
    >>> table_begun_by(b"PAR1...").a_file
    'a Parquet file'
    """
    return next((table for table in TABLES.values() if data.startswith(table.magic)), None)


def names_with_hints() -> str:
    """Return the names of all formats, for a help text."""
    *most, last = [f"{kind.name} ({kind.hint})" if kind.hint else kind.name for kind in FORMATS.values()]
    return f"{', '.join(most)} or {last}"
