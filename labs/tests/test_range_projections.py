"""The paper's algorithms: what passes each stage, by the definition; what tau trades; filters."""

from __future__ import annotations

import math

import numpy as np
import pytest

from labs.range_search.algorithms import ProjectionIndex, RandomProjections, tau_0
from nearkin.errors import FingerprintError, ParameterError
from nearkin.records import LetterVectors
from nearkin.stages.search.ranges.index import RangeIndex

GAMMA = 0.1


def vectors(n: int = 800, seed: int = 0) -> LetterVectors:
    """Families around few documents."""
    chance = np.random.default_rng(seed)
    bases = chance.poisson(np.exp(chance.normal(6, 1, (40, 1))) * chance.dirichlet(np.ones(62)))
    counts = np.maximum(0, bases[chance.integers(0, 40, n)] + chance.integers(-2, 3, (n, 62))).astype(np.uint32)
    sums = counts.sum(axis=1, dtype=np.int64)
    return LetterVectors(counts, chance.random(n) < 0.9, sums, np.zeros(n, np.int64), "letters=test")


def by_definition(index: ProjectionIndex, made: LetterVectors, query: int, tau: float, with_filters: bool):
    """Sets of rows after the first projection, after all, and at the end."""
    counts, asked = made.counts.astype(float), made.counts[query].astype(float)
    radius = GAMMA * np.linalg.norm(asked)
    near = np.abs((counts - asked) @ index.directions) <= tau * radius / math.sqrt(62) + 1e-9
    first = near[:, 0] if near.shape[1] else np.ones(len(counts), bool)
    if with_filters:
        first &= np.abs(np.linalg.norm(counts, axis=1) - np.linalg.norm(asked)) <= radius + 1e-9
        first &= np.abs(counts.sum(axis=1) - asked.sum()) <= radius + 1e-9
    first &= made.is_counted
    every = first & near.all(axis=1)
    return [set(np.flatnonzero(s)) for s in (first, every, every & (np.linalg.norm(counts - asked, axis=1) <= radius))]


@pytest.mark.parametrize("kind", ["gaussian", "rademacher"])
@pytest.mark.parametrize("n_directions", [0, 1, 8])
@pytest.mark.parametrize("with_filters", [False, True])
@pytest.mark.parametrize("tau", [1 / math.sqrt(2), None])
def test_what_passes_each_stage(kind, n_directions, with_filters, tau):
    made = vectors()
    index = ProjectionIndex.of(made, RandomProjections(kind, n_directions, seed=2))
    found = index.search(made, GAMMA, tau=tau, with_filters=with_filters)
    for query in np.flatnonzero(made.is_counted)[:40]:
        stages = by_definition(index, made, query, tau or tau_0(), with_filters or not n_directions)
        assert found.survivors[query].tolist() == [made.is_counted.sum(), *map(len, stages)]
        assert set(found.row[found.query == query].tolist()) == stages[-1]


def test_all_matches_are_ones_and_most_are_found():
    made = vectors()
    index = ProjectionIndex.of(made, RandomProjections())
    exact = RangeIndex.of(made).search(made, GAMMA)
    truth = set(zip(exact.query.tolist(), exact.row.tolist(), strict=True))
    sizes = []
    for tau in (0.1, 1 / math.sqrt(2), tau_0()):
        found = index.search(made, GAMMA, tau=tau)
        assert set(zip(found.query.tolist(), found.row.tolist(), strict=True)) <= truth
        sizes.append(len(found) / len(truth))
    assert sizes == sorted(sizes)
    assert sizes[-1] > 0.99


def test_directions():
    signs = RandomProjections("rademacher", 8, seed=1).draw(62)
    np.testing.assert_allclose(np.abs(signs), 1 / math.sqrt(62))
    np.testing.assert_allclose(np.linalg.norm(signs, axis=0), 1)
    normal = RandomProjections("gaussian", 256, seed=1).draw(62)
    assert abs(normal.std() * math.sqrt(62) - 1) < 0.02
    np.testing.assert_array_equal(normal, RandomProjections("gaussian", 256, seed=1).draw(62))


def test_tau_0_is_that_of_the_article():
    assert round(tau_0(10, 0.1), 3) == 7.600
    assert round(tau_0() / math.sqrt(62), 3) == 0.965


def test_rules():
    for options in ({"kind": "uniform"}, {"n_directions": -1}, {"seed": -1}):
        with pytest.raises(ParameterError, match=f"{next(iter(options))}: must be"):
            RandomProjections(**options)
    index = ProjectionIndex.of(vectors(), RandomProjections("gaussian", 3))
    with pytest.raises(ParameterError, match="tau: "):
        index.search(vectors(), GAMMA, tau=0.0)
    other = ProjectionIndex(
        counts=index.counts,
        rows=index.rows,
        columns=index.columns,
        norms=index.norms,
        directions=index.directions,
        fingerprint="other",
    )
    with pytest.raises(FingerprintError):
        other.search(vectors(), GAMMA)
    assert RandomProjections().fingerprint == "projections=rademacher;directions=8;seed=0"
