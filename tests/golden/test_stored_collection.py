"""A collection stored with today's schema opens, is undamaged, and answers as it did."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import nearkin
from golden.stored_collection import WAVES, answers, fill
from nearkin.store import schema

STORED = WAVES / f"schema-{schema.VERSION}"


def as_recorded(now: Any, recorded: Any) -> Any:
    """Without what was not told when the answers were recorded: more may be told, and what was told stays."""
    if isinstance(recorded, dict):
        return {name: as_recorded(now[name], value) for name, value in recorded.items()}
    if isinstance(recorded, list) and len(now) == len(recorded):
        return [as_recorded(*both) for both in zip(now, recorded, strict=True)]
    return now


def test_a_stored_collection_answers_as_it_did(tmp_path: Path) -> None:
    shutil.copytree(STORED / "stored", tmp_path / "stored")
    with nearkin.Collection.open(tmp_path / "stored") as collection:
        recorded = json.loads((STORED / "answers.json").read_text("utf-8"))
        assert as_recorded(answers(collection), recorded) == recorded
        verified = collection.fsck()
        assert (verified.is_whole, verified.rebuilt) == (True, ())
        assert collection.info().schema == schema.VERSION
        assert collection.groups(gamma=0.3).groups
        collection.add([("late", "A document that came much later than all of the others did.")], wave="late")
        assert collection.text("late").startswith("A document")
        assert collection.check(collection.text("late")).verdict == "exact"
        assert tables(collection) == tables_of_a_new_one(tmp_path)


def tables(collection: nearkin.Collection) -> set[str]:
    with collection.opened.store.reading() as connection:
        return set(connection.exec_driver_sql("SELECT type, name FROM sqlite_master").all())


def tables_of_a_new_one(folder: Path) -> set[str]:
    with nearkin.Collection.open(folder / "new", create=True) as collection:
        return tables(collection)


def test_a_new_collection_answers_the_same(tmp_path: Path) -> None:
    with nearkin.Collection.open(tmp_path / "m", create=True) as collection:
        fill(collection)
        recorded = json.loads((STORED / "answers.json").read_text("utf-8"))
        assert as_recorded(answers(collection), recorded) == recorded
