"""Whole runs over files: what is kept, what is read from where, what a run over another collection says."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from functional.conftest import FAST, nearkin_here, run_here, write_jsonl
from nearkin.options.dedup import Delivery
from nearkin.workflows.reading import inputs

KEEPING = Delivery(report=False, write_kept=True)
CERTAIN = 0.999_999_999


def documents(out: Path) -> list[dict[str, object]]:
    return pq.read_table(out / "documents.parquet").to_pylist()


def test_a_folder_of_more_texts_than_a_batch_takes(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "_FILES_AN_INPUT", 200)
    folder = tmp_path / "texts"
    texts = {}
    for i in range(210):
        place = folder / f"{i % 7}" / f"{i:04d}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        texts[f"{i % 7}/{i:04d}.txt"] = f"text number {i // 2} of so many that one batch is not enough for them"
        place.write_text(texts[f"{i % 7}/{i:04d}.txt"])
    run_here([str(folder)], tmp_path / "out", delivery=KEEPING, threshold=1.0)
    rows = documents(tmp_path / "out")
    assert [row["id"].removesuffix(":1") for row in rows] == sorted(texts)
    assert all(row["n_characters"] == len(texts[row["id"].removesuffix(":1")]) for row in rows)
    assert sum(row["keep"] for row in rows) == 105
    left = {str(path.relative_to(tmp_path / "out/kept")) for path in (tmp_path / "out/kept").rglob("*.txt")}
    kept = {row["id"].removesuffix(":1") for row in rows if row["keep"]}
    assert {name.split("/", name.count("/") - 1)[-1] for name in left} == kept


# -- against another collection --------------------------------------------------------------------------------------


def test_what_is_kept_is_what_the_other_collection_lacks(records, tmp_path):
    mine = write_jsonl(tmp_path / "mine.jsonl", records[::2])
    theirs = write_jsonl(tmp_path / "theirs.jsonl", records[1::2])
    run_here([str(mine)], tmp_path / "out", against=[str(theirs)], delivery=KEEPING, recall=CERTAIN)
    again = run_here([str(tmp_path / "out/kept/mine.jsonl")], tmp_path / "again", against=[str(theirs)], recall=CERTAIN)
    assert (again["counts"]["near_duplicate"], again["counts"]["exact_copy"]) == (0, 0)


# -- large groups ----------------------------------------------------------------------------------------------------


def test_compressed_standard_input(tmp_path):

    data = gzip.compress(json.dumps({"id": 1, "text": FAST}).encode() + b"\n")
    ended = nearkin_here("dedup", "-", "--out", tmp_path / "out", "-q", "--no-report", stdin=data)
    assert (ended.code, ended.err) == (0, "")
    assert [row["id"] for row in documents(tmp_path / "out")] == [1]
    table = pq.read_table(tmp_path / "out/documents.parquet")
    assert table["id"].type == pa.int64()
    for options in (["--write-kept"], ["--resume"]):
        refused = nearkin_here("dedup", "-", "--out", tmp_path / "new", *options, stdin=data)
        assert (refused.code, "can be read only once" in refused.err, (tmp_path / "new").exists()) == (2, True, False)
