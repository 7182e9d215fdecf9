"""Check-in: the right verdict before anything is stored; in one transaction with what is stored."""

from __future__ import annotations

import contextlib
import functools
import threading
import time

import pytest
from sqlalchemy import event

from made_up_prose import Prose
from nearkin.collection.check_in import check_in as rooms
from nearkin.collection.check_in import checking
from nearkin.collection.check_in.candidates import MAX_OF_A_SAMPLE
from nearkin.collection.check_in.results import CheckIn, CheckOptions
from nearkin.collection.stored import contents, key_table
from nearkin.collection.stored.key_table import SAMPLE, append, keys_of
from nearkin.errors import CollectionBusyError, CollectionError, ParameterError
from nearkin.store import store as store_module
from places import on_one_database, refused_before_any_database

prose = Prose(17)
LONG = prose.text(400)
OTHER = prose.text(300)


def ids(checked) -> list[str]:
    return [one.document.doc_id for one in checked.documents]


@functools.lru_cache(1_000)
def grams(text: str) -> frozenset[tuple[str, ...]]:
    words = text.lower().split()
    return frozenset(tuple(words[i : i + 5]) for i in range(max(1, len(words) - 4)) if words)


def exhaustive(text: str, others: dict[str, str], options: CheckOptions) -> dict[str, str]:
    """The relation of every document that is like a text, by the definitions."""
    own, told = grams(text), dict[str, str]()
    for doc_id, other in others.items():
        theirs = grams(other)
        common = len(own & theirs)
        if own == theirs and text.lower().split() == other.lower().split():
            told[doc_id] = "exact"
        elif common and common / len(own | theirs) >= options.threshold:
            told[doc_id] = "near"
        elif common >= 8 and max(common / len(own), common / len(theirs)) >= options.containment:
            told[doc_id] = "contained" if len(own) <= len(theirs) else "contains"
    return told


@pytest.fixture
def collection(place):
    with place.open() as opened:
        opened.add([("long", LONG), ("other", OTHER), ("tiny", "No."), ("empty", "")], wave="first")
        yield opened


@pytest.mark.parametrize(
    ("text", "verdict", "first"),
    [
        (LONG, "exact", "long"),
        (LONG.upper().replace(" ", "\n "), "exact", "long"),
        (prose.altered(LONG, 4), "near", "long"),
        (" ".join(LONG.split()[100:250]), "contained", "long"),
        (f"{OTHER} {prose.text(500)}", "contains", "other"),
        (prose.text(200), "new", None),
        ("", "new", None),
    ],
)
def test_verdicts(collection, text, verdict, first):
    checked = collection.check(text)
    assert checked.verdict == verdict
    assert ids(checked)[:1] == ([first] if first else [])
    assert checked.n_found == len(checked.documents) == (first is not None)
    assert checked.stored_as is None
    assert collection.info().n_documents == 4
    assert bool(checked.passage) == (
        verdict == "near" or (verdict == "exact" and not checked.documents[0].is_same_text)
    )
    if checked.passage:
        assert {"only_a", "only_b"} & {piece.kind for piece in checked.passage}


def test_every_verdict_is_the_one_of_an_exhaustive_search(place):
    maker = Prose(5)
    documents = maker.families(60)
    parts = [(f"part-{doc_id}", " ".join(text.split()[5:-20])) for doc_id, text in documents if len(text.split()) > 120]
    stored = dict([*documents, *parts][::2])
    asked = [text for _, text in [*documents, *parts][1::2]]
    options = CheckOptions(limit=1_000)
    n_expected = n_missed = 0
    with place.open() as collection:
        collection.add(list(stored.items())[:50])
        collection.check("anything")  # the keys of these are stored, those of the others are not
        collection.add(list(stored.items())[50:])
        for text in asked:
            told = {one.document.doc_id: one.relation for one in collection.check(text, options=options).documents}
            expected = exhaustive(text, stored, options)
            assert told.items() <= expected.items()
            n_expected, n_missed = n_expected + len(expected), n_missed + len(expected) - len(told)
    assert n_expected > 80
    assert n_missed <= 0.02 * n_expected


