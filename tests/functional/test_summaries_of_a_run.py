"""What the report sums up is what the tables hold: by threshold, by source, by the values of a column."""

from __future__ import annotations

import csv
import json
import random
import re
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_done, nearkin_here, write_jsonl
from oracles.texts import versions

LANGUAGES = ["en", "de", "<b>", None]


@pytest.fixture(scope="module")
def records() -> list[dict[str, object]]:
    chance = random.Random(4)
    texts = versions(4, n_bases=40, n_words=60, n_versions=3, max_edits=9)
    return [
        {"id": i, "text": text, "language": chance.choice(LANGUAGES), "year": chance.choice([2020, 2021])}
        for i, text in enumerate([*texts, *texts[:7], ""])
    ]


def written(records: list[dict[str, object]], folder: Path, kind: str) -> Path:
    path = folder / f"in.{kind}"
    if kind == "jsonl":
        return write_jsonl(path, records)
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
        return path
    with open(path, "w", newline="") as file:
        table = csv.DictWriter(file, records[0].keys())
        table.writeheader()
        table.writerows(records)
    return path


def cells(page: str, heading: str) -> list[list[str]]:
    """The rows of the table under a heading."""
    section = page.partition(f'id="{heading}"')[2].partition("</table>")[0].partition("<tbody>")[2]
    rows = re.findall(r"<tr.*?</tr>", section, re.DOTALL)
    return [[re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<t[hd].*?</t[hd]>", row)] for row in rows]


def counted(out: Path, keys: list[str]) -> dict[str, tuple[int, int, int, int]]:
    """Documents, those dropped, characters, those dropped, by a key of each document."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for key, row in zip(keys, pq.read_table(out / "documents.parquet").to_pylist(), strict=True):
        one = counts[key]
        one[0] += 1
        one[2] += row["n_characters"]
        if not row["keep"] and row["reason"] != "unreadable":
            one[1] += 1
            one[3] += row["n_characters"]
    return {key: (a, b, c, d) for key, (a, b, c, d) in counts.items()}


def numbers(rows: list[list[str]]) -> dict[str, tuple[int, ...]]:
    return {row[6]: tuple(int(row[i].replace(",", "")) for i in (0, 1, 3, 4)) for row in rows}


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "csv"])
def test_carried_columns(records, tmp_path, kind):
    out, again = tmp_path / "out", tmp_path / "again"
    columns = ("--carry", "language", "--carry", "year")
    nearkin_done("dedup", written(records, tmp_path, kind), "--out", out, *columns, "-q")
    nearkin_done("regroup", out, "--threshold", "0.9", "--out", again, "-q")
    for place in (out, again):
        page, documents = (place / "report.html").read_text(), pq.read_table(place / "documents.parquet")
        for number, column in enumerate(("language", "year"), 1):
            assert documents[column].to_pylist() == [row[column] for row in records]
            keys = ["(no value)" if row[column] is None else str(row[column]).replace("<", "&lt;") for row in records]
            keys = [key.replace(">", "&gt;") for key in keys]
            assert numbers(cells(page, f"part-{number}")) == counted(place, keys)


def test_carried_values_of_many_types_are_read_in_one_pass(tmp_path):
    values = [{"a": 7, "b": "x"}, {"a": "7x", "b": True}, {"b": 1.5}, {"a": None, "b": ""}, {"a": 2**70, "b": [1]}]
    path = write_jsonl(tmp_path / "in.jsonl", [{"text": f"text {i}", **row} for i, row in enumerate(values * 30)])
    with open(path, "ab") as file:
        file.write(b'{"text": "not UTF-8", "a": "caf\xe9", "b": 3}\n{broken\n')
    out = tmp_path / "out"
    nearkin_done("dedup", path, "--out", out, "--carry", "a", "--carry", "b", "-q")
    documents = pq.read_table(out / "documents.parquet")
    a, b = ["7", "7x", None, None, str(2**70)], ["x", "true", "1.5", None, "[1]"]
    assert documents["a"].to_pylist() == [*a * 30, r"caf\xe9", None]
    assert documents["b"].to_pylist() == [*b * 30, "3", None]


def test_other_thresholds_are_what_regroup_gives(records, tmp_path):
    out = tmp_path / "out"
    path = written(records, tmp_path, "jsonl")
    nearkin_done("dedup", path, "--out", out, "--threshold", "0.65", "-q")
    rows = {row[0]: row[1:] for row in cells((out / "report.html").read_text(), "thresholds")}
    assert list(rows) == ["0.50", "0.60", "0.65", "0.70", "0.80", "0.90", "0.95"]
    assert [rows[threshold][:3] for threshold in ("0.50", "0.60")] == [["–", "–", "–"]] * 2  # pairs not stored
    assert rows["0.65"][-1] == "this report"
    n_copies = json.loads((out / "manifest.json").read_text("utf-8"))["counts"]["pairs_of_exact_copies"]
    assert n_copies > 1
    assert f"Pairs of exact copies, in each row: {n_copies}." in (out / "report.html").read_text()
    seen = set()
    for threshold in list(rows)[2:]:
        again = nearkin_here("regroup", out, "--threshold", threshold, "--json", "--no-report", "--overwrite")
        counts = json.loads(again.out)["counts"]
        expected = [counts["pairs"] + counts["pairs_of_exact_copies"], counts["groups"], counts["dropped"]]
        assert [int(cell.replace(",", "")) for cell in rows[threshold][:3]] == expected
        seen.add(tuple(expected))
    assert len(seen) > 3
