"""Records that are stored as JSON: what every manifest has, and how an input was read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import msgspec
import numpy as np
import pyarrow as pa

from nearkin._version import __version__
from nearkin.runs.progress import StageCost


@dataclass(frozen=True, slots=True)
class Stored:
    """A record that JSON can hold, of values, records, mappings from names, and tuples."""

    @classmethod
    def of(cls, stored: object) -> Self:
        """Restore a record from `as_stored`, with defaults for missing fields; ``ValidationError`` if it is none."""
        return msgspec.convert(stored, cls)

    def as_stored(self) -> dict[str, object]:
        """Return the record as JSON types."""
        stored: dict[str, object] = json.loads(json.dumps(asdict(self)))
        return stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest(Stored):
    """What ``manifest.json`` says of every run; values that do not apply are None or empty."""

    nearkin: str = __version__
    # Arrow's C++ does NFKC and lower case beyond ASCII
    made_with: Mapping[str, str] = field(default_factory=lambda: {"numpy": np.__version__, "pyarrow": pa.__version__})
    command: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    stages: tuple[StageCost, ...] = ()
    report_problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile(Stored):
    """A source that was read; fields that do not apply are None.

    ``sha256`` covers a file; of a collection the numbers of its documents; of a run its manifest.
    """

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
    changed_ns: int | None = None
    """Time of the last change of a file without a digest, in nanoseconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedFile(Stored):
    """File that was used only in part; ``line`` is None if the place of the damage is unknown."""

    path: str
    line: int | None = None
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HowRead(Stored):
    """Settings with which the files were read, and the errors that were tolerated."""

    format: str | None = None
    on_error: str | None = None
    max_unreadable: float | None = None
    max_document_bytes: int | None = None
    text_root: str | None = None
    extraction_limits: Mapping[str, int] | None = None
    """Those that differ from the defaults; see `ExtractionLimits.of`."""
    ocr: str | None = None
