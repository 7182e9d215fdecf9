"""A field inside an object of a record is no column: the error says so."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import nearkin_here
from nearkin.errors import SourceError

NESTED = [{"id": str(i), "text": f"text {i}", "meta": {"site": "a", "q": {"score": i}}} for i in range(3)]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    "arguments", [("--by", "meta.site"), ("--text", "meta.site"), ("--keep", "max:meta.q.score"), ("--id", "meta.site")]
)
def test_fields_inside_an_object_cannot_be_named(suffix, arguments, tmp_path):
    path = tmp_path / f"in.{suffix}"
    if suffix == "jsonl":
        path.write_text("".join(json.dumps(one) + "\n" for one in NESTED), encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(NESTED), path)
    hint = "Fields inside an object ('meta') cannot be named; lift them to the top level."
    ended = nearkin_here("dedup", path, *arguments, "--out", tmp_path / "out")
    assert (ended.code, hint in " ".join(ended.err.split())) == (3, True), ended.err
    other = [one.replace("meta.", "text.") for one in arguments]
    ended = nearkin_here("dedup", path, *other, "--out", tmp_path / "out")
    assert (ended.code, "Fields inside" in ended.err) == (3, False), ended.err


def test_fields_inside_an_object_in_memory_cannot_be_named():
    with pytest.raises(SourceError, match=r"Fields inside an object \('meta'\) cannot be named"):
        nearkin.dedup(NESTED, text="meta.site")
    with pytest.raises(SourceError, match=r"Fields inside an object \('meta'\) cannot be named"):
        nearkin.dedup(pa.Table.from_pylist(NESTED), text="meta.site")


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("given", [(), ("--text", "messages"), ("--text", "messages.0.content")], ids=" ".join)
def test_texts_inside_a_list_cannot_be_named(suffix, given, tmp_path):
    records, path = [{"id": i, "messages": [{"role": "user", "content": "a b c"}]} for i in range(3)], tmp_path / "in"
    path = path.with_suffix(f".{suffix}")
    if suffix == "jsonl":
        path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(records), path)
    ended = nearkin_here("dedup", path, *given, "--out", tmp_path / "out")
    hint = "Fields inside a list ('messages') cannot be named; lift them to the top level."
    assert (ended.code, hint in " ".join(ended.err.split())) == (3, True), ended.err
