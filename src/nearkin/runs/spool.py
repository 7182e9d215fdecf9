"""Normalised texts of a run on disk: written once, then read in any order."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.formats.sealed import damaged_file, missing_file
from nearkin.records import I64, U32
from nearkin.runs.arrays import mapped_batch, save_batch
from nearkin.runs.files import writing

SPOOL = "spool"
"""Name of the spool in the work directory."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One file of the spool."""

    path: Path
    start: int
    n_documents: int

    @property
    def end(self) -> int:
        """Number of the row after the last document."""
        return self.start + self.n_documents

    def column(self, name: str) -> pa.Array:
        """Map a column into memory without copying."""
        return self.batch()[name]

    def batch(self) -> pa.RecordBatch:
        """Map all columns into memory without copying."""
        return mapped_batch(self.path)


@dataclass(frozen=True, slots=True)
class Spool:
    """A directory of chunks."""

    path: Path

    def place(self, part: int, number: int) -> Path:
        """Return the path of chunk ``number`` of an input."""
        return self.path / f"{part:09d}-{number:09d}.arrow"

    def mark(self, part: int) -> Path:
        """Return the path of the file that marks an input as completely read.

        Its name sorts after all others of the input ("-" before "."), because `published_together` publishes by name.
        """
        return self.path / f"{part:09d}.json"

    def write(self, part: int, number: int, batch: pa.RecordBatch) -> None:
        """Write a chunk; the file appears only when it is complete."""
        save_batch(self.place(part, number), batch)

    def forget(self, part: int) -> None:
        """Remove the chunks of an input."""
        with writing(self.mark(part)):
            self.mark(part).unlink(missing_ok=True)  # first: after an interruption no mark is without its chunks
        for path in self.path.glob(f"{part:09d}-*"):
            with writing(path):
                path.unlink()

    def check(self, part: int, n_chunks: int, n_documents: int) -> None:
        """Check that the chunks of an input that was read completely are there, else RunError."""
        there = set(self.path.glob(f"{part:09d}-*.arrow"))
        wanted = [self.place(part, number) for number in range(n_chunks)]
        for path in wanted:
            if path not in there:
                raise missing_file(path)
        if more := there.difference(wanted):
            raise damaged_file(min(more))
        if sum(mapped_batch(path).num_rows for path in wanted) != n_documents:
            raise damaged_file(self.mark(part))

    def remove(self) -> None:
        """Remove the spool."""
        shutil.rmtree(self.path)

    def chunks(self) -> tuple[Chunk, ...]:
        """Return all chunks in reading order."""
        chunks, start = [], 0
        for path in sorted(self.path.glob("*.arrow")):
            n_documents = mapped_batch(path).num_rows
            chunks.append(Chunk(path, start, n_documents))
            start += n_documents
        return tuple(chunks)


def texts_of(chunks: Sequence[Chunk], rows: Sequence[int] | I64 | U32, column: str = "text") -> list[str]:
    """Return the texts of some rows, from a column of the spool."""
    starts = np.array([chunk.start for chunk in chunks])
    of_row = np.searchsorted(starts, np.asarray(rows), side="right") - 1
    texts, mapped, values = list[str](), -1, pa.nulls(0)
    for number, row in zip(of_row.tolist(), rows, strict=True):
        if number != mapped:  # mapping a chunk takes longer than a text
            mapped, values = number, chunks[number].column(column)
        texts.append(values[int(row) - chunks[number].start].as_py())
    return texts


def gathered(chunks: Sequence[Chunk], name: str) -> Iterator[pa.Array]:
    """Yield a column of every chunk, in order."""
    for chunk in chunks:
        yield chunk.column(name)
