"""What was read: the sources, how they were read, and which of them were damaged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nearkin.manifests.stored import Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile(Stored):
    """A source that was read; None where there is nothing to tell.

    ``sha256`` is that of a file; of a collection that of the numbers of its documents, of a run that of its manifest.
    """

    path: str = ""
    size_bytes: int | None = None
    sha256: str | None = None
    format: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    """By which its documents without an id are called."""
    end_row: int | None = None
    """Of a collection: the number in its store that all of its documents are below."""
    n_documents: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedFile(Stored):
    """A file of which only a part was used; ``line`` is None where the place of the damage is not known."""

    left_out: ClassVar[frozenset[str]] = frozenset(("line",))

    path: str
    line: int | None = None
    problem: str


@dataclass(frozen=True, slots=True)
class HowRead(Stored):
    """How the files were read: what reading them again depends on, and what was put up with."""

    format: str | None = None
    on_error: str | None = None
    max_unreadable: float | None = None
    max_document_bytes: int | None = None
