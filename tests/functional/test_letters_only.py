"""Matches by letters whose wording does not match: marked wherever they are shown, and never called versions."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from functional.conftest import Ended, nearkin_here, write_jsonl
from made_up_prose import Prose

BADGE = "letters alike, wording not"
TEXT = Prose(5).text(120)
SHUFFLED = " ".join(random.Random(5).sample(TEXT.split(), len(TEXT.split())))
REVISED = TEXT + " And one more."


@pytest.fixture(scope="module")
def matter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("letters")
    records = [{"id": "a", "text": TEXT}, {"id": "shuffled", "text": SHUFFLED}, {"id": "revised", "text": REVISED}]
    assert nearkin_here("add", folder / "matter", write_jsonl(folder / "r.jsonl", records), "--quiet").code == 0
    (folder / "labels.csv").write_text("id,label\na,x\nshuffled,y\n", "utf-8")
    return folder


def run(*arguments: str | Path) -> Ended:
    ended = nearkin_here(*arguments)
    assert ended.code == 0, ended.err
    return ended


def told(*arguments: str | Path) -> Any:
    return json.loads(run(*arguments, "--json").out)


def test_similar(matter: Path) -> None:
    found = told("similar", matter / "matter", "a", "--gamma", "0.1")["documents"]
    assert {one["doc_id"]: one["is_letters_only"] for one in found} == {"shuffled": True, "revised": False}
    assert run("similar", matter / "matter", "a", "--gamma", "0.1").out.count(BADGE) == 1
    assert not any(one["is_letters_only"] for one in told("similar", matter / "matter", "a")["documents"])


def test_groups_and_conflicts(matter: Path, tmp_path: Path) -> None:
    assert BADGE in run("groups", matter / "matter", "--gamma", "0.1", "--out", tmp_path / "g.parquet").out
    members = {one["doc_id"]: one["is_letters_only"] for one in pq.read_table(tmp_path / "g.parquet").to_pylist()}
    assert members == {"a": False, "shuffled": True, "revised": False}
    asked = "conflicts", matter / "matter", matter / "labels.csv", "--gamma", "0.1"
    assert f"({BADGE})" in run(*asked).out
    assert [one["is_letters_only"] for one in told(*asked)["conflicts"]] == [True]
    run(*asked, "--out", tmp_path / "c.parquet")
    assert pq.read_table(tmp_path / "c.parquet")["is_letters_only"].to_pylist() == [True]
