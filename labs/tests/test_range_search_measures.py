from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import every, examples
from labs.range_search.algorithms import ProjectionIndex, RandomProjections
from labs.range_search.experiment import RangeSearchPlan, draw_queries
from labs.range_search.projections import (
    ALGORITHM_1,
    ALGORITHM_2,
    FILTERS,
    N_DRAWS,
    PROJECTIONS,
    RANGE_INDEX,
    TAUS,
    WITH_FILTERS,
    ExhaustiveTruth,
    ProjectionPoint,
    Searches,
    SearchWay,
    first_projections,
    quality,
    rows_of,
    search_all,
    search_in_every_way,
)
from labs.range_search.published import FIRST_RANGE, GAMMAS, N_PROJECTIONS, SAID
from labs.range_search.similarity import EDGES, EXACT_UP_TO, FLOOR, Alikeness, Bounds, compare_texts
from nearkin.errors import ParameterError
from nearkin.records import LetterVectors
from nearkin.runs.progress import Silent
from nearkin.stages.features.letters import LetterCounts
from oracles.texts import versions

SEED, TAU = 3, 1.5  # so narrow a range loses matches: recall is there to be measured
TEXTS = pa.array([*versions(5, n_bases=14, n_words=90, n_versions=4, max_edits=4), "too short", ""], pa.large_string())


@pytest.fixture(scope="module")
def vectors() -> LetterVectors:
    return LetterCounts("latin").count(TEXTS)


@pytest.fixture(scope="module")
def queries(vectors: LetterVectors) -> np.ndarray:
    return draw_queries(vectors, 30, SEED)


@pytest.fixture(scope="module")
def truth(vectors: LetterVectors, queries: np.ndarray) -> ExhaustiveTruth:
    return search_all(vectors, rows_of(vectors, queries), GAMMAS, threads=2, progress=Silent())


@pytest.fixture(scope="module")
def searches(vectors: LetterVectors, queries: np.ndarray, truth: ExhaustiveTruth) -> Searches:
    asked = rows_of(vectors, queries)
    return search_in_every_way(vectors, asked, truth, tau=TAU, seed=SEED, threads=2, progress=Silent())


def plain_matches(vectors: LetterVectors, query: int, gamma: float) -> set[int]:
    """The definition, in fractions of whole numbers."""
    asked = [int(x) for x in vectors.counts[query]]
    limit = Fraction(str(gamma)) ** 2 * sum(x * x for x in asked)
    return {
        row
        for row in range(len(vectors))
        if vectors.is_counted[row]
        and sum((int(a) - b) ** 2 for a, b in zip(vectors.counts[row], asked, strict=True)) <= limit
    }


def plain_passed(
    vectors: LetterVectors, query: int, gamma: float, directions: list[list[float]], tau: float, *, with_filters: bool
) -> set[int]:
    """What a way leaves for the exact comparison, one document after another."""
    asked = [float(x) for x in vectors.counts[query]]
    length = math.sqrt(sum(x * x for x in asked))
    radius = gamma * length
    passed = set()
    for row in range(len(vectors)):
        counts = [float(x) for x in vectors.counts[row]]
        is_near = all(
            abs(sum((a - b) * u for a, b, u in zip(counts, asked, direction, strict=True)))
            <= tau * radius / math.sqrt(len(asked))
            for direction in directions
        )
        if with_filters:
            is_near &= abs(math.sqrt(sum(x * x for x in counts)) - length) <= radius
            is_near &= abs(sum(counts) - sum(asked)) <= radius
        if is_near and vectors.is_counted[row]:
            passed.add(row)
    return passed


def plain_means(
    vectors: LetterVectors, queries: np.ndarray, gamma: float, kind: str, n: int, tau: float, *, with_filters: bool
) -> tuple[float, float, float]:
    """Recall, precision and what is compared: means over queries and draws."""
    recalls, precisions, sizes = [], [], []
    for draw in range(N_DRAWS if n else 1):
        most = PROJECTIONS[-1] if kind == "rademacher" and n else n
        drawn = RandomProjections(kind, most, SEED + draw).draw(62).T.tolist()[:n]
        for query in queries.tolist():
            expected = plain_matches(vectors, query, gamma)
            passed = plain_passed(vectors, query, gamma, drawn, tau, with_filters=with_filters)
            recalls.append(len(expected & passed) / len(expected))
            precisions.append(len(expected & passed) / len(passed))
            sizes.append(len(passed))
    return float(np.mean(recalls)), float(np.mean(precisions)), float(np.mean(sizes))


