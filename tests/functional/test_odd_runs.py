"""Results of a run of which something was exchanged by hand: audit and regroup say that they are damaged, at once."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from functional.conftest import nearkin_done, nearkin_here
from nearkin.runs.files import write_checked_json


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of dedup."""
    folder = tmp_path_factory.mktemp("run")
    texts = [f"one two three four five six seven eight {i // 2}" for i in range(12)]
    (folder / "in.jsonl").write_text(
        "".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts))
    )
    nearkin_done("dedup", folder / "in.jsonl", "--out", folder / "out", "--no-report", "-q")
    return folder / "out"


def piped(name: str) -> Callable[[Path], None]:
    def change(out: Path) -> None:
        (out / name).unlink()
        os.mkfifo(out / name)

    return change


def without(name: str) -> Callable[[Path], None]:
    return lambda out: (out / name).unlink()


def with_value(*path: str | int, value: object) -> Callable[[Path], None]:
    """The manifest with one value exchanged, and its checksum made again."""

    def change(out: Path) -> None:
        manifest = json.loads((out / "manifest.json").read_text())
        del manifest["checksum"]
        place = manifest
        for one in path[:-1]:
            place = place[one]
        place[path[-1]] = value
        write_checked_json(out / "manifest.json", manifest)

    return change


CHANGES = {
    "a pipe for documents": piped("documents.parquet"),
    "a pipe for pairs": piped("pairs.parquet"),
    "no documents": without("documents.parquet"),
    "no pairs": without("pairs.parquet"),
    "a threshold of nothing": with_value("parameters", "threshold", value={}),
    "a measure of nothing": with_value("parameters", "measure", value=[1]),
}
OF_REGROUP = {
    "no rows": with_value("plan", "rows", value=None),
    "bands of nothing": with_value("plan", "bands", value={}),
}


@pytest.mark.parametrize("change", [*CHANGES, *OF_REGROUP])
def test_regroup_says_that_the_run_is_damaged(finished, tmp_path, change):
    shutil.copytree(finished, tmp_path / "run")
    (CHANGES | OF_REGROUP)[change](tmp_path / "run")
    ended = nearkin_here("regroup", tmp_path / "run", "--threshold", "0.9", "--out", tmp_path / "out", "-q")
    assert (ended.code, "damaged" in ended.err or "is missing" in ended.err) == (5, True), ended.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("given", [0, 2, None])
@pytest.mark.parametrize("command", [("audit",), ("regroup", "--threshold", "0.9")])
def test_a_run_of_another_format_is_refused(finished, tmp_path, given, command):
    shutil.copytree(finished, tmp_path / "run")
    with_value("format", value=given)(tmp_path / "run")
    ended = nearkin_here(command[0], tmp_path / "run", *command[1:])
    assert (ended.code, f"has format {given}" in ended.err, ended.out) == (5, True, "")
