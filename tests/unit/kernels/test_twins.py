"""Every compiled kernel gives the bits of its plain twin."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin.kernels import (  # (two are named here so that both are seen to be covered)
    compiled,  # noqa: F401
    frames,
    hashing,
    lines,
    linking,
    overlap,
    plain,  # noqa: F401
    shingles,
    sketch,
    text,
)
from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.characters import UNITS
from nearkin.kernels.compiled import shingles as compiled_shingles
from unit.kernels.agreeing import agreed

ODD = "aB1 \t\n\u00a0\u00ad\u0301\u200d\u3000éßİ中日かカไท가-_'🙂\U0010ffff"
texts = st.lists(st.one_of(st.text(st.sampled_from(ODD), max_size=90), st.text(max_size=40)), max_size=6)
few_hashes = st.integers(0, 30)
sets = st.lists(st.sets(few_hashes, max_size=20), max_size=8)


def buffers(values: list[str]):
    return text_buffers(pa.array(values, pa.large_string()))


def flatten(values: list[set[int]]):
    flat = np.array([h for s in values for h in s], np.uint64)
    return flat, np.concatenate([[0], np.cumsum([len(s) for s in values])]).astype(np.int64)


def same(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None)


@given(st.lists(st.one_of(st.binary(max_size=12), st.text(max_size=80).map(str.encode)), max_size=5))
def test_first_invalid_byte(values):
    data, offsets = text_buffers(pa.array(values, pa.large_binary()))
    agreed(text.first_invalid_byte, data, offsets)


@given(texts)
def test_count_visible(values):
    agreed(text.count_visible, *buffers(values))


@given(texts, st.sampled_from([(), ("case",), ("nfkc",), ("nfkc", "case", "arabic", "accents")]), st.booleans())
def test_fold(values, steps, collapse):
    data, offsets = buffers(values)
    agreed(text.fold, data, offsets, steps, collapse=collapse)


PIECES = [
    "ver",
    "Ver",
    "sicherung",
    "out",
    "of",
    "ße",
    "wort",
    "ü",
    "Ä",
    "-",
    "-\n",
    "-  \r\n\t",
    "\n",
    " ",
    "\r",
    "\t",
    "\f",
]
MARKS = ["\u00ad\n", "\u00ad", "¬\n", "\u2010\n", "2 ", "3 ", "  2", "ABC0001\n", "A 0001 \n", "12345", "02"]
HIDDEN = ["²", "₂", "⁵", "€", "°", "O/", "/ ", "é/", "a/b", "N / yes", "\n/\t"]
NUMBERED = [form * 10 + "\n2 b" for form in ("\n1 a", "\n\t01\r")] + ["".join(f"\n{i} a" for i in range(1, 12))]
LINES = st.lists(st.sampled_from([*PIECES, *MARKS, *HIDDEN, *NUMBERED]), max_size=60).map("".join)


@given(st.lists(LINES, max_size=4))
def test_lines(values):
    data, offsets = buffers(values)
    agreed(lines.line_flags, data, offsets)
    agreed(lines.join_broken_words, data, offsets)


def test_lines_of_long_words():
    """Without white space: the regular expressions of the plain loops must not try every start."""
    agreed(lines.line_flags, *buffers(["漢" * 30_000, "a" * 100_000, "a/" * 30_000, "A /" * 30_000]))


@given(texts, st.sampled_from(sorted(UNITS)), st.integers(1, 6))
def test_shingle_sets(values, unit, length):
    data, offsets = buffers(values)
    agreed(shingles.shingle_sets, data, offsets, unit=unit, length=length)


def test_shingle_sets_of_long_texts():
    """Longer than a block; with more distinct shingles than the table holds at first; characters of all sizes."""
    rng = np.random.default_rng(0)
    letters = "".join(map(chr, rng.integers(97, 123, 60_000)))
    of_all_sizes = "".join(rng.choice(list("aé中🙂 "), 30_000))
    values = [letters, "ab " * 9000, of_all_sizes, " ".join(letters), "a" * 4096, "", "é" * 4097, letters[:4100]]
    data, offsets = buffers(values)
    of_words, of_characters = (("words", n) for n in (1, 3)), (("chars", n) for n in (1, 5, 64))
    for unit, length in (*of_words, *of_characters, ("code", 3)):
        agreed(shingles.shingle_sets, data, offsets, unit=unit, length=length)


def test_a_shingle_that_is_zero_is_one_like_any_other():
    hashes, table = np.zeros(8, np.uint64), np.zeros(16, np.uint64)
    block = np.array([5, 0, 7, 0, 5], np.uint64)
    _, size, out = compiled_shingles._add_distinct(block, 5, table, 16, 5, hashes, 0, 0)
    assert (size, hashes[:out].tolist()) == (16, [5, 0, 7])


@given(sets, st.integers(1, 40), st.integers(0, 2**64 - 1))
def test_sketch_and_band_keys(values, size, seed):
    hashes, offsets = flatten(values)
    slots = agreed(sketch.sketch, hashes, offsets, size=size, seed=seed)
    agreed(sketch.round_constants, size, seed)
    rows = max(1, size // 3)
    agreed(sketch.band_keys, slots, bands=size // rows, rows=rows)


@given(st.lists(st.tuples(st.one_of(few_hashes, st.integers(0, 2**64 - 1)), st.integers(0, 9)), max_size=60))
def test_sort_by_key(entries):
    keys = np.array([k for k, _ in entries], np.uint64)
    rows = np.array([r for _, r in entries], np.uint32)
    agreed(linking.sort_by_key, keys, rows)


@given(st.data(), st.integers(1, 5), st.integers(1, 40), st.integers(0, 60))
def test_link_runs(data, max_pivots, max_pairs, room):
    keys = np.sort(np.array(data.draw(st.lists(st.integers(0, 6), max_size=30)), np.uint64))
    rows = np.array(data.draw(st.lists(st.integers(0, 9), min_size=len(keys), max_size=len(keys))), np.uint32)
    sizes = np.array(data.draw(st.lists(st.integers(1, 9), min_size=10, max_size=10)), np.uint32)
    sides = np.array(data.draw(st.lists(st.integers(1, 7), min_size=10, max_size=10)), np.uint8)
    most = {"max_pivots": max_pivots, "max_pairs": max_pairs}

    def linked():
        pairs = np.zeros(room, np.uint64)
        said = linking.link_runs(keys, rows, sizes, sides, start=0, min_size_ratio=0.5, **most, pairs=pairs)
        return said, pairs[: said[0]]

    agreed(linked)


@given(st.lists(st.integers(0, 2**64 - 1)), st.lists(st.integers(0, 2**64 - 1)), st.integers(0, 12))
def test_marks(marked, asked, bits):
    bitmap = np.zeros(1 << bits, np.uint8)
    agreed(linking.mark, np.array(marked, np.uint64), bitmap)
    linking.mark(np.array(marked, np.uint64), bitmap)
    found = agreed(linking.is_marked, np.array([*asked, *marked], np.uint64), bitmap)
    assert found[len(asked) :].all()


@given(sets, st.data())
def test_n_common(values, data):
    hashes, offsets = flatten(values)
    row = st.integers(0, len(values) - 1)
    pairs = data.draw(st.lists(st.tuples(row, row), max_size=10)) if values else []
    left, right = (np.array([p[i] for p in pairs], np.uint32) for i in (0, 1))
    agreed(overlap.n_common, hashes, offsets[:-1], offsets[1:], left, right)
    agreed(overlap.shared_ends, hashes, offsets[:-1], offsets[1:], left, right)


@given(texts, st.lists(st.sampled_from(["may", "hundred", "a", "中", "€", "12345678901"]), unique=True))
def test_frames(values, also_numbers):
    words = tuple(word.encode() for word in also_numbers)
    longer = [f"{a}7{b} may two hundred and 12345678901 {a} ☒ x €7 ₹ {b}€" for a, b in pairwise(values)]
    agreed(frames.frames, *buffers([*values, *longer]), words, ("☒".encode(), b"x"))


@given(st.integers(1, 9), st.data())
@settings(max_examples=examples(200))
def test_grouping(n_rows, data):
    row = st.integers(0, n_rows - 1)
    edge = st.tuples(row, row).filter(lambda p: p[0] < p[1])
    edges = data.draw(st.dictionaries(edge, st.sampled_from([0.8, 0.85, 0.9]), max_size=15)) if n_rows > 1 else {}
    order = np.array(data.draw(st.permutations(range(n_rows))), np.uint32)
    left, right = (np.array([e[i] for e in edges], np.uint32) for i in (0, 1))
    likeness = np.array(list(edges.values()), np.float64)
    agreed(linking.principals, left, right, likeness, order)
    agreed(linking.components, left, right, n_rows)


@given(sets, st.data())
def test_prefixes(values, data):
    hashes, offsets = flatten(values)
    hashes = hashes << np.uint64(59)  # spread over the upper bits that choose a count
    counts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=16, max_size=16)), np.uint32)
    lengths = np.array([data.draw(st.integers(0, len(s))) for s in values], np.int64)
    agreed(linking.prefixes, hashes, offsets, counts, lengths)


def test_prefixes_of_large_sets():
    chance = np.random.default_rng(0)
    hashes = chance.permutation(700).astype(np.uint64) << np.uint64(54)
    offsets, lengths = np.array([0, 64, 129, 700]), np.array([20, 65, 300])
    counts = chance.integers(0, 4, 64, np.uint32)
    agreed(linking.prefixes, hashes, offsets, counts, lengths)


@given(st.lists(st.binary(max_size=9), max_size=6))
def test_hash_strings(values):
    data, offsets = text_buffers(pa.array(values, pa.large_binary()))
    agreed(hashing.hash_strings, data, offsets)


@given(st.lists(st.tuples(few_hashes, few_hashes), max_size=40), st.integers(1, 4), st.data())
def test_chains(entries, most, data):
    keys = np.array(entries, np.uint64).reshape(-1, 2)
    half = data.draw(st.integers(0, len(keys)))
    heads, previous = np.full((2, 64), linking.NO_ROW, np.int32), np.full((len(keys), 2), linking.NO_ROW, np.int32)
    for a, b in ((0, half), (half, len(keys))):
        agreed(linking.find_in_chains, keys, a, b, heads, previous, most=most)
        found = linking.find_in_chains(keys, a, b, heads, previous, most=most)
        same(found, _looked_through(keys, a, b, most))
    fresh_heads, fresh_previous = np.full((2, 128), linking.NO_ROW, np.int32), previous * 0
    agreed(linking.rebuild_chains, keys, len(keys), fresh_heads, fresh_previous)
    linking.rebuild_chains(keys, len(keys), fresh_heads, fresh_previous)
    same([fresh_previous], [previous])


def _looked_through(keys, first, last, most):
    """What `linking.find_in_chains` returns, without an index."""
    pairs, n_cut = set(), 0
    for row in range(first, last):
        for j in range(keys.shape[1]):
            alike = [earlier for earlier in range(row - 1, -1, -1) if keys[earlier, j] == keys[row, j]]
            pairs |= {(row, earlier) for earlier in alike[:most]}
            n_cut += len(alike) > most
    row, earlier = ([pair[i] for pair in sorted(pairs)] for i in (0, 1))
    return np.array(row, np.int64), np.array(earlier, np.int32), n_cut
