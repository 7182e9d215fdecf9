"""The options that say what happens to documents and files that cannot be read."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from nearkin.stages.documents.rules import ReadingRules

_input = partial(typer.Option, rich_help_panel="Input")
SKIP_DOCUMENTS = "skip-documents"
MOST_UNREADABLE = "50%"
LARGEST_DOCUMENT = "64MiB"

OnError = Annotated[
    str,
    _input(
        "--on-error",
        help="skip-documents: leave out and list documents that cannot be read; stop at a truncated or damaged file. "
        "skip: also use what comes before the damage of a file. stop: stop at the first bad document.",
    ),
]
MaxUnreadable = Annotated[
    str,
    _input(
        "--max-unreadable",
        metavar="SHARE",
        help="Maximum share of documents that may be unreadable, for example 1% or 0.01. With more the command fails.",
    ),
]
MaxDocumentSize = Annotated[
    str,
    _input(
        "--max-document-size",
        metavar="SIZE",
        help="Maximum size of one document. A longer one is skipped without being held in memory, and is unreadable.",
    ),
]


def rules_of(on_error: str, max_unreadable: str, max_document_size: str) -> ReadingRules:
    """The rules that these options stand for."""
    from nearkin.stages.documents.rules import ReadingRules

    return ReadingRules.of(on_error, max_unreadable, max_document_size)
