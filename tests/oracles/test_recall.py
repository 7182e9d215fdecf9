"""Of a whole run: what was found of all pairs, against what was predicted and what the run itself estimates."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict

import numpy as np
import pytest

import nearkin
from example_counts import every
from nearkin.kernels.sketch import found_by_bands
from nearkin.results import DedupResult
from nearkin.workflows.dedup import searching
from oracles.brute_force import Shingle, shingles
from oracles.chance import SIGMAS

Pairs = dict[tuple[int, int], float]


def all_matches(sets: list[set[Shingle]], threshold: float, measure: str = "jaccard") -> Pairs:
    """Every pair at or above the threshold, from a count of what each two sets share."""
    holders = defaultdict(list)
    for row, one in enumerate(sets):
        for shingle in one:
            holders[shingle].append(row)
    shared = np.zeros((len(sets), len(sets)), np.int32)
    for rows, n_shingles in Counter(tuple(rows) for rows in holders.values() if len(rows) > 1).items():
        shared[np.ix_(rows, rows)] += n_shingles
    found = {}
    for a, b in zip(*(rows.tolist() for rows in np.nonzero(np.triu(shared, 1)))):
        common = int(shared[a, b])
        least, union = min(len(sets[a]), len(sets[b])), len(sets[a]) + len(sets[b]) - common
        similarity = common / (union if measure == "jaccard" else least)
        if similarity >= threshold:
            found[a, b] = similarity
    return found


def found_by(texts: list[str], **options: object) -> tuple[Pairs, DedupResult]:
    result = nearkin.dedup([(row, text) for row, text in enumerate(texts)], **options)
    measure = options.get("measure", "jaccard")
    pairs = {}
    for row in result.pairs.to_pylist():
        both = row["containment_a_in_b"], row["containment_b_in_a"]
        pairs[row["id_a"], row["id_b"]] = row["jaccard"] if measure == "jaccard" else max(both)
    return pairs, result


def edited(seed: int, *, n_bases: int, n_words: int, max_edits: int) -> list[str]:
    """Each base with three versions, whose likeness spreads over a wide range."""
    chance = random.Random(seed)
    texts = []
    for _ in range(n_bases):
        base = [f"w{chance.randrange(10**6)}" for _ in range(n_words)]
        for n_edits in (0, *(chance.randint(1, max_edits) for _ in range(3))):
            version = list(base)
            for at in chance.sample(range(n_words), n_edits):
                version[at] = f"v{chance.randrange(10**9)}"
            texts.append(" ".join(version))
    return chance.sample(texts, len(texts))


@pytest.mark.parametrize(
    ("threshold", "recall", "n_words"), every(2, [(0.8, 0.99, 150), (0.6, 0.99, 150), (0.7, 0.9, 150), (0.9, 0.8, 150)])
)
def test_of_long_texts_as_many_are_found_as_predicted(threshold, recall, n_words):
    texts = edited(1, n_bases=500, n_words=n_words, max_edits=n_words // 10)
    truth = all_matches([shingles(text, "words", 3) for text in texts], threshold)
    found, result = found_by(texts, threshold=threshold, recall=recall, shingle="words:3")
    plan = result.manifest["plan"]
    assert found.items() <= truth.items()
    assert n_words - 2 >= plan["exact_below"]  # bands had to find them
    chances = np.array([found_by_bands(s, plan["bands"], plan["rows"]) for s in truth.values()])
    assert plan["recall_at_threshold"] >= recall
    assert chances.min() >= recall - 1e-9
    spread = SIGMAS * math.sqrt((chances * (1 - chances)).sum()) + SIGMAS
    n_missed = len(truth) - len(found)
    assert len(truth) > 150
    assert n_missed <= (1 - chances).sum() + spread
    assert abs(result.manifest["estimated_missed_pairs"] - n_missed) <= 2 * spread
    assert result.manifest["counts"]["pairs_not_compared"] == 0


def clustered(seed: int, *, n_clusters: int, size: int, n_words: int, max_edits: int) -> list[str]:
    """Versions of a few texts, each with words of its own: nearly all pairs lie in large groups."""
    chance = random.Random(seed)
    texts = []
    for _ in range(n_clusters):
        base = [f"w{chance.randrange(10**6)}" for _ in range(n_words)]
        for _ in range(size):
            version = list(base)
            for at in chance.sample(range(n_words), chance.randint(1, max_edits)):
                version[at] = f"v{chance.randrange(10**9)}"
            texts.append(" ".join(version))
    return texts


@pytest.mark.parametrize(
    ("n_clusters", "size", "n_words", "max_edits"),
    every(
        2, [(20, 40, 160, 5), (10, 60, 300, 8)]
    ),  # in the first, documents are hardly longer than those searched exactly
)
def test_in_clusters_as_many_are_missed_as_estimated(n_clusters, size, n_words, max_edits):
    texts = clustered(1, n_clusters=n_clusters, size=size, n_words=n_words, max_edits=max_edits)
    n_pairs = len(all_matches([shingles(text, "words", 5) for text in texts], 0.8))
    n_missed, estimated = [], []
    for seed in range(8):
        result = nearkin.dedup(list(enumerate(texts)), threshold=0.8, seed=seed)
        assert (result.documents["n_shingles"].to_numpy() >= result.manifest["plan"]["exact_below"]).all()
        n_missed.append(n_pairs - len(result.pairs))
        estimated.append(result.manifest["estimated_missed_pairs"])
    # pairs of a cluster are missed together: the spread over seeds is that of the misses themselves
    error = SIGMAS * np.std(n_missed, ddof=1) / math.sqrt(len(n_missed))
    assert abs(np.mean(n_missed) - np.mean(estimated)) <= error + 0.05


def made_up_names(seed: int, n: int) -> list[str]:
    """Names of a few syllables, some of them misspelt: short texts that share all they are made of with many others."""
    chance = random.Random(seed)
    syllables = ["an", "be", "ca", "do", "el", "fa", "gi", "ha", "io", "ju", "ka", "li", "mo", "no", "ol"]
    names = ["".join(chance.choices(syllables, k=3)) + " " + "".join(chance.choices(syllables, k=4)) for _ in range(n)]
    for _ in range(n // 8):
        letters = list(chance.choice(names))
        letters[chance.randrange(len(letters))] = chance.choice("aeiou")
        names.append("".join(letters))
    return chance.sample(sorted(set(names)), len(set(names)))


@pytest.mark.parametrize(("shingle", "threshold"), every(2, [("chars:2", 0.7), ("chars:3", 0.6), ("chars:4", 0.5)]))
def test_short_texts_that_share_much_are_searched_exactly_too(shingle, threshold):
    texts = made_up_names(3, 1800)
    truth = all_matches([shingles(text, "chars", int(shingle[-1])) for text in texts], threshold)
    found, result = found_by(texts, threshold=threshold, shingle=shingle)
    assert max(result.documents["n_shingles"].to_pylist()) < result.manifest["plan"]["exact_below"]
    assert len(truth) > 40
    assert found == truth
    assert result.manifest["estimated_missed_pairs"] == 0


@pytest.mark.parametrize(("threshold", "recall"), every(2, [(0.8, 0.99), (0.6, 0.9), (1.0, 0.99)]))
def test_contained_texts_are_found_as_often_as_predicted(threshold, recall):
    chance = random.Random(5)
    texts = []
    for _ in range(300):
        long = [f"w{chance.randrange(10**6)}" for _ in range(chance.randint(150, 400))]
        start, n_words = chance.randrange(100), chance.randint(20, 150)
        part = long[start : start + n_words]
        for at in chance.sample(range(len(part)), chance.randint(0, len(part) // 12)):
            part[at] = f"v{chance.randrange(10**9)}"
        texts += [" ".join(long), " ".join(part)]
    truth = all_matches([shingles(text, "words", 3) for text in texts], threshold, "containment")
    found, result = found_by(texts, threshold=threshold, recall=recall, shingle="words:3", measure="containment")
    assert found.items() <= truth.items()
    plan = result.manifest["plan"]
    assert plan["recall_at_threshold"] >= recall
    assert len(truth) > 40
    rare = SIGMAS * math.sqrt(len(truth) * recall * (1 - recall)) + SIGMAS
    assert len(truth) - len(found) <= (1 - recall) * len(truth) + rare
    assert abs(result.manifest["estimated_missed_pairs"] - (len(truth) - len(found))) <= 2 * rare


# -- many alike: bounded work, and an answer that still holds ---------------------------------------------------------


def test_fifty_thousand_equal_documents():
    text = " ".join(f"w{i}" for i in range(60))
    result = nearkin.dedup([text] * 25_000 + [text.upper()] * 25_000)
    (group,) = result.groups.to_pylist()
    assert (group["size"], group["n_exact_copies"], group["lowest_similarity"]) == (50_000, 49_999, 1.0)
    assert result.manifest["counts"]["candidates"] == 0
    assert len(result.pairs) == 49_999
    assert len(result.kept) == 1


@pytest.mark.parametrize("measure", ["jaccard", "containment"])
def test_many_documents_all_near_one_another(measure, monkeypatch):
    """More pairs than are affordable: the work is bounded, and all the same they are one group."""
    monkeypatch.setattr(searching, "_PAIRS_OF_A_BAND", 100_000)
    monkeypatch.setattr(searching, "_PAIRS_OF_LOOSE_ENTRIES", 100_000)
    n = 1500
    texts = [" ".join(f"w{i}" for i in range(50)) + f" tail{i}" for i in range(n)]
    result = nearkin.dedup(texts, measure=measure, threshold=0.8)
    (group,) = result.groups.to_pylist()
    assert group["size"] == n
    assert group["lowest_similarity"] >= 0.8
    counts = result.manifest["counts"]
    assert (counts["kept"], counts["near_duplicate"], counts["bridges_refused"]) == (1, n - 1, 0)
    assert n - 1 <= counts["pairs"] < n * (n - 1) // 2
    n_pairs = n * (n - 1) // 2
    assert 0 < counts["pairs_not_compared"] <= n_pairs - counts["candidates"]  # and it is said
    assert result.manifest["estimated_recall"] is None
    assert result.manifest["estimated_missed_pairs"] is None
    assert min(result.documents["similarity_to_principal"].to_pylist()) >= 0.8


@pytest.mark.parametrize("measure", ["jaccard", "containment"])
def test_of_two_collections_only_pairs_across_can_be_left_out(measure, monkeypatch):
    """A crowd in one collection, and few texts of the other: those few are compared with all of it."""
    monkeypatch.setattr(searching, "_PAIRS_OF_A_BAND", 1_000)
    monkeypatch.setattr(searching, "_PAIRS_OF_LOOSE_ENTRIES", 1_000)
    crowd = [" ".join(f"w{i}" for i in range(50)) + f" tail{i}" for i in range(500)]
    few, many = crowd[:60], crowd[60:]

    def dedup(mine, theirs):
        return nearkin.dedup(mine, against=theirs, measure=measure, threshold=0.8, recall=0.999)

    for mine, theirs in ((many, few), (few[:1], many[:1])):
        result = dedup(mine, theirs)
        assert result.manifest["counts"]["pairs_not_compared"] == 0
        assert len(result.pairs) == len(mine) * len(theirs)
        assert result.manifest["estimated_missed_pairs"] is not None
    counts = dedup(many[:200], many[200:]).manifest["counts"]
    n_across = 200 * len(many[200:])
    assert 0 < counts["pairs_not_compared"] <= n_across - counts["candidates"]


def test_a_family_hidden_among_many_that_share_a_header():
    """Long texts with a common part below the threshold: the keys of that part are shared by all of them."""
    chance = random.Random(9)
    header = " ".join(f"h{i}" for i in range(70))
    bodies = [" ".join(f"w{chance.randrange(10**6)}" for _ in range(50)) for _ in range(1200)]
    texts = [f"{header} {body}" for body in bodies]
    texts += [f"{text} more words here" for text in texts[600:700]]
    found, result = found_by(texts, threshold=0.8, shingle="words:3")
    planted = {(600 + i, 1200 + i) for i in range(100)}
    assert set(found) <= planted
    assert len(planted - set(found)) <= 8  # 1 expected
    assert result.manifest["counts"]["groups"] == len(found)
