from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearkin.errors import SourceError
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.sources import check_keep_column, resolve_sources
from nearkin.stages.documents.tables import read_table


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, data: bytes) -> str:
    Path(path).write_bytes(data)
    return path


# -- dates ------------------------------------------------------------------------------------------------------------

DATES = ["2004-02-03T10:00:00Z", "2004-02-03", "2004-02-03T12:00:00+01:00", None, "soon"]
NUMBERS = [1075802400e6, 1075766400e6, 1075806000e6, None, None]


def in_every_format(name: str, values: list[str | None]) -> list[str]:
    rows = [{"text": f"t{i}", "d": value} for i, value in enumerate(values)]
    pq.write_table(pa.Table.from_pylist(rows), f"{name}.parquet")
    lines = "".join(f"{row['text']},{row['d'] or ''}\n" for row in rows)
    return [
        write(f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode()),
        write(f"{name}.csv", f"text,d\n{lines}".encode()),
        write(f"{name}.tsv", f"text,d\n{lines}".replace(",", "\t").encode()),
        f"{name}.parquet",
    ]


def read_to_keep_by(path: str, batch_bytes: int = 1 << 20) -> list[float | None]:
    (source,) = resolve_sources([path]).sources
    batches = list(read_batches(source, keep_column="d", batch_bytes=batch_bytes))
    return [value for batch in batches for value in batch["keep_value"].to_pylist()]


@pytest.mark.parametrize(("batch_bytes", "repeats"), [(1, 1), (1 << 20, 1), (1, 12), (1 << 20, 60)])
def test_dates_in_strings(batch_bytes: int, repeats: int) -> None:
    paths = in_every_format("a", DATES * repeats)
    check_keep_column(resolve_sources(paths).sources, "d")
    for path in paths:
        assert read_to_keep_by(path, batch_bytes) == NUMBERS * repeats, path
    table = pa.Table.from_pylist([{"text": "t", "d": value} for value in DATES])
    for held in (table, table.to_pylist(), table.to_pandas()):
        assert [v for batch in read_table(held, keep_column="d") for v in batch["keep_value"].to_pylist()] == NUMBERS


@pytest.mark.parametrize("is_date_first", [False, True])
def test_numbers_and_dates_in_one_column_are_refused(is_date_first: bool) -> None:
    values: list[object] = [2004, "2004-02-03"][:: -1 if is_date_first else 1]
    write("a.jsonl", "".join(json.dumps({"text": "t", "d": value}) + "\n" for value in values).encode())
    write("a.csv", "".join(["text,d\n", *(f"t,{value}\n" for value in values)]).encode())
    for path in ("a.jsonl", "a.csv"):
        message = f"{path}: the column 'd' holds numbers and dates"
        with pytest.raises(SourceError, match=message):
            check_keep_column(resolve_sources([path]).sources, "d")
