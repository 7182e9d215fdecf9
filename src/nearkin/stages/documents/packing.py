"""Compression of output, reproducible for the same content; copies of kept lines and records."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

import numpy as np

from nearkin.formats import zstd
from nearkin.records import I64, Bool
from nearkin.stages.documents.blocks import read_blocks
from nearkin.stages.documents.delimited import split_header, with_records
from nearkin.stages.documents.record_runs import Scanner, read_runs
from nearkin.stages.documents.streams import ByteStream, Compression
from nearkin.stages.documents.table_columns import RowMask

_GZIP_LEVEL = 6


@contextmanager
def packed(file: IO[bytes], compression: Compression) -> Iterator[IO[bytes]]:
    """Compress what is written to the yielded file into ``file``, which stays open."""
    if compression == "gzip":
        # without time and name, which gzip would otherwise write into the file
        with gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=file, mtime=0) as packer:
            yield cast(IO[bytes], packer)
    elif compression == "zstd":
        with zstd.ZstdFile(file, "w") as writer:
            yield cast(IO[bytes], writer)
    elif compression == "bzip2":
        with bz2.BZ2File(file, "wb") as archive:
            yield cast(IO[bytes], archive)
    elif compression == "xz":
        with lzma.LZMAFile(file, "wb") as xz:
            yield cast(IO[bytes], xz)
    else:
        yield file


_BLOCK_BYTES = 8 << 20


def json_line(doc_id: str | int | None, text: bytes) -> bytes:
    r"""Return a document as a line of JSON Lines.

    Examples
    --------
    >>> json_line("a.zip!b", b"It was")
    b'{"id": "a.zip!b", "text": "It was"}\n'
    """
    return (json.dumps({"id": doc_id, "text": text.decode()}, ensure_ascii=False) + "\n").encode()


def copy_lines(is_kept: RowMask, stream: ByteStream, sink: IO[bytes], max_line_bytes: int) -> None:
    """Write kept lines, adjacent ones in one call."""
    for block in read_blocks(stream, _BLOCK_BYTES, max_line_bytes):
        if block.problem is not None:
            continue
        ends = block.newlines + 1
        if not len(ends) or ends[-1] != len(block.data):
            ends = np.append(ends, len(block.data))
        starts = np.concatenate([[0], ends[:-1]])
        lines = np.arange(block.first_line, block.first_line + len(ends))
        _write_kept_parts(block.data, starts, ends, is_kept(lines), stream, sink)


def copy_records(
    is_kept: RowMask, stream: ByteStream, sink: IO[bytes], scanner: Scanner, name: str, max_record_bytes: int
) -> None:
    """Write the header and the kept records."""
    is_first = True
    for block in read_runs(stream, scanner, _BLOCK_BYTES, max_record_bytes):
        runs = with_records(block)
        if runs and is_first:
            header = runs[0]
            sink.write(stream.as_it_was(header.data[: int(header.ends[0])]))
            _, runs = split_header(runs, scanner, name)
            is_first = False
        for run in runs:
            _write_kept_parts(memoryview(run.data), run.starts, run.ends, is_kept(run.lines), stream, sink)


def _write_kept_parts(
    data: memoryview, starts: I64, ends: I64, is_kept: Bool, stream: ByteStream, sink: IO[bytes]
) -> None:
    """Write the kept parts of ``data`` in their original encoding."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_kept, [False]])))
    for first, stop in edges.reshape(-1, 2):
        if int(ends[stop - 1] - starts[first]) == int((ends[first:stop] - starts[first:stop]).sum()):
            sink.write(stream.as_it_was(bytes(data[starts[first] : ends[stop - 1]])))
        else:  # blank lines between records
            for index in range(first, stop):
                sink.write(stream.as_it_was(bytes(data[starts[index] : ends[index]])))
