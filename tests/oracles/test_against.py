"""What of a collection is already in another one, as the brute force says it."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import nearkin
from example_counts import every, examples
from made_up_prose import Prose
from nearkin.options.dedup import ANY_SHARE
from nearkin.results import DedupResult
from nearkin.stages.verification.measures import MEASURE_COLUMNS, MEASURES
from oracles.brute_force import (
    Across,
    Collection,
    Likeness,
    OtherRow,
    Verdict,
    across,
    found_of_others,
    likenesses,
    shingles,
)
from oracles.chance import SIGMAS
from oracles.texts import families

CERTAIN = 0.999_999_999
NEAR = "the quick brown fox jumps over the lazy dog and runs into the deep dark forest at night"


def assert_like_the_oracle(mine: list[str], theirs: list[str], rule: Across) -> None:
    inputs = Collection([(f"in{i}", text) for i, text in enumerate(mine)], length=2)
    others = Collection([(f"other{i}", text) for i, text in enumerate(theirs)], length=2)
    how = {"min_shared": rule.min_shared} if rule.min_shared else {"threshold": rule.threshold, "recall": CERTAIN}
    drop = None if rule.min_shared or not MEASURES[rule.measure].is_directed else rule.drop
    result = nearkin.dedup(
        inputs.documents, against=others.documents, measure=rule.measure, drop=drop, shingle="words:2", threads=1, **how
    )
    rows = result.documents.to_pylist()
    said = [
        Verdict(row["group"], row["similarity_to_principal"], row["copy_of"], row["reason"], row["differs"])
        for row in rows
    ]
    assert said == across(inputs, others, rule)
    assert [row["id"] for row in rows] == [doc_id for doc_id, _ in inputs.documents]
    assert all(row["keep"] == row["is_principal"] == (row["group"] == row["id"]) for row in rows)
    assert_pairs_lie_across(result, inputs, others, rule)
    assert_others_are_told(result, inputs, others, rule, drop)
    assert len(result.groups) == 0
    assert result.manifest["counts"]["documents"] == len(mine)
    assert result.kept == [one for one, row in zip(inputs.documents, rows, strict=True) if row["keep"]]


def assert_others_are_told(
    result: DedupResult, inputs: Collection, others: Collection, rule: Across, drop: str | None
) -> None:
    """A row for each document of the other collection, and the counts of them."""
    rows = result.against.to_pylist()
    said = [OtherRow(row["result"], row["n_documents"], row["most_similar"], row["similarity"]) for row in rows]
    assert said == found_of_others(inputs, others, rule)
    assert [row["id"] for row in rows] == [doc_id for doc_id, _ in others.documents]
    counts = {name: n for name, n in result.manifest["against_counts"].items() if n and name != "documents"}
    is_looked_for = bool(rule.min_shared) or drop in ("containing", "either")
    found_short = [row for row in rows if row["result"] == "match" and row["n_shingles"] < (rule.min_shared or 1)]
    assert counts.pop("too_short_matches", 0) == len(found_short) * is_looked_for
    assert counts == Counter(row["result"].replace(" ", "_") for row in rows)
    assert result.manifest["against_counts"]["documents"] == len(rows)
    dropped_for = {row["group"] for row in result.documents.to_pylist() if row["keep"] is False and row["group"]}
    assert dropped_for <= {row["id"] for row in rows if row["result"] == "match"}


def assert_pairs_lie_across(result: DedupResult, inputs: Collection, others: Collection, rule: Across) -> None:
    """One side of each pair in each collection, its similarity exact, and no two texts left out."""
    my_row = {doc_id: row for row, (doc_id, _) in enumerate(inputs.documents)}
    their_row = {doc_id: row for row, (doc_id, _) in enumerate(others.documents)}
    pairs = result.pairs.to_pylist()
    named, texts = set(), set()
    for pair in pairs:
        assert pair["id_a"] in my_row
        assert pair["id_b"] in their_row
        a, b = my_row[pair["id_a"]], their_row[pair["id_b"]]
        expected = Likeness(len(inputs.sets[a] & others.sets[b]), len(inputs.sets[a]), len(others.sets[b]))
        row = (Likeness.of_copies() if inputs.texts[a] == others.texts[b] else expected).row
        assert tuple(pair[name] for name in MEASURE_COLUMNS) == row
        assert (pair["row_a"], pair["row_b"], pair["name_b"]) == (a, len(my_row) + b, pair["id_b"])
        named.add((pair["id_a"], pair["id_b"]))
        texts.add((inputs.texts[a], others.texts[b]))
    assert len(named) == len(pairs)
    order = [(my_row[pair["id_a"]], their_row[pair["id_b"]]) for pair in pairs]
    assert order == sorted(order)
    assert texts == {
        (mine, theirs)
        for a, mine in enumerate(inputs.texts)
        for b, theirs in enumerate(others.texts)
        if mine and theirs and (mine == theirs or rule.is_match(likenesses(inputs, a, others)[b]))
    }
    for row in result.documents.to_pylist():  # whatever was dropped stands in the pairs with what it was dropped for
        if row["reason"] in ("exact copy", "near-duplicate", "overlap"):
            assert (row["id"], row["group"]) in named


LONG = " ".join(f"w{i}" for i in range(40))
RULES = [
    *(Across(threshold, measure) for threshold in (0.2, 0.5, 0.55, 0.7, 0.8, 1.0) for measure in MEASURES),
    *(
        Across(threshold, "containment", drop)
        for threshold in (0.3, 0.6, 0.8, 1.0)
        for drop in ("containing", "either")
    ),
    *(Across(ANY_SHARE, "containment", min_shared=n) for n in (1, 2, 5)),
]


@given(
    texts=families(most=14),
    sides=st.lists(st.sampled_from(["in", "other", "both"]), min_size=14, max_size=14),
    rule=st.sampled_from(RULES),
)
@settings(max_examples=examples(80))
@example(texts=[NEAR, NEAR + " again"], sides=["both", "both"], rule=Across(0.5, "jaccard"))
@example(texts=[NEAR, NEAR + " again"], sides=["in", "both"], rule=Across(0.5, "jaccard"))
@example(texts=[NEAR, NEAR.upper(), NEAR + " again"], sides=["in", "in", "other"], rule=Across(0.5, "jaccard"))
@example(texts=[NEAR, NEAR + " x", NEAR.upper() + " x"], sides=["in", "other", "other"], rule=Across(0.5, "jaccard"))
def test_verdicts_and_pairs(texts, sides, rule):
    mine = [text for text, side in zip(texts, sides, strict=False) if side != "other"]
    theirs = [text for text, side in zip(texts, sides, strict=False) if side != "in"]
    assert_like_the_oracle(mine, theirs, rule)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_passages_and_what_contains_them(rule):
    """A training document that contains items, one that is contained in one, items that are too short, copies."""
    passage = " ".join(f"w{i}" for i in range(10, 16))
    mine = [LONG, f"{LONG} and more", passage, f"x {passage} y", "w20 w21", "w39 alone", "", "nothing in common"]
    theirs = [passage, LONG, "w20 w21", "w3", "w3", "", f"{passage} changed at the end", passage.upper(), "x y"]
    assert_like_the_oracle(mine, theirs, rule)
    assert_like_the_oracle(theirs, mine, rule)


def test_the_same_ids_on_both_sides():
    result = nearkin.dedup([(1, NEAR), (2, "else")], against=[(1, "else where"), (2, NEAR + " again")], threshold=0.5)
    assert [(pair["id_a"], pair["id_b"]) for pair in result.pairs.to_pylist()] == [(1, 2)]
    assert result.documents["group"].to_pylist() == [2, 2]
    assert result.documents["keep"].to_pylist() == [False, True]


def test_documents_alike_among_themselves_are_none_of_its_business():
    result = nearkin.dedup([NEAR, NEAR + " again", NEAR], against=["something else"])
    assert result.documents["reason"].to_pylist() == ["unique"] * 3
    assert len(result.pairs) == 0


def test_nothing_on_the_other_side():
    result = nearkin.dedup([NEAR, NEAR], against=[])
    assert result.documents["keep"].to_pylist() == [True, True]


# -- passages cut out of a corpus of short texts: what a training set has of an evaluation set ------------------------


def passages(n_words: int, *, seed: int = 0) -> tuple[list[str], list[str]]:
    """A corpus of texts of 12 to 260 words, and items of which every other one is a passage of one of them."""
    chance, prose = random.Random(seed), Prose(seed)
    corpus = [prose.text(chance.choice([12, 30, 60, 260])) for _ in range(1200)]
    items = []
    for source in chance.sample([text for text in corpus if len(text.split()) >= n_words], 60):
        words = source.split()
        start = chance.randrange(len(words) - n_words + 1)
        items += [" ".join(words[start : start + n_words]), prose.text(n_words)]
    return corpus, items


@pytest.mark.parametrize("n_words", every(3, [5, 7, 10, 20, 40, 100, 200]))
def test_passages_are_found_as_surely_as_asked_whichever_side_they_are_on(n_words):
    corpus, items = passages(n_words)
    sets = [[shingles(text, "words", 5) for text in side] for side in (corpus, items)]
    truth = {
        (a, b)
        for a, mine in enumerate(sets[0])
        for b, theirs in enumerate(sets[1])
        if (n_common := len(mine & theirs)) and n_common / min(len(mine), len(theirs)) >= 0.8
    }
    assert len(truth) >= 60
    for inputs, against, is_turned in ((corpus, items, False), (items, corpus, True)):
        result = nearkin.dedup(
            list(enumerate(inputs)), against=list(enumerate(against)), measure="containment", threshold=0.8
        )
        pairs = result.pairs.select(["id_a", "id_b"]).to_pylist()
        found = {(pair["id_b"], pair["id_a"]) if is_turned else (pair["id_a"], pair["id_b"]) for pair in pairs}
        plan = result.manifest["plan"]
        assert found <= truth
        assert plan["recall_at_threshold"] >= 0.99
        if n_words - 4 < plan["exact_below"]:
            assert found == truth
        assert len(truth - found) <= 0.01 * len(truth) + SIGMAS * math.sqrt(0.01 * len(truth)) + 1


def test_the_seed_decides_which_contained_texts_are_missed():
    corpus, items = passages(200)
    asked = {"against": list(enumerate(corpus)), "measure": "containment", "threshold": 0.8, "recall": 0.1}
    found = [
        frozenset((pair["id_a"], pair["id_b"]) for pair in result.pairs.to_pylist())
        for seed in (0, 0, 1, 2)
        for result in [nearkin.dedup(list(enumerate(items)), seed=seed, **asked)]
    ]
    assert found[0] == found[1]
    assert len(set(found)) == 3
