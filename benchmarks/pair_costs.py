"""What the steps of a search for pairs cost on this machine, in nanoseconds: ``nearkin.planning.pairs.costs``.

The plan of ``nearkin pairs`` weighs its methods by constants, so that the same input gets the same plan everywhere.
This prints what they are here, to judge whether the constants are still true::

    python benchmarks/pair_costs.py
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict

import numpy as np
from rich.console import Console
from rich.table import Table

from nearkin.kernels.hamming import near_in_tiles, tiled
from nearkin.kernels.signatures import leading_bits, order_of, project_hashes
from nearkin.kernels.terms import Block, Sparse, block_by_terms, near_in_block, products
from nearkin.planning.pairs.costs import COSTS, FEW_TERMS, Costs
from nearkin.records import U64

_WORDS, _FEW_WORDS = 16, 4
_NEAR, _FAR = 2048, 1 << 18
_SORTED = 1 << 18
_BLOCK, _QUERIES = 2048, 384
_PAIRS = 20_000
_VOCABULARY = 50_000


def measured() -> Costs:
    """Measure all steps on one core."""
    chance = np.random.default_rng(0)
    near = {n_words: _comparison_ns(chance, n_words, _NEAR, 1024) for n_words in (_FEW_WORDS, _WORDS)}
    word = max(0.0, (near[_WORDS] - near[_FEW_WORDS]) / (_WORDS - _FEW_WORDS))
    far = _comparison_ns(chance, _WORDS, _FAR, 64)
    ordering, gathering = _sorting_ns(chance)
    vectors, of_left, of_product = _vectors_ns(chance, FEW_TERMS, FEW_TERMS)
    return Costs(
        comparison=max(0.0, near[_WORDS] - _WORDS * word),
        comparison_word=word,
        far_word=max(0.0, far - near[_WORDS]) / _WORDS,
        sorting=ordering / math.log2(_SORTED),
        sorting_word=gathering / _WORDS,
        candidate=_candidate_ns(chance),
        candidate_term=_product_ns(chance, FEW_TERMS) / FEW_TERMS,
        vectors=vectors,
        vectors_left=of_left,
        vectors_product=of_product,
        sign=_sign_ns(chance),
    )


def main() -> None:
    """Measure and print."""
    table = Table("step", "measured here", "constant", title="nanoseconds on one core")
    for (name, here), constant in zip(asdict(measured()).items(), asdict(COSTS).values(), strict=True):
        table.add_row(name, f"{here:.3g}", f"{constant:.3g}")
    Console().print(table)


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


if __name__ == "__main__":
    main()
