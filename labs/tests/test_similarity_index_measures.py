from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from labs.similarity_index import chance, stop_lists
from labs.similarity_index.chance import Chance
from labs.similarity_index.columns import (
    TOLERANCES,
    FamilyFile,
    FamilyTruth,
    _by_family,
    _digests,
    by_bits,
    by_keys,
    by_range,
    hit_chance,
)
from labs.similarity_index.experiment import IndexPlan
from labs.similarity_index.published import EXPECTED, FILES, TABLE_9, SaidOfRun
from labs.similarity_index.runs import all_methods, best, frequencies, run_one
from labs.similarity_index.zones import Folder, Zones, _expected, count, matrix
from nearkin.errors import ParameterError
from nearkin.runs.progress import Silent
from nearkin.stages.signatures import similarity_index
from nearkin.stages.signatures.similarity_index import SimilarityIndex, TextStream, interval
from oracles.texts import versions

ZONE = np.array([file.zone for file in FILES])
PUBLISHED = Zones(ZONE, _expected(ZONE, is_published=True), True)


def published_hits(said: SaidOfRun) -> np.ndarray:
    """The matrices of Tables 10 to 24, each other file with itself, and as many false positives as Table 9 has."""
    hits = np.eye(len(FILES), dtype=bool)
    for number, rows in enumerate(said.zones, 1):
        hits[np.ix_(number == ZONE, number == ZONE)] = matrix(rows)
    elsewhere = np.argwhere(~PUBLISHED.inside & ~np.eye(len(FILES), dtype=bool))
    for i, j in elsewhere[: said.n_false_positives]:
        hits[i, j] = True
    return hits


@pytest.mark.parametrize("said", TABLE_9, ids=lambda said: said.spec)
def test_the_papers_matrices_have_the_papers_scores(said: SaidOfRun) -> None:
    counted = count(published_hits(said), PUBLISHED)
    assert counted.n_false_positives == said.n_false_positives
    assert counted.n_false_negatives == said.n_false_negatives
    assert counted.n_correct == said.n_correct
    assert round(counted.score, 2) == said.score


def test_what_agrees_with_all_that_is_expected_has_the_papers_best_score() -> None:
    counted = count(PUBLISHED.expected, PUBLISHED)
    assert (counted.n_as_expected, counted.n_pairs, counted.score) == (225, 225, 3.5)
    assert TABLE_9[0].zones == EXPECTED
    others = [count(published_hits(said), PUBLISHED).n_as_expected for said in TABLE_9]
    assert others == [225, 225 - 14 - 9, 225 - 3 - 3, 225 - 8, 225 - 2 - 4]


def test_runs_are_the_papers_without_the_one_that_is_not_there() -> None:
    methods = all_methods()
    assert len(set(methods)) == len(methods) == 672 - 16
    assert {SimilarityIndex.parse(said.spec) for said in TABLE_9} <= set(methods)


@pytest.fixture(scope="module")
def folder() -> Folder:
    texts = [
        *versions(3, n_bases=2, n_words=400, n_versions=2, max_edits=12),  # in any order
        "Ünïcode 😀 text",
        "",
    ]
    zone = np.array([1, 1, 1, 2, 2, 2, 0, 0])
    names = tuple(f"{i}.txt" for i in range(8))
    return Folder(names, pa.array(texts, pa.large_string()), Zones(zone, _expected(zone, is_published=False), False))


@pytest.mark.soak
def test_the_multiplier_of_java_makes_the_numbers_of_the_package(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chance, "multipliers", lambda n, seed: (31,) * n)
    found = chance.measure(folder, 1, seed=0, threads=1, progress=Silent())
    assert len(found.methods) == 656 - 48
    runs = [run_one(folder, method) for method in found.methods]
    assert found.scores[0].tolist() == [run.counted.score for run in runs]
    assert found.n_as_expected[0].tolist() == [run.counted.n_as_expected for run in runs]
    assert int(found.n_over_one[0]) == sum(frequencies(tuple(runs)).values())
    assert float(found.best[0]) == best(tuple(runs), 1)[0].counted.score


