"""The functions and views of a collection in PostgreSQL: asked by psql or a driver, without Nearkin."""

from __future__ import annotations

import random
from itertools import pairwise, zip_longest
from pathlib import Path

import pytest

from contract.asking import asking, failed
from made_up_prose import Prose
from nearkin.collection.collection import Collection
from nearkin.collection.plain_sql import FUNCTIONS, install
from nearkin.errors import ParameterError
from nearkin.stages.signatures.similarity_index import SimilarityIndex
from places import SomePlace

INDEX = SimilarityIndex.parse("1B:k=3")
ODD = "'; DROP TABLE documents; -- \\ {schema}"


@pytest.fixture
def place(server, tmp_path) -> SomePlace:
    return SomePlace.new(tmp_path, server)


@pytest.fixture
def collection(place):
    prose = Prose(7)
    families = prose.families(25)
    with place.open(similarity_index=INDEX) as collection:
        install(collection.opened)
        collection.add(families, wave="one")
        collection.add([(ODD, prose.altered(families[0][1], 1)), ("short", "No"), ("short too", "No"), ("none", "")])
        collection.add([("f3", prose.altered(dict(families)["f3"], 2)), ("f4", prose.text(80))], wave="later")
        collection.remove(["f7"])
        yield collection


@pytest.fixture
def ask(place):
    with asking(place) as run:
        yield run


def current(collection: Collection) -> list[str]:
    with collection.opened.store.reading() as connection:
        return list(connection.exec_driver_sql("SELECT doc_id FROM documents WHERE is_current ORDER BY row").scalars())


# -- similar_by_letters ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "gamma",
    [
        "0",
        "0.025",
        "0.3",
        "1e-9",
    ],
)
def test_it_tells_what_the_collection_tells(collection, ask, gamma):
    sample = random.Random(1).sample(current(collection), 15)
    for doc_id in [ODD, "short", "none", "f3", "f4", *sample]:
        found = collection.similar(doc_id, gamma=float(gamma), limit=10_000).documents
        right = [
            (
                *(o.document.doc_id, o.document.version, o.document.wave, o.distance, o.relative_distance),
                *(o.is_same_text, o.jaccard, o.is_letters_only),
            )
            for o in found
        ]
        assert ask(f"SELECT * FROM @similar_by_letters(%s, {gamma})", doc_id) == right
        if gamma == "0.025":
            assert ask("SELECT * FROM @similar_by_letters(%s)", doc_id) == right
            assert ask("SELECT * FROM @similar_by_letters(asked => %s, gamma => 0.025)", doc_id) == right


def test_a_text_with_too_few_letters_is_like_its_equals(collection, ask):
    assert ask("SELECT similar_doc_id, distance, is_same_text FROM @similar_by_letters('short')") == [
        ("short too", None, True)
    ]
    assert "too few letters" in ask.notices[-1]


