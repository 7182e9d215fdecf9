"""Options that set the rules for reading. Formats are in another module: few queries of a collection need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nearkin.cli.options.definitions import Encoding, Id, StoredId, Text
from nearkin.cli.parameters import OptionGroup, argument, option
from nearkin.stages.documents.extraction.limits import IN_WORDS, OPTION
from nearkin.stages.documents.formats import FORMATS, TABLES, names_with_hints

if TYPE_CHECKING:
    from nearkin.stages.documents.rules import ReadingRules
    from nearkin.workflows.reading.request import ReadingRequest


_input = partial(option, panel="Input")
SKIP_DOCUMENTS = "skip-documents"
MAX_UNREADABLE = "50%"
LARGEST_DOCUMENT = "64MiB"

OnError = Annotated[
    str,
    _input(
        "--on-error",
        help="skip-documents: skip and list unreadable documents; stop at a truncated or damaged file. skip: also "
        "continue after a damaged file and use its documents before the damage. stop: stop at the first unreadable "
        "document.",
    ),
]
MaxUnreadable = Annotated[
    str,
    _input(
        "--max-unreadable",
        metavar="SHARE",
        help="Maximum share of unreadable documents, for example 1% or 0.01. Above it, or if all documents are "
        "unreadable, the command fails.",
    ),
]
MaxDocumentSize = Annotated[
    str,
    _input(
        "--max-document-size",
        metavar="SIZE",
        help="Maximum size of one document. A larger one is skipped and counts as unreadable.",
    ),
]
TextRoot = Annotated[
    Path | None,
    _input(
        "--text-root",
        metavar="DIR",
        help="Folder of the text files that are named in load files; files outside it are never read. [default: "
        "the folder of the load file]",
    ),
]
ExtractionLimit = Annotated[
    list[str] | None,
    _input(
        OPTION,
        metavar="NAME=VALUE",
        help="Change a limit for PDF, office files, mail and archives. time: for one document. memory: of a process. "
        "size: of one text, and of one file inside another. total: of everything inside one file. disk: of an unpacked "
        "archive. files, levels: inside one file. ratio: unpacked to packed size. ocr: time for recognising the pages "
        "of one document. Repeatable. "
        f"[default: {IN_WORDS}]",
    ),
]

Ocr = Annotated[
    str | None,
    _input(
        "--ocr",
        metavar="LANGUAGES",
        help="Languages for recognising text in images and on PDF pages that are images, for example eng or eng+deu. "
        "Slow; needs tesseract's language data (Debian: apt-get install tesseract-ocr-eng). "
        "[default: no recognition]",
    ),
]


def extraction_limits(given: Sequence[str] | None) -> dict[str, str]:
    """Return the values of ``--extraction-limit`` by name.

    Examples
    --------
    >>> extraction_limits(["ratio=5000", "size=1GiB"])
    {'ratio': '5000', 'size': '1GiB'}
    """
    from nearkin.errors import ParameterError

    found = {}
    for name, is_set, value in (one.partition("=") for one in given or ()):
        if not is_set:
            raise ParameterError.of("extraction_limit", "NAME=VALUE", name)
        found[name.strip()] = value
    return found


def rules_of_one(max_document_size: str, extraction_limit: Sequence[str] | None, ocr: str | None) -> ReadingRules:
    """Return the reading rules of a command that reads one document."""
    from nearkin.stages.documents.rules import ReadingRules

    limits = extraction_limits(extraction_limit)
    return ReadingRules.of(max_document_size=max_document_size, extraction_limits=limits, ocr=ocr)


@dataclass(frozen=True, kw_only=True)
class RulesOptions(OptionGroup):
    """Options for unreadable documents and files."""

    on_error: OnError = SKIP_DOCUMENTS
    max_unreadable: MaxUnreadable = MAX_UNREADABLE
    max_document_size: MaxDocumentSize = LARGEST_DOCUMENT
    text_root: TextRoot = None
    extraction_limit: ExtractionLimit = None
    ocr: Ocr = None

    def rules(self) -> ReadingRules:
        """Return the reading rules that these options give."""
        from nearkin.stages.documents.rules import ReadingRules

        return ReadingRules.of(
            self.on_error,
            self.max_unreadable,
            self.max_document_size,
            self.text_root,
            extraction_limits(self.extraction_limit),
            self.ocr,
        )


_documents = partial(option, panel="Input")

Inputs = Annotated[
    list[str],
    argument(
        metavar="INPUT...",
        help=f"{', '.join(one.listed for one in FORMATS.values() if one.listed)}, folders of text files, documents or "
        "tables, globs, - for standard input; a collection, or results of nearkin dedup. All but "
        f"{' and '.join(table.listed for table in TABLES.values())} may be compressed (.gz, .bz2, .xz, .zst).",
    ),
]
_DEFAULT_OF_FORMAT = "[default: from the name and the first bytes]"
Format = Annotated[
    str | None,
    _documents("--format", help=f"{names_with_hints()}. {_DEFAULT_OF_FORMAT}"),
]
FormatOfBothSets = Annotated[
    str | None,
    _documents(
        "--format",
        help=f"{names_with_hints()}. It applies to every file, also to those of --against. {_DEFAULT_OF_FORMAT}",
    ),
]


@dataclass(frozen=True)
class ReadingOptions(OptionGroup):
    """Columns, format and encoding, and the rules."""

    text: Text = None
    id: Id = None
    file_format: Format = None
    encoding: Encoding = "utf-8"
    rules: RulesOptions = field(default_factory=RulesOptions)

    def request(self, inputs: Sequence[str]) -> ReadingRequest:
        """Request that these inputs be read."""
        from nearkin.workflows.reading.request import ReadingRequest

        return ReadingRequest(
            inputs=inputs, file_format=self.file_format, text=self.text, doc_id=self.id, encoding=self.encoding,
            rules=self.rules.rules(),
        )  # fmt: skip


@dataclass(frozen=True)
class ReadingOptionsOfBothSets(ReadingOptions):
    """Reading options of a command with ``--against``."""

    file_format: FormatOfBothSets = None


@dataclass(frozen=True)
class ReadingOptionsOfCollection(ReadingOptions):
    """Reading options of a command that stores documents."""

    id: StoredId = None
