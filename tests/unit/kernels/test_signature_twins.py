"""The kernels of signatures give the bits of their plain twins."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin.kernels import features, hashing, signatures, terms
from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.characters import UNITS
from unit.kernels.agreeing import agreed

ODD = "aB1 \t\n\u00a0\u00ad\u0301\u200d\u3000éßİ中日かカไท가-_'🙂\U0010ffff"
MANY = "".join(map(chr, range(0x4E00, 0x4E00 + 300)))  # more characters than there are one-byte codes
TEXTS = st.lists(
    st.one_of(
        st.text(st.sampled_from("ab"), max_size=90), st.text(st.sampled_from(ODD), max_size=90), st.text(max_size=40)
    ),
    max_size=6,
)
HASHES = st.lists(st.one_of(st.integers(0, 30), st.integers(0, 2**64 - 1)), max_size=40)


def buffers(values: list[str]):
    return text_buffers(pa.array(values, pa.large_string()))


@given(TEXTS, st.sampled_from(sorted(UNITS)), st.integers(1, 6))
def test_count_features(values, unit, length):
    data, offsets = buffers(values)
    ours = agreed(features.count_features, data, offsets, unit=unit, length=length)
    if unit == "chars":
        documents = np.repeat(np.arange(len(values)), np.diff(ours[3]))
        found = agreed(features.locate_characters, data, offsets, documents, ours[2], length=length)
        spelled = [bytes(data[a:b]).decode() for a, b in zip(*found, strict=True)]
        assert all(gram in values[d] for gram, d in zip(spelled, documents, strict=True))


@pytest.mark.parametrize("length", [2, 4, 5])
def test_count_features_of_texts_that_outgrow_their_tables(length):
    rng = np.random.default_rng(length)
    values = ["".join(rng.choice(list(letters), 150_000)) for letters in (MANY, "abcdefghijklmnopqrstuvwxyz €")]
    data, offsets = buffers([*values, "ab", values[0][:5000]])
    agreed(features.count_features, data, offsets, unit="chars", length=length)


@given(st.lists(st.binary(max_size=135), max_size=70), st.integers(1, 136))
def test_shake256(messages, n_bytes):
    data = np.frombuffer(b"".join(messages), np.uint8)
    bounds = np.cumsum([0, *map(len, messages)])
    digests = agreed(hashing.shake256, data, bounds[:-1], bounds[1:], n_bytes=n_bytes)
    assert [bytes(row) for row in digests] == [hashlib.shake_256(m).digest(n_bytes) for m in messages]


@given(HASHES, HASHES)
def test_lookup(known, wanted):
    keys, table = np.zeros(len(known) + 1, np.uint64), np.zeros(256, np.uint32)
    known, wanted = np.array(known, np.uint64), np.array(wanted, np.uint64)
    numbers, n = agreed(terms.insert_numbers, keys, 0, table, known)
    assert n == len(set(known.tolist()))
    terms.insert_numbers(keys, 0, table, known)
    found = agreed(terms.find_numbers, keys, table, wanted)
    agreed(terms.add_at, np.zeros(n, np.int64), numbers, np.arange(len(numbers)))
    assert found.tolist() == [list(dict.fromkeys(known.tolist())).index(w) if w in known else -1 for w in wanted]


@st.composite
def voted(draw):
    """Hashes, weights, offsets."""
    sizes = draw(st.lists(st.integers(0, 8), min_size=1, max_size=5))
    n = sum(sizes)
    hashes = draw(st.lists(st.integers(0, 2**64 - 1), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(-(2**25), 2**25), min_size=n, max_size=n))
    dtype = draw(st.sampled_from([np.int32, np.int64]))
    return np.array(hashes, np.uint64), np.array(weights, dtype), np.cumsum([0, *sizes])


@given(voted(), st.integers(1, 33), st.integers(0, 2**64 - 1))
def test_projections_of_hashes_and_rows(given_votes, n_words, seed):
    hashes, weights, offsets = given_votes
    agreed(signatures.project_hashes, hashes, weights, offsets, n_words=n_words, seed=seed)
    rows = np.random.default_rng(n_words).integers(0, 2**32, (7, n_words), dtype=np.uint32)
    row_of = (hashes % np.uint64(7)).astype(np.int64)
    agreed(signatures.project_rows, rows, row_of, weights, offsets)


@given(voted(), st.integers(1, 128).map(lambda n: 8 * n), st.floats(0.001, 1), st.integers(0, 2**64 - 1))
def test_sparse_projections(given_votes, n_bits, density, seed):
    options = {"n_bits": n_bits, "n_nonzero": max(1, round(density * n_bits)), "seed": seed}
    agreed(signatures.project_sparse, *given_votes, **options)


@given(st.lists(st.integers(1, 2**62), max_size=50))
def test_logarithms(numbers):
    numbers = np.array(numbers, np.int64)
    ours = agreed(signatures.logarithms, numbers)
    assert np.abs(ours - np.log(numbers.astype(float)) * 2**20).max(initial=0) < 0.51


@settings(max_examples=examples(50))
@given(voted())
def test_growing_weights(given_votes):
    hashes, _, offsets = given_votes
    for i in range(len(offsets) - 1):  # a feature occurs once in a document
        hashes[offsets[i] : offsets[i + 1]] = np.arange(offsets[i + 1] - offsets[i])
    counts, numbers = np.arange(1, len(hashes) + 1, dtype=np.uint32), hashes.astype(np.int64)
    agreed(signatures.growing_weights, counts, numbers, offsets, np.zeros(10, np.int64), 0)
