"""The SHA-256 of a file, so that a run can say what it was made from."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import IO

from nearkin.errors import SourceError
from nearkin.stages.documents.streams import Progress, no_progress


class _Watched:
    """A file that tells how much was read of it."""

    def __init__(self, raw: IO[bytes], progress: Progress) -> None:
        self._raw, self._progress = raw, progress

    def readable(self) -> bool:
        """As a file says it."""
        return True

    def readinto(self, room: bytearray) -> int:
        """As a file does it."""
        n_read: int = self._raw.readinto(room)  # type: ignore[attr-defined]
        self._progress(n_read)
        return n_read


def file_sha256(path: str, progress: Progress = no_progress) -> str:
    """The SHA-256 of a file's bytes as they lie there, in hexadecimal.

    Parameters
    ----------
    path : str
    progress : callable
        Told the bytes read since the last call.

    Raises
    ------
    SourceError
        The file cannot be read.
    """
    try:
        with Path(path).open("rb", buffering=0) as raw:
            return hashlib.file_digest(_Watched(raw, progress), "sha256").hexdigest()
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror or error}.") from error
