"""A new collection whose first load fails: it stays empty, and the next load fills it."""

from __future__ import annotations

import pytest

from nearkin.collection.collection import Collection
from nearkin.errors import ParameterError, SourceError
from nearkin.runs.progress import Silent
from nearkin.stages.documents.ignoring import Ignored
from nearkin.workflows.collection.adding import add_files
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources


def test_a_collection_that_a_second_process_fills_is_undamaged(place):
    """It is open beside the one that makes it, and afterwards."""
    with place.open(), place.open() as second:
        second.add([("a", "one text")])
    with place.open(create=False) as collection:
        checked = collection.fsck()
        assert (checked.is_whole, checked.rebuilt) == (True, ())


def test_after_a_first_load_that_fails_the_next_one_fills_the_collection(place, tmp_path):
    bad, good = tmp_path / "bad.jsonl", tmp_path / "good.jsonl"
    bad.write_text('{"id": "a", "text": null}\n')
    good.write_text('{"id": "a", "text": "the rent is 900 crowns"}\n')

    def add(path, ignored=None):
        texts = ReadingRequest(inputs=[str(path)], text="text", doc_id="id").opened(Silent())
        with Collection.open(place.address, create=True, cache=place.cache, ignored=ignored) as collection:
            return add_files(collection, texts, wave=None, resources=Resources(1), progress=Silent()).n_new

    with pytest.raises(SourceError):
        add(bad)
    with pytest.raises(ParameterError, match="which cannot be changed"):
        add(good, Ignored.of(None, numbers=True))
    assert add(good) == 1
    with Collection.open(place.address, cache=place.cache) as collection:
        assert collection.fsck().is_whole
