"""Conversion of texts that are not valid UTF-8 to problems."""

from __future__ import annotations

import pyarrow as pa

from nearkin.stages.documents.encodings import why_not_utf8


def without_illegible(batch: pa.RecordBatch, encoding: str) -> pa.RecordBatch:
    """Return the batch with each text that is not valid UTF-8 replaced by a problem with advice."""
    try:
        batch["text"].view(pa.large_string()).validate(full=True)  # does not copy; a cast imports pyarrow.compute
    except pa.ArrowInvalid:
        texts, problems = batch["text"].to_pylist(), batch["problem"].to_pylist()
        for row, text in enumerate(texts):
            problem = None if text is None else why_not_utf8(text, encoding)
            if problem is not None:
                texts[row], problems[row] = None, problem
        batch = _with_column(batch, "text", pa.array(texts, pa.large_binary()))
        return _with_column(batch, "problem", pa.array(problems, pa.large_string()))
    return batch


def _with_column(batch: pa.RecordBatch, name: str, values: pa.Array) -> pa.RecordBatch:
    index = batch.schema.get_field_index(name)
    return batch.set_column(index, batch.schema.field(index), values)
