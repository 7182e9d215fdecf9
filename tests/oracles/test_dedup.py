"""``nearkin.dedup`` says what the brute force says."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import combinations, product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import nearkin
from example_counts import examples
from nearkin.kernels import choosing
from nearkin.results import DedupResult
from nearkin.stages.verification.measures import MEASURES
from oracles.brute_force import Collection, GroupRow, Judged, Verdict
from oracles.texts import any_texts, families, few_word_texts, marked_texts, named, odd_texts

THRESHOLDS = [0.1, 0.2, 0.25, 0.3, 0.35, 0.5, 0.55, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9, 0.95, 1.0]
SHINGLES = ["words:1", "words:2", "words:3", "words:5", "chars:1", "chars:3", "chars:9", "code:1", "code:4"]
CERTAIN = 0.999_999_999  # so many bands that all pairs of these small collections are found

COUNTS = [" ".join(map(str, range(n))) for n in (55, 100)]  # 0.55 * 100 is a little more than 55

thresholds = st.sampled_from(THRESHOLDS)
shinglings = st.sampled_from(SHINGLES)
rules = st.sampled_from(["principal", "component"])
keeps = st.sampled_from(["longest", "shortest", "first"])
odd_collections = st.lists(st.one_of(few_word_texts, odd_texts, marked_texts, any_texts), max_size=10)


@contextmanager
def served_by(floor: str):
    """Have all inputs served by one of the twins; "as they come" lets the size decide."""
    choosing.ALWAYS = None if floor == "as they come" else floor
    try:
        yield
    finally:
        choosing.ALWAYS = None


def collection_of(texts: list[str], shingle: str) -> Collection:
    unit, length = shingle.split(":")
    return Collection(named(texts), unit=unit, length=int(length))


def said(result: DedupResult) -> Judged:
    """A result in the oracle's words."""
    documents = [
        Verdict(row["group"], row["similarity_to_principal"], row["copy_of"], row["reason"], row["differs"])
        for row in result.documents.to_pylist()
    ]
    groups = {
        row["group"]: GroupRow(row["size"], row["lowest_similarity"], row["bridges_refused"], row["n_exact_copies"])
        for row in result.groups.to_pylist()
    }
    return Judged(
        [tuple(row.values()) for row in result.pairs.drop_columns(["row_a", "row_b"]).to_pylist()], documents, groups
    )


def assert_same(ours: Judged, truth: Judged) -> None:
    assert ours.pairs == truth.pairs
    assert ours.documents == truth.documents
    assert ours.groups == truth.groups


def assert_hangs_together(result: DedupResult, collection: Collection) -> None:
    """What the tables repeat of one another, and of the documents, is the same everywhere."""
    rows = result.documents.to_pylist()
    counts = result.manifest["counts"]
    assert [row["id"] for row in rows] == [doc_id for doc_id, _ in collection.documents]
    for row, (_, text), units, shingles in zip(
        rows, collection.documents, collection.n_units, collection.sets, strict=True
    ):
        assert row["is_principal"] == row["keep"] == (row["group"] == row["id"])
        assert (row["n_characters"], row["n_units"], row["n_shingles"]) == (len(text), units, len(shingles))
        assert row["problem"] is None
        assert (row["group"] is None) == (row["reason"] == "empty") == (row["similarity_to_principal"] is None)
    assert counts["documents"] == len(rows) == counts["kept"] + counts["dropped"]
    assert counts["kept"] == sum(row["keep"] for row in rows)
    for reason in ("unique", "exact copy", "near-duplicate", "empty", "too short", "unreadable"):
        assert counts[reason.replace(" ", "_").replace("-", "_")] == sum(row["reason"] == reason for row in rows)
    assert counts["groups"] == len(result.groups)
    n_copies = sum(row["copy_of"] is not None for row in rows)
    assert counts["pairs_of_exact_copies"] == n_copies
    assert counts["pairs"] == len(result.pairs) - n_copies
    group_of = {row["id"]: row["group"] for row in rows}
    crossing = [pair for pair in result.pairs.to_pylist() if group_of[pair["id_a"]] != group_of[pair["id_b"]]]
    assert counts["bridges_refused"] == len(crossing)
    assert all(result.groups["is_lowest_exact"].to_pylist())
    assert result.groups["principal"].to_pylist() == result.groups["group"].to_pylist()
    assert result.kept == [document for document, row in zip(collection.documents, rows, strict=True) if row["keep"]]


