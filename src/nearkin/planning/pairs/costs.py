"""Costs, on one core, of the steps of a search for pairs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cache

import numpy as np

from nearkin.errors import ParameterError
from nearkin.kernels.hamming import near_in_tiles, tiled
from nearkin.kernels.signatures import leading_bits, order_of, project_hashes
from nearkin.kernels.terms import Block, Sparse, block_by_terms, near_in_block, products
from nearkin.records import F64, U64

FEW_TERMS = 100.0
"""Default number of terms of a vector."""
_WORD = 64
_UNIT = 4
_LANES = 64
_CACHE_BYTES = 32 << 20  # typical last-level cache of server processors


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Costs of the steps, in nanoseconds on one core.

    The defaults, of one core of an AMD EPYC at 2.6 GHz, are constants, so that a plan depends only on its question.

    Parameters
    ----------
    comparison, comparison_word
        Per comparison of two signatures, and per 64-bit word of them, rounded up to a multiple of four words.
    far_word
        Added per word if the signatures of the right side exceed the caches.
    sorting, sorting_word
        Per signature in one order and doubling of their number, and per word that is gathered.
    candidate, candidate_term
        Per candidate that is kept, and per term of its right document for the cosine.
    vectors, vectors_left, vectors_product
        Per pair in the search by an inverted index: to clear and to read its sum, per term of the left
        document, and per product of the numbers of terms on both sides.
    sign
        Per term and bit of a signature.
    """

    comparison: float = 0.35
    comparison_word: float = 0.07
    far_word: float = 0.015
    sorting: float = 3.0
    sorting_word: float = 6.0
    candidate: float = 150.0
    candidate_term: float = 1.4
    vectors: float = 0.3
    vectors_left: float = 0.02
    vectors_product: float = 0.00022
    sign: float = 0.13

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 <= value < math.inf:
                raise ParameterError.of(field.name, "a number >= 0", value)

    @classmethod
    def default(cls) -> Costs:
        """Return the costs measured on one machine."""
        return cls()

    def scaled(self, speed: float) -> Costs:
        """Return the costs of a machine that is ``speed`` times as fast."""
        if not 0 < speed < math.inf:
            raise ParameterError.of("speed", "a number above 0", speed)
        return replace(self, **{field.name: getattr(self, field.name) / speed for field in fields(self)})

    def comparison_ns(self, n_bits: int, n_right: int) -> float:
        """Return the cost of comparing two signatures, for this number of them on the right."""
        n_words = filled_words(n_bits)
        is_far = 8 * n_words * n_right > _CACHE_BYTES
        return self.comparison + n_words * (self.comparison_word + is_far * self.far_word)

    def window_ns(self, n_bits: int, n_right: int, stretches: F64) -> F64:
        """Return the cost in windows with these numbers of right signatures; tiles at their ends are read whole."""
        whole = 1 + _LANES / np.maximum(1.0, stretches)
        return np.asarray(self.comparison_ns(n_bits, n_right) * whole, np.float64)

    def sorting_ns(self, n_bits: int, n_documents: int) -> float:
        """Return the cost per signature in one order."""
        return self.sorting * math.log2(max(2, n_documents)) + self.sorting_word * filled_words(n_bits)

    def candidate_ns(self, right_terms: float) -> float:
        """Return the cost of a candidate, including its cosine."""
        return self.candidate + self.candidate_term * right_terms

    def vectors_ns(self, left_terms: float, right_terms: float) -> float:
        """Return the cost of a pair in the search by an inverted index."""
        return self.vectors + self.vectors_left * left_terms + self.vectors_product * left_terms * right_terms

    def signing_ns(self, n_bits: int, n_terms: float) -> float:
        """Return the cost of the signature of a document."""
        return self.sign * n_bits * n_terms


