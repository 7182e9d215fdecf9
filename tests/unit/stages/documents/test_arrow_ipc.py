"""Arrow files and streams: the same rows as from Parquet, whatever wrote them and however they are damaged."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from nearkin.errors import TruncatedInputError
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import Source, check_keep_column, resolve_sources
from unit.stages.documents.conftest import rows_of

N = 500
TABLE = pa.table(
    {
        "id": pa.array(range(N), pa.int64()),
        "text": [None if i % 50 == 7 else f"It was a dark and stormy night {i} " * (1 + i % 9) for i in range(N)],
        "score": [i / 7 for i in range(N)],
        "more": pa.array([{"tags": ["a"] * (i % 3)} for i in range(N)]),
    },
    metadata={"huggingface": "{}"},
)


def as_file(table: pa.Table, compression: str | None = None) -> bytes:
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=120)
    return sink.getvalue()


def as_stream(table: pa.Table, compression: str | None = None) -> bytes:
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=120)
    return sink.getvalue()


def as_feather(table: pa.Table, compression: str | None = None) -> bytes:
    sink = io.BytesIO()
    pyarrow.feather.write_feather(table, sink, compression=compression or "uncompressed")
    return sink.getvalue()


def as_polars(table: pa.Table, compression: str | None = None) -> bytes:
    """Strings as views."""
    sink = io.BytesIO()
    pl.from_arrow(table).write_ipc(sink, compression=compression or "uncompressed")
    return sink.getvalue()


WRITERS = [as_file, as_stream, as_feather, as_polars]
Write = Callable[..., bytes]


def only(path: Path, **options: object) -> Source:
    (source,) = resolve_sources([str(path)], **options).sources
    return source


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("write", WRITERS)
def test_the_rows_are_those_of_parquet(tmp_path: Path, write: Write, compression: str | None) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet", row_group_size=100)
    expected = rows_of(list(read_batches(only(tmp_path / "a.parquet"))))
    for name in ("a.arrow", "a.feather", "a.ipc", "without-a-suffix"):
        (tmp_path / name).write_bytes(write(TABLE, compression))
        source = only(tmp_path / name)
        assert (source.format, source.text, source.id) == ("arrow", "text", "id")
        check_keep_column([source], "score")
        consumed: list[int] = []
        assert rows_of(list(read_batches(source, progress=consumed.append))) == expected
        assert sum(consumed) == source.size_bytes
    assert rows_of(list(read_batches(source, batch_bytes=777))) == expected
    values = [v for batch in read_batches(source, keep_column="score") for v in batch["keep_value"].to_pylist()]
    assert values == TABLE["score"].to_pylist()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("write", [as_file, as_stream])
def test_bytes_that_are_no_utf8_cost_a_row(tmp_path: Path, write: Write, kind: pa.DataType) -> None:
    raw = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}[kind]

    def bad(*values: bytes | None) -> pa.Array:
        return pa.array(values, pa.binary()).cast(raw).view(kind)

    table = pa.table({"name": bad(b"a", b"\xff id", b"c"), "text": bad(b"fine", b"good", b"\xff bad")})
    (tmp_path / "a.arrow").write_bytes(write(table))
    source = only(tmp_path / "a.arrow")
    assert (source.text, source.id) == ("text", "name")
    rows = rows_of(list(read_batches(source)))
    assert [row[:2] for row in rows] == [("a", b"fine"), ("\\xff id", b"good"), ("c", b"\xff bad")]


@pytest.mark.parametrize("write", [as_file, as_stream, as_polars])
def test_a_file_that_is_cut(tmp_path: Path, write: Write) -> None:
    data, path = write(TABLE), tmp_path / "a.arrow"
    for n in (len(data) - 30, len(data) // 2, 60, 0):
        path.write_bytes(data[:n])
        with pytest.raises(TruncatedInputError, match=r"a\.arrow: .*(truncated|damaged|empty)"):
            list(read_batches(only(path)))
        rows = rows_of(list(read_batches(only(path, rules=ReadingRules(on_error="skip")))))
        assert str(rows[-1][3]).startswith("truncated: ")
        assert [row[1] for row in rows[:-1]] == [
            None if text is None else text.encode() for text in TABLE["text"].to_pylist()[: len(rows) - 1]
        ]
