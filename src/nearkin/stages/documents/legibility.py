"""Conversion of texts that are not valid UTF-8 to problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from nearkin.stages.documents.encodings import why_not_utf8

if TYPE_CHECKING:
    from nearkin.stages.documents.streams import ByteStream


def legible(batches: Iterable[pa.RecordBatch], stream: ByteStream, encoding: str) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a stream with problems for texts that are not valid in its encoding.

    If a file in UTF-16 or UTF-32 ends within a character, its last record is one of them, whatever it holds.
    """
    mark, last = stream.byte_order_mark(), None
    for batch in batches:
        told = without_illegible(batch, encoding, mark)
        if not stream.is_wide:
            yield told
        elif last is None or not len(told):
            last = told if last is None else last
        else:
            yield last
            last = told
    if last is not None:
        yield last if stream.problem_at_end is None else _with_last_problem(last, stream.problem_at_end)


def without_illegible(batch: pa.RecordBatch, encoding: str, mark: bytes = b"") -> pa.RecordBatch:
    """Return the batch with each text that is not valid UTF-8 replaced by a problem with advice."""
    try:
        batch["text"].view(pa.large_string()).validate(full=True)  # does not copy; a cast imports pyarrow.compute
    except pa.ArrowInvalid:
        texts, problems = batch["text"].to_pylist(), batch["problem"].to_pylist()
        for row, text in enumerate(texts):
            problem = None if text is None else why_not_utf8(text, encoding, mark)
            if problem is not None:
                texts[row], problems[row] = None, problem
        return _with_texts(batch, texts, problems)
    return batch


def _with_last_problem(batch: pa.RecordBatch, problem: str) -> pa.RecordBatch:
    """Return the batch with a problem instead of its last text."""
    if not len(batch):
        return batch
    texts, problems = batch["text"].to_pylist(), batch["problem"].to_pylist()
    return _with_texts(batch, [*texts[:-1], None], [*problems[:-1], problem])


def _with_texts(batch: pa.RecordBatch, texts: list[bytes | None], problems: list[str | None]) -> pa.RecordBatch:
    batch = _with_column(batch, "text", pa.array(texts, pa.large_binary()))
    return _with_column(batch, "problem", pa.array(problems, pa.large_string()))


def _with_column(batch: pa.RecordBatch, name: str, values: pa.Array) -> pa.RecordBatch:
    index = batch.schema.get_field_index(name)
    return batch.set_column(index, batch.schema.field(index), values)