@pytest.mark.parametrize("floor", ["compiled", "as they come"])
@given(texts=families(), threshold=thresholds, shingle=shinglings, rule=rules, keep=keeps)
@settings(max_examples=examples(60))
@example(texts=COUNTS, threshold=0.55, shingle="words:1", rule="principal", keep="first")
def test_every_pair_group_and_verdict(floor, texts, threshold, shingle, rule, keep):
    collection = collection_of(texts, shingle)
    with served_by(floor):
        result = nearkin.dedup(
            collection.documents, threshold=threshold, shingle=shingle, group=rule, keep=keep, recall=CERTAIN, threads=2
        )
    assert_same(said(result), collection.judged(threshold=threshold, rule=rule, keep=keep))
    assert_hangs_together(result, collection)


def test_forms_with_a_common_text_just_below_the_threshold():
    """All pairs of the 160 forms are near 0.64; a copy has one to five words replaced."""
    form = " ".join(f"term{i}" for i in range(120))
    texts = [" ".join(f"own{i}x{j}" for j in range(30)) + f" {form}" for i in range(160)]
    texts += [texts[i].replace("x3 ", "y ").replace("term50", f"{i}") for i in range(0, 60, 2)]
    collection = collection_of(texts, "words:5")
    result = nearkin.dedup(collection.documents)
    assert_same(said(result), collection.judged(threshold=0.7))
    assert_hangs_together(result, collection)
    assert (result.manifest["counts"]["pairs"], result.manifest["counts"]["pairs_not_compared"]) == (30, 0)
    assert result.manifest["counts"]["candidates"] < 300
    assert result.manifest["plan"]["expected_candidates"] < 300


RECORD = "bill no {} of {} {} to a b c d e f g h, {} crowns for the lamp and the lantern of the {} house, pay soon{}"
records = st.builds(
    RECORD.format,
    *(st.sampled_from(["1", "2", "33"]), st.sampled_from(["may", "june", "3"]), st.sampled_from(["2026", "", "é7"])),
    *(st.sampled_from(["10", "20.50", "five"]), st.sampled_from(["red", "blue", "red brick"])),
    st.sampled_from(["", " or never come back again for lamps and lanterns", " i l0ve all the other lamps"]),
)


@given(st.lists(records, max_size=7), st.sampled_from([0.3, 0.5, 0.8]), shinglings, rules, st.booleans())
@settings(max_examples=examples(40))
def test_what_differs_and_records_kept_apart(texts, threshold, shingle, rule, keep_apart):
    collection = collection_of(texts, shingle)
    result = nearkin.dedup(
        collection.documents, threshold=threshold, shingle=shingle, group=rule, recall=CERTAIN,
        keep_apart="numbers" if keep_apart else None,
    )  # fmt: skip
    assert_same(said(result), collection.judged(threshold=threshold, rule=rule, keep_apart=keep_apart))


def test_a_number_that_also_stands_elsewhere():
    """Four instead of five thousand, with clauses 4 and 5."""
    bill = "1 goods {} for the mill 2 sum {} 500 pounds 3 bank of the market 4 returns in a week 5 many thanks to all"
    texts = [bill.format("flour", 4), bill.format("barley", 5), bill.format("flour", 4).replace("week", "month")]
    result = nearkin.dedup(texts, threshold=0.2, shingle="words:2", keep_apart="numbers")
    assert sorted(result.pairs["differs"].to_pylist()) == ["other", "words and numbers", "words and numbers"]
    assert result.documents["keep"].to_pylist() == [False, True, True]


PEOPLE = ["Ada Kern", "Max Berg", "EVA LUND", "Mr. Tom Hill"]
LETTER = """Dear friends of the mill, we certify that {} has {} the course {} on bees in the old mill by the river, and
may keep bees in every town."""