def test_what_is_not_yet_in_the_table_of_keys_is_found_too(collection, monkeypatch):
    collection.check(LONG)
    collection.add([("late", prose.altered(OTHER, 1))])

    def busy(*_: object) -> None:
        raise CollectionBusyError("another process is writing")

    monkeypatch.setattr(rooms, "fill", busy)
    assert set(ids(collection.check(OTHER))) == {"other", "late"}


@on_one_database
@pytest.mark.parametrize("samples", [4_096, 400])
def test_a_long_text_contains_what_it_contains(place, samples, monkeypatch):
    monkeypatch.setattr("nearkin.collection.check_in.candidates.MAX_SAMPLES", samples)
    maker = Prose(9, n_words=5_000)
    parts = [maker.text(2_000) for _ in range(10)]
    with place.open() as collection:
        collection.add([(f"part {i}", part) for i, part in enumerate(parts)])
        checked = collection.check(" ".join([*parts, maker.text(30_000)]), options=CheckOptions(limit=50))
        assert (checked.verdict, len(ids(checked))) == ("contains", 10)
        for part in parts[:3]:
            assert collection.check(f"{part[: len(part) // 2]} {maker.text(500)}").verdict == "new"


def test_removed_documents_and_older_versions_are_not_found(collection):
    collection.add([("long", prose.text(300))], wave="second")
    assert collection.check(LONG).verdict == "new"
    collection.remove(["other"])
    assert collection.check(OTHER).verdict == "new"


def test_storing_tells_what_was_there_before(collection):
    text = prose.text(120)
    first = collection.check(text, store=CheckIn("draft"))
    assert (first.verdict, first.stored_as, first.version) == ("new", "draft", 1)
    second = collection.check(prose.altered(text, 1), store=CheckIn("draft 2", wave="later"))
    assert (second.verdict, second.stored_as, ids(second)) == ("near", "draft 2", ["draft"])
    third = collection.check(text, store=CheckIn("draft 3", only_new=True))
    assert (third.verdict, third.stored_as) == ("exact", None)
    again = collection.check(text, store=CheckIn("draft"))
    assert (again.verdict, again.stored_as) == ("exact", "draft")
    changed = collection.check(OTHER, store=CheckIn("draft 2"))
    assert (changed.verdict, changed.stored_as, changed.version) == ("exact", "draft 2", 2)
    was = collection.text("draft 2", version=1)
    back = collection.check(was, store=CheckIn("draft 2", wave="later"))
    assert (back.stored_as, back.version, collection.text("draft 2")) == ("draft 2", 3, was)
    assert collection.info().n_documents == 6
    assert collection.document("draft").wave == "check-ins"
    assert collection.document("draft 2").wave == "later"
    assert set(ids(collection.check(text))) == {"draft", "draft 2"}
    assert {one.document.doc_id for one in collection.similar("draft", gamma=0.2).documents} == {"draft 2"}


@pytest.mark.parametrize("doc_id", ["a\0b", "x" * 3_000, "\ud800", "", " ", 5])
def test_an_id_that_cannot_be_stored_stores_nothing(collection, doc_id):
    with pytest.raises(ParameterError):
        collection.check(prose.text(50), store=CheckIn(doc_id))
    assert collection.info().n_documents == 4
    assert "check-ins" not in {wave.name for wave in collection.info().waves}


def test_a_check_does_not_wait_for_who_is_writing(place):
    with place.open() as collection, place.open() as reader:
        collection.add([("long", LONG)])
        reader.check(LONG)
        is_writing, may_end = threading.Event(), threading.Event()

        def write() -> None:
            with collection.opened.store.writing():
                is_writing.set()
                may_end.wait(30)

        thread = threading.Thread(target=write)
        thread.start()
        try:
            assert is_writing.wait(10)
            assert reader.check(LONG).verdict == "exact"
            with pytest.raises(CollectionBusyError):
                reader.check(LONG, store=CheckIn("draft"))
        finally:
            may_end.set()
            thread.join()


