"""Search for words: SQLite and PostgreSQL find the same documents, those of a definition in plain Python."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.collection.collection import Collection
from nearkin.collection.stored.word_tables import terms_of
from nearkin.collection.word_search import searching
from nearkin.collection.word_search.query import parse
from nearkin.collection.word_search.searching import snippets
from nearkin.errors import ParameterError, UnknownDocumentError
from places import SomePlace

WORDS = [
    *("rent", "renters", "Rental", "lease", "leased", "day", "first", "month", "crowns", "owner", "house", "über"),
    *("Straße", "café", "CAFE\u0301", "日本", "ﬁle", "12", "1.5", "it's", "well-kept", "naïve", "Ωmega", "стол"),
    *("столы", "snake_case", "and", "OR"),
]
SENTENCES = [
    ("lease", "The rent of 900 crowns is due on the first day of each month, to the owner of the house."),
    ("note", "Rent, rent, rent! The day of the rent is the first one; the owner's rent."),
    ("rental", "Rental cars for a day."),
    ("copy", "The rent of 900 crowns is due on the first day of each month, to the owner of the house."),
    ("greek", "ΩMEGA and naïve Straße; CAFÉ, cafe\u0301, cafe. ﬁles of 日本語"),
    ("empty", "…"),
]


@contextmanager
def filled(place: SomePlace) -> Iterator[Collection]:
    with place.open() as collection:
        collection.add(SENTENCES[:4], wave="march")
        collection.add(SENTENCES[4:], wave="april")
        yield collection


@pytest.fixture
def collection(place: SomePlace):
    with filled(place) as collection:
        yield collection


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def unchanged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """The same, made once for the tests that only read."""
    server = request.getfixturevalue("server") if request.param == "postgresql" else None
    with filled(SomePlace.new(tmp_path_factory.mktemp("unchanged"), server)) as collection:
        yield collection


def found(collection: Collection, query: str, **options: object) -> list[str]:
    return sorted(one.document.doc_id for one in collection.search(query, limit=None, **options).documents)


# -- by definition ----------------------------------------------------------------------------------------------------

Plain = tuple[str, "Plain", "Plain"] | str


def plain_words(text: str) -> list[str]:
    """Runs of letters, digits and marks; a character of Han by itself."""
    text = unicodedata.normalize("NFKC", text).lower()
    return re.findall(r"[\u3400-\u9fff]|(?:(?![\u3400-\u9fff])[^\W_][\u0300-\u036f]*)+", text)


def is_met(query: Plain, words: list[str]) -> bool:
    if not isinstance(query, str):
        operator, left, right = query
        if operator == "OR":
            return is_met(left, words) or is_met(right, words)
        return is_met(left, words) and is_met(right, words) == (operator == "AND")
    (*first, last), n = plain_words(query), len(plain_words(query)) - 1
    return any(
        words[i : i + n] == first and (words[i + n].startswith(last) if query.endswith("*") else words[i + n] == last)
        for i in range(len(words) - n)
    )


def some_query(chance: random.Random, depth: int) -> tuple[str, Plain]:
    """Return a query as users write it, and as the definition reads it."""
    if depth and chance.random() < 0.6:
        operator = chance.choice(["AND", "OR", "NOT", ""])
        (left, plain_left), (right, plain_right) = (some_query(chance, depth - 1) for _ in range(2))
        return f"({left}) {operator} ({right})", (operator or "AND", plain_left, plain_right)
    word, other = chance.choice(WORDS), chance.choice(WORDS)
    term = chance.choice([
        f'"{word}"', f'"{word} {other}"', f"{word[:3].rstrip('.-_')}*", f'"{word} {other[:2]}"*'
    ])  # fmt: skip
    return term, term


def test_documents_are_those_of_the_definition(place: SomePlace) -> None:
    chance, n_found = random.Random(7), 0
    documents = {f"d{i:02}": " ".join(chance.choices(WORDS, k=chance.randint(0, 30))) for i in range(60)}
    with place.open() as collection:
        collection.add(list(documents.items())[:40])
        collection.add(list(documents.items())[40:])
        collection.add([("d00", "rent"), ("d01", documents["d01"])])
        collection.remove(["d02"])
        current = {**documents, "d00": "rent"}
        del current["d02"]
        for _ in range(60):
            query, plain = some_query(chance, 2)
            expected = sorted(doc_id for doc_id, text in current.items() if is_met(plain, plain_words(text)))
            assert found(collection, query) == expected, query
            n_found += len(expected)
        assert n_found > 200
        assert collection.fsck().rebuilt == ()


def test_phrases_anywhere_in_long_and_in_repetitive_texts(place: SomePlace) -> None:
    chance = random.Random(8)
    texts = {
        "many": " ".join(f"w{i}" for i in range(9_000)),
        "few": " ".join(chance.choices("abcd", k=6_000)),
        "often": "again " * 20_000 + "never again",
    }
    with place.open() as collection:
        collection.add(list(texts.items()))
        for start in range(0, 9_000 - 64, 487):
            assert found(collection, f'"{" ".join(f"w{i}" for i in range(start, start + 64))}"') == ["many"]
        assert found(collection, "w1 w8999 w4*") == ["many"]
        assert found(collection, "w1 NOT w8999") == []
        for _ in range(20):
            phrase = " ".join(chance.choices("abcd", k=6))
            assert found(collection, f'"{phrase}"') == ["few"] * (f" {phrase} " in f" {texts['few']} ")
        assert found(collection, '"again never"') == ["often"]
        assert len(collection.search("again").documents[0].snippet) < 600
        assert collection.fsck().rebuilt == ()


# -- queries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("RENT owner", ["copy", "lease", "note"]),
        ('"first day"', ["copy", "lease"]),
        ("rent*", ["copy", "lease", "note", "rental"]),
        ('"of 9"*', ["copy", "lease"]),
        ("café", ["greek"]),
        ("ωmega strasse", ["greek"]),
        ("日本", ["greek"]),
        ("本日", []),
        ("owner's", ["note"]),
        ("first-day", ["copy", "lease"]),
        ("rent & owner", ["copy", "lease", "note"]),
        ("cars OR 日本", ["greek", "rental"]),
        ("day NOT rent", ["rental"]),
        ("day AND NOT crowns", ["note", "rental"]),
        ("NOT rent", ["empty", "greek", "rental"]),
        ("day (cars OR crowns) NOT (house OR boat)", ["rental"]),
        ("cars OR rent crowns", ["copy", "lease", "rental"]),
        ('"AND"', ["greek"]),
    ],
)
def test_words_phrases_and_operators(unchanged: Collection, query: str, ids: list[str]) -> None:
    assert found(unchanged, query) == ids


@pytest.mark.parametrize(
    "query",
    [
        *("", "  ", "&", '"', 'rent "first', "*", "* rent", "re*nt", "-*", '"of 9*"', "\ud800", 7, None),
        *("AND", "AND NOT rent", "rent OR", "rent AND OR day", "(rent", "rent)", "()", "(" * 5_000, "rent AND &"),
        " ".join("abc" + "x" * i for i in range(65)),
    ],
)
def test_what_cannot_be_searched_is_refused(unchanged: Collection, query: object) -> None:
    with pytest.raises(ParameterError, match="query"):
        unchanged.search(query)


@given(st.text(alphabet=st.sampled_from('ab AN"*()-'), max_size=30))
def test_any_query_is_parsed_or_refused(query: str) -> None:
    with suppress(ParameterError):
        assert list(terms_of(parse(query)))


def test_the_most_relevant_are_returned_and_all_are_counted(unchanged: Collection) -> None:
    answer = unchanged.search("rent", limit=2)
    assert (answer.documents[0].document.doc_id, len(answer), answer.n_found) == ("note", 2, 3)
    values = [one.relevance for one in unchanged.search("rent").documents]
    assert values == sorted(values, reverse=True)


def test_of_many_documents_the_latest_are_ranked(unchanged: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MOST_RANKED", 2)
    answer = unchanged.search("day", limit=1)
    assert (answer.documents[0].document.doc_id, answer.n_found) == ("rental", 4)


def test_waves_old_versions_and_an_empty_collection(place: SomePlace) -> None:
    with place.open() as collection:
        assert collection.search("rent").n_found == 0
    with filled(place) as collection:
        assert found(collection, "rent", wave="april") == []
        with pytest.raises(UnknownDocumentError):
            collection.search("rent", wave="may")
        collection.add([("note", "Nothing at all.")], wave="april")
        collection.remove(["copy"])
        assert found(collection, "rent", wave="march") == found(collection, "rent") == ["lease"]
        assert found(collection, "nothing", wave="april") == ["note"]


# -- snippets ---------------------------------------------------------------------------------------------------------


def snippet_of(text: str, query: str) -> str:
    (pieces,) = snippets([text], list(terms_of(parse(query))))
    return "".join(f"[{one.text}]" if one.is_match else one.text for one in pieces)


def test_snippets_mark_the_words(unchanged: Collection) -> None:
    snippets = {one.document.doc_id: one.snippet for one in unchanged.search('"first day" rent').documents}
    assert snippets["lease"] == (
        "The [rent] of 900 crowns is due on the [first] [day] of each month, to the owner of the house."
    )
    (greek,) = unchanged.search("日本 file* Straße").documents
    assert greek.snippet == "ΩMEGA and naïve [Straße]; CAFÉ, cafe\u0301, cafe. [ﬁles] of [日][本]語"


@pytest.mark.parametrize("n_before", [30, 5_000, 100_000])
def test_the_passage_with_the_most_words_is_shown(n_before: int) -> None:
    text = f"rent {'of the house ' * n_before} rent and lease {'of the garden ' * 30}"
    expected = (
        "…of the house of the house [rent] and [lease] of the garden of the garden of the garden of the garden of"
    )
    shown = snippet_of(text, "lease rent")
    assert shown.startswith(expected) or (n_before == 100_000 and shown.startswith("[rent] of the house"))


# -- writers and damage -----------------------------------------------------------------------------------------------


def test_threads_search_while_documents_are_added(place: SomePlace) -> None:
    with place.open() as collection:
        collection.add([(f"first {i}", f"rent {i}") for i in range(20)])
        with ThreadPoolExecutor(4) as threads:
            counts = threads.map(lambda _: len(found(collection, "rent")), range(12))
            for wave in range(3):
                collection.add([(f"wave {wave}: {i}", f"rent {wave} {i}") for i in range(20)])
            assert {*counts} <= {20, 40, 60, 80}
        assert len(found(collection, "rent")) == 80
        assert collection.fsck().rebuilt == ()


@pytest.mark.parametrize("is_damaged", [False, True])
def test_nothing_of_a_purged_text_stays(place: SomePlace, is_damaged: bool) -> None:
    with place.open() as collection:
        collection.add([*SENTENCES, ("secret", "the xylophone hoard")])
        if is_damaged:
            content = collection.document("secret").content
            nothing = "zeroblob(9)" if place.kind == "sqlite" else r"'\x00'::bytea"
            place.sql(f"UPDATE contents SET text = {nothing} WHERE content = {content}")
        collection.purge(["secret"])
        assert found(collection, "xylophone OR hoard") == []
        assert found(collection, "rent") == ["copy", "lease", "note"]
        assert collection.fsck().rebuilt == ()
        if place.kind == "sqlite":
            assert place.sql("SELECT count(*) FROM search_words_data WHERE instr(block, 'xyloph')") == "0"


def test_fsck_compares_the_stored_words(collection: Collection, place: SomePlace) -> None:
    content = collection.document("note").content
    place.sql(
        "INSERT INTO search_words (search_words) VALUES ('delete-all')"
        if place.kind == "sqlite"
        else f"DELETE FROM search_words WHERE content = {content}"
    )
    assert "words of texts" in collection.fsck().rebuilt[0]
    assert found(collection, "rent") == ["copy", "lease", "note"]
    assert collection.fsck().rebuilt == ()
