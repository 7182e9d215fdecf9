"""Search for words: the same answers from SQLite, from PostgreSQL, without an index, and by definition."""

from __future__ import annotations

import math
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from nearkin.collection.collection import Collection
from nearkin.collection.word_search import searching, word_tables
from nearkin.collection.word_search.results import SearchResult
from nearkin.errors import CollectionError, ParameterError, UnknownDocumentError
from places import SomePlace

WORDS = [
    *("rent", "renters", "Rental", "lease", "leased", "day", "first", "month", "crowns", "owner", "house", "über"),
    *("Straße", "café", "CAFE\u0301", "日本", "ﬁle", "12", "1.5", "it's", "well-kept", "naïve", "Ωmega", "стол"),
    "столы",
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
    return [one.document.doc_id for one in collection.search(query, **options).documents]


# -- by definition ----------------------------------------------------------------------------------------------------


def plain_words(text: str) -> list[str]:
    """Runs of letters, digits and marks; a character of Han by itself."""
    text = unicodedata.normalize("NFKC", text).lower()
    return re.findall(r"[\u3400-\u9fff]|(?:(?![\u3400-\u9fff])[^\W_][\u0300-\u036f]*)+", text)


def plain_terms(query: str) -> list[tuple[list[str], bool]]:
    parts = re.findall(r'"[^"]*"\*?|[^\s"]+', query)
    return [(plain_words(part), part.endswith("*")) for part in parts if plain_words(part)]


def places_of(words: list[str], term: tuple[list[str], bool]) -> list[int]:
    (*first, last), is_prefix = term
    n = len(first)
    return [
        i
        for i in range(len(words) - n)
        if words[i : i + n] == first and (words[i + n].startswith(last) if is_prefix else words[i + n] == last)
    ]


def plain_search(stored: Mapping[str, str], current: Mapping[str, str], query: str) -> list[tuple[float, str]]:
    """Relevance and id of every document with all terms: every text is read, and every word compared."""
    terms = plain_terms(query)
    singles = list(dict.fromkeys(
        (word, is_prefix and i == len(words) - 1) for words, is_prefix in terms for i, word in enumerate(words)
    ))  # fmt: skip
    texts = {text: plain_words(text) for text in stored.values()}
    mean = sum(map(len, texts.values())) / len(texts)

    def n_in(words: list[str], single: tuple[str, bool]) -> int:
        return len(places_of(words, ([single[0]], single[1])))

    def relevance(words: list[str]) -> float:
        total = 0.0
        for single in singles:
            n_with = sum(n_in(other, single) > 0 for other in texts.values())
            n = n_in(words, single)
            idf = math.log(1 + (len(texts) - n_with + 0.5) / (n_with + 0.5))
            total += idf * n * 2.2 / (n + 1.2 * (0.25 + 0.75 * len(words) / mean))
        return total

    has_all = {doc_id: all(places_of(texts[text], term) for term in terms) for doc_id, text in current.items()}
    return [(relevance(texts[current[doc_id]]), doc_id) for doc_id in current if has_all[doc_id]]


def check(answer: SearchResult, expected: list[tuple[float, str]]) -> None:
    relevance = {doc_id: value for value, doc_id in expected}
    assert {one.document.doc_id for one in answer.documents} == relevance.keys()
    assert answer.n_found == len(expected)
    values = [one.relevance for one in answer.documents]
    assert values == sorted(values, reverse=True)
    for one in answer.documents:
        assert one.relevance == pytest.approx(relevance[one.document.doc_id])


def beginning(word: str, n: int) -> str:
    return word[:n].rstrip(".-'")


def some_query(chance: random.Random) -> str:
    parts = list[str]()
    for _ in range(chance.randint(1, 3)):
        kind = chance.random()
        word = chance.choice(WORDS)
        if kind < 0.2:
            parts.append(f'"{word} {chance.choice(WORDS)}"')
        elif kind < 0.4:
            parts.append(f"{beginning(word, chance.randint(2, 4))}*")
        elif kind < 0.5:
            parts.append(f'"{word} {beginning(chance.choice(WORDS), 2)}"*')
        else:
            parts.append(word.upper() if kind < 0.6 else word)
    return " ".join(parts)


def test_answers_are_those_of_the_definition(place: SomePlace) -> None:
    chance = random.Random(7)
    documents = {f"d{i:02}": " ".join(chance.choices(WORDS, k=chance.randint(0, 30))) for i in range(60)}
    with place.open() as collection:
        collection.add(list(documents.items())[:40])
        assert collection.search("rent").n_read == 0
        collection.add(list(documents.items())[40:])  # the next search stores their words
        collection.add([("d00", "rent"), ("d01", documents["d01"])])
        collection.remove(["d02"])
        current = {**documents, "d00": "rent"}
        del current["d02"]
        stored = {**documents, "of d00": "rent"}
        n_found = 0
        for _ in range(60):
            query = some_query(chance)
            answer = collection.search(query, limit=None)
            check(answer, plain_search(stored, current, query))
            n_found += answer.n_found
        assert n_found > 200
        assert collection.fsck().rebuilt == ()


def test_without_an_index_the_answers_are_the_same(place: SomePlace, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(8)
    documents = [(f"d{i:02}", " ".join(chance.choices(WORDS, k=20))) for i in range(40)]
    queries = [some_query(chance) for _ in range(30)]

    def refused(*_: object, **__: object) -> None:
        raise CollectionError("permission denied")

    with place.open() as collection:
        collection.add(documents[:30])
        collection.search("rent")
        collection.add(documents[30:])
        said = list[str]()
        monkeypatch.setattr(collection.opened.progress, "say", said.append, raising=False)
        with monkeypatch.context() as changed:
            changed.setattr("nearkin.collection.word_search.searching.fill", refused)
            partly = [collection.search(query, limit=None) for query in queries]
        assert {one.n_read for one in partly} == {10}
        assert "permission denied" in said[0]
        wholly = [collection.search(query, limit=None) for query in queries]
    assert {one.n_read for one in wholly} == {0}
    assert [one.documents for one in partly] == [one.documents for one in wholly]


def test_a_user_who_may_only_read_gets_an_answer(tmp_path: Path, server) -> None:
    place = SomePlace.new(tmp_path, server)
    with place.open() as collection:
        collection.add(SENTENCES)
        server.sql(
            f"DROP ROLE IF EXISTS words_reader; CREATE ROLE words_reader LOGIN PASSWORD 'open-sesame'; GRANT USAGE ON "
            f"SCHEMA {place.schema} TO words_reader; GRANT SELECT ON ALL TABLES IN SCHEMA {place.schema} TO "
            "words_reader"
        )
        try:
            with Collection.open(place.address.replace("nearkin:", "words_reader:"), cache=place.cache) as reader:
                answer = reader.search("rent")
            assert ([one.document.doc_id for one in answer.documents], answer.n_read) == (["note", "lease", "copy"], 5)
            assert found(collection, "rent") == ["note", "lease", "copy"]
            with Collection.open(place.address.replace("nearkin:", "words_reader:"), cache=place.cache) as reader:
                assert reader.search("rent").n_read == 5  # the tables came after the permission to read all tables
                server.sql(f"GRANT SELECT ON ALL TABLES IN SCHEMA {place.schema} TO words_reader")
                assert reader.search("rent").n_read == 0
        finally:
            server.sql("DROP OWNED BY words_reader; DROP ROLE words_reader")


# -- what is found ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("rent", ["note", "lease", "copy"]),
        ("RENT owner", ["note", "lease", "copy"]),
        ('"first day"', ["lease", "copy"]),
        ("first day", ["note", "lease", "copy"]),
        ("rent*", ["note", "rental", "lease", "copy"]),
        ('"of 9*"', None),
        ('"of 9"*', ["lease", "copy"]),
        ("café", ["greek"]),
        ("cafe", ["greek"]),
        ("cafe rent", []),
        ("ωmega strasse", []),
        ("file*", ["greek"]),
        ("日本", ["greek"]),
        ("本日", []),
        ("owner's", ["note"]),
        ("first-day", ["lease", "copy"]),
        ("rent & owner", ["note", "lease", "copy"]),
        ("AND", ["greek"]),
        ("NOT rent", []),
    ],
)
def test_words_phrases_and_prefixes(unchanged: Collection, query: str, ids: list[str] | None) -> None:
    if ids is None:
        with pytest.raises(ParameterError):
            unchanged.search(query)
    else:
        assert found(unchanged, query) == ids


