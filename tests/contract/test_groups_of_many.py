"""Groups of very many texts that are nearly alike: the components of all matches, with work that does not explode."""

from __future__ import annotations

import random
from collections.abc import Iterable
from contextlib import suppress
from itertools import combinations

import pytest

import nearkin
from contract.test_check_in import grams
from nearkin.collection.matching import matches, word_links
from nearkin.collection.stored.word_sets import WordSets
from nearkin.errors import ParameterError


def changed(words: list[str], n_changes: int, chance: random.Random) -> list[str]:
    words = list(words)
    for _ in range(n_changes):
        words[chance.randrange(len(words))] = f"w{chance.randrange(50_000)}"
    return words


def families(chance: random.Random, n: int) -> list[str]:
    """Texts of some lengths, copies with some to very many changes, and chains of copies of copies."""
    texts: list[list[str]] = []
    while len(texts) < n:
        base = [f"w{chance.randrange(400)}" for _ in range(chance.choice([4, 12, 40, 120]))]
        texts.append(base)
        for _ in range(chance.choice([0, 0, 1, 3, 25])):
            of = texts[-1] if chance.random() < 0.4 else base
            texts.append(changed(of, max(1, int(len(of) * chance.choice([0.01, 0.04, 0.08, 0.12]))), chance))
    return [" ".join(words) for words in texts[:n]]


def components(texts: list[str], threshold: float, together: Iterable[tuple[int, int]] = ()) -> set[frozenset[int]]:
    """By comparing every pair."""
    sets, leads = [grams(text) for text in texts], list(range(len(texts)))

    def lead(i: int) -> int:
        while leads[i] != i:
            i = leads[i]
        return i

    for a, b in combinations(range(len(texts)), 2):
        n_both = len(sets[a] & sets[b])
        if n_both and n_both / (len(sets[a]) + len(sets[b]) - n_both) >= threshold:
            leads[lead(a)] = lead(b)
    for a, b in together:
        leads[lead(a)] = lead(b)
    found = dict[int, set[int]]()
    for i in range(len(texts)):
        found.setdefault(lead(i), set()).add(i)
    return {frozenset(one) for one in found.values() if len(one) > 1}


def grouped(collection: nearkin.Collection, threshold: float) -> tuple[set[frozenset[int]], int]:
    groups = collection.groups(threshold=threshold)
    found = dict[int, set[int]]()
    for one in groups.members.to_pylist():
        found.setdefault(one["group"], set()).add(int(one["doc_id"]))
    return {frozenset(one) for one in found.values()}, groups.n_not_compared


@pytest.fixture
def n_compared(monkeypatch):
    """How many pairs are compared exactly."""
    counts = [0]
    jaccards = WordSets.jaccards

    def counted(sets, left, right):
        counts[0] += len(left)
        return jaccards(sets, left, right)

    monkeypatch.setattr(WordSets, "jaccards", counted)
    return counts


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_groups_are_the_components_of_all_matches(tmp_path, seed, threshold):
    texts = families(random.Random(seed), 400)
    documents = [(str(i), text) for i, text in enumerate(texts)]
    expected = components(texts, threshold)
    with nearkin.Collection.open(tmp_path / "m", create=True) as collection:
        collection.add(documents[:250], wave="first")
        collection.groups(threshold=threshold)
        collection.add(documents[250:], wave="second")
        found, n_left = grouped(collection, threshold)
    assert (found, n_left) == (expected, 0)
    assert len(expected) > 10


