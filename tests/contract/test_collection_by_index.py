"""Similarity indexes in the store: filled with every text, asked by measure "index", never of two methods."""

from __future__ import annotations

import pyarrow as pa
import pytest

from made_up_prose import Prose
from nearkin.errors import FingerprintError, ParameterError
from nearkin.stages.signatures.similarity_index import SimilarityIndex, interval
from places import refused_before_any_database

INDEX = SimilarityIndex.parse("1B:k=3")
RUSSIAN = "Наниматель платит за дом девятьсот крон первого числа каждого месяца, и дом остаётся цел. "


@pytest.fixture(scope="module")
def documents() -> list[tuple[str, str]]:
    made = Prose(1).families(25)
    return [*made, ("russian", RUSSIAN * 3), ("short", "No"), ("short too", "No"), ("empty", "")]


@pytest.fixture
def collection(place, documents):
    with place.open(similarity_index=INDEX) as collection:
        collection.add(documents, wave="one")
        yield collection


# -- what is stored ---------------------------------------------------------------------------------------------------


def test_every_text_has_its_index(place, documents):
    with place.open(similarity_index=INDEX) as collection:
        collection.add(documents[:40])
        collection.add(documents)
        numbers = {collection.document(doc_id).content: text for doc_id, text in documents}
    texts = pa.array([numbers[i] for i in range(len(numbers))], pa.large_string())
    indexes = INDEX.index(texts)
    table = f"{place.schema}.contents" if place.server else "contents"
    assert place.rows(f"SELECT content, similarity_index FROM {table} ORDER BY content") == [
        (i, value if has else None)
        for i, (value, has) in enumerate(zip(indexes.values.tolist(), indexes.has_value, strict=True))
    ]


# -- what is asked ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tolerance", [0.001, 0.3, 1.0, 2.5])
def test_what_lies_in_the_interval_is_found(collection, documents, tolerance):
    texts = dict(documents)
    made = INDEX.index(pa.array(texts.values(), pa.large_string()))
    own = {doc_id: int(v) if has else None for doc_id, v, has in zip(texts, made.values, made.has_value, strict=True)}
    for doc_id in [*texts][::9]:
        found = collection.similar(doc_id, measure="index", tolerance=tolerance, limit=1000)
        low, high = interval(own[doc_id], tolerance)
        expected = {other for other, si in own.items() if si is not None and low <= si <= high} - {doc_id}
        assert {one.document.doc_id for one in found.documents} == expected
        assert (found.n_found, found.is_answered, found.similarity_index) == (len(expected), True, own[doc_id])
        gaps = [abs(one.similarity_index - own[doc_id]) for one in found.documents]
        assert gaps == sorted(gaps)
        assert found.tolerance.recall is None
        by_text = collection.similar(text=texts[doc_id], measure="index", tolerance=tolerance, limit=1000)
        assert {one.document.doc_id for one in by_text.documents} == expected | {doc_id}


def test_without_an_index_only_equal_texts_are_told(collection):
    found = collection.similar("short", measure="index")
    assert (found.is_answered, found.similarity_index) == (False, None)
    assert [(one.document.doc_id, one.is_same_text) for one in found.documents] == [("short too", True)]
    assert collection.similar(text="xy", measure="index").documents == ()


def test_old_versions_and_what_was_removed_are_not_found(collection, documents):
    text = dict(documents)["f1"]
    collection.add([("again", text)])
    assert "again" in {one.document.doc_id for one in collection.similar("f1", measure="index").documents}
    collection.remove(["again"])
    assert "again" not in {one.document.doc_id for one in collection.similar("f1", measure="index").documents}
    assert collection.versions("f1", measure="index", tolerance=0.1).tolerance.value == 0.1


# -- two methods ------------------------------------------------------------------------------------------------------


def test_another_method_is_refused_with_both_named(place, collection):
    with pytest.raises(FingerprintError, match=r"1B:k=3.*1B:k=4"):
        place.open(similarity_index="1B:k=4")
    with place.open(similarity_index=INDEX) as again:
        assert again.opened.counting.similarity_index.fingerprint == INDEX.fingerprint
    with pytest.raises(ParameterError, match="43B"):
        place.open(similarity_index="nonsense")


@pytest.mark.parametrize("name", ["index", "similarity_index"])
def test_a_method_of_another_nearkin_is_refused(place, collection, name):
    with collection.opened.store.writing() as connection:
        collection.opened.store.write_facts(connection, {name: "similarity-index=99"})
    with pytest.raises(FingerprintError, match="similarity-index=99"):
        place.open()


@refused_before_any_database
@pytest.mark.parametrize("tolerance", [0, -1, float("nan"), float("inf"), 10.5, True, "0.3"])
def test_a_tolerance_that_is_none_is_refused(collection, tolerance):
    with pytest.raises(ParameterError, match="tolerance"):
        collection.similar("f0", measure="index", tolerance=tolerance)
