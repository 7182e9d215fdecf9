"""The compiled kernels of the range search give the bits of their plain twins."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin.kernels import ranges
from nearkin.stages.search.ranges.segment import groups_of_levels
from unit.kernels.agreeing import agreed


@st.composite
def points(draw, max_size=90):
    """Points of which many agree in some columns, or all."""
    n, n_columns = draw(st.integers(1, max_size)), draw(st.integers(1, 13))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    made = chance.integers(-4, draw(st.sampled_from([-3, 5, 10**6])), (n, n_columns)).astype(np.float32)
    return made * chance.choice([1e-3, 1.0, 1e9], n_columns).astype(np.float32)


def built(made, block_size):
    """What is made of the points: points in order, rows, blocks, boxes."""
    ordered, rows = made.copy(), np.random.default_rng(len(made)).permutation(len(made)).astype(np.uint32)
    ranges.order_points(ordered, rows, block_size=block_size)
    n_blocks = -(-len(made) // block_size)
    groups = groups_of_levels(n_blocks)
    blocks = np.zeros((n_blocks, made.shape[1], block_size), np.float32)
    boxes = np.zeros((groups[-1], made.shape[1], 2, 16), np.float32)
    ranges.fill_blocks(ordered, blocks, boxes, groups)
    return ordered, rows, blocks, boxes


@given(points(), st.integers(1, 9))
def test_blocks(made, block_size):
    agreed(built, made, block_size)


def test_blocks_of_many_points():
    chance = np.random.default_rng(0)
    made = np.concatenate([chance.normal(0, 9, (20_000, 3)), np.zeros((5_000, 3))]).round().astype(np.float32)
    agreed(built, made, 32)


def scanned(*tree, room, **asked):
    """What each call finds, and the counts after it."""
    found = np.zeros(room, np.int64), np.zeros(room, np.uint32), np.zeros(room, np.int64)
    counts = np.zeros((len(asked["queries"]), 3), np.int64)
    calls = ranges.scan_blocks(*tree, **asked, found=found, counts=counts)
    return [[column[:n].copy() for column in found] + [counts.copy()] for n in calls] + [counts]


@given(points(max_size=300), st.integers(1, 9), st.integers(0, 30), st.data())
@settings(max_examples=examples(150))
def test_scan_blocks(made, block_size, more_room, data):
    chance = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    _, rows, blocks, boxes = built(made, block_size)
    groups = groups_of_levels(len(blocks))
    vectors = chance.integers(0, 50, (len(made), 5)).astype(np.uint32)
    n_queries = data.draw(st.integers(0, 4))
    chosen = chance.integers(0, len(made), n_queries)
    reach = np.float32(10.0 ** data.draw(st.integers(-3, 16)))
    asked = {
        "queries": vectors[chosen],
        "points": made[chosen],
        "reaches": np.full(n_queries, reach, np.float32),
        "limits": chance.choice([-1, 0, 500, 10**6], n_queries),
    }
    agreed(scanned, blocks, boxes, groups, rows, vectors, room=block_size + more_room, **asked)
