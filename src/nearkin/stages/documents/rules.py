"""Rules for reading: bad documents, damaged files, documents that are too long."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from nearkin.errors import DocumentError, ParameterError, SourceError, is_among, is_int, is_number
from nearkin.nouns import counted
from nearkin.paths import path_of
from nearkin.stages.documents.extraction.limits import USUAL_LIMITS, ExtractionLimits
from nearkin.stages.documents.faults import RecordFault
from nearkin.stages.documents.sizes import MAX_SIZE_OPTION, SIZE_RULE, parse_size

OnError = Literal["skip-documents", "skip", "stop"]
MAX_UNREADABLE = 0.5
MAX_DOCUMENT_BYTES = 64 << 20
_SHARE_RULE = "a percentage such as 1%, or a number from 0 to 1"
STOPPED = "The run stops at bad documents because of --on-error stop."


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRules:
    """Treatment of unreadable documents and files.

    Parameters
    ----------
    on_error : {"skip-documents", "skip", "stop"}
        "skip-documents" leaves a bad document out and lists it; a damaged file ends the run. "skip" also uses what
        comes before the damage of a file. "stop" ends the run at the first bad document.
    max_unreadable
        Maximum share of documents that may be unreadable, from 0 to 1.
    max_document_bytes
        Maximum size of a document: of its line or record, as UTF-8, or of the text in a table.
    text_root
        Folder of the texts that load files name; None: that of the load file.
    ocr
        Languages such as "eng+deu"; None: no text in images is recognised.
    """

    on_error: OnError = "skip-documents"
    max_unreadable: float = MAX_UNREADABLE
    max_document_bytes: int = MAX_DOCUMENT_BYTES
    text_root: str | None = None
    limits: ExtractionLimits = USUAL_LIMITS
    ocr: str | None = None

    def __post_init__(self) -> None:
        if not is_among(self.on_error, get_args(OnError)):
            raise ParameterError.of("on_error", "skip-documents, skip or stop", self.on_error)
        if not isinstance(self.max_unreadable, int | float) or not 0 <= self.max_unreadable <= 1:
            raise ParameterError.of("max_unreadable", _SHARE_RULE, self.max_unreadable)
        if not is_int(self.max_document_bytes) or self.max_document_bytes < 1:
            raise ParameterError.of("max_document_size", SIZE_RULE, self.max_document_bytes)

    @classmethod
    def of(
        cls,
        on_error: str = "skip-documents",
        max_unreadable: str | float = MAX_UNREADABLE,
        max_document_size: str | int = MAX_DOCUMENT_BYTES,
        text_root: str | os.PathLike[str] | None = None,
        extraction_limits: Mapping[str, int | str] | None = None,
        ocr: str | None = None,
    ) -> ReadingRules:
        """Make rules from options in the user's syntax; for ``extraction_limits`` see `ExtractionLimits.of`."""
        size = max_document_size
        if isinstance(size, str):
            size = parse_size(size, "max_document_size")
        root = None if text_root is None else str(path_of(text_root, "text_root"))
        if root is not None and not os.path.isdir(root):
            raise ParameterError.of("text_root", "a folder", root)
        if ocr is not None:
            from nearkin.stages.documents.extraction.ocr import language_data

            language_data(ocr)
        return cls(
            on_error=on_error,  # type: ignore[arg-type]  # it checks this
            max_unreadable=parse_share(max_unreadable),
            max_document_bytes=size,
            text_root=root,
            limits=ExtractionLimits.of({} if extraction_limits is None else extraction_limits),
            ocr=ocr,
        )

    @property
    def takes_damaged(self) -> bool:
        """Whether documents before the damage of a file are used."""
        return self.on_error == "skip"

    @classmethod
    def of_finished_run(cls) -> ReadingRules:
        """Return rules that accept everything a finished run may have accepted, to read its documents again."""
        return cls(on_error="skip", max_unreadable=1.0)

    def check_readable(
        self, n_unreadable: int, n_documents: int, first: str, *, n_beside: int = 0, of: str = ""
    ) -> None:
        """Raise SourceError if all documents are unreadable, DocumentError if more than `max_unreadable` are.

        ``n_beside`` of them count neither as unreadable nor as documents; see `.faults.is_beside`.
        """
        if not n_unreadable:
            return
        prefix = f"{of}: " if of else ""
        if n_unreadable == n_documents:
            if n_documents == 1:
                raise SourceError(f"{prefix}The only document is unreadable: {first}.")
            all_of_them = f"All {counted(n_documents, 'document')} are unreadable. The first: "
            raise SourceError(f"{prefix}{all_of_them}{first}.")
        n_unreadable, n_documents = n_unreadable - n_beside, n_documents - n_beside
        share = n_unreadable / max(n_documents, 1)
        if share > self.max_unreadable + 1e-12:  # 29 of 100 must count as 29%, despite rounding errors
            are, which = ("is", "It is") if n_unreadable == 1 else ("are", "The first:")
            raise DocumentError(
                f"{prefix}{n_unreadable:,} of {counted(n_documents, 'document')} {are} "
                f"unreadable: {100 * share:.4g}%, more than the {100 * self.max_unreadable:.4g}% of "
                f"--max-unreadable. {which} {first}."
            )


def parse_share(given: str | float) -> float:
    """Parse a percentage such as ``1%``, or a number from 0 to 1; ParameterError for anything else."""
    share = -1.0
    if isinstance(given, str):
        if occurrence := re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(%?)\s*", given, re.ASCII):
            share = float(occurrence[1]) / (100 if occurrence[2] else 1)
    elif is_number(given):
        share = float(given)
    if not 0 <= share <= 1:
        raise ParameterError.of("max_unreadable", _SHARE_RULE, given)
    return share


def too_long(n_bytes: int | None, max_document_bytes: int) -> RecordFault:
    """Return the fault of a document that exceeds the maximum size; None: its size is unknown."""
    size = "" if n_bytes is None else f"{counted(n_bytes, 'byte')}; "
    return RecordFault("too large", f"longer than {MAX_SIZE_OPTION} ({size}the maximum is {max_document_bytes:,})")
