"""Inputs of a run: the sources, how they were read, and which of them were damaged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from nearkin.manifests.stored import Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile(Stored):
    """A source that was read; fields that do not apply are None.

    ``sha256`` covers a file; of a collection the numbers of its documents; of a run its manifest.
    """

    left_out: ClassVar[frozenset[str]] = frozenset(("texts_sha256",))

    path: str = ""
    size_bytes: int | None = None
    sha256: str | None = None
    format: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    """Prefix of the names given to documents that have no id."""
    end_row: int | None = None
    """For a collection only: upper limit of the numbers of its documents in its store."""
    n_documents: int | None = None
    texts_sha256: str | None = None
    """For a load file only: SHA-256 of the texts in the files that it names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedFile(Stored):
    """File that was used only in part; ``line`` is None if the place of the damage is unknown."""

    left_out: ClassVar[frozenset[str]] = frozenset(("line",))

    path: str
    line: int | None = None
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotReadFiles(Stored):
    """Files or folders of the input that were not read for one reason; ``paths`` has the first of the ``n``."""

    place: str
    reason: str
    n: int
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HowRead(Stored):
    """Settings with which the files were read: needed to read them again, and the errors that were tolerated."""

    left_out: ClassVar[frozenset[str]] = frozenset(("text_root", "extraction_limits", "ocr"))

    format: str | None = None
    on_error: str | None = None
    max_unreadable: float | None = None
    max_document_bytes: int | None = None
    text_root: str | None = None
    extraction_limits: Mapping[str, int] | None = None
    """Those that differ from the defaults; see `ExtractionLimits.of`."""
    ocr: str | None = None
