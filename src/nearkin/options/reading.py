"""Options for reading documents from files, of all jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nearkin.errors import ParameterError
from nearkin.options.declared import Option, Options, Same, argument, option
from nearkin.stages.documents.formats import FORMATS, TABLES, names_with_hints
from nearkin.stages.documents.rules import IN_WORDS, OnError, ReadingRules

_input = partial(option, panel="Input")


def _limits(given: Any) -> Mapping[str, int | str]:
    """Return limits by name, also from NAME=VALUE."""
    if isinstance(given, Mapping):
        return given
    limits = {}
    for name, is_set, value in (str(limit).partition("=") for limit in given):
        if not is_set:
            raise ParameterError.of("extraction_limits", "NAME=VALUE", name)
        limits[name.strip()] = value
    return limits


class ColumnOptions(Options):
    """Columns of documents."""

    text: Same[str | None] = _input(
        metavar="COLUMN",
        help="Column with the text, or several with commas between them, joined by a blank line. [default: guessed "
        "and printed]",
    )
    id: Same[str | None] = _input(
        metavar="COLUMN",
        help="Column with the id. [default: guessed and printed]",
    )


class DocumentOptions(Options):
    """Options for a document in a file."""

    max_document_size: Same[int | str] = _input(
        "64MiB", metavar="SIZE", kind=object,
        help="Maximum size of one document. A larger one is skipped and counts as unreadable.",
    )  # fmt: skip
    extraction_limits: Option[Mapping[str, int | str], Mapping[str, int | str] | Sequence[str]] = _input(
        names=("--extraction-limit",), metavar="NAME=VALUE", kind=list, parse=_limits,
        help="Change a limit for PDF, office files, mail and archives: time or ocr (of one document), memory (of a "
        "process), size (of one text or file), total, disk (unpacked), files, levels, ratio (unpacked to packed "
        f"size). Repeatable. [default: {IN_WORDS}]",
    )  # fmt: skip
    ocr: Same[str | None] = _input(
        metavar="LANGUAGES",
        help="Languages for recognising text in images, such as eng+deu; slow, and needs tesseract's language data. "
        "[default: no recognition]",
    )

    def rules(self) -> ReadingRules:
        """Return the rules for reading."""
        names = ("on_error", "max_unreadable", "max_document_size", "text_root", "extraction_limits", "ocr")
        return ReadingRules.of(**{name: vars(self)[name] for name in names if vars(self).get(name) is not None})


ENCODING = _input(
    "utf-8",
    help="Encoding of text, CSV and TSV that is not UTF-8, such as cp1252. [default: such text is unreadable]",
)


class EncodingOptions(Options):
    """Encoding of a file beside the collection."""

    encoding: Same[str] = ENCODING


class FileOptions(DocumentOptions):
    """Options for files of documents."""

    file_format: Same[str | None] = _input(
        names=("--format",), help=f"{names_with_hints()}. [default: from the name and the first bytes]"
    )
    encoding: Same[str] = ENCODING
    on_error: Same[OnError] = _input(
        "skip-documents",
        help="skip-documents: skip and list unreadable documents, but stop at a damaged file. skip: also use the "
        "documents before the damage of a file. stop: stop at the first unreadable document.",
    )
    max_unreadable: Same[float | str] = _input(
        "50%", metavar="SHARE", kind=object,
        help="Maximum share of unreadable documents, such as 1% or 0.01; above it, the command fails.",
    )  # fmt: skip
    text_root: Same[Path | str | None] = _input(
        metavar="DIR", kind=Path,
        help="Folder of the text files that are named in load files; files outside it are never read. [default: "
        "the folder of the load file]",
    )  # fmt: skip


class ReadingOptions(FileOptions, ColumnOptions):
    """Options for reading one set of documents."""


class InputsArgument(Options):
    """Documents to read, as they are typed."""

    inputs: Same[Sequence[str]] = argument(
        "INPUT...", kind=list,
        help=f"{', '.join(one.listed for one in FORMATS.values() if one.listed)}, folders of text files, documents or "
        "tables, globs, - for standard input; a collection, or results of nearkin dedup. All but "
        f"{' and '.join(table.listed for table in TABLES.values())} may be compressed (.gz, .bz2, .xz, .zst).",
    )  # fmt: skip
