"""The SHA-256 of a file, so that a run can say what it was made from."""

from __future__ import annotations

import hashlib
from pathlib import Path

from nearkin.errors import SourceError


def file_sha256(path: str) -> str:
    """The SHA-256 of a file's bytes as they lie there, in hexadecimal.

    Raises
    ------
    SourceError
        The file cannot be read.
    """
    try:
        with Path(path).open("rb", buffering=0) as raw:
            return hashlib.file_digest(raw, "sha256").hexdigest()
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror or error}.") from error
