"""All records of the input with their results beside them, as a program over the tables would write them."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import listing, nearkin_done, nearkin_here, write_jsonl
from made_up_prose import Prose
from nearkin.errors import SourceError

PROSE = Prose(11)
TEXTS = [PROSE.text(30) for _ in range(5)]
RECORDS = [
    {"id": f"é{i}", "text": text, "n": i}
    for i, text in enumerate([*TEXTS, TEXTS[0], f"{TEXTS[1]} more", "few words", f"{TEXTS[1]} and more", ""])
]
NAMES = [f"nearkin_{name}" for name in ("group", "group_size", "similarity", "keep", "verdict")]


def expected(out: Path) -> list[dict[str, object]]:
    """The columns of each document, from the tables."""
    rows = pq.read_table(out / "documents.parquet").to_pylist()
    groups = [row["group_row"] for row in rows]
    values = [
        (row["group_row"], groups.count(row["group_row"]), row["similarity_to_principal"], row["keep"], row["reason"])
        if row["group_row"] is not None
        else (None, None, None, row["keep"], row["reason"])
        for row in rows
    ]
    return [dict(zip(NAMES, row, strict=True)) for row in values]


def written(folder: Path, kind: str) -> Path:
    path = folder / f"in.{kind}"
    if kind == "jsonl":
        return write_jsonl(path, RECORDS)
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(RECORDS), path)
        return path
    with open(path, "w", newline="", encoding="utf-16" if kind == "tsv" else "utf-8") as file:
        table = csv.DictWriter(file, RECORDS[0].keys(), delimiter="\t" if kind == "tsv" else ",")
        table.writeheader()
        table.writerows(RECORDS)
    return path


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "csv", "tsv"])
def test_records_with_their_results(kind, tmp_path):
    path, out = written(tmp_path, kind), tmp_path / "out"
    nearkin_done("dedup", path, "--out", out, "--annotate", "--no-report", "-q")
    own, columns = out / "annotated" / path.name, expected(out)
    assert {row["nearkin_verdict"] for row in columns} >= {"unique", "exact copy", "near-duplicate", "too short"}
    if kind in ("csv", "tsv"):
        with open(own, newline="", encoding="utf-16" if kind == "tsv" else "utf-8") as file:
            found = list(csv.DictReader(file, delimiter="\t" if kind == "tsv" else ","))
        blank = [{name: "" if value is None else str(value) for name, value in row.items()} for row in columns]
        assert found == [
            {name: str(value) for name, value in record.items()} | row
            for record, row in zip(RECORDS, blank, strict=True)
        ]
    else:
        is_table = kind == "parquet"
        found = (
            pq.read_table(own).to_pylist() if is_table else [json.loads(line) for line in own.read_bytes().splitlines()]
        )
        assert found == [record | row for record, row in zip(RECORDS, columns, strict=True)]
    assert not (out / "kept").exists()
    again = nearkin_here("dedup", own, "--out", tmp_path / "again", "--annotate", "--no-report", "-q")
    assert again.code != 0
    assert "nearkin_group" in again.err


def test_other_documents_become_json_lines_and_unreadable_records_stay(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_text(TEXTS[0])
    bad = b'{"id": 1, "text": "' + TEXTS[0].encode() + b'"}\r\n{broken}\n\n{}\n'
    (tmp_path / "in.jsonl").write_bytes(bad)
    out = tmp_path / "out"
    nearkin.dedup([tmp_path / "in.jsonl", tmp_path / "in"], out=out, annotate=True, write_kept=True, max_unreadable=1)
    first, *rest = (out / "annotated/in.jsonl").read_bytes().splitlines(keepends=True)
    assert json.loads(first)["nearkin_group_size"] == 2
    assert first.endswith(b"}\r\n")
    assert rest == [b"{broken}\n", b"\n", b"{}\n"]
    [line] = (out / "annotated/in/a.txt.jsonl").read_text().splitlines()
    assert {json.loads(line)["nearkin_verdict"], json.loads(first)["nearkin_verdict"]} == {"unique", "exact copy"}
    assert (out / "kept").is_dir()
    nearkin.dedup([tmp_path / "in"], out=out, overwrite=True)
    assert not [name for name in listing(out) if "annotated" in name or "kept" in name]


def test_a_file_that_is_cut_off(tmp_path):
    whole = gzip.compress(write_jsonl(tmp_path / "whole.jsonl", RECORDS).read_bytes(), mtime=0)
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[:-60])
    out = tmp_path / "out"
    ended = nearkin_here("dedup", tmp_path / "cut.jsonl.gz", "--out", out, "--annotate", "--on-error", "skip", "-q")
    assert ended.code == 0
    lines = gzip.decompress((out / "annotated/cut.jsonl.gz").read_bytes()).splitlines()
    read = [row for row in pq.read_table(out / "documents.parquet").to_pylist() if row["reason"] != "unreadable"]
    assert [json.loads(line)["id"] for line in lines] == [row["id"] for row in read]


def test_documents_in_memory(tmp_path):
    nearkin.dedup(RECORDS, out=tmp_path / "out", annotate=True)
    lines = (tmp_path / "out/annotated/table.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [record["id"] for record in RECORDS]
    with pytest.raises(SourceError, match="nearkin_group"):
        nearkin.dedup(
            str(write_jsonl(tmp_path / "a.jsonl", [{"text": "a b", "nearkin_group": 7}])), out=tmp_path / "b",
            annotate=True,
        )  # fmt: skip
