"""Batches of Arrow columns in a run's work files, mapped without copying."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from nearkin.formats.sealed import damaged_file, sealed_length
from nearkin.runs.files import sealed


@contextlib.contextmanager
def batch_writer(path: Path, schema: pa.Schema, *, compression: str | None = None) -> Iterator[pa.RecordBatchWriter]:
    """Publish batches, sealed; the file appears only when it is complete."""
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with sealed(path) as file, pa.ipc.new_file(file, schema, options=options) as writer:
        yield writer


def save_batch(path: Path, batch: pa.RecordBatch, *, compression: str | None = None) -> None:
    """Publish one batch."""
    with batch_writer(path, batch.schema, compression=compression) as writer:
        writer.write_batch(batch)


def batch_reader(path: Path) -> pa.RecordBatchFileReader:
    """Read what `batch_writer` wrote; it is memory-mapped unless it was compressed.

    Raises
    ------
    RunError
        The file was changed.
    """
    length = sealed_length(path)
    try:
        with pa.memory_map(str(path)) as file:
            return pa.ipc.open_file(pa.BufferReader(file.read_buffer(length)))
    except pa.ArrowException as error:
        raise damaged_file(path) from error


def mapped_batch(path: Path) -> pa.RecordBatch:
    """Return the batch that `save_batch` wrote; the errors are those of `batch_reader`."""
    reader = batch_reader(path)
    if not reader.num_record_batches:
        raise damaged_file(path)
    return reader.get_batch(0)