def filled_words(n_bits: int) -> int:
    """Return the number of words of a signature, padded for comparison."""
    return -(-n_bits // (_WORD * _UNIT)) * _UNIT


_WORDS, _FEW_WORDS = 16, 4
_NEAR, _FAR = 2048, 1 << 18
_SORTED = 1 << 18
_BLOCK, _QUERIES = 2048, 384
_PAIRS = 20_000
_VOCABULARY = 50_000


@cache
def machine_costs() -> Costs:
    """Return the costs of steps that do not depend on documents, measured once per process; those of vectors are 0."""
    chance = np.random.default_rng(0)
    near = {n_words: _comparison_ns(chance, n_words, _NEAR, 1024) for n_words in (_FEW_WORDS, _WORDS)}
    word = max(0.0, (near[_WORDS] - near[_FEW_WORDS]) / (_WORDS - _FEW_WORDS))
    far = _comparison_ns(chance, _WORDS, _FAR, 64)
    ordering, gathering = _sorting_ns(chance)
    return Costs(
        comparison=max(0.0, near[_WORDS] - _WORDS * word),
        comparison_word=word,
        far_word=max(0.0, far - near[_WORDS]) / _WORDS,
        sorting=ordering / math.log2(_SORTED),
        sorting_word=gathering / _WORDS,
        candidate=_candidate_ns(chance),
        candidate_term=0.0,
        vectors=0.0,
        vectors_left=0.0,
        vectors_product=0.0,
        sign=_sign_ns(chance),
    )


def measured_costs(*, left_terms: float = FEW_TERMS, right_terms: float = FEW_TERMS) -> Costs:
    """Return the costs on one core of this machine, measured in about a second once the kernels are compiled."""
    chance = np.random.default_rng(0)
    candidate_term = _product_ns(chance, right_terms) / max(1.0, right_terms)
    vectors, of_left, of_product = _vectors_ns(chance, left_terms, right_terms)
    return replace(
        machine_costs(),
        candidate_term=candidate_term,
        vectors=vectors,
        vectors_left=of_left,
        vectors_product=of_product,
    )


def _seconds(work: Callable[[], object], repeats: int = 2) -> float:
    work()
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def _words(chance: np.random.Generator, n: int, n_words: int) -> U64:
    return chance.integers(0, 2**64, (n, n_words), dtype=np.uint64)


def _comparison_ns(chance: np.random.Generator, n_words: int, n_right: int, n_left: int) -> float:
    tiles = tiled(_words(chance, n_right, n_words), np.arange(n_right))
    left, starts, ends = _words(chance, n_left, n_words), np.zeros(n_left, np.int64), np.full(n_left, n_right)
    pairs, distances = np.empty(1 << 12, np.uint64), np.empty(1 << 12, np.uint16)

    def work() -> object:
        return sum(near_in_tiles(left, tiles, starts, ends, distance=n_words, pairs=pairs, distances=distances))

    return 1e9 * _seconds(work) / (n_left * n_right)


def _sorting_ns(chance: np.random.Generator) -> tuple[float, float]:
    words, places = _words(chance, _SORTED, _WORDS), chance.permutation(64 * _WORDS)[:32]
    order = order_of(leading_bits(words, places))
    ordering = _seconds(lambda: order_of(leading_bits(words, places)), 1)
    # with two corpora each signature is gathered once, on the left or into tiles on the right
    gathering = _seconds(lambda: (tiled(words, order), words[order]), 1) / 2
    return 1e9 * ordering / _SORTED, 1e9 * gathering / _SORTED


def _vectors(chance: np.random.Generator, n: int, n_terms: float) -> Sparse:
    n_each = max(1, round(n_terms))
    drawn = np.exp(chance.random((n, 2 * n_each)) * np.log(_VOCABULARY)).astype(np.int64)
    terms = [np.unique(row)[chance.permutation(len(np.unique(row)))[:n_each]] for row in drawn]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in terms])]).astype(np.int64)
    joined = np.concatenate(terms).astype(np.int32)
    return joined, np.full(len(joined), n_each**-0.5, np.float32), offsets


def _candidate_ns(chance: np.random.Generator) -> float:
    keys = chance.integers(0, 2**63, _PAIRS)
    return 1e9 * _seconds(lambda: np.unique(keys, return_index=True)) / _PAIRS


def _product_ns(chance: np.random.Generator, right_terms: float) -> float:
    left, right = _vectors(chance, 500, right_terms), _vectors(chance, _BLOCK, right_terms)
    rows = np.sort(chance.integers(0, 500, _PAIRS)), chance.integers(0, _BLOCK, _PAIRS)
    return 1e9 * _seconds(lambda: products(left, right, rows, _VOCABULARY)) / _PAIRS


def _vectors_ns(chance: np.random.Generator, left_terms: float, right_terms: float) -> tuple[float, float, float]:
    sizes = ((left_terms, right_terms), (left_terms / 3, right_terms), (left_terms, right_terms / 3))
    taken = []
    for n_left, n_right in sizes:
        left, right = _vectors(chance, _QUERIES, n_left), _vectors(chance, _BLOCK, n_right)
        block = block_by_terms(right, 0, _BLOCK, _VOCABULARY)

        def work(left: Sparse = left, block: Block = block) -> object:
            return near_in_block(left, (0, _QUERIES), block, least=2.0)

        taken.append(1e9 * _seconds(work) / (_QUERIES * _BLOCK))
    product = max(0.0, (taken[0] - taken[2]) / max(1.0, left_terms * right_terms * 2 / 3))
    of_left = max(0.0, (taken[0] - taken[1]) / max(1.0, left_terms * 2 / 3) - product * right_terms)
    whole = max(0.0, taken[0] - product * left_terms * right_terms - of_left * left_terms)
    return whole, of_left, product


def _sign_ns(chance: np.random.Generator) -> float:
    hashes, weights = _words(chance, 10_000, 1)[:, 0], chance.integers(1, 2**20, 10_000)
    offsets = np.arange(0, 10_001, 100)
    taken = _seconds(lambda: project_hashes(hashes, weights, offsets, n_words=32, seed=1))
    return 1e9 * taken / (10_000 * 32 * 32)
