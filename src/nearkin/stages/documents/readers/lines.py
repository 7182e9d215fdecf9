"""Lines: each is a document, ``ID<TAB>TEXT`` or a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.records import I64
from nearkin.stages.documents.faults import RecordFault
from nearkin.stages.documents.head import Head
from nearkin.stages.documents.reader import RowMask, StreamReader
from nearkin.stages.documents.readers.records import LineSplitter, Records, read_records
from nearkin.stages.documents.rows import IdType, documents_batch, integers_or_strings, named, problem_batch
from nearkin.stages.documents.source import OpenedSource
from nearkin.stages.documents.streams import ByteStream

_LONGEST_ID = 512
_COPIED_BYTES = 8 << 20
_BLANKS = (b" ", b"\t", b"\r", b"\v", b"\f")
_NO_TAB = RecordFault("damaged", "the line has no tab between an id and a text")


class LineReader(StreamReader):
    """Reader of a format whose lines are records, which are copied byte for byte."""

    def copy_stream(self, opened: OpenedSource, is_kept: RowMask, stream: ByteStream, sink: IO[bytes]) -> None:
        """Copy kept lines, adjacent ones in one call."""
        edit = None if opened.added is None else opened.added.json
        for block in read_records(stream, LineSplitter(), _COPIED_BYTES, opened.source.max_document_bytes):
            write_kept(block, is_kept, stream, sink, edit)


class Lines(LineReader):
    """``ID<TAB>TEXT``."""

    def begins(self, head: Head) -> bool:
        """Whether two lines, and two thirds of the first ones, have this form, without repeated ids."""
        lines = head.first_lines
        ids = [line.partition(b"\t")[0] for line in lines if b"\t" in line]
        are_ids = all(0 < len(doc_id) <= _LONGEST_ID and not re.search(rb"\s", doc_id) for doc_id in ids)
        return are_ids and len(set(ids)) == len(ids) >= 2 and 3 * len(ids) >= 2 * len(lines)

    def read(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield a batch for each block that is not blank."""
        yield from _batches(stream, opened, _ids_and_texts)


class TextLines(LineReader):
    """One text per line, without an id."""

    def read(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents, one per line, without blank lines."""
        yield from _batches(stream, opened, _texts)


def _batches(
    stream: ByteStream, opened: OpenedSource, read_block: Callable[[Records, IdType], pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    ids = IdType()
    for block in read_records(stream, LineSplitter(), opened.batch_bytes, opened.source.max_document_bytes):
        batch = read_block(block, ids) if block.fault is None else problem_batch(ids, int(block.lines[0]), block.fault)
        if len(batch):
            yield batch


def _texts(block: Records, ids: IdType) -> pa.RecordBatch:
    (texts,) = _slices(block, (block.starts, block.without_line_ends()))
    is_there = np.ones(len(texts), np.bool_)
    begins_blank = pc.is_in(pc.binary_slice(texts, 0, 1), value_set=pa.array([b"", *_BLANKS], texts.type))
    for index in np.flatnonzero(begins_blank.to_numpy(zero_copy_only=False)).tolist():
        is_there[index] = bool(texts[index].as_py().strip())
    return documents_batch(ids, text=texts.filter(pa.array(is_there)), line=block.lines[is_there])


def _ids_and_texts(block: Records, ids: IdType) -> pa.RecordBatch:
    tabs = np.append(np.flatnonzero(block.view == ord("\t")), len(block.data))
    starts, ends = block.starts, block.without_line_ends()
    tabs = tabs[np.searchsorted(tabs, starts)]
    is_blank = ends <= starts
    for index in np.flatnonzero(~is_blank & (tabs >= ends)):
        is_blank[index] = not bytes(block.data[starts[index] : ends[index]]).strip()
    starts, ends, tabs = starts[~is_blank], ends[~is_blank], tabs[~is_blank]
    has_no_tab = tabs >= ends
    tabs = np.where(has_no_tab, starts, tabs)
    doc_ids, texts = _slices(block, (starts, tabs), (np.where(has_no_tab, starts, tabs + 1), ends))
    problems = pa.nulls(len(starts), pa.large_string())
    if has_no_tab.any():
        mask = pa.array(has_no_tab)
        texts = pc.if_else(mask, pa.scalar(None, pa.large_binary()), texts)
        problems = pc.if_else(mask, pa.scalar(str(_NO_TAB), pa.large_string()), problems)
    doc_ids = integers_or_strings(named(doc_ids))
    return documents_batch(ids, doc_id=doc_ids, text=texts, line=block.lines[~is_blank], problem=problems)


def read_plain_lines(stream: ByteStream, *, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of lines, with blank ones, because lines are identified by number."""
    for block in read_records(stream, LineSplitter(), batch_bytes):
        if block.fault is None:
            (texts,) = _slices(block, (block.starts, block.without_line_ends()))
            yield documents_batch(IdType(), text=texts, line=block.lines)
        else:
            yield problem_batch(IdType(), int(block.lines[0]), block.fault)


def _slices(block: Records, *bounds: tuple[I64, I64]) -> list[pa.Array]:
    n_rows, n_parts = len(bounds[0][0]), 2 * len(bounds)
    places = np.column_stack([place for column in bounds for place in column]).ravel()
    places = np.append(places, len(block.data)).astype(np.int64)
    buffers = [None, pa.py_buffer(places), pa.py_buffer(block.data)]
    parts = pa.LargeBinaryArray.from_buffers(pa.large_binary(), n_parts * n_rows, buffers)
    return [parts.take(pa.array(np.arange(2 * i, n_parts * n_rows, n_parts))) for i in range(len(bounds))]


Edit = Callable[[bytes, int], bytes]
"""Returns a copied record, of which the line is given, with more in it."""


def write_kept(block: Records, is_kept: RowMask, stream: ByteStream, sink: IO[bytes], edit: Edit | None = None) -> None:
    """Write the kept records of a block in their original encoding."""
    if block.fault is not None:
        return
    data, starts, ends = block.data, block.starts, block.ends
    mask = is_kept(block.lines)
    if edit is not None:
        for index in np.flatnonzero(mask).tolist():
            sink.write(stream.as_it_was(edit(bytes(data[starts[index] : ends[index]]), int(block.lines[index]))))
        return
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    for first, stop in edges.reshape(-1, 2):
        if int(ends[stop - 1] - starts[first]) == int((ends[first:stop] - starts[first:stop]).sum()):
            sink.write(stream.as_it_was(bytes(data[starts[first] : ends[stop - 1]])))
        else:  # blank lines between records
            for index in range(first, stop):
                sink.write(stream.as_it_was(bytes(data[starts[index] : ends[index]])))
