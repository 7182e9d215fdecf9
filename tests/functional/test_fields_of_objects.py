"""Texts inside objects and lists are named by a path; ids and labels beside them are never guessed as the text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import nearkin_here

NESTED = [{"id": str(i), "text": f"text {i}", "meta": {"site": "a", "q": {"score": i}}} for i in range(3)]


def written(path: Path, records: list[dict[str, object]]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(records), path)
    return path


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("arguments", [("--carry", "meta.site"), ("--keep", "max:meta.q.score"), ("--id", "meta.site")])
def test_fields_inside_an_object_are_neither_ids_nor_values(suffix, arguments, tmp_path):
    path = written(tmp_path / f"in.{suffix}", NESTED)
    assert nearkin_here("dedup", path, *arguments, "--out", tmp_path / "out").code == 3


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
