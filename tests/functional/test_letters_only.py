"""Matches by letters whose wording does not match: marked wherever they are shown, and never called versions."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_done, nearkin_json, write_jsonl
from made_up_prose import Prose

BADGE = "letters alike, wording not"
TEXT = Prose(5).text(120)
SHUFFLED = " ".join(random.Random(5).sample(TEXT.split(), len(TEXT.split())))
REVISED = TEXT + " And one more."


@pytest.fixture(scope="module")
def matter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("letters")
    records = [{"id": "a", "text": TEXT}, {"id": "shuffled", "text": SHUFFLED}, {"id": "revised", "text": REVISED}]
    nearkin_done("add", folder / "matter", write_jsonl(folder / "r.jsonl", records), "--quiet")
    (folder / "labels.csv").write_text("id,label\na,x\nshuffled,y\n", "utf-8")
    return folder


def test_groups_and_conflicts(matter: Path, tmp_path: Path) -> None:
    assert BADGE in nearkin_done("groups", matter / "matter", "--gamma", "0.1", "--out", tmp_path / "g.parquet").out
    members = {one["doc_id"]: one["is_letters_only"] for one in pq.read_table(tmp_path / "g.parquet").to_pylist()}
    assert members == {"a": False, "shuffled": True, "revised": False}
    asked = "conflicts", matter / "matter", matter / "labels.csv", "--gamma", "0.1"
    assert f"({BADGE})" in nearkin_done(*asked).out
    assert [one["is_letters_only"] for one in nearkin_json(*asked)["conflicts"]] == [True]
    nearkin_done(*asked, "--out", tmp_path / "c.parquet")
    assert pq.read_table(tmp_path / "c.parquet")["is_letters_only"].to_pylist() == [True]