@pytest.mark.parametrize(
    "query",
    [
        "",
        "  ",
        "&",
        '"',
        'rent "first',
        "*",
        "* rent",
        "re*nt",
        "-*",
        "\ud800",
        7,
        None,
        " ".join("abc" + "x" * i for i in range(65)),
    ],
)
def test_queries_without_words_are_refused(unchanged: Collection, query: object) -> None:
    with pytest.raises(ParameterError, match="query"):
        unchanged.search(query)


@pytest.mark.parametrize("n_characters", [1, 100])
def test_snippets_are_the_same_for_any_number_of_texts_at_a_time(
    unchanged: Collection, n_characters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = unchanged.search("day").documents
    assert len(at_once) == 4
    monkeypatch.setattr(searching, "_CHARACTERS_SHOWN_AT_A_TIME", n_characters)
    assert unchanged.search("day").documents == at_once


@pytest.mark.parametrize("limit", [0, -1, True, 1.5])
def test_limits_are_checked(unchanged: Collection, limit: object) -> None:
    with pytest.raises(ParameterError, match="limit"):
        unchanged.search("rent", limit=limit)


def test_the_most_relevant_are_returned_and_all_are_counted(unchanged: Collection) -> None:
    answer = unchanged.search("rent", limit=2)
    assert ([one.document.doc_id for one in answer.documents], answer.n_found) == (["note", "lease"], 3)
    assert answer.is_truncated
    assert unchanged.search("rent &").ignored == ("&",)


def test_waves_and_old_versions(collection: Collection) -> None:
    assert found(collection, "rent", wave="april") == []
    assert found(collection, "day", wave="march") == ["rental", "note", "lease", "copy"]
    with pytest.raises(UnknownDocumentError):
        collection.search("rent", wave="may")
    collection.add([("note", "Nothing at all.")], wave="april")
    collection.remove(["copy"])
    assert found(collection, "rent") == ["lease"]
    assert found(collection, "rent", wave="march") == ["lease"]
    assert found(collection, "nothing", wave="april") == ["note"]


def test_an_empty_collection(place: SomePlace) -> None:
    with place.open() as collection:
        assert collection.search("rent").n_found == 0
        collection.add([("a", "…")])
        assert collection.search("rent").n_found == 0
        collection.add([("b", "rent")])
        assert found(collection, "rent") == ["b"]


def test_long_words_and_long_texts(place: SomePlace) -> None:
    long = "x" * 5_000
    texts = {
        "one": f"{long} a", "other": f"{long}y b", "hundred": "x" * 100,
        "many": " ".join(f"w{i}" for i in range(9_000)),
        "often": "again " * 20_000,
    }  # fmt: skip
    with place.open() as collection:
        collection.add(list(texts.items()))
        assert found(collection, long) == ["one"]
        assert found(collection, f"{long}*") == ["one", "other"] or found(collection, f"{long}*") == ["other", "one"]
        assert found(collection, "x" * 100) == ["hundred"]
        assert sorted(found(collection, "x" * 99 + "*")) == ["hundred", "one", "other"]
        assert found(collection, "w1 w8999 w4*") == ["many"]
        assert found(collection, "again") == ["often"]
        assert len(collection.search("again").documents[0].snippet_text) < 600
        assert collection.fsck().rebuilt == ()


# -- snippets ---------------------------------------------------------------------------------------------------------


def test_snippets_mark_the_words(unchanged: Collection) -> None:
    snippets = {one.document.doc_id: one.snippet_text for one in unchanged.search('"first day" rent').documents}
    assert snippets["lease"] == (
        "The [rent] of 900 crowns is due on the [first] [day] of each month, to the owner of the house."
    )
    (greek,) = unchanged.search("日本 file* Straße").documents
    assert greek.snippet_text == "ΩMEGA and naïve [Straße]; CAFÉ, cafe\u0301, cafe. [ﬁles] of [日][本]語"


def test_texts_are_read_and_compared_many_at_a_time(place: SomePlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text at a time took most of the time of a search for all results."""
    calls = Counter[str]()

    def counted(module: ModuleType, name: str) -> None:
        function = getattr(module, name)

        def count(*arguments: object) -> object:
            calls[name] += 1
            return function(*arguments)

        monkeypatch.setattr(module, name, count)

    texts = [f"{'So it goes on. ' * (i % 40)}Rent of the {i}th house{', and rent' * (i % 3)}." for i in range(150)]
    with place.open() as collection:
        collection.add([(str(i), text) for i, text in enumerate(texts)])
        first = [one.snippet_text for one in collection.search("rent", limit=20).documents]
        counted(searching, "tokens_of")
        counted(searching, "texts_of")
        answer = collection.search("rent", limit=None)
    assert (len(answer.documents), calls) == (150, {"tokens_of": 1, "texts_of": 1})
    assert [one.snippet_text for one in answer.documents][:20] == first
    for one in answer.documents:
        assert one.snippet_text.lower().count("[rent]") == 1 + int(one.document.doc_id) % 3


# -- damage -----------------------------------------------------------------------------------------------------------


def test_stored_words_are_made_again_when_they_are_missing(collection: Collection, place: SomePlace) -> None:
    assert found(collection, "rent") == ["note", "lease", "copy"]
    for statement in (
        "DROP TABLE search_words",
        "DROP TABLE search_lengths",
        "DELETE FROM facts WHERE name = 'search_words_end'",
        "UPDATE facts SET value = 'other' WHERE name = 'search_words'",
    ):
        place.sql(statement)
        assert found(collection, "rent") == ["note", "lease", "copy"]


def test_wrong_words_are_noticed(collection: Collection, place: SomePlace) -> None:
    assert found(collection, "omega") == []
    content = collection.document("rental").content
    place.sql(
        f"INSERT INTO search_words (rowid, words) VALUES ({content}, 'lawyer')"
        if place.kind == "sqlite"
        else f"UPDATE search_words SET words = words || 'lawyer:1'::tsvector WHERE content = {content}"
    )
    assert found(collection, "lawyer") == []  # the text does not have it: all words are made again
    assert collection.fsck().rebuilt == ()


def test_wrong_words_are_noticed_where_nothing_can_be_written(collection: Collection, place: SomePlace) -> None:
    expected = found(collection, "rent")
    numbers = [collection.document("rental").content, collection.document("note").content]
    for content, word in zip(numbers, ("rent", "lawyer")):
        place.sql(
            f"INSERT INTO search_words (rowid, words) VALUES ({content}, '{word}')"
            if place.kind == "sqlite"
            else f"UPDATE search_words SET words = words || '{word}:1'::tsvector WHERE content = {content}"
        )
    with place.open(create=False, read_only=True) as reader:
        answer = reader.search("rent")
        assert [one.document.doc_id for one in answer.documents] == expected
        assert answer.n_read == collection.info().n_texts
        assert found(reader, "lawyer") == []


def test_fsck_compares_the_stored_words(collection: Collection, place: SomePlace) -> None:
    collection.search("rent")
    assert collection.fsck().rebuilt == ()
    place.sql("DELETE FROM search_lengths WHERE content = 0")
    assert "words of texts" in collection.fsck().rebuilt[0]
    content = collection.document("note").content
    place.sql(
        "INSERT INTO search_words (search_words) VALUES ('delete-all')"
        if place.kind == "sqlite"
        else f"DELETE FROM search_words WHERE content = {content}"
    )
    assert "words of texts" in collection.fsck().rebuilt[0]
    report = collection.fsck()
    assert (report.rebuilt, report.is_whole) == ((), True)
    assert found(collection, "rent") == ["note", "lease", "copy"]


def test_damaged_files_of_the_index_are_made_again(tmp_path: Path) -> None:
    place = SomePlace.new(tmp_path, None)
    with place.open() as collection:
        collection.add(SENTENCES)
        collection.search("rent")
        place.sql("UPDATE search_words_data SET block = X'FFFFFF' WHERE id > 10")
        assert found(collection, "rent") == ["note", "lease", "copy"]
        place.sql("UPDATE search_words_data SET block = zeroblob(40) WHERE id > 1")  # FTS5 has no checksums
        assert "words of texts" in collection.fsck().rebuilt[0]
        assert found(collection, "rent") == ["note", "lease", "copy"]


def test_a_damaged_text_is_counted_and_searched_again_when_it_is_repaired(place: SomePlace) -> None:
    with place.open() as collection:
        collection.add(SENTENCES, wave="march")
        content = collection.document("note").content
        hex_of_nothing = "zeroblob(9)" if place.kind == "sqlite" else r"'\x00'::bytea"
        place.sql(f"UPDATE contents SET text = {hex_of_nothing} WHERE content = {content}")
        answer = collection.search("rent")
        assert ([one.document.doc_id for one in answer.documents], answer.n_damaged) == (["lease", "copy"], 1)
        assert collection.search("rent").n_damaged == 1
        collection.add(SENTENCES, wave="march")
        answer = collection.search("rent")
        assert ([one.document.doc_id for one in answer.documents], answer.n_damaged) == (["note", "lease", "copy"], 0)
        report = collection.fsck()
        assert (report.is_whole, report.rebuilt) == (True, ())
        place.sql(f"UPDATE contents SET text = {hex_of_nothing} WHERE content = {content}")
        with pytest.raises(CollectionError, match="damaged"):
            collection.search("rent")
        assert collection.fsck().rebuilt == ()  # its words were stored when it was whole
        with pytest.raises(CollectionError, match="damaged"):
            collection.search("rent")
        collection.add(SENTENCES, wave="march")
        assert found(collection, "rent") == ["note", "lease", "copy"]
        with collection.opened.store.reading() as connection:
            assert word_tables.reach(connection, collection.opened.store).lost == ()


def test_counts_of_words(place: SomePlace) -> None:
    """Each distinct text counts once, whatever documents have it."""
    with place.open() as collection:
        collection.add([("a", "rent"), ("b", "rent"), ("c", "rent due")])
        collection.search("rent")
        assert place.sql("SELECT count(*) FROM search_lengths") == "2"
        assert Counter(found(collection, "rent")) == {"a": 1, "b": 1, "c": 1}
