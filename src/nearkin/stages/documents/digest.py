"""SHA-256 of input files, recorded by a run."""

from __future__ import annotations

import hashlib
from pathlib import Path

from nearkin.errors import SourceError


def file_sha256(path: str) -> str:
    """Return the SHA-256 of a file's stored bytes, in hexadecimal; SourceError if it cannot be read."""
    try:
        with Path(path).open("rb", buffering=0) as raw:
            return hashlib.file_digest(raw, "sha256").hexdigest()
    except OSError as error:
        raise SourceError(f"Cannot read {path}: {error.strerror or error}.") from error
