"""Runs that earlier versions stored are still read: what they answer is what it was.

``runs/1`` was written by version 0.1.0 before documents had names beside their ids: each id stands there once, and
those that came twice or were missing are replaced by names. It was made from the two files beside it, with

    nearkin dedup FILE --out FILE-dedup --threshold 0.5 --shingle words:3 --no-report
    nearkin dedup mixed.jsonl --against mixed.jsonl --out mixed-against --threshold 0.5 --shingle words:3 --no-report
    nearkin pairs --left mixed.jsonl --right integers.jsonl --threshold 0.2 --top 3 --out mixed-pairs --no-report
    nearkin sign FILE --out FILE.sig

and ``answers.json`` holds what that version answered.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_here
from nearkin.workflows.signing.signature_file import SignatureFile

RUNS = Path(__file__).parent / "runs" / "1"
ANSWERS = json.loads((RUNS / "answers.json").read_text("ascii"))


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """A copy, with its input as it was when it was signed."""
    folder = tmp_path / "runs"
    shutil.copytree(RUNS, folder)
    monkeypatch.chdir(folder)
    signed = [("mixed.sig", "mixed.jsonl"), ("integers.sig", "integers.jsonl")]
    for name, source in signed:
        (one,) = SignatureFile.load(Path(name)).about.inputs
        os.utime(source, ns=(one.changed_ns, one.changed_ns))
    pairs = json.loads(Path("mixed-pairs/manifest.json").read_text())
    for side in ("left", "right"):
        for one in pairs[side]["inputs"]:
            assert os.stat(one["source"]["path"]).st_mtime_ns == one["changed_ns"]
    return folder


@pytest.mark.parametrize("name", ANSWERS["audit"])
def test_audit(runs, name):
    ended = nearkin_here("audit", name, "--json")
    assert (ended.code, ended.err) == (0, "")
    found = json.loads(ended.out)
    assert {key: found[key] for key in ("n_true", "n_found", "n_population", "missed_pairs")} == {
        key: ANSWERS["audit"][name][key] for key in ("n_true", "n_found", "n_population", "missed_pairs")
    }


@pytest.mark.parametrize("name", ANSWERS["regroup"])
def test_regroup(runs, name):
    ended = nearkin_here("regroup", name, "--threshold", "0.6", "--out", "again", "-q", "--no-report")
    ended.assert_quiet("exceptions.csv lists ", "Documents that repeat an id: ", "Join tables by row number ")
    for table, expected in ANSWERS["regroup"][name].items():
        found = pq.read_table(f"again/{table}.parquet")
        assert found.select(list(expected[0])).to_pylist() == expected
    documents = pq.read_table("again/documents.parquet")
    ids = documents["id"].to_pylist()
    assert documents["name"].to_pylist() == list(map(str, ids))
    for column in ("group", "copy_of"):
        rows = documents[f"{column}_row"].to_pylist()
        assert [None if row is None else ids[row] for row in rows] == documents[column].to_pylist()


def test_the_report_of_a_regrouped_run_says_which_lengths_were_compared(runs):
    nearkin_here("regroup", "mixed-dedup", "--threshold", "0.6", "--out", "again", "-q").assert_done()
    report = Path("again/report.html").read_text("utf-8")
    assert "the longest text first (white space counted);" in report
    assert "white space counts only to break a tie" not in report
    nearkin_here("dedup", "mixed.jsonl", "--out", "now", "-q", "--threshold", "0.5").assert_done()
    nearkin_here("regroup", "now", "--threshold", "0.6", "--out", "again", "--overwrite", "-q").assert_done()
    assert "the longest text first (white space counts only to break a tie);" in Path("again/report.html").read_text(
        "utf-8"
    )


@pytest.mark.parametrize("name", ANSWERS["neighbours"])
def test_neighbours(runs, name):
    verify = ("--verify", "jaccard:0.5", "--shingle", "words:3")
    ended = nearkin_here("neighbours", name, "--distance", "60", *verify, "--out", "pairs", "-q")
    assert (ended.code, ended.err) == (0, "")
    expected = ANSWERS["neighbours"][name]
    found = pq.read_table("pairs")
    assert found.select(list(expected[0])).to_pylist() == expected
    names = SignatureFile.load(Path(name)).documents["name"].to_pylist()
    assert [names[row] for row in found["row_a"].to_pylist()] == [str(pair["id_a"]) for pair in expected]
    query = json.loads(nearkin_here("neighbours", name, "--query", names[1], "--distance", "60", "--json").out)
    assert query[0]["name"] in names
