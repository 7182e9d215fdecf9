"""Plain SQL by wording: stored sets of word 5-grams, and the queries, functions and views that use them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from contract.asking import asking
from made_up_prose import Prose
from nearkin.collection.collection import Collection
from nearkin.collection.plain_sql import install
from nearkin.collection.stored.contents import texts_of
from nearkin.collection.stored.key_table import keys_of
from nearkin.collection.stored.word_sets import shares as overlap
from nearkin.collection.stored.word_sets import word_sets
from places import SomePlace


def jaccard(a, b) -> float:
    """Return the Jaccard similarity of two sets of hashes."""
    return overlap(a, b).jaccard


ODD = "'; DROP TABLE documents; -- \\ {schema}"
Row = tuple[str, int, str, float, float | None, bool]


def fill(collection: Collection) -> None:
    """Families from 20 to 400 words, changed by up to a third; versions, copies, texts without words, a removed one.

    And two of 3,000 words.
    """
    prose = Prose(7)
    families = prose.families(20)
    texts = dict(families)
    collection.add(families, wave="one")
    varied = [(f"v{i}", prose.altered(texts[f"f{i % 10}"], 1 + 4 * (i % 8))) for i in range(40)]
    long = prose.text(3000)
    collection.add([("long", long), ("longer", prose.altered(long, 4))])
    collection.add([*varied, (ODD, prose.altered(texts["f0"], 1)), ("copy", texts["f1"]), ("short", "No")])
    collection.add([("short too", "No"), ("none", ""), ("none too", ""), ("dots", "...")], wave="later")
    collection.add([("f3", prose.altered(texts["f3"], 2)), ("f4", prose.text(80))], wave="later")
    collection.remove(["f7"])


class Oracle:
    """Brute force: the pairs of current documents that share a key, with their exact similarities."""

    def __init__(self, collection: Collection) -> None:
        query = """
            SELECT d.doc_id, d.version, w.name, d.content, c.counts, c.is_counted FROM documents d
            JOIN loads l ON l.load = d.load JOIN waves w ON w.wave = l.wave JOIN contents c ON c.content = d.content
            WHERE d.is_current ORDER BY d.content, d.row
        """
        with collection.opened.store.reading() as connection:
            rows = list(connection.exec_driver_sql(query))
            texts = texts_of(connection, sorted({row[3] for row in rows}))
        keys = keys_of(list(texts.values()))
        self.sets = dict(zip(texts, word_sets(collection.opened.counting, list(texts.values()))))
        self.keys = {content: set(keys.values[keys.texts == i].tolist()) for i, content in enumerate(texts)}
        self.documents = {row[0]: tuple(row) for row in rows}

    def rows(self, asked: str, threshold: float) -> list[Row]:
        found = []
        for one in self.documents.values():
            similarity = self._similarity(self.documents[asked][3], one[3])
            if one[0] != asked and similarity >= threshold:
                relative = self._relative(self.documents[asked], one)
                found.append((*one[:3], similarity, relative, one[3] == self.documents[asked][3]))
        return sorted(found, key=lambda row: -row[3])

    def _similarity(self, a: int, b: int) -> float:
        if a == b:
            return 1.0
        shares = bool(self.keys[a] & self.keys[b]) and len(self.sets[a]) > 0
        return jaccard(self.sets[a], self.sets[b]) if shares else 0.0

    def _relative(self, one: tuple[Any, ...], other: tuple[Any, ...]) -> float | None:
        a, b = (np.frombuffer(bytes(row[4]), "<u4").astype(float) for row in (one, other))
        return float(np.sqrt(((a - b) ** 2).sum()) / np.sqrt((a**2).sum())) if one[5] and other[5] else None


@pytest.fixture(scope="module")
def on_server(server, tmp_path_factory) -> SomePlace:
    return SomePlace.new(tmp_path_factory.mktemp("words"), server)


@pytest.fixture(scope="module")
def collection(on_server):
    """A collection that no test changes, except by groups and a document at the end."""
    with on_server.open() as collection:
        fill(collection)
        install(collection.opened)
        yield collection


@pytest.fixture(scope="module")
def oracle(collection) -> Oracle:
    return Oracle(collection)


@pytest.fixture
def ask(on_server):
    with asking(on_server) as run:
        yield run


# -- functions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "threshold",
    [
        "0.5",
        "0.05",
        "1",
    ],
)
def test_similar_by_jaccard_is_exact_brute_force_over_shared_keys(oracle, ask, threshold):
    n_found = 0
    for doc_id in [ODD, "short", "none", "dots", "f3", "f4", "copy", *(f"v{i}" for i in range(0, 40, 3))]:
        expected = oracle.rows(doc_id, float(threshold))
        assert ask(f"SELECT * FROM @similar_by_jaccard(%s, {threshold})", doc_id) == expected
        n_found += len(expected)
        if threshold == "0.5":
            assert ask("SELECT * FROM @similar_by_jaccard(%s)", doc_id) == expected
            assert ask("SELECT * FROM @near_duplicates(%s)", doc_id) == [(*row, False) for row in expected]
    assert n_found > 3


def test_letters_are_a_measure_of_near_duplicates_too(collection, ask):
    for doc_id in [ODD, "f3", "v1", "short"]:
        columns = "similar_doc_id, version, wave, jaccard, relative_distance, is_same_text, is_letters_only"
        letters = ask(f"SELECT {columns} FROM @similar_by_letters(%s, 0.1)", doc_id)
        rows = ask("SELECT * FROM @near_duplicates(%s, 'letters', 0.1)", doc_id)
        assert rows == letters
        counting, text = collection.opened.counting, collection.text(doc_id)
        for row in rows:
            one, other = word_sets(counting, [text, collection.text(row[0])])
            assert (row[3], row[6]) == (jaccard(one, other), jaccard(one, other) < 0.5)


def test_sets_are_compared_as_in_python(collection, ask):
    rows = ask("SELECT hashes FROM @shingles ORDER BY content")
    sets = [np.frombuffer(bytes(hashes), ">u8").astype(np.uint64) for (hashes,) in rows]
    for i, j in list(combinations(range(len(sets)), 2))[::37]:
        n_both = len(np.intersect1d(sets[i], sets[j]))
        found = ask("SELECT @n_common(%s, %s), @jaccard(%s, %s)", *(2 * (bytes(rows[i][0]), bytes(rows[j][0]))))
        assert found == [(n_both, jaccard(sets[i], sets[j]))]
    assert ask("SELECT @jaccard(''::bytea, ''::bytea), @n_common(NULL, ''::bytea)") == [(1.0, None)]


def test_a_text_without_words_is_like_its_equals(collection, ask):
    assert ask("SELECT similar_doc_id, jaccard FROM @similar_by_jaccard('none')") == [("none too", 1.0)]
    assert "no words to be compared" in ask.notices[-1]


def test_the_view_has_the_pairs_by_words(oracle, ask):
    pairs = set(ask("SELECT doc_id, similar_doc_id, jaccard, relative_distance FROM @near_duplicate_pairs"))
    expected = {(doc_id, row[0], row[3], row[4]) for doc_id in oracle.documents for row in oracle.rows(doc_id, 0.5)}
    assert pairs == expected
    assert len(pairs) > 20
    ask("SET enable_seqscan TO off")  # else the choice depends on whether so small a table was analysed by then
    plan = "\n".join(row[0] for row in ask("EXPLAIN SELECT * FROM @near_duplicate_pairs WHERE doc_id = 'f3'"))
    ask("RESET enable_seqscan")
    assert "current_documents" in plan


# -- recall -----------------------------------------------------------------------------------------------------------


def test_recall_against_brute_force_is_within_the_stated_bounds():
    """Keys find 0.80 of the pairs at 0.5 by bands alone, and more of longer texts, whose shingles are sampled."""
    prose, found = Prose(11, n_words=4000), dict[tuple[int, int], list[bool]]()
    for n_words in (30, 100, 400):
        for _ in range(220):
            one = prose.text(n_words)
            other = prose.altered(one, prose.rng.randrange(n_words // 9 + 1))
            similarity_of, shares = measured(one, other)
            if similarity_of >= 0.5:
                found.setdefault((n_words, int(similarity_of * 10) // 2), []).append(shares)
    low = {n_words: np.mean(found[n_words, 2]) for n_words in (30, 100, 400)}
    assert 0.75 <= low[30] < 1
    assert low[100] >= 0.93
    assert low[400] >= 0.99
    for n_words in (30, 100, 400):
        assert np.mean(found[n_words, 3] + found[n_words, 4]) >= 0.97
        assert np.mean(found[n_words, 4]) >= 0.99


def measured(one: str, other: str) -> tuple[float, bool]:
    keys = keys_of([one, other])
    sets = [np.sort(keys.sets.hashes[a:b]) for a, b in zip(keys.sets.offsets[:-1], keys.sets.offsets[1:])]
    values = [set(keys.values[keys.texts == i].tolist()) for i in range(2)]
    return jaccard(*sets), bool(values[0] & values[1])


# -- groups -----------------------------------------------------------------------------------------------------------


def test_groups_collapse_a_list(collection, oracle, ask):
    groups = collection.groups()
    expected = {}
    for one in groups.members.to_pylist():
        principal = next(group.principal for group in groups.groups if group.number == one["group"])
        expected[one["doc_id"]] = (f"group {one['group']}", principal, one["doc_id"] == principal)
    every = list(oracle.documents)
    expected = {doc_id: expected.get(doc_id, (f"document {doc_id}", doc_id, True)) for doc_id in every}
    rows = ask("SELECT doc_id, group_key, principal_doc_id, is_principal FROM @group_of_documents")
    assert {row[0]: row[1:] for row in rows} == expected
    assert 0 < len({key for key, *_ in expected.values()}) < len(every) - 10
    one_of_each = ask(
        "SELECT DISTINCT ON (group_key) doc_id FROM @documents JOIN @group_of_documents USING (doc_id) "
        "WHERE is_current ORDER BY group_key, is_principal DESC"
    )
    assert len(one_of_each) == len({key for key, *_ in expected.values()})
    assert {row[0] for row in one_of_each} == {
        doc_id for doc_id, (*_, is_principal) in expected.items() if is_principal
    }
    collection.add([("new", "A document that came after the groups were made, and is like no other.")])
    ask.notices.clear()
    assert ask("SELECT group_key FROM @group_of_documents WHERE doc_id = 'new'") == [("document new",)]
    assert len(ask("SELECT DISTINCT ON (group_key) doc_id FROM @documents JOIN @group_of_documents USING (doc_id)")) > 1
    assert len(ask.notices) == 2, "one for each statement"
    assert "last computed: 1" in ask.notices[-1]


def test_another_member_stands_for_a_principal_that_is_gone(collection, ask):
    """As `nearkin groups` will choose it: another version of it, or else the longest member."""
    groups = collection.groups()
    large = next(one for one in groups.groups if one.n_documents > 3)
    members = [row["doc_id"] for row in groups.members.to_pylist() if row["group"] == large.number]
    principals = f"SELECT DISTINCT principal_doc_id FROM @group_of_documents WHERE group_key = 'group {large.number}'"
    assert ask(principals) == [(large.principal,)]
    collection.remove([large.principal])
    ((now,),) = ask(principals)
    assert now in set(members) - {large.principal}
    (updated,) = (one for one in collection.groups().groups if one.number == large.number)
    assert updated.principal == now
