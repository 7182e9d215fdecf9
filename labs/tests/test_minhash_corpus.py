from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from labs.minhash.corpus import TitledRequest, read_first
from nearkin.errors import ParameterError, SourceError
from nearkin.runs.progress import Silent


def write_jsonl(path: Path, records: list[object]) -> str:
    path.write_text("".join(f"{r if isinstance(r, str) else json.dumps(r)}\n" for r in records), encoding="utf-8")
    return str(path)


def test_first_documents_are_lower_case_and_otherwise_as_they_came(tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "a.jsonl", [{"id": str(i), "text": f"Text  NO\t{i}"} for i in range(5)])
    documents = read_first(TitledRequest(inputs=[corpus]), 3, Silent())
    assert documents.ids.to_pylist() == ["0", "1", "2"]
    assert documents.texts.to_pylist() == ["text  no\t0", "text  no\t1", "text  no\t2"]


def test_empty_and_broken_records_are_passed_over_and_counted(tmp_path: Path) -> None:
    records = [{"text": "one"}, {"text": " "}, "{broken", {"text": "two"}, {"text": ""}, {"text": "three"}]
    corpus = write_jsonl(tmp_path / "a.jsonl", records)
    documents = read_first(TitledRequest(inputs=[corpus]), 2, Silent())
    assert documents.texts.to_pylist() == ["one", "two"]
    assert (documents.n_empty, documents.n_unreadable) == (1, 1)  # what comes after the last one is not counted
    assert len(read_first(TitledRequest(inputs=[corpus]), 100, Silent())) == 3


def test_title_stands_before_the_text(tmp_path: Path) -> None:
    records = [{"title": "Head", "text": "Body"}, {"title": None, "text": "Alone"}, {"text": "No title"}]
    corpus = write_jsonl(tmp_path / "a.jsonl", records)
    documents = read_first(TitledRequest(inputs=[corpus], title="title"), 3, Silent())
    assert documents.texts.to_pylist() == ["head body", " alone", " no title"]


def test_title_of_parquet_keeps_to_its_row(tmp_path: Path) -> None:
    n = 3000
    table = pa.table(
        {"text": [f"t{i} " + "x" * 500 for i in range(n)], "title": [f"h{i}" for i in range(n)], "id": list(range(n))}
    )
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=700)
    documents = read_first(TitledRequest(inputs=[str(tmp_path / "a.parquet")], title="title"), n, Silent())
    assert [text.split()[:2] for text in documents.texts.to_pylist()] == [[f"h{i}", f"t{i}"] for i in range(n)]


def test_title_needs_columns(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    (tmp_path / "b.txt").write_text("two")
    with pytest.raises(ParameterError, match="title: must be omitted"):
        read_first(TitledRequest(inputs=[str(tmp_path)], title="title"), 2, Silent())


def test_title_must_be_a_column(tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "a.jsonl", [{"text": "one"}, {"text": "two"}])
    with pytest.raises(SourceError, match="there is no column 'headline'"):
        read_first(TitledRequest(inputs=[corpus], title="headline"), 2, Silent())


def test_one_document_is_too_few(tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "a.jsonl", [{"text": "one"}, {"text": ""}])
    with pytest.raises(SourceError, match="at least 2 documents"):
        read_first(TitledRequest(inputs=[corpus]), 10, Silent())
