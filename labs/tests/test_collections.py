"""``python -m labs.collections``, from the outside: its figures against counts by hand."""

from __future__ import annotations

import csv
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from labs.tests.running import lab_here
from made_up_prose import Prose

PROSE = Prose(18)
BASES = [PROSE.text(80) for _ in range(12)]
ROWS = [
    {"text": text, "family": f"f{i}", "kind": "kept"}
    for i, base in enumerate(BASES)
    for text in (base, PROSE.altered(base, 1), PROSE.altered(base, 3), PROSE.text(80))
]
"""Three versions of each text, and one that has only the label."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("lab-collections")
    rows = [*ROWS, {**ROWS[0], "text": ROWS[0]["text"].upper()}, {"text": "left out", "family": "x", "kind": "not"}]
    pq.write_table(pa.Table.from_pylist(rows), where / "table.parquet")
    return where


def run(folder: Path, name: str, *more: str) -> dict[str, list[dict[str, str]]]:
    asked = "collections", folder / "table.parquet", "--only", "kind=kept", "--wrong-labels", "6"
    ended = lab_here(*asked, "--out", folder / name, "--queries", "100", *more)
    assert ended.code == 0, ended.err
    tables = folder / name / "tables"
    return {path.stem: list(csv.DictReader(path.open(encoding="utf-8"))) for path in tables.iterdir()}


def jaccard(a: str, b: str) -> float:
    sets = [{tuple(words[i : i + 5]) for i in range(len(words) - 4)} for words in (a.split(), b.split())]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def of(rows: list[dict[str, str]], measure: str, limit: float) -> dict[str, str]:
    return next(row for row in rows if row["measure"] == measure and float(row["limit"]) == limit)


def test_labels_are_the_truth(folder: Path) -> None:
    found = run(folder, "labels", "--label", "family")
    similar = [
        (a["family"] == b["family"], jaccard(a["text"], b["text"])) for a, b in combinations(ROWS, 2)
    ]  # every word of the prose is a run of letters
    assert sum(same for same, _ in similar) == 12 * 6
    for limit in (0.3, 0.5, 0.7):
        row = of(found["pairs"], "jaccard", limit)
        n_right = sum(same and value >= limit for same, value in similar)
        n_found = sum(value >= limit for _, value in similar)
        assert (int(row["n_right"]), int(row["n_found"]), int(row["n_true"])) == (n_right, n_found, 72)
    at_half = of(found["groups"], "jaccard", 0.5)
    assert float(at_half["precision"]) == 1
    assert 0 < float(at_half["recall"]) <= 0.5  # the fourth text of each family has another wording
    versions, pairs = of(found["versions"], "jaccard", 0.5), of(found["pairs"], "jaccard", 0.5)
    assert (int(versions["n_found"]), int(versions["n_true"])) == (2 * int(pairs["n_found"]), 2 * 72)
    assert float(of(found["conflicts"], "jaccard", 0.5)["precision"]) == 1
    assert int(of(found["conflicts"], "jaccard", 0.5)["n_true"]) == 6


@pytest.mark.soak
def test_without_labels_wording_is_the_truth(folder: Path) -> None:
    found = run(folder, "no-labels")
    at_half = of(found["pairs"], "jaccard", 0.5)
    assert (float(at_half["precision"]), float(at_half["recall"])) == (1, 1)
    assert float(of(found["groups"], "jaccard", 0.5)["recall"]) == 1
    assert float(of(found["versions"], "jaccard", 0.5)["recall"]) == 1


def test_the_page_has_every_table(folder: Path) -> None:
    run(folder, "page", "--label", "family")
    page = (folder / "page/report.html").read_text("utf-8")
    HTMLParser().feed(page)
    assert all(f'id="{name}"' in page for name in ("pairs", "versions", "groups", "conflicts"))
    assert page.count("jaccard 0.5") == 4
    assert "<script" not in page


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--label", "nope"], 3, "no column 'nope'"),
        (["--only", "kind"], 2, "COLUMN=VALUE"),
        (["--leave-out", "x"], 2, "give --label too"),
        (["--only", "kind=not"], 3, "at least 2 distinct texts"),
        (["--seed", "-1"], 2, "seed"),
    ],
)
def test_refused(folder: Path, tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    ended = lab_here("collections", folder / "table.parquet", "--out", tmp_path / "out", *arguments)
    ended.assert_clean()
    assert (ended.code, message in ended.err) == (code, True), ended.err
