"""The stored collection, copied to PostgreSQL, answers as in SQLite and has the tables of a new one."""

from __future__ import annotations

import json
from pathlib import Path

import postgresql
from golden.in_postgresql import copy_to_postgresql
from golden.stored_collection import answers
from golden.test_stored_collection import STORED, as_recorded
from places import SomePlace


def test_a_stored_collection_answers_as_it_did(tmp_path: Path, server: postgresql.Server) -> None:
    place = SomePlace.new(tmp_path, server)
    copy_to_postgresql(STORED / "stored", place)
    with place.open(create=False) as collection:
        recorded = json.loads((STORED / "answers.json").read_text("utf-8"))
        assert as_recorded(answers(collection), recorded) == recorded
        verified = collection.fsck()
        assert (verified.is_whole, verified.rebuilt) == (True, ())
        assert collection.groups(gamma=0.3).groups
        collection.add([("late", "A document that came much later than all of the others did.")], wave="late")
        assert collection.check(collection.text("late")).verdict == "exact"
        assert objects(place) == objects_of_a_new_one(place)


def objects(place: SomePlace) -> set[str]:
    tables = (
        f"SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = '{place.schema}'"
    )
    indexes = f"SELECT indexname FROM pg_indexes WHERE schemaname = '{place.schema}'"
    return {*place.sql(tables).split(), *place.sql(indexes).split()}


def objects_of_a_new_one(place: SomePlace) -> set[str]:
    new = place.another()
    with new.open() as collection:
        collection.add([("a", "A document of a new collection."), ("b", "A document of a new collection, too.")])
        collection.groups(gamma=0.3)
        collection.check("A document")
        return objects(new)
