"""The sliding window against its definition, written out: permute, sort, compare with the B before."""

from __future__ import annotations

import numpy as np
import pytest

from nearkin.kernels import choosing
from nearkin.records import BitSignatures
from nearkin.stages.search import sliding_window, stretches
from nearkin.stages.search.sliding_window import SignatureScan, SlidingWindow


def signatures(seed: int, n: int, n_bits: int = 200, n_alike: int = 30, without: int = 3) -> BitSignatures:
    """Random ones, with some that differ in few bits, some equal, and some of documents without features."""
    chance = np.random.default_rng(seed)
    bits = chance.integers(0, 2, (n, n_bits), np.uint8)
    for i in range(n_alike):
        bits[chance.integers(n)] = bits[chance.integers(n)] ^ (chance.random(n_bits) < 0.02 * (i % 5))
    has_features = np.ones(n, np.bool_)
    has_features[chance.choice(n, without, replace=False)] = False
    packed = np.packbits(bits, axis=1)
    packed[~has_features] = 0
    return BitSignatures(packed, has_features, "test")


def by_definition(window: SlidingWindow, sides: list[BitSignatures], distance: int) -> tuple[dict, int]:
    items = []
    for side, own in enumerate(sides):
        bits = np.unpackbits(own.packed, axis=1)
        items += [(side, row, bits[row]) for row in range(len(own)) if own.has_features[row]]
    found, n_comparisons = {}, 0
    for number, order in enumerate(window.orders(sides[0].n_bits)):
        ties = window.tie_breaks(number, np.arange(len(items))).tolist()
        places = sorted(range(len(items)), key=lambda i: (items[i][2][order].tolist(), ties[i]))
        ordered = [items[i] for i in places]
        for at, (side_b, row_b, bits_b) in enumerate(ordered):
            for side_a, row_a, bits_a in ordered[max(0, at - window.window) : at]:
                if len(sides) == 2 and side_a == side_b:
                    continue
                n_comparisons += 1
                differs = int((bits_a != bits_b).sum())
                pair = (row_a, row_b) if side_a < side_b else (row_b, row_a)
                pair = tuple(sorted(pair)) if len(sides) == 1 else pair
                if differs <= distance:
                    found[pair] = differs
    return found, n_comparisons


@pytest.mark.parametrize("kind", ["compiled", "plain"])
@pytest.mark.parametrize("n_sides", [1, 2])
@pytest.mark.parametrize(("permutations", "width", "distance"), [(1, 1, 40), (4, 7, 20), (3, 500, 90), (6, 70, 0)])
def test_what_is_found(kind, n_sides, permutations, width, distance, monkeypatch):
    monkeypatch.setattr(choosing, "ALWAYS", kind)
    sides = [signatures(1, 150), signatures(2, 90)][:n_sides]
    if n_sides == 2:
        sides[1].packed[:20] = sides[0].packed[:20]  # the same documents on both sides
        sides[1].has_features[:20] = sides[0].has_features[:20]
    window = SlidingWindow(permutations, width, seed=5)
    found = window.pairs(*sides, distance=distance)
    told = {(int(a), int(b)): int(d) for a, b, d in zip(found.left, found.right, found.distance)}
    expected, n_comparisons = by_definition(window, sides, distance)
    assert told == expected
    assert found.n_comparisons == n_comparisons
    assert list(told) == sorted(told)


def test_neither_threads_nor_chunks_change_anything(monkeypatch):
    left, right = signatures(3, 700), signatures(4, 500)
    window = SlidingWindow(5, 60)
    expected = window.pairs(left, right, distance=85)
    monkeypatch.setattr(stretches, "_CHUNK", 37)
    monkeypatch.setattr(stretches, "_ROOM", 130)
    monkeypatch.setattr(sliding_window, "_HELD", 50)
    for threads in (1, 3):
        found = window.pairs(left, right, distance=85, threads=threads)
        for name in ("left", "right", "distance"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("kind", ["compiled", "plain"])
@pytest.mark.parametrize("n_bits", [8, 200, 1000, 2048])
def test_a_scan_finds_every_pair(kind, n_bits, monkeypatch):
    monkeypatch.setattr(choosing, "ALWAYS", kind)
    left, right = signatures(6, 150, n_bits), signatures(7, 131, n_bits)
    right.packed[:10], right.has_features[:10] = left.packed[:10], left.has_features[:10]
    for sides in ([left, right], [left]):
        bits = [np.unpackbits(side.packed, axis=1).astype(int) for side in (sides[0], sides[-1])]
        differs = (bits[0][:, None] != bits[1][None]).sum(axis=2)
        counts = sides[0].has_features[:, None] & sides[-1].has_features[None]
        if len(sides) == 1:
            counts &= np.triu(np.ones_like(counts), 1)
        most = int(0.45 * n_bits)
        found = SignatureScan().pairs(*sides, distance=most, threads=2)
        rows, columns = np.nonzero(counts & (differs <= most))
        np.testing.assert_array_equal(found.left, rows)
        np.testing.assert_array_equal(found.right, columns)
        np.testing.assert_array_equal(found.distance, differs[rows, columns])
        assert found.n_comparisons == counts.sum()


def test_signatures_that_share_their_first_bits_are_sorted_by_all():
    packed = np.zeros((300, 32), np.uint8)
    packed[:, 31] = np.arange(300) % 7
    packed[:, 15] = np.arange(300) % 5
    own = BitSignatures(packed, np.ones(300, np.bool_), "test")
    window = SlidingWindow(3, 4)
    found = window.pairs(own, distance=1)
    expected, _ = by_definition(window, [own], 1)
    assert {(int(a), int(b)) for a, b in zip(found.left, found.right)} == set(expected)


def test_equal_signatures_meet_in_some_order():
    """Of two collections of equal documents each order brings others together."""
    packed = np.ones((300, 8), np.uint8)
    left, right = (BitSignatures(packed, np.ones(300, np.bool_), "test") for _ in range(2))
    found = SlidingWindow(40, 30).pairs(left, right, distance=0)
    assert len(found) > 0.7 * 300 * 300
    assert len(np.unique(found.left)) == len(np.unique(found.right)) == 300
