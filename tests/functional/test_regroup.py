"""Groups cut anew from stored pairs are those that a fresh run at that threshold gives."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import listing, nearkin_here, results, run_here, write_jsonl
from nearkin.errors import ParameterError, RunError
from nearkin.workflows.dedup.regrouping import regroup

CERTAIN = 0.999_999_999


@pytest.fixture(scope="module")
def short(records, tmp_path_factory) -> list[str]:
    """Documents that are searched exactly, so that no run misses a pair."""
    some = [record for record in records if len(str(record["text"])) < 400]
    return [str(write_jsonl(tmp_path_factory.mktemp("short") / "in.jsonl", some))]


@pytest.fixture(scope="module")
def low(short, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("low") / "out"
    run_here(short, out, threshold=0.5, recall=CERTAIN)
    return out


def tables(out: Path) -> dict[str, pa.Table]:
    return {name: pq.read_table(out / f"{name}.parquet") for name in ("documents", "pairs", "groups")}


def assert_same_groups(ours: dict[str, pa.Table], fresh: dict[str, pa.Table]) -> None:
    """All but the lowest similarity, which the stored pairs do not always tell."""
    assert ours["documents"] == fresh["documents"]
    assert ours["pairs"] == fresh["pairs"]
    unknown = ["lowest_similarity", "is_lowest_exact"]
    assert ours["groups"].drop_columns(unknown) == fresh["groups"].drop_columns(unknown)
    for row, exact in zip(ours["groups"].to_pylist(), fresh["groups"].to_pylist(), strict=True):
        assert exact["is_lowest_exact"]
        if row["is_lowest_exact"]:
            assert row["lowest_similarity"] == exact["lowest_similarity"]
        else:
            assert row["lowest_similarity"] >= exact["lowest_similarity"]
        if exact["lowest_similarity"] >= 0.5:  # the run has stored the pair
            assert row["lowest_similarity"] == exact["lowest_similarity"]


@pytest.mark.parametrize("threshold", [0.75, 1.0])
def test_at_a_higher_one(short, low, tmp_path, threshold):
    out, manifest = regroup(low, threshold=threshold, out=tmp_path / "cut", report=False)
    fresh = run_here(short, tmp_path / "fresh", threshold=threshold, recall=CERTAIN)
    assert_same_groups(tables(out), tables(tmp_path / "fresh"))
    shared = set(manifest.counts) & set(fresh["counts"])
    assert {name: manifest.counts[name] for name in shared} == {name: fresh["counts"][name] for name in shared}
    assert {"documents", "kept", "groups", "pairs", "bridges_refused", "near_duplicate"} <= shared
    assert manifest.threshold == threshold
    assert manifest.found_at_threshold == 0.5


@pytest.mark.parametrize(
    ("keep", "group"), [("first", "principal"), ("shortest", "component"), ("max:score", "principal")]
)
def test_by_another_rule(short, tmp_path, keep, group):
    other = {"principal": "component", "component": "principal"}[group]
    run_here(short, tmp_path / "run", threshold=0.5, recall=CERTAIN, keep=keep, group=group)
    run_here(short, tmp_path / "fresh", threshold=0.7, recall=CERTAIN, keep=keep, group=other)
    out, _ = regroup(tmp_path / "run", threshold=0.7, group=other, out=tmp_path / "cut", report=False)
    ours, fresh = tables(out), tables(tmp_path / "fresh")
    # the run has stored pairs below 0.7, so it knows more of them
    unknown = ["similarity_to_principal", "differs"] if other == "component" else []
    assert ours["documents"].drop_columns(unknown) == fresh["documents"].drop_columns(unknown)
    for name in unknown:
        known = [(a, b) for a, b in zip(ours["documents"][name], fresh["documents"][name], strict=True) if b.is_valid]
        assert [a for a, _ in known] == [b for _, b in known] != []
    assert ours["groups"]["group"] == fresh["groups"]["group"]


def test_containment(short, tmp_path):
    run_here(short, tmp_path / "run", threshold=0.5, recall=CERTAIN, measure="containment")
    run_here(short, tmp_path / "fresh", threshold=0.8, recall=CERTAIN, measure="containment")
    out, _ = regroup(tmp_path / "run", threshold=0.8, out=tmp_path / "cut", report=False)
    assert_same_groups(tables(out), tables(tmp_path / "fresh"))


def test_the_command(low, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(low, run)
    before = listing(run)
    ended = nearkin_here("regroup", run, "--threshold", "0.9", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out)["command"] == "regroup"
    made = {"threshold-0.9", *(f"threshold-0.9/{n}" for n in ("documents.parquet", "pairs.parquet", "groups.parquet"))}
    assert listing(run) - before >= made | {"threshold-0.9/manifest.json", "threshold-0.9/report.html"}
    assert listing(run) >= before
    again = nearkin_here("regroup", run, "--threshold", "0.9", "-q")
    assert (again.code, "--overwrite" in again.err) == (5, True)
    said = nearkin_here("regroup", run, "--threshold", "0.9", "--no-report", "--overwrite").out
    earlier, later = (sum(tables(one)["documents"]["keep"].to_pylist()) for one in (run, run / "threshold-0.9"))
    assert f"now kept, dropped before {later - earlier} at 0.50" in " ".join(said.split())
    assert "report.html" not in listing(run / "threshold-0.9")


@pytest.mark.parametrize("threshold", [0.49, 0.0, 1.1, float("nan")])
def test_thresholds_that_cannot_be(low, tmp_path, threshold):
    with pytest.raises(ParameterError, match="threshold"):
        regroup(low, threshold=threshold, out=tmp_path / "cut", report=False)
    assert not list(tmp_path.glob("cut/*.parquet"))


def test_a_run_of_two_sets_is_not_regrouped(short, tmp_path):
    run_here(short, tmp_path / "against", against=short)
    with pytest.raises(RunError, match=r"compares two sets and makes none\. Run it again with the higher --threshold"):
        regroup(tmp_path / "against", threshold=0.9)


def test_the_run_itself_is_not_replaced(low):
    before = results(low)
    with pytest.raises(ParameterError, match="--out"):
        regroup(low, threshold=0.9, out=low, overwrite=True)
    assert results(low) == before
