"""Names of result files: the suffix determines the format, or is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from functional.conftest import FAST, nearkin_here, write_jsonl
from nearkin.errors import ParameterError
from nearkin.jobs.signing import neighbours


@pytest.fixture
def signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_jsonl(Path("some.jsonl"), [{"id": "=a", "text": FAST}, {"id": "b", "text": f"{FAST}."}])
    nearkin_here("sign", "some.jsonl", "--out", "sig", "-q").assert_done()
    return Path("sig")


def test_pairs_of_neighbours_have_the_format_of_their_suffix(signed: Path) -> None:
    for out in ("p.csv", "p.tsv", "p.JSONL"):
        nearkin_here("neighbours", signed, "--distance", "60", "--out", out, "-q").assert_done()
    rows = list(csv.reader(Path("p.csv").read_text().splitlines()))
    assert list(csv.reader(Path("p.tsv").read_text().splitlines(), delimiter="\t")) == rows
    assert rows[0] == ["id_a", "id_b", "row_a", "row_b", "distance"]
    assert rows[1][:4] == ["'=a", "b", "0", "1"]  # no formula for a spreadsheet
    assert [json.loads(line)["id_a"] for line in Path("p.JSONL").read_text().splitlines()] == ["=a"]

    refused = nearkin_here("neighbours", signed, "--out", "p.xlsx")
    assert (refused.code, Path("p.xlsx").exists()) == (2, False)
    assert "--out: must be a file that ends in .csv, .tsv, .jsonl, .parquet, or has no suffix" in refused.err

    found = neighbours(signed, distance=60, out="python.csv")
    assert Path("python.csv").read_bytes() == Path("p.csv").read_bytes()
    assert found.pairs["id_a"].to_pylist() == ["=a"]
    with pytest.raises(ParameterError, match="out: must be a file that ends in"):
        neighbours(signed, out="p.txt")