@pytest.mark.parametrize("shingle", ["words:2", "chars:5"])
def test_records_that_differ_in_names_only(shingle):
    """The difference of each pair follows from what it was made of."""
    made = list(product(PEOPLE, ["passed", "missed"], ["one", "two"]))
    result = nearkin.dedup([LETTER.format(*one) for one in made], threshold=0.3, shingle=shingle, recall=CERTAIN,
                           keep_apart="numbers,names")  # fmt: skip
    pairs = {(row["row_a"], row["row_b"]): row["differs"] for row in result.pairs.to_pylist()}
    for (a, one), (b, other) in combinations(enumerate(made), 2):
        is_other = [x != y for x, y in zip(one, other, strict=True)]
        expected = {(True, False, False): "names", (False, True, False): "other", (True, True, False): "other",
                    (False, False, True): "numbers"}.get(tuple(is_other), "words and numbers")  # fmt: skip
        assert pairs[a, b] == expected
    kept = [made[row][::2] for row in result.documents["row"].filter(result.documents["keep"]).to_pylist()]
    assert sorted(kept) == sorted(product(PEOPLE, ["one", "two"]))


FORM = """The applicant states that all that follows is true and complete to the best of his knowledge and belief.
{} {} {} The office keeps this form for as long as the law asks for, and answers within four weeks by letter."""


