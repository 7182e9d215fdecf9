"""A new collection whose first load fails: it is removed, unless somebody else uses it."""

from __future__ import annotations

import pytest

from nearkin.collection.collection import Collection
from nearkin.errors import MissingCollectionError, ParameterError, SourceError
from nearkin.runs.progress import Silent
from nearkin.stages.documents.ignoring import NOTHING, Ignored
from nearkin.workflows.collection.adding import add_files
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources


def test_a_first_load_that_fails_leaves_a_collection_that_another_process_has_opened(place, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "a", "text": null}\n')
    texts = ReadingRequest(inputs=[str(bad)], text="text", doc_id="id").opened(Silent())
    with place.open() as first, place.open() as second:
        with pytest.raises(SourceError) as caught:
            add_files(first, texts, wave=None, resources=Resources(1), progress=Silent())
        assert "remains, because another process has opened it." in caught.value.__notes__[0]
        assert second.add([("a", "one")]).n_new == 1
    with place.open(create=False) as collection:
        assert collection.fsck().is_whole


def test_a_first_load_that_fails_leaves_nothing(place, tmp_path):
    bad, good = tmp_path / "bad.jsonl", tmp_path / "good.jsonl"
    bad.write_text('{"id": "a", "text": null}\n')
    good.write_text('{"id": "a", "text": "the rent is 900 crowns"}\n')
    without_digits = Ignored.of(None, numbers=True)

    def add(path, ignored):
        texts = ReadingRequest(inputs=[str(path)], text="text", doc_id="id").opened(Silent())
        with Collection.open(place.address, create=True, cache=place.cache, ignored=ignored) as collection:
            add_files(collection, texts, wave=None, resources=Resources(1), progress=Silent())
            return collection.opened.counting.ignored

    with pytest.raises(SourceError):
        add(bad, without_digits)
    with pytest.raises(MissingCollectionError):
        place.open(create=False)
    assert not (tmp_path / place.address).exists()
    assert add(good, None) == NOTHING
    with pytest.raises(ParameterError, match="they are fixed"):
        add(good, without_digits)
    with Collection.open(place.address, cache=place.cache) as collection:
        assert collection.fsck().is_whole
