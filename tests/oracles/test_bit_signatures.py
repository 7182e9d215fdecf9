"""Every signature of bits against its plain definition, bit for bit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_counts import every
from nearkin.records import BitSignatures
from nearkin.stages.features.shingles import Characters, Words, count_features
from nearkin.stages.signatures.minhash import BitMinHash, MinHash
from nearkin.stages.signatures.random_projection import RandomProjection, TermVectors
from nearkin.stages.signatures.simhash import Simhash
from nearkin.stages.signatures.statistics import GrowingStatistics, Statistics
from nearkin.stages.signatures.topsig import OnlineTopSig, TopSig, WeightedTopSig
from oracles import plain_signatures as plain

ALPHABETS = ("ab ", "The Lessee shall pay.\n", "Über–naïve “Café”", "日本語の契約書、甲乙", "a\U0001f600é")
TEXTS = st.lists(
    st.one_of([st.text(st.sampled_from(alphabet), max_size=60) for alphabet in ALPHABETS] + [st.text(max_size=20)]),
    min_size=1,
    max_size=5,
)
BITS = st.sampled_from([8, 16, 24, 32, 64, 128, 256, 512, 1024])
LONG = ["The Lessee shall pay the rent. " * 90 + str(i) for i in range(3)] + ["Größe “甲” und " * 300, "日本" * 999]
"""More than the plain twins are given: these go through the compiled kernels."""


def strings(texts: list[str]) -> pa.LargeStringArray:
    return pa.array(texts, pa.large_string())


def hexes(signed: BitSignatures) -> list[str]:
    return [bytes(row).hex() for row in signed.packed]


def or_zero(text: str, signature: str) -> str:
    return signature if text else "0" * len(signature)


@given(TEXTS, st.integers(1, 6), BITS)
def test_simhash(texts, n, bits):
    signed = Simhash(bits).sign(count_features(strings(texts), Characters(n)))
    assert hexes(signed) == [or_zero(text, plain.simhash(text, n, bits)) for text in texts]
    assert signed.has_features.tolist() == [bool(text) for text in texts]


@given(TEXTS, st.integers(1, 6), BITS, st.integers(0, 2**64 - 1))
def test_fast_simhash(texts, n, bits, seed):
    signed = Simhash(bits, "fast", seed).sign(count_features(strings(texts), Characters(n)))
    assert hexes(signed) == [or_zero(text, plain.fast_simhash(text, n, bits, seed)) for text in texts]


@given(TEXTS, st.integers(1, 6), BITS, st.sampled_from([None, 1 / 16, 1 / 32, 1.0]))
def test_topsig(texts, n, bits, density):
    method = TopSig(bits, density, seed=5)
    signed = method.sign(count_features(strings(texts), Characters(n)))
    expected = [plain.topsig(text, n, bits, method.n_nonzero, 5) for text in texts]
    assert hexes(signed) == [or_zero(*both) for both in zip(texts, expected, strict=True)]


@given(TEXTS, TEXTS, st.integers(1, 6), BITS)
def test_weighted_topsig(texts, collection, n, bits):
    statistics = Statistics.of([count_features(strings(collection), Characters(n))])
    method = WeightedTopSig(statistics, bits)
    signed = method.sign(count_features(strings(texts), Characters(n)))
    if any(collection):
        expected = [plain.weighted_topsig(text, collection, n, bits, method.n_nonzero, 0) for text in texts]
        assert hexes(signed) == [or_zero(*both) for both in zip(texts, expected, strict=True)]


@pytest.mark.parametrize(("n", "bits"), every(2, [(4, 16), (4, 64), (5, 64), (5, 16), (4, 1024), (5, 1024)]))
def test_long_texts(bits, n):
    counted = count_features(strings([*LONG, ""]), Characters(n))
    statistics = Statistics.of([counted])
    topsig, weighted = TopSig(bits), WeightedTopSig(statistics, bits)
    assert hexes(Simhash(bits).sign(counted))[:-1] == [plain.simhash(text, n, bits) for text in LONG]
    assert hexes(Simhash(bits, "fast").sign(counted))[:-1] == [plain.fast_simhash(text, n, bits, 0) for text in LONG]
    assert hexes(topsig.sign(counted))[:-1] == [plain.topsig(t, n, bits, topsig.n_nonzero, 0) for t in LONG]
    assert hexes(weighted.sign(counted))[:-1] == [
        plain.weighted_topsig(t, LONG, n, bits, topsig.n_nonzero, 0) for t in LONG
    ]


def test_features_longer_than_a_block_of_the_hash():
    text = "日本語の契約書" * 20
    counted = count_features(strings([text, text[:70]]), Characters(50))
    assert hexes(Simhash(64).sign(counted)) == [plain.simhash(text, 50, 64), plain.simhash(text[:70], 50, 64)]


def test_bit_minhash_keeps_a_bit_of_each_slot():
    counted = count_features(strings([*LONG, "short"]), Words(2))
    slots = MinHash(128, 7).sign(counted.sets).slots
    bits = [[(int(slot) * plain.GOLDEN & plain.MASK) >> 63 for slot in row] for row in slots]
    assert np.unpackbits(BitMinHash(128, 7).sign(counted).packed, axis=1).tolist() == bits


def test_a_random_projection_estimates_the_cosine():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300))
    b = a + b
    hashes = rng.integers(0, 2**64, 300, np.uint64)
    vectors = TermVectors(np.tile(hashes, 2), np.concatenate([a, b]), np.array([0, 300, 600]), "terms")
    distances = []
    for seed in range(20):
        packed = RandomProjection(1024, seed).sign(vectors).packed
        distances.append(np.unpackbits(packed[0] ^ packed[1]).sum() / 1024)
    angle = np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) / np.pi
    assert abs(np.mean(distances) - angle) < 5 * np.sqrt(angle * (1 - angle) / 1024 / 20)


def test_projections_of_one_document_do_not_depend_on_its_neighbours():
    texts = [*LONG, "", "short", "a"]
    for method in (Simhash(64), TopSig(128), BitMinHash(64)):
        together = hexes(method.sign(count_features(strings(texts), Characters(4))))
        alone = [hexes(method.sign(count_features(strings([text]), Characters(4))))[0] for text in texts]
        assert together == alone


@given(TEXTS, st.integers(1, 6), st.integers(1, 3))
def test_online_topsig_uses_what_came_before(texts, n, batch):
    features = count_features(strings([""]), Characters(n)).fingerprint
    method = OnlineTopSig(GrowingStatistics(features), 64)
    found = []
    for start in range(0, len(texts), batch):
        found += hexes(method.sign(count_features(strings(texts[start : start + batch]), Characters(n))))
    for i, text in enumerate(texts):
        expected = plain.weighted_topsig(text, texts[: i + 1], n, 64, method.n_nonzero, 0) if text else "0" * 16
        assert found[i] == expected
    whole = Statistics.of([count_features(strings(texts), Characters(n))])
    assert method.growing.frozen().fingerprint == whole.fingerprint
