"""What the tests of the readers share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.sources import Source

HOW = ("delimiter", "max_document_bytes", "takes_damaged", "is_forced", "encoding")
"""Of a source, where a test is about it."""
Row = tuple[object, bytes | None, int, str | None]


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., list[Row]]:
    """Bytes of a file as (doc_id, text, line, problem), all batches one after another."""

    def read_bytes(
        data: bytes, file_format: str, *, text: str | None = "text", doc_id: str | None = "id", **options: Any
    ) -> list[Row]:
        path = tmp_path / "input"
        path.write_bytes(data)
        compression = options.pop("compression", "none")
        how = {name: options.pop(name) for name in HOW if name in options}
        source = Source(
            path=str(path),
            name="input",
            format=file_format,
            compression=compression,
            text=text,
            id=doc_id,
            size_bytes=len(data),
            **how,
        )
        consumed: list[int] = []
        rows = rows_of(list(read_batches(source, progress=consumed.append, **options)))
        assert sum(consumed) == len(data)
        return rows

    return read_bytes


def rows_of(batches: list[pa.RecordBatch]) -> list[Row]:
    rows: list[Row] = []
    for batch in batches:
        batch.validate(full=True)
        columns = (batch[name].to_pylist() for name in ("doc_id", "text", "line", "problem"))
        rows += zip(*columns, strict=True)
    return rows


@pytest.fixture
def keep_values(tmp_path: Path) -> Callable[..., list[float | None]]:
    """The ``keep_value`` of each record of a file's bytes."""

    def read_bytes(data: bytes, file_format: str, column: str) -> list[float | None]:
        path = tmp_path / "input"
        path.write_bytes(data)
        source = Source(path=str(path), name="input", format=file_format, text="text", size_bytes=len(data))
        return [v for batch in read_batches(source, keep_column=column) for v in batch["keep_value"].to_pylist()]

    return read_bytes