def test_a_connection_that_is_lost_in_the_middle_leaves_nothing(place, monkeypatch):
    with place.open() as collection:
        collection.add([("long", LONG)])
        collection.check(LONG)

        def cut(connection, *rest) -> None:
            append(connection, *rest)  # the document and its keys are written, nothing is committed
            if place.server is not None:
                pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
                place.server.sql(f"SELECT pg_terminate_backend({pid})")
                time.sleep(0.2)
            else:
                connection.connection.driver_connection.close()

        with monkeypatch.context() as patched:
            patched.setattr(key_table, "append", cut)
            with pytest.raises(CollectionError, match="The transaction that failed stored nothing"):
                collection.check(OTHER, store=CheckIn("draft"))
    with place.open() as again:
        assert again.info().n_documents == 1
        assert again.check(OTHER).verdict == "new"
        assert again.check(OTHER, store=CheckIn("draft")).verdict == "new"
        assert again.check(OTHER).verdict == "exact"


def test_wording_that_everybody_has_is_counted(place):
    header = prose.text(60)
    with place.open() as collection:
        collection.add([(f"d{i}", f"{header} {prose.text(25)}") for i in range(MAX_OF_A_SAMPLE + 60)])
        checked = collection.check(f"{header} {prose.text(300)}")
        assert checked.n_hot_keys > 0
        assert checked.expected_recall is None  # what is missed of such wording is not known
        assert checked.expected_recall_of_parts is None
        similar = collection.similar(text=f"{header} {prose.text(300)}", measure="containment")
        assert (similar.n_hot_keys > 0, similar.expected_recall_of_parts) == (True, None)


def test_keys_of_another_method_are_made_anew(place):
    with place.open() as collection:
        collection.add([("long", LONG)])
        assert collection.check(LONG).verdict == "exact"
        place.sql("UPDATE facts SET value = 'bands of old' WHERE name = 'check_keys'")
        place.sql("UPDATE check_keys SET key = key + 1")
        assert collection.check(LONG).verdict == "exact"
        assert place.fact("check_keys_end") == "1"
        for nonsense in ("many", "-1", "9" * 30, "\u00b2", "1000"):
            place.sql(f"UPDATE facts SET value = '{nonsense}' WHERE name = 'check_keys_end'")
            assert collection.check(LONG).verdict == "exact"
            assert place.fact("check_keys_end") == "1"


def test_others_store_and_erase_texts_while_keys_are_computed(place, monkeypatch):
    monkeypatch.setattr(contents, "_TEXTS_AT_A_TIME", 2)
    monkeypatch.setattr(key_table, "_KEYS_AT_A_TIME", 1)
    texts = {f"d{i}": prose.text(80) for i in range(9)}
    with place.open() as collection, place.open() as other:
        collection.add([(name, texts[name]) for name in ("d0", "d1", "d2", "d3", "d4")])
        compute, meanwhile = key_table._missing, iter(("d5", "d6", "d7", None))

        def interrupted(connection, *given):
            keys = compute(connection, *given)
            if (name := next(meanwhile, "done")) is None:
                with contextlib.suppress(CollectionBusyError):  # erased; the files are rewritten later
                    other.purge(["d1"], by="ada")
            elif name != "done":
                other.add([(name, texts[name])])
            return keys

        monkeypatch.setattr(key_table, "_missing", interrupted)
        for name in ("d0", "d7"):
            assert collection.check(texts[name]).verdict == "exact"
        assert collection.check(texts["d8"], store=CheckIn("d8")).verdict == "new"
        assert collection.check(texts["d1"]).is_purged
        assert place.fact("check_keys_end") == "9"
        opened = collection.opened
        with opened.store.reading() as connection:
            assert key_table.difference(connection, opened.store, opened.counting, opened.progress) is None


def test_an_answer_that_is_lost_while_it_is_stored_is_told_as_that(place, monkeypatch):
    if place.server is None:
        return  # SQLite answers in the process itself
    with place.open() as collection:
        collection.add([("long", LONG)])
        collection.check(LONG)

        def cut(connection, store_place) -> None:
            place.server.sql(
                f"SELECT pg_terminate_backend({connection.exec_driver_sql('SELECT pg_backend_pid()').scalar()})"
            )
            time.sleep(0.2)
            commit(connection, store_place)

        with monkeypatch.context() as patched:
            commit = store_module._commit
            patched.setattr(store_module, "_commit", cut)
            with pytest.raises(CollectionError, match="unknown whether") as told:
                collection.check(OTHER, store=CheckIn("draft"))
        assert "stored nothing" not in str(told.value)
        assert collection.check(OTHER, store=CheckIn("draft")).stored_as == "draft"


