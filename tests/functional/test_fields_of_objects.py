"""Values inside objects are named by a path, and a text in several columns by their names."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import nearkin_done, nearkin_here
from nearkin.errors import MissingColumnError, ParameterError

WORDS = [f"word{i}" for i in range(40)]
PARTS: list[dict[str, Any]] = [
    {"meta": {"uid": 7, "q": {"score": 1}}, "title": "A ferry", "body": " ".join(WORDS), "other": "x"},
    {"meta": {"uid": 8, "q": {"score": 3}}, "title": "A ferry", "body": " ".join(WORDS), "other": "y"},
    {"meta": {"uid": 9, "q": {"score": 2}}, "title": "", "body": " ".join(WORDS[::-1]), "other": "z"},
    {"meta": {"uid": 10, "q": {"score": 0}}, "title": None, "body": None, "other": "z"},
    {"meta": {"uid": 11, "q": {"score": 5}}, "title": " ".join(WORDS[::-1]), "body": "", "other": "z"},
]


def written(path: Path, records: list[dict[str, Any]]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    elif path.suffix in (".csv", ".tsv"):
        with open(path, "w", encoding="utf-8", newline="") as file:
            rows = csv.DictWriter(file, [*records[0]], delimiter="," if path.suffix == ".csv" else "\t")
            rows.writeheader()
            rows.writerows(records)
    else:
        pq.write_table(pa.Table.from_pylist(records), path)
    return path


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "records", "table"])
def test_an_id_and_a_value_to_keep_by_are_named_inside_objects(suffix, tmp_path):
    documents: Any = PARTS if suffix == "records" else pa.Table.from_pylist(PARTS)
    if suffix in ("jsonl", "parquet"):
        documents = str(written(tmp_path / f"in.{suffix}", PARTS))
    result = nearkin.dedup(documents, text="title,body", id="meta.uid", keep="max:meta.q.score")
    rows = result.documents.to_pylist()
    assert [row["id"] for row in rows] == [7, 8, 9, 10, 11]
    assert [row["keep"] for row in rows] == [False, True, False, False, True]
    assert [row["reason"] for row in rows] == ["exact copy", "unique", "exact copy", "unreadable", "unique"]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    "arguments", [("--carry", "meta.site"), ("--keep", "max:meta.no"), ("--id", "meta.no"), ("--id", "meta[].uid")]
)
def test_what_is_nowhere_inside_an_object_ends_the_command(suffix, arguments, tmp_path):
    path = written(tmp_path / f"in.{suffix}", PARTS)
    nearkin_done("dedup", path, "--text", "body", *arguments, "--out", tmp_path / "out", code=3)


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "csv", "tsv"])
def test_the_text_of_several_columns_is_joined_by_a_blank_line(suffix, tmp_path):
    records = [{"id": i, **{name: one[name] or "" for name in ("title", "body")}} for i, one in enumerate(PARTS)]
    path = written(tmp_path / f"in.{suffix}", records)
    documents = nearkin.dedup(str(path), text="title, body").documents
    joined = ["A ferry " + " ".join(WORDS), " ".join(WORDS[::-1]), ""]
    reasons = nearkin.dedup([joined[i] for i in (0, 0, 1, 2, 1)]).documents["reason"].to_pylist()
    assert documents["reason"].to_pylist()[:3] == reasons[:3]
    assert documents["reason"].to_pylist()[4] == "exact copy"
    assert documents["n_shingles"].to_pylist()[0] == nearkin.dedup([joined[0]]).documents["n_shingles"].to_pylist()[0]
    found = nearkin.dedup(str(path), text="body", against=str(path), against_text="title,body", measure="containment")
    assert found.documents["reason"].to_pylist()[:3] == ["near-duplicate"] * 2 + ["exact copy"]
    for wrong in ("title,nothing", "title,id.x"):
        with pytest.raises(MissingColumnError):
            nearkin.dedup(str(path), text=wrong)


def test_a_column_whose_name_has_a_comma_is_one_column(tmp_path):
    records = [{"title, short": one["body"] or "", "title": "x", "short": "y"} for one in PARTS[:3]]
    for suffix in ("jsonl", "parquet", "csv"):
        result = nearkin.dedup(str(written(tmp_path / f"in.{suffix}", records)), text="title, short")
        assert result.documents["reason"].to_pylist() == ["unique", "exact copy", "unique"]


def test_columns_lazy_frames_and_splits_are_documents(tmp_path):
    rows = [{"id": i, "text": one["body"]} for i, one in enumerate(PARTS[:3])]
    columns = {name: [row[name] for row in rows] for name in ("id", "text")}
    polars, datasets = pytest.importorskip("polars"), pytest.importorskip("datasets")
    halves = {"train": datasets.Dataset.from_list(rows[:1]), "test": datasets.Dataset.from_list(rows[1:])}
    streams = datasets.IterableDatasetDict({name: half.to_iterable_dataset() for name, half in halves.items()})
    for documents in (columns, polars.LazyFrame(rows), datasets.DatasetDict(halves), streams):
        result = nearkin.dedup(documents)
        assert result.documents["reason"].to_pylist() == ["unique", "exact copy", "unique"]
    assert nearkin.dedup({"text": ["one", 2]}).documents["reason"].to_pylist()[1] == "unreadable"
    for wrong in ({"id": "a", "text": "one text"}, {"id": [1], "text": ["a", "b"]}):
        with pytest.raises(ParameterError):
            nearkin.dedup(wrong)


CHATS = [
    {"conversation_id": f"c{i}", "lang": "en", "messages": [{"role": "user", "content": text}, {"role": "bot"}]}
    for i, text in enumerate(["Where is the ferry? It left.", "Where is the ferry? It left.", "What time is it?"])
]
INSIDE = {
    "messages[].content": [one["messages"] for one in CHATS],
    "messages[]": [["Where is the ferry?", "It left."], ["Where is the ferry?", "It left."], ["What time is it?"]],
    "messages.content": [{"content": text, "n": 1} for text in ("It left.", "It left.", "What time is it?")],
}


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "arrow"])
@pytest.mark.parametrize("path", INSIDE)
def test_a_text_inside_a_list_or_an_object_is_named_by_its_path(suffix, path, tmp_path):
    records = [{**one, "messages": value} for one, value in zip(CHATS, INSIDE[path], strict=True)]
    if suffix == "arrow":
        table: Any = pa.Table.from_pylist(records)
        result = nearkin.dedup(table, text=path)
    else:
        result = nearkin.dedup(str(written(tmp_path / f"in.{suffix}", records)), text=path)
    assert result.documents["reason"].to_pylist() == ["unique", "exact copy", "too short"]
    assert nearkin.dedup(records, text=path).documents["reason"].to_pylist() == ["unique", "exact copy", "too short"]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("given", [(), ("--text", "messages"), ("--text", "messages[].word"), ("--text", "lang.x")])
def test_ids_and_labels_beside_objects_are_never_the_text(suffix, given, tmp_path):
    path = written(tmp_path / f"in.{suffix}", CHATS)
    ended = nearkin_here("dedup", path, *given, "--out", tmp_path / "out")
    assert (ended.code, (tmp_path / "out").exists()) == (3, False), ended.err
    assert given or "conversation_id" in " ".join(ended.err.split())
