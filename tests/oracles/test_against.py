"""What of a collection is already in another one, as the brute force says it."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

import nearkin
from oracles.brute_force import Collection, Likeness, Verdict, across
from oracles.texts import families

CERTAIN = 0.999_999_999
NEAR = "the quick brown fox jumps over the lazy dog and runs into the deep dark forest at night"


def assert_like_the_oracle(mine: list[str], theirs: list[str], threshold: float, measure: str) -> None:
    inputs = Collection([(f"in{i}", text) for i, text in enumerate(mine)], length=2)
    others = Collection([(f"other{i}", text) for i, text in enumerate(theirs)], length=2)
    result = nearkin.dedup(
        inputs.documents, against=others.documents, threshold=threshold, measure=measure, shingle="words:2",
        recall=CERTAIN, threads=1,
    )  # fmt: skip
    rows = result.documents.to_pylist()
    said = [Verdict(row["group"], row["similarity_to_principal"], row["copy_of"], row["reason"]) for row in rows]
    assert said == across(inputs, others, threshold=threshold, measure=measure)
    assert [row["id"] for row in rows] == [doc_id for doc_id, _ in inputs.documents]
    assert all(row["keep"] == row["is_principal"] == (row["group"] == row["id"]) for row in rows)
    assert_pairs_lie_across(result, inputs, others, threshold, measure)
    assert len(result.groups) == 0
    assert result.manifest["counts"]["documents"] == len(mine)
    assert result.kept == [one for one, row in zip(inputs.documents, rows, strict=True) if row["keep"]]


def assert_pairs_lie_across(
    result: nearkin.DedupResult, inputs: Collection, others: Collection, threshold: float, measure: str
) -> None:
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
        row = (1.0, 1.0, 1.0) if inputs.texts[a] == others.texts[b] else expected.row
        assert (pair["jaccard"], pair["containment_a_in_b"], pair["containment_b_in_a"]) == row
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
        if mine and theirs and _is_match(inputs, a, others, b, threshold, measure)
    }
    for row in result.documents.to_pylist():  # whatever was dropped stands in the pairs with what it was dropped for
        if row["reason"] in ("exact copy", "near-duplicate"):
            assert (row["id"], row["group"]) in named


def _is_match(inputs: Collection, a: int, others: Collection, b: int, threshold: float, measure: str) -> bool:
    if inputs.texts[a] == others.texts[b]:
        return True
    likeness = Likeness(len(inputs.sets[a] & others.sets[b]), len(inputs.sets[a]), len(others.sets[b]))
    return likeness.n_common > 0 and float(likeness.by(measure)) >= threshold


@given(
    texts=families(most=14),
    sides=st.lists(st.sampled_from(["in", "other", "both"]), min_size=14, max_size=14),
    threshold=st.sampled_from([0.2, 0.5, 0.55, 0.7, 0.8, 1.0]),
    measure=st.sampled_from(["jaccard", "containment"]),
)
@settings(max_examples=40)
@example(texts=[NEAR, NEAR + " again"], sides=["both", "both"], threshold=0.5, measure="jaccard")
@example(texts=[NEAR, NEAR + " again"], sides=["in", "both"], threshold=0.5, measure="jaccard")
@example(texts=[NEAR, NEAR.upper(), NEAR + " again"], sides=["in", "in", "other"], threshold=0.5, measure="jaccard")
@example(
    texts=[NEAR, NEAR + " x", NEAR.upper() + " x"], sides=["in", "other", "other"], threshold=0.5, measure="jaccard"
)
def test_verdicts_and_pairs(texts, sides, threshold, measure):
    mine = [text for text, side in zip(texts, sides, strict=False) if side != "other"]
    theirs = [text for text, side in zip(texts, sides, strict=False) if side != "in"]
    assert_like_the_oracle(mine, theirs, threshold, measure)


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