@pytest.mark.parametrize(
    "answers",
    [
        ["Name of the applicant: ADA KERN Born in"] + [f"Name of the applicant: {a}BERT {b}OLM Born in"
                                                       for a in "ALGRHN" for b in "HTKS"],
        [f"Reference {a}{b}-{c}Q of the office" for a in "ABCDE" for b in "QXY" for c in "KL"],
        [f"{first} Does the applicant {second} smoke" for first in ("[x] yes [ ] no", "[ ] yes [x] no")
         for second in ("still", "never", "seldom", "often", "daily", "hardly", "also", "ever")],
        ["The claim of that day is hereby approved by us", "The claim of that day is hereby denied by us"],
    ],
    ids=["capitals", "codes", "ticks", "verdicts"],
)  # fmt: skip
def test_records_that_differ_in_fields_of_a_form(answers):
    """Copies with a misprint outside the fields are none: they have the answers of another document."""
    words = ["states", "follows", "true", "complete", "best", "keeps", "form", "long", "answers", "letter"]
    made = [(FORM.format("The answers below are his own.", one, "Signed by hand."), one) for one in answers]
    for i in range(80):
        text, answer = made[i % len(answers)]
        word = words[i % len(words)]
        made.append((text.replace(word, word + "bcdfghjk"[i % 8] + "qxzvw"[i // 16]), answer))
    result = nearkin.dedup([text for text, _ in made], preset="records", recall=CERTAIN)
    kept = [answer for (_, answer), is_kept in zip(made, result.documents["keep"].to_pylist(), strict=True) if is_kept]
    assert sorted(kept) == sorted(answers)


@given(texts=odd_collections, threshold=thresholds, shingle=shinglings)
@settings(max_examples=examples(40))
@example(texts=["", " \u3000\n", "\ufeff"], threshold=0.8, shingle="words:5")
@example(texts=["!?", "!?", ",", "..."], threshold=0.1, shingle="words:1")
@example(texts=["ΣΊΣΥΦΟΣ", "σίσυφοσ", "σίσυφος"], threshold=1.0, shingle="chars:9")
@example(texts=["İ", "i", "i\u0307", "I"], threshold=1.0, shingle="words:1")
@example(texts=["日本語のテスト", "日本語 の テスト", "日本語！のテスト"], threshold=0.5, shingle="words:2")
def test_odd_unicode_and_no_text(texts, threshold, shingle):
    collection = collection_of(texts, shingle)
    result = nearkin.dedup(collection.documents, threshold=threshold, shingle=shingle, recall=CERTAIN, threads=1)
    assert_same(said(result), collection.judged(threshold=threshold))
    assert_hangs_together(result, collection)


@pytest.mark.parametrize("measure", sorted(MEASURES.keys() - {"jaccard"}))
@given(texts=families(), threshold=thresholds, shingle=shinglings, rule=rules)
@settings(max_examples=examples(30))
def test_measures_beside_jaccard(measure, texts, threshold, shingle, rule):
    collection = collection_of(texts, shingle)
    result = nearkin.dedup(
        collection.documents, threshold=threshold, shingle=shingle, group=rule, measure=measure, recall=CERTAIN
    )
    assert_same(said(result), collection.judged(threshold=threshold, rule=rule, measure=measure))
    assert_hangs_together(result, collection)


@given(texts=families(), threshold=thresholds, shingle=shinglings, measure=st.sampled_from(sorted(MEASURES)))
@settings(max_examples=examples(30))
def test_little_recall_misses_pairs_but_says_nothing_false(texts, threshold, shingle, measure):
    collection = collection_of(texts, shingle)
    result = nearkin.dedup(
        collection.documents, threshold=threshold, shingle=shingle, measure=measure, recall=0.3, threads=1
    )
    ours = said(result)
    found = {(a, b) for a, b, *_ in ours.pairs}
    assert_same(ours, collection.judged(threshold=threshold, measure=measure, pairs=found))
    assert_hangs_together(result, collection)
    if measure == "jaccard":  # what is searched exactly misses nothing, whatever the recall
        sizes = dict(zip(result.documents["id"].to_pylist(), result.documents["n_shingles"].to_pylist(), strict=True))
        missed = {(a, b) for a, b, *_ in collection.judged(threshold=threshold).pairs} - found
        assert all(min(sizes[a], sizes[b]) >= result.manifest["plan"]["exact_below"] for a, b in missed)


@given(
    texts=families(),
    scores=st.lists(st.one_of(st.none(), st.integers(-2, 2), st.floats(allow_nan=True)), min_size=12, max_size=12),
    rule=st.sampled_from(["max", "min"]),
)
@settings(max_examples=examples(30))
def test_keep_by_a_column(texts, scores, rule):
    collection = collection_of(texts, "words:2")
    scores = [None if score is None else float(score) for score in scores[: len(texts)]]
    records = [
        {"id": doc_id, "text": text, "score": score}
        for (doc_id, text), score in zip(collection.documents, scores, strict=True)
    ]
    values = [None if score is None or score != score else score for score in scores]
    if not any(isinstance(score, float) for score in scores):
        records += [{"id": "last", "text": "", "score": 0.0}]
        collection, values = Collection([*collection.documents, ("last", "")], length=2), [*values, 0.0]
    result = nearkin.dedup(records, threshold=0.4, shingle="words:2", keep=f"{rule}:score", recall=CERTAIN)
    assert_same(said(result), collection.judged(threshold=0.4, keep=rule, values=values))


@given(texts=families(most=16), threshold=st.sampled_from([0.5, 0.7, 1.0]))
@settings(max_examples=examples(25))
def test_every_member_is_within_the_threshold_of_its_principal(texts, threshold):
    """Told again without the oracle's rule for choosing principals."""
    collection = collection_of(texts, "words:2")
    result = nearkin.dedup(collection.documents, threshold=threshold, shingle="words:2")
    row_of = {doc_id: row for row, (doc_id, _) in enumerate(collection.documents)}
    for row in result.documents.to_pylist():
        if row["group"] in (None, row["id"]):
            continue
        a, b = row_of[row["id"]], row_of[row["group"]]
        is_copy = collection.texts[a] == collection.texts[b]
        likeness = 1.0 if is_copy else float(collection.likeness(a, b).jaccard)
        assert row["similarity_to_principal"] == likeness >= threshold
    principals = [row["id"] for row in result.documents.to_pylist() if row["is_principal"]]
    found = {(a, b) for a, b, *_ in said(result).pairs}
    assert not [(a, b) for a, b in found if a in principals and b in principals]  # two principals never match


def test_documents_come_back_untouched():
    documents = [("a", "Some Text"), ("b", "some  text")]
    result = nearkin.dedup(documents)
    assert documents == [("a", "Some Text"), ("b", "some  text")]
    assert result.kept == [("b", "some  text")]  # the longest as it came
