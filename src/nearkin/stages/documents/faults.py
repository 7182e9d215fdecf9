"""Reasons why a document has no text, or only a part of it: one closed list.

A problem is written as one string, the reason and a sentence of the reader: ``not text: a PDF file``.
"""

from __future__ import annotations

from typing import Literal, get_args

from nearkin.errors import TruncatedInputError
from nearkin.nouns import counted

Reason = Literal[
    "empty", "too large", "not text", "wrong encoding", "damaged", "truncated", "encrypted", "unsupported",
    "image only", "technical", "partial", "time-out", "crashed", "id repeated", "no such column",
]  # fmt: skip
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Every reason. "truncated" is the missing rest of a file that has several documents."""


def problem_of(reason: Reason, sentence: str) -> str:
    """Return a problem as one string."""
    return f"{reason}: {sentence}"


def reason_of(problem: str) -> Reason:
    """Return the reason of a problem; one that names none is "damaged".

    Examples
    --------
    >>> reason_of("not text: a PDF file; extract its text first"), sentence_of("not text: a PDF file")
    ('not text', 'a PDF file')
    """
    begin = problem.partition(": ")[0]
    return next((reason for reason in REASONS if reason == begin), "damaged")


def sentence_of(problem: str) -> str:
    """Return the sentence of a problem, without its reason."""
    reason, mark, sentence = problem.partition(": ")
    return sentence if mark and reason in REASONS else problem


def is_beside(problem: str | None, *, with_ocr: bool) -> bool:
    """Whether a document without a text does not count as unreadable: a technical attachment, or an image without OCR.

    Examples
    --------
    >>> is_beside("image only: a PNG image", with_ocr=False), is_beside("image only: a PNG image", with_ocr=True)
    (True, False)
    """
    reason = None if problem is None else reason_of(problem)
    return reason == "technical" or (reason == "image only" and not with_ocr)


class RecordFault(Exception):
    """A record or document that cannot be read; those around it can."""

    def __init__(self, reason: Reason, sentence: str) -> None:
        super().__init__(problem_of(reason, sentence))
        self.reason: Reason = reason
        self.sentence = sentence


class StreamFault(Exception):
    """The rest of a file cannot be read; its reader sets the ``line`` or row at which reading ended."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def truncated_input(name: str, fault: StreamFault | str, n_documents: int = 0) -> TruncatedInputError:
    """Return the error for a damaged file."""
    after = f", after {counted(n_documents, 'document')}" if n_documents else ""
    return TruncatedInputError(
        f"{name}: {fault}{after}. Get the file again, or add --on-error skip to use what comes before the damage."
    )


def is_rest_missing(problem: str | None) -> bool:
    """Whether a problem stands for the missing rest of a file.

    Examples
    --------
    >>> is_rest_missing("truncated: the gzip stream is truncated"), is_rest_missing("empty: the text is null")
    (True, False)
    """
    return problem is not None and reason_of(problem) == "truncated"