def test_truth_is_the_definition(vectors: LetterVectors, queries: np.ndarray, truth: ExhaustiveTruth) -> None:
    for gamma in GAMMAS:
        found = [set(rows.tolist()) for rows in truth.matches[gamma]]
        assert found == [plain_matches(vectors, query, gamma) for query in queries.tolist()]
    assert truth.n_true(0.05).sum() > truth.n_true(0.025).sum() > len(queries)


@pytest.mark.parametrize(
    ("way", "kind", "n", "with_filters"),
    [
        (ALGORITHM_1, "gaussian", N_PROJECTIONS, False),
        (ALGORITHM_2, "rademacher", N_PROJECTIONS, False),
        (WITH_FILTERS, "rademacher", N_PROJECTIONS, True),
        (FILTERS, "rademacher", 0, True),
    ],
    ids=lambda value: value.key if isinstance(value, SearchWay) else None,
)
def test_tables_are_those_of_plain_python(
    vectors: LetterVectors,
    queries: np.ndarray,
    searches: Searches,
    way: SearchWay,
    kind: str,
    n: int,
    with_filters: bool,
) -> None:
    for gamma in GAMMAS:
        recall, precision, size = plain_means(vectors, queries, gamma, kind, n, TAU, with_filters=with_filters)
        measured = searches.of(way, gamma)
        assert measured.quality.recall.mean == pytest.approx(recall, abs=1e-12)
        assert measured.quality.precision.mean == pytest.approx(precision, abs=1e-12)
        assert measured.n_passed == pytest.approx(size, abs=1e-9)
        assert measured.n_draws == (N_DRAWS if n else 1)
        assert measured.n_first >= measured.n_passed >= measured.n_matches
    if way in (ALGORITHM_1, ALGORITHM_2):
        assert searches.of(way, 0.05).quality.recall.mean < 1


def test_index_of_nearkin_misses_nothing(searches: Searches) -> None:
    for gamma in GAMMAS:
        ours = searches.of(RANGE_INDEX, gamma).quality
        assert (ours.recall.least, ours.recall_of_others.least) == (1, 1)


@pytest.mark.parametrize(("way", "with_filters"), every(2, [(WITH_FILTERS, True), (ALGORITHM_2, False)]))
def test_curves_are_those_of_plain_python(
    vectors: LetterVectors, queries: np.ndarray, searches: Searches, way: SearchWay, with_filters: bool
) -> None:
    def check(point: ProjectionPoint) -> None:
        how = {"with_filters": with_filters}
        expected = plain_means(vectors, queries, point.gamma, "rademacher", point.n_projections, point.tau, **how)
        found = point.quality.recall.mean, point.quality.precision.mean
        assert found == pytest.approx(expected[:2], abs=1e-12)

    curve = searches.curve(way, 0.05)
    assert [point.n_projections for point in curve] == list(PROJECTIONS)
    assert [point.tau for point in searches.tau_curve(way, 0.05)] == list(TAUS)
    check(curve[0])
    check(curve[-1])
    check(searches.tau_curve(way, 0.05)[0])
    at_eight = next(point for point in curve if point.n_projections == N_PROJECTIONS)
    assert at_eight.quality == searches.of(way, 0.05).quality


