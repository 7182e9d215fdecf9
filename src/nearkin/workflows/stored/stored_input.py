"""Documents that Nearkin itself stored, read as those of a file are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from nearkin.runs.progress import Progress


class StoredBatches(Protocol):
    """What can be read again and again, always with the same documents."""

    @property
    def size_bytes(self) -> int:
        """Of what is read."""

    def batches(self, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Batches of `records.DOCUMENTS_SCHEMA`."""


@dataclass(frozen=True, slots=True)
class StoredInput:
    """Stored documents as an `Input`.

    Parameters
    ----------
    documents : StoredBatches
    name : str
        Of the collection, or of the directory of the run.
    """

    documents: StoredBatches
    name: str

    @property
    def names(self) -> tuple[str, ...]:
        """The one name."""
        return (self.name,)

    @property
    def size_bytes(self) -> int:
        """Size of what is read."""
        return self.documents.size_bytes

    @property
    def can_be_read_again(self) -> bool:
        """True: the documents never change."""
        return True

    def batches(self, progress: Progress) -> Iterator[tuple[pa.RecordBatch, int]]:
        """Some documents at a time; all are of one source."""
        for batch in self.documents.batches(progress):
            yield batch, 0
