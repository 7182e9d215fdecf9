"""Collections that earlier versions stored open, are brought up to date, and answer as they did."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import nearkin
from golden.stored_collection import WAVES, answers, fill
from nearkin.store import schema

STORED = sorted(WAVES.iterdir())


def test_there_is_a_collection_of_every_schema() -> None:
    assert [path.name for path in STORED] == [f"schema-{version + 1}" for version in range(schema.VERSION)]


@pytest.mark.parametrize("folder", STORED, ids=lambda path: path.name)
def test_a_stored_collection_answers_as_it_did(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "stored", tmp_path / "stored")
    with nearkin.Collection.open(tmp_path / "stored") as collection:
        assert answers(collection) == json.loads((folder / "answers.json").read_text("utf-8"))
        assert collection.verify().is_whole
        assert collection.info().schema == schema.VERSION
        assert collection.groups(gamma=0.3).groups
        collection.add([("late", "A document that came much later than all of the others did.")], wave="late")
        assert collection.text("late").startswith("A document")


def test_a_new_collection_answers_the_same(tmp_path: Path) -> None:
    with nearkin.Collection.open(tmp_path / "m", create=True) as collection:
        fill(collection)
        assert answers(collection) == json.loads((STORED[-1] / "answers.json").read_text("utf-8"))
