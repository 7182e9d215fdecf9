"""Batches of Arrow columns in files of a run's work, mapped back without a copy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from nearkin.formats.sealed import damaged, sealed_length
from nearkin.runs.files import sealed


@contextlib.contextmanager
def batch_writer(path: Path, schema: pa.Schema, *, compression: str | None = None) -> Iterator[pa.RecordBatchWriter]:
    """Publish batches: whole or not at all, and sealed."""
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with sealed(path) as file, pa.ipc.new_file(file, schema, options=options) as writer:
        yield writer


def save_batch(path: Path, batch: pa.RecordBatch, *, compression: str | None = None) -> None:
    """Publish one batch."""
    with batch_writer(path, batch.schema, compression=compression) as writer:
        writer.write_batch(batch)


def batch_reader(path: Path) -> pa.RecordBatchFileReader:
    """What `batch_writer` wrote; unless it was compressed it is mapped into memory.

    Raises
    ------
    RunError
        It is not what was written.
    """
    length = sealed_length(path)
    try:
        with pa.memory_map(str(path)) as file:
            return pa.ipc.open_file(pa.BufferReader(file.read_buffer(length)))
    except pa.ArrowException as error:
        raise damaged(path) from error


def mapped_batch(path: Path) -> pa.RecordBatch:
    """The batch that `save_batch` wrote; errors as of `batch_reader`."""
    return batch_reader(path).get_batch(0)