@pytest.mark.parametrize(
    ("call", "code", "said", "hint"),
    [
        ("similar_by_letters('nobody')", "P0002", "There is no document 'nobody'", "indexed_documents"),
        ("similar_by_letters('f7')", "P0002", "The document 'f7' was removed", "Add it again"),
        ("similar_by_letters(NULL)", "22023", "takes the id of a document. Got NULL", "similar_by_letters('ID'"),
        ("similar_by_letters('f3', NULL)", "22023", "'gamma' parameter of similar_by_letters must be", "0.025"),
        ("similar_by_letters('f3', 1)", "22023", "must be at least 0 and below 1. Got 1 instead", "0.025"),
        ("similar_by_index(NULL)", "22023", "takes a similarity index. Got NULL", "too few words"),
        ("similar_by_index(5, 0.3, '43B:k=40')", "22023", "made by 1B:k=3,w=100", "the same method"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(collection, ask, call, code, said, hint):
    told = failed(ask, f"SELECT * FROM @{call}")
    assert told[0] == code
    assert said in told[1]
    assert hint in told[2]


# -- similar_by_index -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tolerance", ["0.3", "0.001", "2.5", "10"])
def test_an_index_finds_what_the_collection_finds(collection, ask, tolerance):
    for doc_id, si in ask("SELECT doc_id, similarity_index FROM @indexed_documents WHERE similarity_index IS NOT NULL")[
        ::5
    ]:
        found = collection.similar(doc_id, tolerance=float(tolerance), limit=10_000).documents
        right = [(o.document.doc_id, o.document.version, o.document.wave, o.similarity_index) for o in found]
        for made_by in (None, INDEX.spec, "1B:k=3", INDEX.fingerprint):
            told = ask(f"SELECT * FROM @similar_by_index(%s, {tolerance}, %s)", si, made_by)
            assert [row for row in told if row[0] != doc_id] == right


# -- the smaller ones --------------------------------------------------------------------------------------------


def test_counts_and_distances_are_exact(collection, ask):
    rows = ask("SELECT counts, @letter_counts(counts) FROM @contents ORDER BY content")
    for counts, told in rows:
        assert told == [int.from_bytes(counts[i : i + 4], "little") for i in range(0, len(counts), 4)]
    for (a, of_a), (b, of_b) in pairwise(rows):
        right = sum((x - y) ** 2 for x, y in zip_longest(of_a, of_b, fillvalue=0))
        assert ask("SELECT @squared_distance(%s, %s)", a, b) == [(right,)]
    most = (2**27 - 1).to_bytes(4, "little") * 126
    assert ask("SELECT @squared_distance(%s, %s)", most, bytes(504)) == [(126 * (2**27 - 1) ** 2,)]
    assert ask("SELECT @letter_counts(NULL), @squared_distance(NULL, %s)", most) == [(None, None)]


# -- who may ask ------------------------------------------------------------------------------------------------------


def test_whoever_may_only_read_can_ask(collection, place, ask):
    reader = f"reader_of_{place.schema}"
    ask(f"CREATE ROLE {reader}")
    ask(f"GRANT USAGE ON SCHEMA {place.schema} TO {reader}")
    ask(f"GRANT SELECT ON ALL TABLES IN SCHEMA {place.schema} TO {reader}")
    ask("SELECT set_config('role', %s, false)", reader)
    assert ask("SELECT * FROM @similar_by_letters(%s, 0.05)", ODD)
    assert ask("SELECT * FROM @near_duplicate_pairs WHERE doc_id = %s", ODD)
    ask("SELECT * FROM @similar_by_index(5)")
    assert failed(ask, "DELETE FROM @origins")[0] == "42501"
    ask("RESET ROLE")


def test_a_schema_in_front_changes_nothing(collection, place, ask):
    """Functions look into their own schema, whatever search path the one who asks has."""
    right = ask("SELECT * FROM @similar_by_letters(%s, 0.05)", ODD)
    ask("CREATE TEMPORARY TABLE documents (doc_id text)")
    ask("SET search_path TO pg_temp, public")
    assert ask("SELECT * FROM @similar_by_letters(%s, 0.05)", ODD) == right


# -- installing -------------------------------------------------------------------------------------------------------


def test_it_may_be_installed_again_and_by_many(place):
    with place.open() as collection:
        first = install(collection.opened)
        assert first.functions == FUNCTIONS
        assert install(collection.opened) == first
        collection.add([("empty", ""), (ODD, Prose(1).text(30))])  # an empty one has no words to compare
        assert install(collection.opened).example.count("''") == 1
        ran = place.rows(install(collection.opened).example.rstrip(";"))
    assert ran == []


def test_sqlite_cannot_store_functions(tmp_path: Path):
    with Collection.open(tmp_path / "m", create=True) as collection, pytest.raises(ParameterError):
        install(collection.opened)


def test_texts_without_word_sets_are_an_error_and_no_silence(collection, ask):
    ask("UPDATE @facts SET value = '3' WHERE name = 'shingles_end'")  # as if an earlier version had added the others
    for query in ("@similar_by_jaccard('f3')", "@near_duplicate_pairs", "@near_duplicates('f3', 'letters')"):
        code, told, hint = failed(ask, f"SELECT * FROM {query}")
        assert (code, "texts are not stored yet" in told, "nearkin sql install" in hint) == ("55000", True, True)
    install(collection.opened)
    assert ask("SELECT count(*) >= 0 FROM @similar_by_jaccard('f3')") == [(True,)]