@pytest.mark.soak
def test_another_stop_list_makes_the_numbers_of_a_package_that_had_it(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(2)
    common = ["the", "of", "and", "already", "somebody", "isn't", "would", "whose", "to", "in"]
    bases = [versions(seed, n_bases=1, n_words=90, n_versions=0, max_edits=0)[0].split() for seed in range(5)]
    texts = [" ".join(draw.permutation([*common * 3, *base])) for base in bases]
    zone = np.array([1, 1, 1, 2, 2])
    zones = Zones(zone, _expected(zone, is_published=False), False)
    own = Folder(tuple("abcde"), pa.array(texts, pa.large_string()), zones)
    found = stop_lists.measure(own, 2, seed=0, progress=Silent())
    assert [one.stop_list.name for one in found] == ["stopwordsiso", "Snowball", "Lucene"]
    some = [method for method in all_methods() if method.k == 4 and method in found[0].scores]
    for one in found:
        monkeypatch.setattr(similarity_index, "stop_words", lambda words=one.stop_list.words: words)
        assert {m: one.scores[m] for m in some} == {m: run_one(own, m).counted.score for m in some}
        assert {len(scores) for scores in one.others.values()} == {2}
        assert len(one.others) == 5
    left = [TextStream("words", "B", one.stop_list.words).words(own.texts)[0] for one in found]
    assert not set(common) & set(left[0])
    assert [word for word in common if word not in left[1]] == ["the", "of", "and", "isn't", "would", "to", "in"]
    assert [word for word in common if word not in left[2]] == ["the", "of", "and", "to", "in"]


def test_multipliers_are_odd_and_depend_on_the_seed_alone() -> None:
    drawn = chance.multipliers(100, 7)
    assert drawn == chance.multipliers(100, 7) != chance.multipliers(100, 8)
    assert all(multiplier % 2 and multiplier < 2**32 for multiplier in drawn)


def test_a_share_of_multipliers_is_compared_with_two_places() -> None:
    made = Chance((SimilarityIndex(),), (1, 3), np.array([[1.938], [1.1]]), np.zeros((2, 1), np.int64))
    assert made.at_least(SimilarityIndex(), 1.94) == 0.5


def test_columns_find_what_a_comparison_of_all_finds() -> None:
    rng = np.random.default_rng(0)
    n = 60
    values, has = rng.integers(-50, 50, n), rng.random(n) < 0.9
    family = rng.integers(0, 9, n)
    queries = np.sort(rng.choice(n, 25, replace=False))
    truth = _by_family(family, queries)
    related = (family[queries][:, None] == family[None]) & (queries[:, None] != np.arange(n)[None])
    assert len(truth) == related.sum()
    keys, bits = rng.integers(0, 5, (3, n)).astype(np.uint64), rng.integers(0, 64, n).astype(np.uint64)

    def check(found, returned) -> None:
        returned = returned & has[queries][:, None] & has[None] & (queries[:, None] != np.arange(n)[None])
        assert found.n_rows == pytest.approx(returned.sum() / len(queries))
        right = (returned & related).sum()
        assert found.pooled_recall["family"] == pytest.approx(right / related.sum())
        if returned.sum():
            assert found.precision["family"] == pytest.approx(right / returned.sum())
        each = [(r & t).sum() / t.sum() for r, t in zip(returned, related, strict=True) if t.any()]
        assert found.recall["family"] == pytest.approx(np.mean(each))

    for tolerance, found in zip(TOLERANCES, by_range("n", values, has, queries, [truth]), strict=True):
        bounds = [interval(int(values[q]), tolerance) for q in queries]
        check(found, np.array([(values >= low) & (values <= high) for low, high in bounds]))
    check(by_keys("k", 1, keys, queries, [truth], has), (keys[:, queries][:, :, None] == keys[:, None, :]).any(axis=0))
    apart = np.bitwise_count(bits[queries][:, None] ^ bits[None])
    for found in by_bits("b", bits, queries, [truth], has):
        check(found, apart <= found.setting)


def test_recall_is_the_mean_over_queries_that_have_something_to_find() -> None:
    truth = FamilyTruth("family", np.array([0, 0, 2]), np.array([1, 2, 5]), 4)
    assert truth.n_with_relatives == 2
    assert truth.mean_recall(np.array([True, False, False])) == 0.25


def test_chance_of_a_hit_is_that_of_two_random_walks() -> None:
    rng = np.random.default_rng(1)
    for shared in (0.0, 0.6, 0.95):
        x, own = rng.standard_normal((2, 400_000))
        y = 1.5 * (shared * x + np.sqrt(1 - shared**2) * own)
        measured = (np.abs(y - x) < 0.3 * np.abs(x)).mean()
        assert hit_chance(np.array([shared]), 1.5)[0] == pytest.approx(measured, abs=0.005)


def test_the_highest_shingles_add_up_to_a_length() -> None:
    texts = [" ".join(versions(7, n_bases=1, n_words=n, n_versions=0, max_edits=1)) for n in (2000, 5000, 20_000)]
    values = (
        SimilarityIndex(method=9, stream="words", variation="A", k=4, w=5)
        .index(pa.array(texts, pa.large_string()))
        .values
    )
    n = np.array([2000, 5000, 20_000]) - 3
    assert values == pytest.approx(400 * 2.0**31 * (1 - 400 / n), rel=0.05)


def test_digests_are_of_the_normalised_text() -> None:
    texts = pa.array(["One  Text", "one text", "another"], pa.large_string())
    assert _digests(texts).tolist() == [0, 0, 1]


@pytest.mark.parametrize(("name", "value"), [("n_multipliers", 0), ("n_queries", 0), ("seed", -1)])
def test_bad_plans_are_refused(tmp_path, name: str, value: int) -> None:
    with pytest.raises(ParameterError, match=f"{name.removeprefix('n_')}: "):
        IndexPlan(folder=tmp_path, **{name: value})
    with pytest.raises(ParameterError, match="COLUMN=VALUE"):
        FamilyFile(tmp_path / "a.csv", "family", only="kind")