def test_a_check_by_the_similarity_index_alone(collection):
    options = CheckOptions(measure="index", tolerance=0.3)
    exact = collection.check(LONG, options=options)
    assert (exact.verdict, exact.expected_recall) == ("exact", None)
    assert exact.documents[0].similarity_index == exact.similarity_index
    near = LONG + " " + LONG.split()[0]
    assert collection.check(near, options=options).n_candidates >= 0
    assert collection.check("No.", options=options).verdict == "exact"
    assert collection.check("Yes.", options=options).verdict == "new"


@on_one_database
def test_the_expected_recall_of_parts_is_that_of_the_search_for_them(collection):
    told = collection.check(LONG).expected_recall_of_parts
    similar = collection.similar(text=LONG, measure="containment", threshold=0.9)
    assert told is not None
    assert told == similar.expected_recall_of_parts
    unasked = collection.check(LONG, options=CheckOptions(containment=None))
    assert unasked.expected_recall_of_parts is None
    assert collection.check(LONG, options=CheckOptions(measure="index")).expected_recall_of_parts is None
    assert collection.check("Two words").to_dict()["expected_recall_of_parts"] is None
    assert "expected_recall_of_parts" not in unasked.to_dict()


@on_one_database
def test_short_parts_are_those_that_a_search_by_containment_finds(place):
    parts = {f"part {i}": prose.text(40) for i in range(40)}
    with place.open() as collection:
        collection.add(parts.items())
        n_found = 0
        for part in parts.values():
            whole = f"{part} {prose.text(50)}"
            similar = {one.document.doc_id for one in collection.similar(text=whole, measure="containment").documents}
            assert set(ids(collection.check(whole))) == similar
            n_found += len(similar)
    assert n_found > 20


@on_one_database
def test_many_texts_that_may_be_parts_crowd_no_part_out(place, monkeypatch):
    """Variants of a form whose 5-grams are not sampled share only bands with another variant."""
    form = next(text for text in (prose.text(100) for _ in range(1_000)) if not (keys_of([text]).kinds == SAMPLE).any())
    parts = {f"part {i}": prose.text(45) for i in range(30)}
    whole = {name: f"{prose.altered(form, 3)} {part}" for name, part in parts.items()}
    with place.open() as collection:
        collection.add((f"variant {i}", prose.altered(form, 3)) for i in range(40))
        collection.add(parts.items())
        all_compared = {name: collection.check(text) for name, text in whole.items()}
        monkeypatch.setattr(checking, "MAX_COMPARED", 12)
        some_compared = {name: collection.check(text) for name, text in whole.items()}
    found = [name for name, checked in all_compared.items() if name in ids(checked)]
    kept = [name for name in found if name in ids(some_compared[name])]
    assert len(found) > 15
    assert sum(one.n_compared < one.n_candidates for one in some_compared.values()) > 15
    assert len(kept) > 0.8 * len(found)  # others share a band and no sampled 5-gram, like the variants


@refused_before_any_database
@pytest.mark.parametrize("text", [None, 7, b"bytes", "\ud800"])
def test_what_is_no_text(collection, text):
    with pytest.raises(ParameterError):
        collection.check(text)


def test_a_check_sends_few_statements_to_the_server(place):
    if place.server is None:
        return  # SQLite has no server
    statements = []
    with place.open() as collection:
        event.listen(collection.opened.store._engine, "before_cursor_execute", lambda *_: statements.append(1))
        collection.add([("long", LONG), ("other", OTHER), ("copy", LONG)])
        collection.check(LONG)
        for text, n_found, most in [(LONG, 2, 7), (prose.altered(LONG, 4), 2, 7), (prose.text(200), 0, 3)]:
            statements.clear()
            assert collection.check(text).n_found == n_found
            assert len(statements) <= most
