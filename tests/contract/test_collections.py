"""What a collection holds: the same in a directory and in PostgreSQL."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from example_counts import every
from extracted_documents import incoming
from nearkin.collection.collection import Collection
from nearkin.collection.loads.adding import add_incoming
from nearkin.collection.loads.incoming import Incoming
from nearkin.errors import CollectionError, DocumentError, ParameterError, SourceError, UnknownDocumentError
from nearkin.reports.facts.stored import info_facts
from nearkin.stages.documents.rules import ReadingRules

LEASE = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord, clause {}."
WILL = "I leave my house and all that is in it to my sister Ann, and my books to the library of the town, {}."


@pytest.fixture
def collection(place):
    with place.open() as collection:
        yield collection


def state(collection: Collection) -> list[tuple[object, ...]]:
    """Every version of every document that a collection holds or held, without times."""
    with collection.opened.store.reading() as connection:
        rows = connection.exec_driver_sql(
            "SELECT doc_id, version, waves.name, source, line, is_current, removed_at IS NOT NULL, content, "
            "n_characters FROM documents JOIN loads USING (load) JOIN waves USING (wave) JOIN contents USING (content) "
            "ORDER BY row"
        ).all()
    return [tuple(bool(x) if i in (5, 6) else x for i, x in enumerate(row)) for row in rows]


def current(collection: Collection) -> dict[str, str]:
    """The text of each document."""
    return {row[0]: collection.text(row[0]) for row in state(collection) if row[5]}


def figures(added) -> tuple[int, ...]:
    return added.n_new, added.n_new_versions, added.n_unchanged, added.n_problems, added.n_contents


# -- what can be added ------------------------------------------------------------------------------------------------

COLUMNS = {"id": ["a", "b"], "text": [LEASE.format(1), WILL.format(2)]}


@pytest.mark.parametrize(
    "documents",
    [
        pa.table(COLUMNS),
        pd.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS),
        list(zip(COLUMNS["id"], COLUMNS["text"], strict=True)),
        [{"id": "a", "text": LEASE.format(1)}, {"id": "b", "text": WILL.format(2)}],
        iter([("a", LEASE.format(1)), ("b", WILL.format(2))]),
    ],
    ids=["arrow", "pandas", "polars", "pairs", "dicts", "iterator"],
)
def test_documents_come_in_many_forms(tmp_path, documents):
    with Collection.open(tmp_path / "matter", create=True) as collection:
        added = collection.add(documents)
        assert (added.wave, added.n_documents, figures(added)) == ("wave 1", 2, (2, 0, 0, 0, 2))
        assert current(collection) == {"a": LEASE.format(1), "b": WILL.format(2)}
        assert [(one.wave, one.line) for one in map(collection.document, "ab")] == [("wave 1", 1), ("wave 1", 2)]


def test_the_same_documents_again_change_nothing(collection):
    documents = [("a", LEASE.format(1)), ("b", WILL.format(2)), ("b", "another text under b"), ("c", None)]
    assert figures(collection.add(documents)) == (2, 0, 0, 2, 2)
    before, problems = state(collection), collection.info().n_problems
    assert figures(collection.add(documents, wave="again")) == (0, 0, 2, 2, 0)
    assert figures(collection.add(reversed(documents[:1]))) == (0, 0, 1, 0, 0)
    assert (state(collection), collection.info().n_problems) == (before, problems)
    assert [wave.name for wave in collection.info().waves] == ["wave 1"]


@pytest.mark.parametrize("seed", every(3, range(6)))
def test_versions_and_counts_are_those_of_the_three_rules(collection, monkeypatch, seed):
    """A model of the table of `docs/collections-in-three-rules.md`."""
    rng = random.Random(seed)
    monkeypatch.setattr("nearkin.stages.documents.tables._BATCH_BYTES", rng.choice([1, 60, 1 << 20]))
    versions, is_current = dict[str, list[str]](), dict[str, bool]()
    for wave in range(6):
        documents = [(rng.choice("abcd"), f"{rng.choice('xyz')} is the text") for _ in range(rng.randint(1, 9))]
        counts, seen = Counter(), set[str]()
        for doc_id, text in documents:
            if is_current.get(doc_id) and versions[doc_id][-1] == text:
                counts["unchanged"] += 1
            elif is_current.get(doc_id) and doc_id in seen:
                counts["exception"] += 1
            else:
                counts["new version" if is_current.get(doc_id) else "new"] += 1
                versions.setdefault(doc_id, []).append(text)
                is_current[doc_id] = True
            seen.add(doc_id)
        added = collection.add(documents, wave=f"w{wave % 4}", max_unreadable=1.0)
        assert (added.n_new, added.n_new_versions, added.n_unchanged, added.n_exceptions) == (
            counts["new"], counts["new version"], counts["unchanged"], counts["exception"],
        )  # fmt: skip
        again = collection.add(documents, wave="again", max_unreadable=1.0)
        before = {doc_id: list(texts) for doc_id, texts in versions.items()}
        assert (again.n_new, again.n_new_versions, again.n_exceptions >= counts["exception"]) == (0, 0, True)
        for doc_id, texts in before.items():
            assert [collection.text(doc_id, version=i + 1) for i in range(len(texts))] == texts
            assert len([row for row in state(collection) if row[0] == doc_id]) == len(texts)
        gone = rng.choice(sorted(versions))
        if is_current[gone]:
            collection.remove([gone])
            is_current[gone] = False
    assert collection.fsck().is_whole


def test_a_load_of_several_batches_is_one_load(collection, monkeypatch):
    monkeypatch.setattr("nearkin.stages.documents.tables._BATCH_BYTES", 100)
    documents = [(str(i), LEASE.format(i // 2)) for i in range(40)]
    assert figures(collection.add(documents, threads=3)) == (40, 0, 0, 0, 20)
    assert current(collection) == dict(documents)


# -- ids and texts of every kind --------------------------------------------------------------------------------------

ODD_IDS = [
    " ", "a'b", 'a"b', "a\\b", "a%b", "a_b", "a;--", "é", "e\u0301", "ß", "SS", "İ", "i", "ı", "Ａ",
    "A", "日本語", "\U0001f469\u200d\U0001f467", "\U0010ffff", "\ufeff", "\u2028", "a ", "?", ":name",
    "%s", "NULL", "\\N", "{}", "$1", "../../etc/passwd", "x" * 1_000,
]  # fmt: skip


def test_ids_of_any_characters_are_kept_apart(collection):
    documents = [(doc_id, LEASE.format(i)) for i, doc_id in enumerate(ODD_IDS)]
    assert figures(collection.add(documents)) == (len(ODD_IDS), 0, 0, 0, len(ODD_IDS))
    assert current(collection) == dict(documents)
    assert figures(collection.add(documents)) == (0, 0, len(ODD_IDS), 0, 0)
    for doc_id in ODD_IDS:
        others = {one.document.doc_id for one in collection.similar(doc_id, gamma=0.5, limit=100).documents}
        assert others == set(ODD_IDS) - {doc_id}
    assert collection.remove(ODD_IDS[::2]).n_documents == len(ODD_IDS[::2])
    assert set(current(collection)) == set(ODD_IDS[1::2])


def test_an_id_that_is_too_long_for_an_index_is_told_as_a_problem(collection):
    chance = random.Random(1)
    long = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=k)) for k in (2_800, 9_000, 100_000)]
    added = collection.add([*((doc_id, "text") for doc_id in long), ("short", "text")], max_unreadable="75%")
    assert (added.n_new, added.n_problems) == (1, 3)
    assert current(collection) == {"short": "text"}
    assert {one.doc_id for one in collection.exceptions().exceptions} == {f"{doc_id[:450]}…" for doc_id in long}


ODD_TEXTS = [
    "", " ", "\0", "a\0b\0", "!?", "\r\n\n", "\ufeff", "x", "\U0010ffff", "e\u0301", "é", "\\x00", "日本語" * 50,
    "\0" * 100_000, "İ" * 30,
]  # fmt: skip


def test_texts_come_back_as_they_came(collection):
    documents = [(str(i), text) for i, text in enumerate(ODD_TEXTS)]
    assert collection.add(documents).n_contents == len(ODD_TEXTS)
    assert current(collection) == dict(documents)
    assert [collection.document(str(i)).n_characters for i in range(len(ODD_TEXTS))] == list(map(len, ODD_TEXTS))
    collection.add([(f"copy {i}", text) for i, text in documents])
    for i, text in documents:  # of almost none of them anything is counted, and equal texts are found all the same
        assert f"copy {i}" in [one.document.doc_id for one in collection.similar(i).documents]
        assert {i, f"copy {i}"} <= {one.document.doc_id for one in collection.similar(text=text).documents}


def test_what_cannot_be_read_is_a_problem_and_the_rest_is_stored(collection):
    documents = [("a", None), ("b", 5), ("c", b"\xff"), ("d", "half \ud800"), ("e", "good")]
    with pytest.raises(DocumentError, match=r"^Unreadable: 4 of 5 documents, 80%, more than the 50%"):
        collection.add(documents)
    with pytest.raises(SourceError, match=r"^No document of 4 is readable"):
        collection.add(documents[:4], max_unreadable=1.0)
    assert (current(collection), collection.info().n_problems) == ({}, 0)
    added = collection.add(documents, max_unreadable=0.8)
    assert (added.n_new, added.n_problems) == (1, 4)
    assert current(collection) == {"e": "good"}
    assert collection.info().n_problems == 4


# -- removal, waves ---------------------------------------------------------------------------------------------------


def test_a_document_that_was_removed_may_come_back(collection):
    collection.add([("a", LEASE.format(1)), ("b", LEASE.format(2))])
    assert collection.remove(["a", "a"]).n_documents == 1
    with pytest.raises(UnknownDocumentError, match="was removed"):
        collection.document("a")
    assert collection.similar("b", gamma=0.5).n_found == 0
    assert collection.text("a", version=1) == LEASE.format(1)
    assert [one.document.doc_id for one in collection.similar("a", version=1, gamma=0.5).documents] == ["b"]
    assert figures(collection.add([("a", LEASE.format(1))])) == (1, 0, 0, 0, 0)
    assert (collection.document("a").version, collection.similar("b", gamma=0.5).n_found) == (2, 1)


def test_a_wave_is_removed_with_what_came_in_it(collection):
    collection.add([("a", "one"), ("b", "two")], wave="Tuesday")
    collection.add([("b", "two and a half"), ("c", "three")], wave="Wednesday")
    assert collection.remove(wave="Tuesday").n_documents == 1
    assert set(current(collection)) == {"b", "c"}
    assert collection.remove(wave="Tuesday").n_documents == 0
    with pytest.raises(UnknownDocumentError, match="'Wednesday'"):
        collection.remove(wave="Thursday")


def test_waves_grow_and_are_named(collection):
    assert [collection.add([(name, name)]).wave for name in "ab"] == ["wave 1", "wave 2"]
    collection.add([("c", "c")], wave="wave 1")
    assert [(one.name, one.n_new) for one in collection.info().waves] == [("wave 1", 2), ("wave 2", 1)]
    assert {name: collection.document(name).wave for name in "abc"} == {"a": "wave 1", "b": "wave 2", "c": "wave 1"}
    assert collection.add([("d", "d")]).wave == "wave 3"


def test_a_wave_must_have_a_name(collection):
    for wave in ("", "  ", "x" * 201, "a\0b", "half \ud800"):
        with pytest.raises(ParameterError, match="wave"):
            collection.add([("a", "a")], wave=wave)
    assert collection.info().waves == ()
    collection.add([("a", "a")], wave=" wave 2 ")
    assert [collection.add([("b", "b")]).wave, *(one.name for one in collection.info().waves)] == [
        "wave 3", "wave 2", "wave 3",
    ]  # fmt: skip


def test_a_load_of_nothing_leaves_no_trace(collection):
    for nothing in ([], pa.table({"id": pa.array([], pa.string()), "text": pa.array([], pa.string())})):
        assert figures(collection.add(nothing, wave="empty")) == (0, 0, 0, 0, 0)
    assert collection.info().waves == ()
    assert collection.similar(text=LEASE).n_found == 0


def test_a_load_that_fails_leaves_no_trace(collection, monkeypatch):
    monkeypatch.setattr("nearkin.stages.documents.tables._BATCH_BYTES", 100)
    collection.add([("a", "one")])
    before = state(collection)

    def documents():
        yield from ((str(i), LEASE.format(i)) for i in range(50))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        collection.add(documents())
    with pytest.raises((SourceError, ParameterError)):
        collection.add(pa.table({"id": [1], "text": ["x"]}), text="body")
    assert state(collection) == before
    assert len(collection.info().waves) == 1


# -- what is not there ------------------------------------------------------------------------------------------------


def test_what_is_not_there_is_not_made_unasked(place):
    with pytest.raises(CollectionError, match="There is no collection at"):
        place.open(create=False)
    assert not place.cache.exists()
    if place.kind == "sqlite":
        assert not place.file.parent.exists()
    else:
        assert place.server.sql(f"SELECT count(*) FROM pg_namespace WHERE nspname = '{place.schema}'") == "0"


def test_the_alphabet_is_chosen_once(place):
    with place.open(alphabet="latin") as collection:
        assert collection.info().alphabet == "latin"
    with place.open() as collection:
        assert collection.opened.counting.letters.n_dimensions == 62
        assert any("nearkin add COLLECTION" in one.note for one in info_facts(collection.info()))
    with pytest.raises(ParameterError, match="latin"):
        place.open(alphabet="universal")
    with place.open() as collection:
        collection.add([("a", LEASE.format(1))])
    with place.another().open() as other:
        assert other.info().alphabet == "universal"


# -- one writer -------------------------------------------------------------------------------------------------------


def test_a_writer_who_has_read_for_longer_waits_as_long(place):
    with place.open() as first, place.open(wait=0) as second, ExitStack() as writing:
        first.add([("a", "one")])
        writing.enter_context(first.opened.store.writing())

        def documents() -> Iterator[Incoming]:
            time.sleep(1.5)
            yield incoming([("b", "two", None, None)])
            threading.Timer(0.3, writing.close).start()

        rules = ReadingRules.of("skip-documents", 0.5)
        assert add_incoming(second.opened, documents(), wave=None, threads=1, rules=rules).n_new == 1
        assert current(first) == {"a": "one", "b": "two"}