def test_first_projections_are_an_index_of_fewer(vectors: LetterVectors, queries: np.ndarray) -> None:
    index = ProjectionIndex.of(vectors, RandomProjections("rademacher", 8, 1))
    asked = rows_of(vectors, queries)
    sizes = [first_projections(index, n).search(asked, 0.05, tau=TAU).survivors[:, 2] for n in (1, 2, 4, 8)]
    for more, fewer in itertools.pairwise(sizes):
        assert (more >= fewer).all()
    assert np.array_equal(sizes[-1], index.search(asked, 0.05, tau=TAU).survivors[:, 2])


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6)))
def test_quality_is_the_mean_over_queries(rows: list[list[tuple[int, int, int]]]) -> None:
    for row in rows:
        n_true = [a for a, _, _ in row]
        found = [max(1, a - lost) for a, lost, _ in row]
        passed = [n + more for n, (_, _, more) in zip(found, row)]
        survivors = np.array([[[100, 50, p, f] for p, f in zip(passed, found)]])
        measured = quality(survivors, np.array(n_true))
        others = [(f - 1) / (a - 1) for f, a in zip(found, n_true) if a > 1]
        assert measured.recall.mean == pytest.approx(np.mean([f / a for f, a in zip(found, n_true)]))
        assert measured.precision.mean == pytest.approx(np.mean([f / p for f, p in zip(found, passed)]))
        assert measured.pooled_precision.mean == pytest.approx(sum(found) / sum(passed))
        if others:
            assert measured.recall_of_others.mean == pytest.approx(np.mean(others))
        else:
            assert math.isnan(measured.recall_of_others.mean)


def levenshtein(a: str, b: str) -> int:
    """The textbook's table."""
    above = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
        above = row
    return above[-1]


def compared(texts: list[str], truth: ExhaustiveTruth, queries: list[int], **bounds: int) -> tuple[Alikeness, ...]:
    first = np.array([texts.index(text) for text in texts])
    rows = np.array(queries, np.int64)
    column = pa.array(texts, pa.large_string())
    return compare_texts(column, first, rows, truth, Bounds(**bounds), seed=0, progress=Silent())


def truth_of(*matches: list[int]) -> ExhaustiveTruth:
    return ExhaustiveTruth({0.05: tuple(np.array(rows, np.int64) for rows in matches)}, np.zeros(len(matches)))


def test_edit_similarities_are_those_of_the_definition(queries: np.ndarray, truth: ExhaustiveTruth) -> None:
    texts = TEXTS.to_pylist()
    for alike in compared(texts, truth, queries.tolist(), max_matches=1000):
        pairs = list(zip(queries[alike.query].tolist(), alike.row.tolist()))
        expected = [
            (query, int(row))
            for query, rows in zip(queries.tolist(), truth.matches[alike.gamma])
            for row in rows
            if row != query
        ]
        assert pairs == expected
        for (a, b), similarity in list(zip(pairs, alike.similarity.tolist()))[::40]:
            longer = max(len(texts[a]), len(texts[b]))
            assert similarity == 1 - levenshtein(texts[a], texts[b]) / longer
        assert (alike.n_drawn, alike.n_too_long) == (len(pairs), 0)


def test_shares_are_averaged_over_queries() -> None:
    texts = ["a" * 100, "a" * 98 + "bb", "a" * 70 + "b" * 30, "a" * 100, "c" * 100]
    alike = compared(texts, truth_of([0, 1, 2, 3], [1, 0], [4]), [0, 1, 4])[0]
    assert alike.similarity.tolist() == pytest.approx([0.98, 0.7, 1.0, 0.98])
    assert alike.at_least(0.95) == pytest.approx((2 / 3 + 1) / 2)
    assert alike.at_least(0.95, without_copies=True) == pytest.approx((1 / 2 + 1) / 2)
    assert alike.at_least_with_itself(0.95) == pytest.approx((3 / 4 + 1 + 1) / 3)
    assert alike.at_least_pooled(0.95) == pytest.approx(3 / 4)
    assert alike.is_copy.tolist() == [False, False, True, False]
    shares, counts = alike.histogram()
    assert counts.tolist() == [1, 0, 0, 0, 2, 0, 1]
    assert shares.tolist() == pytest.approx([1 / 6, 0, 0, 0, (1 / 3 + 1) / 2, 0, 1 / 6])
    assert alike.lowest().tolist() == [1, 0, 2]  # the last has the two texts of the first


def test_intervals_hold_their_lower_ends() -> None:
    n = len(EDGES)
    alike = Alikeness(
        gamma=0.05,
        n_others=np.full(n, 1),
        n_drawn=n,
        n_too_long=0,
        query=np.arange(n),
        row=np.arange(n),
        similarity=np.array(EDGES),
        texts=np.zeros((n, 2), int),
    )
    assert alike.histogram()[1].tolist() == [1] * n


