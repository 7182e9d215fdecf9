"""``nearkin index``: the numbers of files are those that a collection stores for the same documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from functional.conftest import nearkin_done, write_jsonl
from made_up_prose import Prose
from places import SomePlace


def written(folder: Path) -> Path:
    prose = Prose(5)
    records: list[dict[str, Any]] = [{"id": f"d{i}", "text": prose.text(n)} for i, n in enumerate((3, 30, 90, 400))]
    return write_jsonl(folder / "documents.jsonl", [*records, {"id": "bad"}, {"id": "empty", "text": ""}])


def test_the_numbers_are_those_of_a_collection(tmp_path: Path) -> None:
    documents, place = written(tmp_path), SomePlace.new(tmp_path, None)
    lines = [
        json.loads(line) for line in nearkin_done("index", documents, "--index", "1B:k=3", "--json").out.splitlines()
    ]
    nearkin_done("add", place.address, documents, "--index", "1B:k=3")
    with place.open() as collection:
        collection.check("the first check stores the keys")
    stored = dict(place.rows("SELECT doc_id, similarity_index FROM indexed_documents"))
    assert {one["id"]: one["similarity_index"] for one in lines if one["id"] != "bad"} == stored
    assert sum(value is not None for value in stored.values()) >= 3
    keys = place.rows("SELECT doc_id, key FROM check_keys JOIN documents ON documents.content = check_keys.content")
    for one in lines:
        own = [key for doc_id, key in keys if doc_id == one["id"]]
        given = [one["text_key"], *one["band_keys"], *one["sample_keys"]]
        assert sorted(own) == sorted(key for key in given if key is not None)
    assert [len(one["band_keys"]) for one in lines] == [12, 12, 12, 12, 0, 0]
    assert sum(len(one["sample_keys"]) for one in lines) > 5
    assert [one["problem"] is None for one in lines] == [True] * 4 + [False, True]
    assert [one["line"] for one in lines] == [1, 2, 3, 4, 5, 6]
