"""Limits of extraction: with a higher one, a file that was refused is read."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq

from functional.conftest import nearkin_done
from generator import office_files as make
from made_up_prose import Prose

PROSE = Prose(29)
TEXT = PROSE.text(80)


def exceptions_in(run: Path) -> dict[str, tuple[str, str]]:
    if not (run / "exceptions.csv").exists():
        return {}
    with (run / "exceptions.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: (row["exception"], row["sentence"]) for row in csv.DictReader(file)}


def test_what_a_limit_refused_is_read_with_a_higher_one_and_the_run_remembers_it(tmp_path):
    """An audit and another threshold read the files again: with the limits of the run, else they find other files."""
    folder, out = tmp_path / "case", tmp_path / "out"
    folder.mkdir()
    (folder / "x.zip").write_bytes(make.zipped({"a.zip": make.zipped({"a.txt": TEXT, "b.txt": f"{TEXT} More."})}))
    (folder / "y.txt").write_text(TEXT)
    usual = ("--no-report", "--threshold", "0.5")
    nearkin_done("dedup", folder, "--out", out, *usual, "--extraction-limit", "levels=1")
    assert list(exceptions_in(out)) == ["x.zip!a.zip!#1"]
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["reading"]["extraction_limits"] == {"levels": 1}
    nearkin_done("audit", out)
    nearkin_done("dedup", folder, "--out", out, *usual, "--overwrite")
    assert exceptions_in(out) == {}
    assert json.loads((out / "manifest.json").read_text())["reading"]["extraction_limits"] is None
    ids = pq.read_table(out / "documents.parquet")["id"].to_pylist()
    assert sorted(ids) == ["x.zip!a.zip!a.txt", "x.zip!a.zip!b.txt", "y.txt"]