def test_bounds_are_kept_and_what_is_left_out_is_counted() -> None:
    texts = ["x" * 200, *(f"{'x' * 199}{c}" for c in "abcdefgh"), "x" * 300]
    every = list(range(10))
    alike = compared(texts, truth_of(every), [0], max_matches=5, longest=250)[0]
    assert alike.n_others.tolist() == [9]
    assert alike.n_drawn == 5
    assert len(alike.query) + alike.n_too_long == 5
    assert len(set(alike.row.tolist())) == len(alike.row)
    assert compared(texts, truth_of(every), [0], longest=250)[0].n_too_long == 1


def test_long_unlike_texts_are_known_to_be_under_the_floor() -> None:
    chance = np.random.default_rng(1)
    base = "".join(chr(97 + c) for c in chance.integers(0, 26, EXACT_UP_TO + 100))
    other = "".join(chr(97 + c) for c in chance.integers(0, 26, EXACT_UP_TO + 100))
    n_changed = round(len(base) * (1 - FLOOR)) - 5  # nearly as unlike as is still worked out
    near = "".join("#" if i < n_changed else c for i, c in enumerate(base))[::-1]
    alike = compared([base, other, base[::-1], near], truth_of([0, 1], [2, 3]), [0, 2])[0]
    assert math.isnan(alike.similarity[0])
    assert alike.similarity[1] == 1 - n_changed / len(base) > FLOOR
    assert alike.at_least(FLOOR) == 0.5
    assert alike.histogram()[1][0] == 1
    assert alike.lowest().tolist() == [1, 0]


def test_nothing_to_compare_has_no_share() -> None:
    alike = compared(["a", "b"], truth_of([0], [1]), [0, 1])[0]
    assert math.isnan(alike.at_least(0.9))
    assert math.isnan(alike.at_least_pooled(0.9))
    assert alike.at_least_with_itself(0.9) == 1


def test_queries_are_drawn_of_what_is_counted(vectors: LetterVectors) -> None:
    drawn = draw_queries(vectors, 30, 7)
    assert len(set(drawn.tolist())) == 30
    assert vectors.is_counted[drawn].all()
    assert np.array_equal(drawn, draw_queries(vectors, 30, 7))
    assert not np.array_equal(drawn, draw_queries(vectors, 30, 8))
    assert draw_queries(vectors, 10_000, 0).tolist() == np.flatnonzero(vectors.is_counted).tolist()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_documents": 1}, "documents: must be an int from 2 to 10000000"),
        ({"n_queries": 0}, "queries: must be an int >= 1"),
        ({"seed": -1}, "seed: "),
        ({"tau": 0.0}, "tau: must be above 0"),
        ({"tau": math.nan}, "tau: "),
        ({"bounds": Bounds(0)}, "pairs: "),
        ({"bounds": Bounds(longest=0)}, "longest: "),
        ({"alphabet": "greek"}, "alphabet: "),
    ],
)
def test_a_plan_that_breaks_a_rule_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        RangeSearchPlan(**wrong)


def test_half_width_is_that_of_the_paper() -> None:
    assert RangeSearchPlan().half_width == pytest.approx(0.965, abs=5e-4)
    assert RangeSearchPlan(alphabet="universal").half_width == pytest.approx(0.677, abs=5e-4)
    assert RangeSearchPlan(tau=2).factor == 2


def test_published_numbers_are_those_of_the_paper() -> None:
    """Its Tables 1 and 2, row by row."""
    keys = ("algorithm-2", "algorithm-2-filters", "filters")
    assert [SAID[key, 0.025].seconds for key in keys] == [2.57, 0.48, 2.93]
    assert [SAID[key, 0.05].seconds for key in keys] == [4.00, 0.95, 11.43]
    assert [SAID[key, 0.025].recall for key in keys] == [0.999, 0.992, 0.992]
    assert [SAID[key, 0.025].precision for key in keys] == [0.912, 0.956, 0.021]
    assert [SAID[key, 0.05].recall for key in keys] == [0.981, 0.949, 0.964]
    assert [SAID[key, 0.05].precision for key in keys] == [0.312, 0.542, 0.006]
    assert FIRST_RANGE["algorithm-2", 0.025] / FIRST_RANGE["algorithm-2-filters", 0.025] == pytest.approx(
        4.663, abs=1e-3
    )