N_WAVES, N_DECISIONS = 80, 20


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 6))])
def test_groups_over_many_waves_and_decisions_are_components(tmp_path, seed):
    """What belongs together is one more match; only a component with two that belong apart is divided."""
    chance = random.Random(seed)
    texts = families(chance, 2 * N_WAVES)
    chance.shuffle(texts)
    together, apart = set[tuple[int, int]](), set[tuple[int, int]]()
    with nearkin.Collection.open(tmp_path / "m", create=True) as collection:
        for wave in range(N_WAVES):
            n = 2 * wave + 2
            collection.add([(str(i), texts[i]) for i in range(n - 2, n)], wave=f"wave {wave}")
            found, n_left = grouped(collection, 0.5)
            if wave % (N_WAVES // N_DECISIONS) == 3:
                kind, known = chance.choice([("same_group", together), ("never_group", apart)])
                members = sorted(chance.choice(sorted(map(sorted, found))) if found and known is apart else range(n))
                pair = tuple(chance.sample(members, 2))
                with suppress(ParameterError):  # it contradicts earlier ones
                    collection.decide(**{kind: list(map(str, pair))})
                    known.add(pair)
            if wave % 40 == 39:
                found, n_left = grouped(collection, 0.5)
                expected = components(texts[:n], 0.5, together)
                divided = {one for one in expected if any({*pair} <= one for pair in apart)}
                assert n_left == 0
                assert found - expected == {one for one in found if any(one < whole for whole in divided)}
                assert expected - divided <= found
                assert not any({*pair} <= one for pair in apart for one in found)
                assert all(any({*pair} <= one for one in found) for pair in together)
    assert len(together) > 5
    assert len(apart) > 3
    assert divided


def test_n_near_equal_texts_need_about_n_comparisons(tmp_path, n_compared):
    chance = random.Random(2)
    base = [f"w{chance.randrange(50_000)}" for _ in range(100)]
    documents = [(str(i), " ".join(changed(base, chance.randrange(1, 3), chance))) for i in range(3_000)]
    with nearkin.Collection.open(tmp_path / "m", create=True) as collection:
        collection.add(documents[:2_000])
        assert len(grouped(collection, 0.5)[0].pop()) == 2_000
        collection.add(documents[2_000:], wave="second")
        (found,), n_left = grouped(collection, 0.5)
    assert (len(found), n_left) == (3_000, 0)
    assert n_compared[0] < 15 * len(documents)


def test_hot_texts_are_compared_with_their_nearest_and_the_rest_is_counted(tmp_path, n_compared, monkeypatch):
    """A form with as many words of its own in each copy, just below the threshold; three copies of one of them."""
    monkeypatch.setattr(word_links, "MAX_CANDIDATES", 300)
    monkeypatch.setattr(word_links, "MAX_NEAREST", 20)
    chance = random.Random(3)
    form = [f"w{chance.randrange(50_000)}" for _ in range(190)]
    filled = [form + [f"w{chance.randrange(50_000)}" for _ in range(110)] for _ in range(1_200)]
    filled += [changed(filled[5], 4, chance) for _ in range(3)]
    documents = [(str(i), " ".join(words)) for i, words in enumerate(filled)]
    with nearkin.Collection.open(tmp_path / "m", create=True) as collection:
        collection.add(documents)
        found, n_left = grouped(collection, 0.5)
    assert found == {frozenset((5, 1_200, 1_201, 1_202))}
    assert n_compared[0] < 50 * len(documents)
    assert n_left > 400_000


def test_the_number_of_threads_changes_nothing(tmp_path, n_compared, monkeypatch):
    """Forms that do not match one another, and copies of some of them: some pairs are left out."""
    monkeypatch.setattr(word_links, "MAX_CANDIDATES", 100)
    monkeypatch.setattr(word_links, "MAX_NEAREST", 20)
    monkeypatch.setattr(word_links, "_MIN_SAMPLE", 300)
    monkeypatch.setattr(word_links, "_PAIRS_AT_A_TIME", 1 << 15)
    chance = random.Random(4)
    form = [f"w{chance.randrange(50_000)}" for _ in range(190)]
    filled = [form + [f"w{chance.randrange(50_000)}" for _ in range(chance.choice([90, 110]))] for _ in range(500)]
    filled += [changed(filled[i], 10, chance) for i in range(0, 500, 3)]
    documents = [(str(i), " ".join(words)) for i, words in enumerate(filled)]
    found = []
    for threads in (1, 2, 5):
        n_compared[0] = 0
        with nearkin.Collection.open(tmp_path / f"{threads}", create=True) as collection:
            collection.add(documents)
            groups = collection.groups(threshold=0.5, threads=threads)
        found.append((groups.n_not_compared, n_compared[0], groups.members))
    assert found[0] == found[1] == found[2]
    assert found[0][0] > 100


@pytest.mark.parametrize("gamma", [0.03, 0.08, 0.2])
def test_clusters_of_like_letters_are_grouped_as_by_a_search_for_each_text(tmp_path, gamma, monkeypatch):
    """Around a centre there are copies with few changes, others at the edge, and others behind the edge."""
    monkeypatch.setattr(matches, "_MIN_CLUSTER", 10)
    chance, documents = random.Random(int(1000 * gamma)), []
    for _ in range(6):
        base = [f"{chance.choice('abcdefgh') * chance.randrange(1, 9)}" for _ in range(60)]
        for _ in range(100):
            n_changes = chance.choice([1, 1, 2, 8, 20, 40])
            words = [f"{chance.choice('abcdefgh') * chance.randrange(1, 9)}" for _ in range(n_changes)]
            documents.append((str(len(documents)), " ".join(words + base[n_changes:])))
    told, n_left = [], []
    link_clusters = matches.link_clusters
    for is_direct in (True, False):

        def link(search, gamma, forest, is_direct=is_direct):
            left = search.asked if is_direct else link_clusters(search, gamma, forest)
            n_left.append(len(left))
            return left

        monkeypatch.setattr(matches, "link_clusters", link)
        with nearkin.Collection.open(tmp_path / f"{is_direct}", create=True) as collection:
            collection.add(documents)
            told.append(collection.groups(gamma=gamma).members.to_pylist())
    assert told[0] == told[1]
    assert 500 < n_left[0] > n_left[1]
    assert len({one["group"] for one in told[0]}) > 1 or gamma == 0.2


def test_direct_members_match_their_principal(tmp_path):
    """The others are linked through a chain, and are counted."""
    chance = random.Random(8)
    words = [f"w{chance.randrange(50_000)}" for _ in range(60)]
    chain = [words]
    for start in range(0, 60, 6):
        chain.append([*chain[-1][:start], *(f"w{chance.randrange(50_000)}" for _ in range(6)), *chain[-1][start + 6 :]])
    texts = [" ".join(own) for own in chain]
    with nearkin.Collection.open(tmp_path / "m", create=True) as collection:
        collection.add([(str(i), text) for i, text in enumerate(texts)])
        found = collection.groups()
    (group,) = found.groups
    principal = grams(texts[int(group.principal)])
    alike = {i for i, text in enumerate(texts) if len(grams(text) & principal) >= len(grams(text) | principal) / 2}
    assert {int(one["doc_id"]) for one in found.members.to_pylist() if one["is_match"]} == alike
    assert 1 < len(alike) == len(texts) - found.n_indirect < len(texts)
    assert found.to_dict()["n_indirect"] == found.n_indirect == group.n_chained
