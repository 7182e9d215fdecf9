"""Digest of the texts in the files that a load file names."""

from __future__ import annotations

import hashlib


class TextsDigest:
    """SHA-256 of the texts of all records, in order; the text of a record without a readable one is empty.

    Examples
    --------
    >>> one, other = TextsDigest(), TextsDigest()
    >>> for text in (b"ab", b""):
    ...     one.add(text)
    >>> for text in (b"a", b"b"):
    ...     other.add(text)
    >>> one.hexdigest() == other.hexdigest()
    False
    """

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()

    def add(self, text: bytes) -> None:
        """Add the text of the next record."""
        self._sha256.update(f"{len(text)} ".encode() + text)

    def hexdigest(self) -> str:
        """Return the digest of the texts so far."""
        return self._sha256.hexdigest()
