from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearkin.errors import TruncatedInputError
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import Source, resolve_sources

Row = tuple[object, bytes | None, int, str | None]


@pytest.fixture
def read_table_file(tmp_path: Path) -> Callable[..., list[Row]]:
    def write_and_read(
        table: pa.Table, *, keep: str | None = None, batch_bytes: int = 1 << 20, **options: object
    ) -> list:
        path = tmp_path / "input.parquet"
        pq.write_table(table, path, **options)
        (source,) = resolve_sources(
            [str(path)], text="text", doc_id="id" if "id" in table.column_names else None
        ).sources
        consumed: list[int] = []
        batches = list(read_batches(source, keep_column=keep, batch_bytes=batch_bytes, progress=consumed.append))
        assert sum(consumed) == source.size_bytes
        for batch in batches:
            batch.validate(full=True)
        last = "problem" if keep is None else "keep_value"
        names = ("doc_id", "text", "line", last)
        return [row for b in batches for row in zip(*(b[name].to_pylist() for name in names), strict=True)]

    return write_and_read


TEXTS = ["née", None, "", "x" * 1000]
EXPECTED = [(t.encode() if t is not None else None) for t in TEXTS]
TYPES = [
    pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view(), pa.binary_view(),
    pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.int8(), pa.large_string()),
]  # fmt: skip


@pytest.mark.parametrize("type_", TYPES, ids=str)
@pytest.mark.parametrize("batch_bytes", [1, 1 << 20])
def test_every_type_of_characters_is_a_text(
    read_table_file: Callable[..., list[Row]], type_: pa.DataType, batch_bytes: int
) -> None:
    texts = pa.array(TEXTS).cast(pa.string()).cast(type_)
    rows = read_table_file(pa.table({"id": [1, 2, 3, 4], "text": texts}), batch_bytes=batch_bytes, row_group_size=3)
    assert [row[:3] for row in rows] == [(i + 1, t, i + 1) for i, t in enumerate(EXPECTED)]
    assert [row[3] for row in rows] == [None, "empty: the text is null", None, None]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (pa.array([1, None], pa.int16()), [1, None]),
        (pa.array([1, 2**64 - 1], pa.uint64()), ["1", str(2**64 - 1)]),
        (pa.array(["a", None]).dictionary_encode(), ["a", None]),
        (pa.array([1.5, None]), ["1.5", None]),
        (pa.array([date(2020, 1, 2), None]), ["2020-01-02", None]),
        (pa.nulls(2), [None, None]),
        (pa.array([b"\xff", b"a"]), ["\\xff", "a"]),
        (pa.array([["a"], None]), ["['a']", None]),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_ids_stay_integers_or_become_strings(
    read_table_file: Callable[..., list[Row]], ids: pa.Array, expected: list[object]
) -> None:
    assert [row[0] for row in read_table_file(pa.table({"id": ids, "text": ["a", "b"]}))] == expected


def test_damage_ends_in_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"text": [str(i) * 50 for i in range(4000)]}), path, row_group_size=1000, compression="zstd"
    )
    data = bytearray(path.read_bytes())
    middle = pq.ParquetFile(path).metadata.row_group(2).column(0).data_page_offset
    data[middle : middle + 200] = bytes(200)
    path.write_bytes(data)
    source = Source(path=str(path), name="a", format="parquet", text="text", size_bytes=len(data))
    with pytest.raises(TruncatedInputError, match=r"^a: the Parquet data is damaged: .*, after 2,000 documents"):
        list(read_batches(source))
    batches = list(read_batches(replace(source, takes_damaged=True)))
    problems = [p for b in batches for p in b["problem"].to_pylist() if p]
    assert len(problems) == 1
    assert problems[0].startswith("truncated: the Parquet data is damaged: ")
    assert [line for b in batches for line in b["line"].to_pylist()] == list(range(1, 2002))


def test_what_is_a_part_of_a_parquet_file_is_truncated(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a", "b"]}), path)
    whole = path.read_bytes()
    for data, message in (
        (whole[:-20], "the Parquet file is truncated: its footer is missing"),
        (b"PAR1 and no more", "the Parquet file is truncated: its footer is missing"),
        (b"", "the file is empty"),
        (whole[:-12] + bytes(8) + b"PAR1", "the Parquet file is damaged"),
    ):
        path.write_bytes(data)
        with pytest.raises(TruncatedInputError, match=message):
            resolve_sources([str(path)])
        (source,) = resolve_sources([str(path)], rules=ReadingRules(on_error="skip")).sources
        (batch,) = read_batches(source)
        assert batch["problem"][0].as_py().startswith(f"truncated: {message}")
