"""``nearkin add --dry-run`` before there is a collection: the counts of the first load, and nothing left behind."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from functional.conftest import FAST, nearkin_here, write_jsonl
from nearkin.errors import MissingCollectionError


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "in.jsonl", [{"id": str(number), "text": f"{FAST} {number}"} for number in range(3)])


def test_a_first_load_can_be_previewed(tmp_path, place, records, monkeypatch):
    aside = tmp_path / "temporary"
    aside.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(aside))
    also = "--cache", place.cache, "--json", "--index", "43B:k=21"
    ended = nearkin_here("add", place.address, records, "--dry-run", *also)
    ended.assert_done()
    told = json.loads(ended.out)
    assert (told["wave"], told["is_dry_run"], told["n_new"], told["n_contents"]) == ("wave 1", True, 3, 3)
    with pytest.raises(MissingCollectionError):  # in PostgreSQL no schema was made
        place.open(create=False)
    assert list(aside.iterdir()) == []
    done = json.loads(nearkin_here("add", place.address, records, *also).out)
    assert done == told | {"is_dry_run": False}
