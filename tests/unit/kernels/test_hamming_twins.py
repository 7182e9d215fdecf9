"""The kernels of the Hamming search give the bits of their plain twins."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.kernels import hamming
from unit.kernels.agreeing import agreed

WORDS = [1, 2, 3, 5]


@st.composite
def strings(draw, n_words=None, max_size=40):
    """Some random strings, and some that differ from them in few bits."""
    n_words = n_words or draw(st.sampled_from(WORDS))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(0, max_size))
    words = chance.integers(0, 2**64, (n, n_words), dtype=np.uint64)
    for row in range(1, n):
        if chance.random() < 0.7:
            words[row] = words[chance.integers(0, row)]
            for bit in chance.integers(0, 64 * n_words, chance.integers(0, 4)):
                words[row, bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
    return words


def collected(find, *arguments, room, **options):
    """All that a kernel yields, each time as much as there is room for; no pair comes twice."""
    parts, seen = [], set()
    for pairs, distances in find(*arguments, **options, room=room):
        assert 0 < len(pairs) == len(distances) <= room
        assert seen.isdisjoint(pairs.tolist())
        seen.update(pairs.tolist())
        parts.append((pairs, distances))
    assert len(seen) == sum(len(pairs) for pairs, _ in parts)
    return parts


@given(strings(), st.data())
def test_classes_and_their_members(words, data):
    has_features = np.array(data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words))), bool)
    class_of_row, n_classes = agreed(hamming.equal_classes, words, has_features)
    assert class_of_row.dtype == np.int32
    members, offsets = agreed(hamming.members_of, class_of_row, n_classes)
    for number in range(n_classes):
        assert (members[offsets[number] : offsets[number + 1]] == np.flatnonzero(class_of_row == number)).all()


@given(st.data(), st.integers(1, 40))
def test_expand_classes(data, room):
    n_classes = data.draw(st.integers(1, 4))
    class_of_row = np.array(data.draw(st.lists(st.integers(-1, n_classes - 1), max_size=14)), np.int32)
    members, offsets = hamming.members_of(class_of_row, n_classes)
    near = [sorted({c, *data.draw(st.sets(st.integers(0, n_classes - 1)))}) for c in range(n_classes)]
    neighbours = np.array([c for one in near for c in one], np.uint32)
    of_neighbours = np.arange(len(neighbours), dtype=np.uint16)
    neighbour_offsets = np.cumsum([0, *map(len, near)]).astype(np.int64)
    agreed(
        hamming.expand_classes,
        class_of_row,
        members,
        offsets,
        neighbours,
        of_neighbours,
        neighbour_offsets,
        start=0,
        pairs=np.zeros(room, np.uint64),
        distances=np.zeros(room, np.uint16),
    )


@given(strings(), st.randoms(use_true_random=False))
def test_move_bits(words, chance):
    order = list(range(64 * words.shape[1]))
    chance.shuffle(order)
    moved = agreed(hamming.move_bits, words, np.array(order))
    for row in range(len(words)):
        bits = [int(words[row, bit // 64]) >> (bit % 64) & 1 for bit in order]
        assert bits == [int(moved[row, i // 64]) >> (i % 64) & 1 for i in range(len(order))]


@given(strings(), st.integers(1, 32), st.integers(0, 2**64 - 1))
def test_sort_by_block(words, key_bits, mask):
    masks = np.full(words.shape[1], mask, np.uint64)
    assert agreed(hamming.sort_by_block, words, masks, key_bits=key_bits).dtype == np.uint64


@given(strings(), st.integers(1, 6), st.integers(2, 6), st.integers(0, 20), st.integers(64, 90))
def test_near_in_table(words, distance, more_blocks, n_queries, room):
    n_blocks = min(7, distance + more_blocks)
    distance = min(distance, n_blocks - 1)
    owner = np.arange(64 * words.shape[1]) * 7 % n_blocks
    blocks = np.zeros((n_blocks, words.shape[1]), np.uint64)
    for bit, block in enumerate(owner.tolist()):
        blocks[block, bit // 64] |= np.uint64(1 << (bit % 64))
    for chosen in list(combinations(range(n_blocks), n_blocks - distance))[:4]:
        is_key = np.isin(np.arange(n_blocks), chosen)
        mask = np.bitwise_or.reduce(blocks[list(chosen)])
        # with so few bits in the key strangers share it, too
        entries = hamming.sort_by_block(words, mask, key_bits=2)
        find, sizes = hamming.near_in_table, {"distance": distance, "n_queries": n_queries, "room": room}
        agreed(collected, find, entries, words, blocks, is_key, **sizes)


@pytest.mark.parametrize("n_words", WORDS)
@pytest.mark.parametrize("is_one_set", [True, False])
@given(data=st.data())
def test_scan_tiles(n_words, is_one_set, data):
    words = data.draw(strings(n_words))
    queries = words if is_one_set else data.draw(strings(n_words, max_size=10))
    n_lanes, first_row = data.draw(st.integers(4, 32)), data.draw(st.integers(0, 5)) if is_one_set else 0
    first_row = min(first_row, len(words))
    tiles = hamming.laid_in_tiles(words[first_row:], n_lanes)
    rows = sorted(data.draw(st.tuples(*[st.integers(0, len(queries))] * 2)))
    lead = data.draw(st.sampled_from([n for n in (1, 2, 4) if n <= n_words]))
    distance, room = data.draw(st.sampled_from([0, 3, 64, 128])), data.draw(st.integers(n_lanes, 3 * n_lanes))
    if rows[0] == rows[1]:
        return
    agreed(
        collected,
        hamming.scan_tiles,
        tiles,
        queries,
        rows=tuple(rows),
        first_row=first_row,
        end_row=len(words),
        is_one_set=is_one_set,
        n_lead_words=lead,
        distance=distance,
        room=room,
    )
