from __future__ import annotations

import io
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearkin.errors import SourceError
from nearkin.stages.documents.checking import check_columns
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.sources import resolve_sources
from nearkin.stages.documents.tables import read_table

RECORDS = [{"id": i, "text": "t", "quality": 0.5 if i < 30 else "high"} for i in range(40)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, data: bytes) -> str:
    Path(path).write_bytes(data)
    return path


@pytest.mark.parametrize("batch_bytes", [1, 1 << 20])
def test_documents_without_a_number_are_told_once(batch_bytes: int) -> None:
    lines = [f"{r['id']},t,{r['quality']}\n" for r in RECORDS]
    write("a.csv", "".join(["id,text,quality\n", *lines, "bad\n"]).encode())
    write("b.csv", b"id,text,quality\n1,t,1\n")
    pq.write_table(pa.table({"text": ["a", None, "b"], "quality": [1.0, None, None]}), "c.parquet")
    told: list[str] = []
    for source in resolve_sources(["*"]).sources:
        list(read_batches(source, keep_column="quality", batch_bytes=batch_bytes, note=told.append))
    rest = "documents have no number in it; they come after all that have one"
    assert told == [f"a.csv: quality: 10 of 40 {rest}", f"c.parquet: quality: 1 of 2 {rest}"]


def test_rows_of_a_table_without_a_number_are_told_too() -> None:
    told: list[str] = []
    list(read_table(RECORDS, keep_column="quality", note=told.append))
    assert told[0].startswith("the table: quality: 10 of 40 documents")


@pytest.mark.parametrize(
    ("name", "data", "keep", "message"),
    [
        (
            "a.jsonl",
            b'{"text": "a", "q": 1}',
            "p",
            r"a.jsonl: there is no column 'p' \(keep\). The columns are: text, q.",
        ),
        ("a.jsonl", b'{"text": "a", "q": "x"}', "q", r"The column 'q' holds 'x'. The columns are: text, q."),
        ("a.csv", b"text;q\na;1\n", "p", r"a.csv: there is no column 'p' \(keep\). The columns are: text, q."),
        ("a.csv", b"text;q\na;x\n", "q", r"The column 'q' holds 'x'. The columns are: text, q."),
        ("a.txt", b"a", "q", r"a.txt: the column that chooses what to keep .* file has no columns."),
    ],
)
def test_a_column_that_cannot_serve_is_told_before_the_run(name: str, data: bytes, keep: str, message: str) -> None:
    sources = resolve_sources([write(name, data)]).sources
    check_columns(sources)
    with pytest.raises(SourceError, match=message):
        check_columns(sources, keep_column=keep)
    with pytest.raises(SourceError):
        list(read_batches(sources[0], keep_column=keep))


def test_a_text_column_of_numbers_is_told_before_the_run() -> None:
    sources = resolve_sources([write("a.jsonl", b'{"text": "a", "n": 1}\n')], text="n").sources
    with pytest.raises(SourceError, match=r"The column 'n' holds a number. The columns are: text, n."):
        check_columns(sources)


def test_the_schema_of_parquet_is_told_before_the_run() -> None:
    pq.write_table(pa.table({"text": ["a"], "q": ["x"], "n": [1]}), "a.parquet")
    sources = resolve_sources(["a.parquet"]).sources
    check_columns(sources, keep_column="n")
    with pytest.raises(SourceError, match=r"The column 'q' holds string. The columns are: text, q, n."):
        check_columns(sources, keep_column="q")


def test_of_pipes_nothing_is_taken() -> None:
    os.mkfifo("pipe")
    check_columns(resolve_sources(["pipe"], file_format="jsonl").sources, keep_column="q")
    stdin = io.BytesIO(b'{"text": "a", "q": 1}\n')
    sources = resolve_sources(["-"], stdin=stdin).sources
    check_columns(sources, keep_column="q", stdin=stdin)
    with pytest.raises(SourceError, match="-: there is no column 'p'"):
        check_columns(sources, keep_column="p", stdin=stdin)
    assert stdin.tell() == 0


def test_columns_that_went_missing_since_are_told() -> None:
    write("a.csv", b"id,text\n1,a\n")
    sources = resolve_sources(["a.csv"]).sources
    write("a.csv", b"key,text\n1,a\n")
    with pytest.raises(SourceError, match=r"a.csv: there is no column 'id' \(id\). The columns are: key, text."):
        check_columns(sources)
    os.remove("a.csv")
    with pytest.raises(SourceError, match=r"a.csv: cannot be opened"):
        check_columns(sources)
