"""Choice between tables and brute force for a Hamming search, from the number of signatures and a sample of them.

If the bits are cut into b blocks, signatures that differ in at most k bits agree in at least b - k blocks: one table
for every choice of b - k blocks brings them together. Bits are distributed to the blocks by entropy, and unrelated
pairs that meet are estimated on a sample.

Source: Gurmeet Singh Manku, Arvind Jain, Anish Das Sarma, "Detecting near-duplicates for web crawling", 2007, and
Mohammad Norouzi, Ali Punjani, David J. Fleet, "Fast search in Hamming space with multi-index hashing", 2012.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Literal

import numpy as np

from nearkin.kernels.hamming import move_bits, sort_by_block
from nearkin.nouns import counted
from nearkin.records import F64, I64, U64

Method = Literal["tables", "brute force"]

MAX_TABLES = 2048
_SAMPLE = 4096
_SAMPLED_PAIRS = 1 << 16
_SAMPLED_TABLES = 16
_TILE_WORDS = 4096
_MIN_LANES, _MAX_LANES = 256, 1024
_MOVES_PAY = 2048  # comparisons per string above which putting its bits in order saves more than it costs

# Nanoseconds on one core, measured once by benchmarks/hamming.py. They are constants, not measured in the run, so that
# the plan depends only on the signatures and the distance.
NS_ENTRY = 20.0
NS_ENTRY_WORD = 5.0
NS_CANDIDATE = 0.8
NS_CANDIDATE_WORD = 0.2
NS_LEAD = {1: 0.18, 2: 0.27, 4: 0.44}
NS_SCAN = 0.55
NS_SCAN_GROUP = 0.35
_SCAN_GROUP = 4
_FEW_LANES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class HammingPlan:
    """Plan of a Hamming search, with its reasons.

    Parameters
    ----------
    n_queries
        None: the signatures are compared with each other.
    blocks : uint64 array, shape (n_blocks, n_words)
        Bits of each block; empty for brute force.
    order : int64 array, shape (64 * n_words,), or None
        Original position of each bit: the most informative ones are put first, so that few words decide.
    n_lead_words
        Number of words of a signature that brute force compares before the rest.
    expected_comparisons
        Pairs of signatures that will be compared, estimated from the sample.
    tables_s, brute_force_s
        Estimated seconds on one core; infinity for a method that was not considered.
    """

    method: Method
    n_bits: int
    distance: int
    n_queries: int | None
    n_signatures: int
    blocks: U64
    order: I64 | None
    n_lead_words: int
    expected_comparisons: float
    tables_s: float
    brute_force_s: float

    @property
    def n_blocks(self) -> int:
        """Number of blocks into which the bits are cut; 0 for brute force."""
        return len(self.blocks)

    @property
    def n_tables(self) -> int:
        """Number of tables, one for every choice of agreeing blocks; 0 for brute force."""
        return math.comb(self.n_blocks, self.distance) if self.n_blocks else 0

    @property
    def n_pairs(self) -> int:
        """Number of all pairs."""
        return _n_pairs(self.n_queries, self.n_signatures)

    @property
    def n_lanes(self) -> int:
        """Number of signatures in a tile of brute force, chosen so that a tile stays in the nearest cache."""
        n_words = -(-self.n_bits // 64)
        return min(_MAX_LANES, max(_MIN_LANES, _TILE_WORDS // n_words))

    def describe(self) -> str:
        """Describe the plan in words."""
        whom = counted(self.n_signatures, "distinct signature")
        if self.n_queries is not None:
            whom = f"{counted(self.n_queries, 'signature')} against {self.n_signatures:,}"
        if not self.n_pairs:
            return f"Nothing to compare: {whom}."
        what = f"{whom} of {self.n_bits} bits within distance {self.distance}"
        brute_force, tables = _seconds(self.brute_force_s), _seconds(self.tables_s)
        if self.method == "brute force":
            is_told = not math.isinf(self.tables_s) and tables != brute_force
            return (
                f"Brute force for {what}: {counted(self.n_pairs, 'comparison')}, estimated {brute_force} on one core"
                f"{f' instead of {tables} by tables' if is_told else ''}."
            )
        return (
            f"Multi-index hashing for {what}: {counted(self.n_tables, 'table')} of signatures that agree in "
            f"{self.n_blocks - self.distance} of {counted(self.n_blocks, 'block')} of bits; about "
            f"{counted(round(self.expected_comparisons), 'comparison')} instead of {self.n_pairs:,}, estimated "
            f"{tables} on one core{f' instead of {brute_force} by brute force' if tables != brute_force else ''}."
        )


def plan_hamming(
    signatures: U64, queries: U64 | None, *, n_bits: int, distance: int, method: Method | None = None
) -> HammingPlan:
    """Choose the cheaper method, or make the best plan for the requested one.

    Parameters
    ----------
    queries : uint64 array, shape (n_queries, n_words), or None
        None: the signatures are compared with each other, and no two are equal.
    """
    n_queries, (n_signatures, n_words) = None if queries is None else len(queries), signatures.shape
    n_entries, n_pairs = n_signatures + (n_queries or 0), _n_pairs(n_queries, n_signatures)
    at_most_s = 1e-9 * n_pairs * (NS_SCAN + NS_SCAN_GROUP * n_words / _SCAN_GROUP)
    brute_force = HammingPlan(
        method="brute force",
        n_bits=n_bits,
        distance=distance,
        n_queries=n_queries,
        n_signatures=n_signatures,
        blocks=np.zeros((0, n_words), np.uint64),
        order=None,
        n_lead_words=max(n for n in NS_LEAD if n <= max(n_words, 1)),
        expected_comparisons=n_pairs,
        tables_s=math.inf,
        brute_force_s=at_most_s,
    )
    min_tables_s = 1e-9 * (distance + 1) * n_entries * NS_ENTRY
    if not n_pairs or (method is None and at_most_s < min_tables_s):  # decided without a sample
        return brute_force
    sample = _Sample.of(signatures, queries)
    order = np.argsort(-sample.entropies(), kind="stable")
    does_move = n_words > 1 and 2 * n_pairs >= _MOVES_PAY * n_entries
    if does_move:
        sample = sample.moved(order)
    lead, scan_s = _scan_cost(sample.prefix_shares(distance), n_pairs)
    brute_force = replace(brute_force, order=order if does_move else None, n_lead_words=lead, brute_force_s=scan_s)
    if method == "brute force":
        return brute_force
    ranks = np.arange(64 * n_words) if does_move else np.argsort(order)
    limit_s = math.inf if method == "tables" else scan_s
    blocks, comparisons, tables_s = _best_tables(sample, ranks, n_bits, distance, n_entries, n_pairs, limit_s)
    if method is None and tables_s >= scan_s:
        return replace(brute_force, tables_s=tables_s)
    return replace(brute_force, method="tables", blocks=blocks, expected_comparisons=comparisons, tables_s=tables_s)


@dataclass(frozen=True, slots=True)
class _Sample:
    words: U64
    n_queries: int | None

    @classmethod
    def of(cls, signatures: U64, queries: U64 | None) -> _Sample:
        chance = np.random.default_rng(0)
        parts = [signatures] if queries is None else [queries, signatures]
        drawn = [part[np.unique(chance.integers(0, len(part), _SAMPLE))] for part in parts]
        return cls(np.concatenate(drawn), None if queries is None else len(drawn[0]))

    def entropies(self) -> F64:
        as_bytes = np.ascontiguousarray(self.words.astype("<u8")).view(np.uint8)
        share = np.unpackbits(as_bytes, axis=1, bitorder="little").mean(axis=0)
        doubt = [np.where((p > 0) & (p < 1), -p * np.log2(np.where(p > 0, p, 1.0)), 0.0) for p in (share, 1 - share)]
        return np.asarray(doubt[0] + doubt[1], np.float64)

    def moved(self, order: I64) -> _Sample:
        return _Sample(move_bits(self.words, order), self.n_queries)

    def prefix_shares(self, distance: int) -> F64:
        chance = np.random.default_rng(1)
        n = len(self.words)
        left = chance.integers(0, self.n_queries or n, _SAMPLED_PAIRS)
        right = chance.integers(self.n_queries or 0, n, _SAMPLED_PAIRS)
        left, right = left[left != right], right[left != right]
        ones = np.bitwise_count(self.words[left] ^ self.words[right]).astype(np.int64)
        close = (np.cumsum(ones, axis=1) <= distance).sum(axis=0)
        return np.asarray((close + 1) / (len(left) + 1), np.float64)

    def meeting_share(self, mask: U64) -> float:
        """Return the share of pairs that agree under the mask, by Laplace's rule of succession."""
        entries = sort_by_block(self.words, mask, key_bits=32)
        is_first = np.ones(len(entries), bool)
        is_first[1:] = entries[1:] >> np.uint64(32) != entries[:-1] >> np.uint64(32)
        of_entry = np.cumsum(is_first) - 1
        n_all = np.bincount(of_entry)
        if self.n_queries is None:
            met = int((n_all * (n_all - 1) // 2).sum())
        else:
            is_query = (entries & np.uint64(0xFFFFFFFF)) < np.uint64(self.n_queries)
            n_left = np.bincount(of_entry, is_query)
            met = int((n_left * (n_all - n_left)).sum())
        return (met + 1) / (_n_pairs(self.n_queries, len(self.words) - (self.n_queries or 0)) + 1)


def _best_tables(
    sample: _Sample, ranks: I64, n_bits: int, distance: int, n_entries: int, n_pairs: int, limit_s: float
) -> tuple[U64, float, float]:
    """Try more blocks until merely sorting their tables takes longer than the best plan so far."""
    n_words = sample.words.shape[1]
    entry_s = 1e-9 * (NS_ENTRY + NS_ENTRY_WORD * n_words)
    candidate_s = 1e-9 * (NS_CANDIDATE + NS_CANDIDATE_WORD * (n_words - 1))
    best = (np.zeros((0, n_words), np.uint64), math.inf, math.inf)
    for n_blocks in range(distance + 1, n_bits + 1):
        n_tables = math.comb(n_blocks, distance)
        sorting_s = n_tables * n_entries * entry_s
        if n_blocks > distance + 1 and (n_tables > MAX_TABLES or sorting_s >= min(best[2], limit_s)):
            break
        blocks = _deal(ranks, n_blocks, n_words)
        choices = islice(
            combinations(range(n_blocks), n_blocks - distance), 0, None, max(1, -(-n_tables // _SAMPLED_TABLES))
        )
        shares = [sample.meeting_share(np.bitwise_or.reduce(blocks[list(chosen)])) for chosen in choices]
        comparisons = n_tables * n_pairs * float(np.mean(shares))
        needed_s = sorting_s + comparisons * candidate_s
        if needed_s < best[2]:
            best = (blocks, comparisons, needed_s)
        if distance == 0:
            break
    return best


def _deal(ranks: I64, n_blocks: int, n_words: int) -> U64:
    """Distribute the bits to the blocks in order of rank, back and forth, so that all are about equally informative."""
    turn, place = np.divmod(ranks, n_blocks)
    owner = np.where(turn % 2 == 0, place, n_blocks - 1 - place)
    blocks = np.zeros((n_blocks, n_words), np.uint64)
    for bit, block in enumerate(owner.tolist()):
        blocks[block, bit // 64] |= np.uint64(1 << (bit % 64))
    return blocks


def _scan_cost(shares: F64, n_pairs: int) -> tuple[int, float]:
    n_words = len(shares)
    lanes = min(_MAX_LANES, max(_MIN_LANES, _TILE_WORDS // n_words))
    groups = np.arange(_SCAN_GROUP, n_words, _SCAN_GROUP)
    n_more = int((shares[groups - 1] * lanes > _FEW_LANES).sum())
    rest = NS_SCAN + NS_SCAN_GROUP * n_more
    costs = {}
    for lead in (n for n in NS_LEAD if n <= n_words):
        passes = 1.0 - (1.0 - shares[lead - 1]) ** lanes
        costs[lead] = NS_LEAD[lead] + passes * rest
    lead = min(costs, key=lambda n: costs[n])
    return lead, 1e-9 * n_pairs * float(costs[lead])


def _n_pairs(n_queries: int | None, n_signatures: int) -> int:
    return n_signatures * (n_signatures - 1) // 2 if n_queries is None else n_queries * n_signatures


def _seconds(seconds: float) -> str:
    """0.0004 -> "under 0.01 s", 3.14159 -> "3.1 s", 271.8 -> "272 s"."""
    if seconds < 0.01:
        return "under 0.01 s"
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s" if seconds < 100 else f"{seconds:,.0f} s"
