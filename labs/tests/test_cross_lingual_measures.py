"""Every experiment of ``python -m labs.cross_lingual`` against its definition, written out in numpy."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from labs.cross_lingual import signature_error, signature_recall, windows
from labs.cross_lingual.documents import ParallelColumns, ParallelDocuments, spread_rows
from labs.cross_lingual.experiment import (
    MAX_DOCUMENTS,
    THRESHOLDS,
    CrossLingualPlan,
    CrossLingualResults,
    examples,
    find,
    measure,
)
from labs.cross_lingual.page import error_said, scan_said, tables
from labs.cross_lingual.projecting import (
    CountedTranslations,
    Projected,
    gloss,
    in_one_language,
    projected,
    translated_side,
)
from labs.cross_lingual.published import BOUND, TABLE_1, TABLE_2, THRESHOLD
from labs.cross_lingual.signature_error import lowest_terms
from labs.cross_lingual.window_model import WindowModel, distance_for_cosine
from labs.tests.translated import N_WORDS, table, translated, word
from nearkin.errors import ParameterError, SourceError
from nearkin.options.pairs import PairOptions
from nearkin.planning.pairs.search import PairSearch
from nearkin.records import F64, WeightedVectors
from nearkin.runs.progress import Meter, Silent
from nearkin.stages.search.sliding_window import SlidingWindow
from nearkin.stages.signatures.random_projection import RandomProjection, TermVectors
from nearkin.workflows.pairing.searching import FoundPairs, search
from nearkin.workflows.resources import Resources

N = 60
COLUMNS = ("de", "en")


@pytest.fixture(scope="module")
def counted() -> CountedTranslations:
    documents = translated(N, seed=4)
    left, right = documents.left.to_pylist(), documents.right.to_pylist()
    left[7] = word(1, "heit")  # too few terms for a vector
    right[9] = "?"
    return CountedTranslations.of(
        ParallelDocuments.of("made-up", documents.ids.to_pylist(), left, right), table(), COLUMNS
    )


@pytest.fixture(scope="module")
def own(counted: CountedTranslations) -> Projected:
    return projected(counted, PairOptions())


@pytest.fixture(scope="module")
def truth(own: Projected) -> FoundPairs:
    way = PairSearch("vectors")
    return search(own.vectors, way, THRESHOLD, seed=0, threads=1, meter=Meter(Silent()))


@pytest.fixture(scope="module")
def searched(own: Projected, truth: FoundPairs) -> windows.Windows:
    made = windows.measure(own.vectors, truth, seed=2, resources=Resources(2), progress=Silent())
    assert made is not None
    return made


def dense(vectors: WeightedVectors, n_terms: int) -> F64:
    made = np.zeros((len(vectors), n_terms))
    for i in range(len(vectors)):
        some = slice(int(vectors.offsets[i]), int(vectors.offsets[i + 1]))
        made[i, vectors.terms[some]] = vectors.weights[some]
    return made


def all_cosines(own: Projected) -> F64:
    vectors = own.vectors
    return dense(vectors.left, vectors.n_terms) @ dense(vectors.right, vectors.n_terms).T


def bits_of(packed: np.ndarray) -> np.ndarray:
    return np.unpackbits(packed, axis=1).astype(np.int64)


def test_cosines_ranks_and_thresholds_are_those_of_the_whole_matrix(own: Projected) -> None:
    cosines, found = all_cosines(own), find(own.vectors, threads=2)
    assert found.is_compared.tolist() == [i not in (7, 9) for i in range(N)]
    np.testing.assert_allclose(found.cosines, np.where(found.is_compared, np.diag(cosines), 0), atol=1e-6)
    ranks = [1 + sum(cosines[i] > cosines[i, i] + 1e-9) if found.is_compared[i] else 0 for i in range(N)]
    assert found.ranks.tolist() == ranks
    assert found.share_first == ranks.count(1) / N
    assert found.reciprocal_rank == pytest.approx(sum(1 / rank for rank in ranks if rank) / N)
    assert found.n_near.tolist() == [int((cosines >= t).sum()) for t in THRESHOLDS]
    assert found.recall(0.3) == pytest.approx(np.mean(found.cosines >= 0.3))
    assert found.precision(0.3) == pytest.approx(np.sum(found.cosines >= 0.3) / (cosines >= 0.3).sum())
    assert found.counts.sum() == N - 2
    assert found.share_from(0, 1.1) == 1
    assert found.share_first > 0.8


def test_of_equal_documents_the_earlier_one_comes_first() -> None:
    one = translated(6, seed=1)
    left, right = one.left.to_pylist(), one.right.to_pylist()
    left[5], right[5] = left[2], right[2]
    counted = CountedTranslations.of(ParallelDocuments.of("twice", one.ids.to_pylist(), left, right), table(), COLUMNS)
    found = find(projected(counted, PairOptions()).vectors, threads=1)
    assert (found.ranks[2], found.ranks[5]) == (1, 2)


def test_a_gloss_is_each_word_by_its_likeliest_translation(counted: CountedTranslations) -> None:
    glossed, likeliest = gloss(counted), {}
    for number in range(N_WORDS):
        likeliest[word(number, "heit")] = counted.table.lookup(word(number, "heit"))[0].word
    words = glossed.vocabulary.words.to_pylist()
    for i, text in enumerate(counted.documents.left.to_pylist()):
        expected = Counter(likeliest.get(one, one) for one in text.lower().split())
        some = slice(int(glossed.counts.offsets[i]), int(glossed.counts.offsets[i + 1]))
        terms = [words[term] for term in glossed.counts.terms[some].tolist()]
        assert dict(zip(terms, glossed.counts.counts[some].tolist(), strict=True)) == expected
    np.testing.assert_array_equal(glossed.n_occurrences.sum(), counted.left.n_occurrences.sum())


def test_a_perfect_translation_is_the_document_itself(counted: CountedTranslations) -> None:
    texts = dict(zip(counted.documents.ids.to_pylist(), counted.documents.right.to_pylist(), strict=True))
    del texts["d3"]
    found = find(in_one_language(translated_side(counted, texts), counted.right, PairOptions()), threads=1)
    assert found.is_compared.tolist() == [i not in (3, 9) for i in range(N)]
    assert found.cosines[found.is_compared].min() > 0.97  # only the frequencies of the missing document differ


def test_errors_of_estimates_are_their_distance_from_the_true_cosine(own: Projected) -> None:
    vectors = own.vectors
    made = signature_error.measure(vectors.left, vectors.words, vectors.hashes, seed=3)
    matrix = dense(vectors.left, vectors.n_terms)[np.flatnonzero(vectors.left.sizes)]
    pairs = np.triu_indices(len(matrix), 1)
    cosines = (matrix @ matrix.T)[pairs]
    assert (made.n_documents, made.n_pairs) == (N - 1, tuple(int((cosines > t).sum()) for t in (0, 0.1, 0.2)))
    projection = next(row for row in made.rows if row.size == 200)
    terms = TermVectors(
        vectors.hashes[vectors.left.terms], vectors.left.weights.astype(float), vectors.left.offsets, ""
    )
    bits = bits_of(RandomProjection(200, 3).sign(terms).packed[np.flatnonzero(vectors.left.sizes)])
    estimates = np.cos(np.pi * np.abs(bits[pairs[0]] - bits[pairs[1]]).sum(axis=1) / 200)
    for i, above in enumerate((0, 0.1, 0.2)):
        expected = np.abs(estimates - cosines)[cosines > above].mean()
        assert projection.errors[i] == pytest.approx(expected, abs=1e-6)
    by_bits = [row.errors[0] for row in made.rows if row.method == "projection"]
    assert by_bits == sorted(by_bits, reverse=True)
    assert all(row.elapsed_ms > 0 for row in made.rows)


def test_a_simhash_with_a_good_hash_is_a_random_projection(own: Projected) -> None:
    made = signature_error.measure(own.vectors.left, own.vectors.words, own.vectors.hashes, seed=0)
    simhash, projection = made.rows[1], made.rows[3]
    assert simhash.errors[0] == pytest.approx(projection.errors[0], rel=0.15)


def test_a_simhash_with_the_articles_hash_is_that_of_the_definition(own: Projected) -> None:
    vectors = own.vectors
    made = signature_error.measure(vectors.left, vectors.words, vectors.hashes, seed=0)
    articles = made.rows[2]
    assert (articles.method, articles.published_bits) == ("simhash-ap", 64)
    filled = np.flatnonzero(vectors.left.sizes)
    matrix = dense(vectors.left, vectors.n_terms)[filled]
    hashes = [by_java(word) for word in vectors.words.to_pylist()]
    sides = np.array([[1.0 if value >> bit & 1 else -1.0 for bit in range(64)] for value in hashes])
    bits = matrix @ sides > 0
    pairs = np.triu_indices(len(matrix), 1)
    estimates = np.cos(np.pi * (bits[pairs[0]] != bits[pairs[1]]).sum(axis=1) / 64)
    cosines = (matrix @ matrix.T)[pairs]
    assert articles.errors[0] == pytest.approx(np.abs(estimates - cosines)[cosines > 0].mean(), abs=1e-3)


def by_java(word: str) -> int:
    """The AP hash in a type that wraps as a long of Java does."""
    made = np.array(-1431655766, np.int64)  # 0xAAAAAAAA as an int
    with np.errstate(over="ignore"):
        for place, letter in enumerate(word):
            unit = np.int64(ord(letter))
            made ^= (made << 7) ^ unit * (made >> 3) if place % 2 == 0 else ~((made << 11) + unit ^ (made >> 5))
    return int(made) % 2**64


def test_lowest_terms_agree_as_often_as_the_sets_share_terms() -> None:
    draw = np.random.default_rng(0)
    hashes = draw.integers(0, 2**63, 90).astype(np.uint64)
    sets = [hashes[:60], hashes[30:]]
    lowest = lowest_terms(np.concatenate(sets), np.array([0, 60, 120]), 3000, seed=1)
    assert np.isin(lowest_terms(hashes[:1], np.array([0, 1]), 4, seed=1), hashes[:1]).sum() == 0  # mixed, not as given
    assert (lowest[0] == lowest[1]).mean() == pytest.approx(30 / 90, abs=0.03)


def test_scans_find_what_is_within_the_distance(own: Projected, truth: FoundPairs) -> None:
    vectors = own.vectors
    made = signature_recall.measure(vectors, truth, seed=5, threads=2)
    assert (made.n_pairs, made.n_true) == ((N - 1) * (N - 1), len(truth))
    is_true = all_cosines(own) >= THRESHOLD
    assert int(is_true.sum()) == len(truth)
    for scan in made.scans[:2]:
        left, right = vectors.signed(scan.bits, 5, threads=1, meter=Meter(Silent()))
        apart = (bits_of(left.packed)[:, None, :] != bits_of(right.packed)[None]).sum(axis=2)
        apart[~left.has_features] = apart[:, ~right.has_features] = scan.bits + 1
        at = scan.at_threshold
        assert at.distance == distance_for_cosine(THRESHOLD, scan.bits)
        is_near = apart <= at.distance
        assert (at.n_near, at.n_found) == (int(is_near.sum()), int((is_near & is_true).sum()))
        hard = is_true & (all_cosines(own) < 0.4)
        assert scan.recall_near == pytest.approx((is_near & hard).sum() / hard.sum())
        for recall, looser in zip(signature_recall.RECALLS, scan.looser, strict=True):
            assert ((apart <= looser.distance) & is_true).sum() / len(truth) == looser.recall >= recall
            assert ((apart <= looser.distance - 1) & is_true).sum() / len(truth) < recall
    assert made.scans[0].at_published is not None
    assert made.scans[0].looser[1].recall > BOUND


def test_a_window_finds_what_a_search_with_it_finds(
    own: Projected, truth: FoundPairs, searched: windows.Windows
) -> None:
    made = searched
    signatures = own.vectors.signed(windows.BITS, 2, threads=1, meter=Meter(Silent()))
    for permutations, window in ((10, 1), (20, made.windows[-1]), (100, 2)):
        point = made.of(permutations, window)
        found = SlidingWindow(permutations, window, 2).pairs(*signatures, distance=made.distance)
        keys = (found.left.astype(np.uint64) << np.uint64(32)) | found.right
        assert point.recall == pytest.approx(np.isin(truth.keys, keys).mean())
        every = SlidingWindow(permutations, window, 2).pairs(*signatures, distance=windows.BITS)
        keys = (every.left.astype(np.uint64) << np.uint64(32)) | every.right
        assert point.compared == pytest.approx(np.isin(truth.keys, keys).mean())
        assert point.relative_cost == pytest.approx(every.n_comparisons / (N - 1) ** 2, rel=0.1)
        assert point.relative_cost == pytest.approx(made.cost(permutations, window))
    assert made.recall.shape == (len(made.windows), 1000)
    assert (np.diff(made.recall, axis=1) >= 0).all()
    assert (made.recall <= made.bound + 1e-12).all()
    assert made.windows == windows.chosen_windows(2 * (N - 1))


@pytest.mark.soak
def test_costs_are_the_least_and_effectiveness_the_greatest_of_all_settings(searched: windows.Windows) -> None:
    made = searched
    settings = [
        (made.cost(n, window), float(made.recall[i, n - 1] / made.bound))
        for i, window in enumerate(made.windows)
        for n in range(1, 1001)
    ]
    for wanted in (0.5, 0.95):
        least = made.cheapest(wanted)
        assert least is not None
        assert least[0] == min(cost for cost, reached in settings if reached >= wanted)
        sorted_too = made.cheapest(wanted, sorting=0.01)
        assert sorted_too is not None
        assert sorted_too[0] == pytest.approx(
            min(
                made.cost(n, window) + 0.01 * n
                for i, window in enumerate(made.windows)
                for n in range(1, 1001)
                if made.recall[i, n - 1] / made.bound >= wanted
            )
        )
    once = made.sorting_cost(comparison_ns=2.0)
    assert once == pytest.approx(max(0.0, made.sorting_s) / (made.n_left * made.n_right * 2e-9))
    n = made.n_documents
    larger = made.sorting_cost(2.0, (n * n, made.n_left * made.n_right * n))  # n times as many and twice the levels
    assert larger == pytest.approx(2 * once)
    best = made.best_within(0.4)
    assert best is not None
    assert best[0] == max(reached for cost, reached in settings if cost <= 0.4 + 1e-9)
    assert made.best_within(1e-6) is None
    assert made.cheapest(1.01) is None


def test_both_models_are_beside_what_is_measured(truth: FoundPairs, searched: windows.Windows) -> None:
    made = searched
    point = made.of(50, 3)
    model = WindowModel(made.n_documents, windows.BITS, 50, 3, made.distance)
    bands = np.array([model.found(cosine) for cosine in truth.cosine])
    assert point.published_model == pytest.approx(tuple(bands.mean(axis=0)), abs=0.03)  # there by bins of 0.01
    low, middle, high = point.calibrated_model
    assert low <= middle <= high
    assert abs(middle - point.recall) < 0.15
    cheap = [one for one in made.points if one.relative_cost <= 1]
    off = windows.model_errors(made)
    assert off.n_settings == len(cheap) > 0
    assert off.calibrated_middle == pytest.approx(np.mean([abs(p.recall - p.calibrated_model[1]) for p in cheap]))
    bands = [max(p.published_model[0] - p.recall, p.recall - p.published_model[1], 0) for p in cheap]
    assert off.published_outside == pytest.approx(np.mean(bands))
    assert off.calibrated_outside < 0.05


def test_no_pair_at_the_threshold_leaves_nothing_to_search(own: Projected) -> None:
    none = FoundPairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), 0, 0)
    assert windows.measure(own.vectors, none, seed=0, resources=Resources(1), progress=Silent()) is None
    made = signature_recall.measure(own.vectors, none, seed=0, threads=1)
    assert np.isnan(made.scans[0].at_threshold.recall)
    assert made.scans[0].looser == ()


def test_a_line_is_that_of_least_squares() -> None:
    x, y = [1, 2, 5, 9], [1.0, 2.5, 3.5, 8.0]
    fit = windows.fit_line("window", 1, x, y)
    slope, intercept = np.polyfit(x, y, 1)
    assert (fit.slope_s, fit.intercept_s) == (pytest.approx(slope), pytest.approx(intercept))
    assert fit.r_squared == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2)
    assert np.isnan(windows.fit_line("window", 1, [3], [2.0]).r_squared)


def test_examples_are_the_most_similar_documents_with_their_words(counted: CountedTranslations, own: Projected) -> None:
    cosines, made = all_cosines(own), examples(counted, own)
    assert len(made) == 8
    ids = counted.documents.ids.to_pylist()
    for example in made:
        row = ids.index(example.doc_id)
        assert row not in (7, 9)
        assert example.rank == 1 + int((cosines[row] > cosines[row, row] + 1e-9).sum())
        assert [one.cosine for one in example.similar] == pytest.approx(np.sort(cosines[row])[::-1][:3].tolist())
        for one in example.similar:
            assert one.is_translation == (one.doc_id == example.doc_id)
            own_words = counted.documents.left[row].as_py().split()
            other_words = counted.documents.right[ids.index(one.doc_id)].as_py().split()
            assert one.terms
            assert all(term in other_words and left in own_words for term, left in one.terms)


@pytest.fixture(scope="module")
def results() -> CrossLingualResults:
    given = [(translated(12, seed=1), table()), (translated(30, seed=2), table())]
    return measure(given, ParallelColumns(*COLUMNS), {}, most=20, seed=0, resources=Resources(2), progress=Silent())


def test_the_largest_set_is_taken_for_signatures_and_a_longer_one_is_sampled(results: CrossLingualResults) -> None:
    assert [len(one.documents) for one in results.sets] == [12, 20]
    assert [one.n_given for one in results.sets] == [12, 30]
    assert results.largest is results.sets[1]
    assert results.errors.n_documents == 20
    assert results.scans.n_pairs == 400
    assert results.sets[0].finding is results.sets[0].ways[0].finding
    assert results.sets[0].way("translated") is None


@pytest.mark.soak
def test_numbers_are_the_same_again_but_for_times(results: CrossLingualResults) -> None:
    given = [(translated(12, seed=1), table()), (translated(30, seed=2), table())]
    again = measure(given, ParallelColumns(*COLUMNS), {}, most=20, seed=0, resources=Resources(1), progress=Silent())
    timed = {"figure-5-times", "figure-5-lines"}
    for one, other in zip(tables(results), tables(again), strict=True):
        if one.name in timed:
            continue
        kept = [i for i, name in enumerate(one.columns) if "ms" not in name and "_ns" not in name and name[-2:] != "_s"]
        first, second = ([[row[i] for i in kept] for row in table.rows] for table in (one, other))
        assert str(first) == str(second)  # NaN is NaN here


def test_rows_have_the_articles_beside_them(results: CrossLingualResults) -> None:
    said = [error_said(row) for row in results.errors.rows]
    assert said == [*TABLE_1[:2], TABLE_1[1], *TABLE_1[2:]]  # Simhash by two hashes
    assert [scan_said(scan) for scan in results.scans.scans] == list(TABLE_2)


def test_rows_without_both_texts_are_left_out_and_counted() -> None:
    made = ParallelDocuments.of("some", ["a", "b", "c", "d"], ["x", " ", "y", "z"], ["x", "y", "", "z"])
    assert (made.ids.to_pylist(), made.n_read, made.n_incomplete) == (["a", "d"], 4, 2)


@pytest.mark.parametrize(
    ("ids", "texts", "message"),
    [
        (["a", "b", "a"], ["x", "y", "z"], "the id 'a' occurs 2 times, but must be unique"),
        (["a"], ["x"], "1 of 1 row has a text in both columns"),
        (["a", "b"], ["", " "], "0 of 2 rows have a text in both columns"),
    ],
)
def test_documents_that_tell_nothing_are_refused(ids: list[str], texts: list[str], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        ParallelDocuments.of("some", ids, texts, texts)


def test_a_table_of_the_other_direction_is_refused() -> None:
    documents = translated(6, seed=1)
    with pytest.raises(SourceError, match="If the sides are swapped"):
        CountedTranslations.of(documents, table().turned(), COLUMNS)
    swapped = ParallelDocuments.of(
        "x", documents.ids.to_pylist(), documents.right.to_pylist(), documents.left.to_pylist()
    )
    with pytest.raises(SourceError, match="of --left-column 'de' of x"):
        CountedTranslations.of(swapped, table(), COLUMNS)


def test_spread_rows_are_at_equal_distances() -> None:
    assert spread_rows(10, 4).tolist() == [0, 2, 5, 7]
    assert spread_rows(3, 4).tolist() == [0, 1, 2]


def test_plans_are_checked() -> None:
    columns = ParallelColumns("de", "en")
    with pytest.raises(ParameterError, match="documents"):
        CrossLingualPlan(documents=(), tables=(), columns=columns, most=MAX_DOCUMENTS + 1)
    with pytest.raises(ParameterError, match="seed"):
        CrossLingualPlan(documents=(), tables=(), columns=columns, seed=-1)
    with pytest.raises(ParameterError, match="Got 3"):
        CrossLingualPlan(documents=("a", "b"), tables=("t",) * 3, columns=columns)  # type: ignore[arg-type]
