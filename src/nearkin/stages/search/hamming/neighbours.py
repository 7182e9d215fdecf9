"""Exact search for signatures within a Hamming distance: pairs of one corpus, or neighbours of queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Literal, Protocol

import numpy as np

from nearkin.arguments import checking_arguments, checking_types
from nearkin.errors import FingerprintError, ParameterError, check_int, is_int
from nearkin.kernels.hamming import laid_in_tiles, move_bits, near_in_table, scan_tiles, sort_by_block
from nearkin.nouns import counted
from nearkin.records import I64, U32, U64, BitSignatures
from nearkin.stages.search.hamming.pairs import U16, EqualSignatures, HammingPairs, columns_of, sort_together
from nearkin.stages.search.hamming.plan import HammingPlan, Method, plan_hamming

MAX_PAIRS = 1 << 27
"""Default maximum number of pairs of distinct signatures: about 3 GiB at the end of the search."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """Neighbours of queries, sorted by query, distance and row.

    Parameters
    ----------
    query, row : uint32 arrays, shape (n_found,)
        Rows of the queries, and of the signatures.
    distance : uint16 array, shape (n_found,)
        Number of differing bits.
    """

    query: U32
    row: U32
    distance: U16
    plan: HammingPlan

    def __len__(self) -> int:
        return len(self.query)


@checking_arguments
@checking_types
def neighbour_pairs(
    signatures: BitSignatures,
    distance: int,
    *,
    threads: int = 1,
    method: Method | None = None,
    max_pairs: int = MAX_PAIRS,
    progress: Watcher | None = None,
) -> HammingPairs:
    """Find all pairs of documents whose signatures differ in at most ``distance`` bits. No pair is missed or repeated.

    Parameters
    ----------
    signatures
        Signatures of the documents. Documents without features are never neighbours.
    distance
        Maximum number of different bits, from 0 to one less than the length of a signature.
    threads
        Worker threads, at least 1; the result does not depend on it.
    method : {"tables", "brute force"}, optional
        Search method; by default the cheaper one. Both give the same result.
    max_pairs
        Maximum number of pairs of distinct signatures, which limits memory.

    Raises
    ------
    ParameterError
        A parameter is invalid, or there are more than ``max_pairs`` pairs of distinct signatures.

    Notes
    -----
    Source: Gurmeet Singh Manku, Arvind Jain, Anish Das Sarma, "Detecting near-duplicates for web crawling", 2007;
    Mohammad Norouzi, Ali Punjani, David J. Fleet, "Fast search in Hamming space with multi-index hashing", 2012.

    Examples
    --------
    >>> packed = np.array([[0b1111, 0], [0b1110, 0], [0b1111, 0], [0, 0b1111]], np.uint8)
    >>> found = neighbour_pairs(BitSignatures(packed, np.ones(4, bool), "topsig;bits=16"), distance=3)
    >>> found.left.tolist(), found.right.tolist(), found.distance.tolist(), found.n_document_pairs
    ([0], [1], [1], 3)
    """
    _check(signatures, distance, threads, method, max_pairs)
    classes = EqualSignatures.of(signatures)
    words = signatures.words[classes.firsts]
    if distance == 0:  # distinct signatures are never equal, so the groups are the result
        words = words[:0]
    plan = plan_hamming(words, None, n_bits=signatures.n_bits, distance=distance, method=method)
    search = HammingSearch.of(plan, words, None, max_pairs)
    left, right, distances = search.run(threads, progress)
    sort_together(left, right, distances)
    return HammingPairs(
        left=left, right=right, distance=distances, classes=classes, plan=plan, fingerprint=signatures.fingerprint
    )


@checking_arguments
@checking_types
def nearest(
    queries: BitSignatures,
    signatures: BitSignatures,
    distance: int,
    *,
    threads: int = 1,
    method: Method | None = None,
    max_pairs: int = MAX_PAIRS,
    progress: Watcher | None = None,
) -> Nearest:
    """Find all signatures within a distance of each query, with their rows and distances. None is missed.

    Parameters
    ----------
    queries, signatures
        Signatures made by the same method. Documents without features are never neighbours.
    distance, threads, method, max_pairs, progress
        See `neighbour_pairs`. Documents with equal signatures are all returned.

    Raises
    ------
    FingerprintError
        The queries and the signatures were made by different methods.
    ParameterError
        A parameter is invalid, or there are more than ``max_pairs`` neighbours.

    Examples
    --------
    >>> packed = np.array([[0b1111], [0b1110], [0b1111], [0b1111_0000]], np.uint8)
    >>> many = BitSignatures(packed, np.ones(4, bool), "topsig;bits=8")
    >>> one = BitSignatures(packed[1:2], np.ones(1, bool), "topsig;bits=8")
    >>> found = nearest(one, many, distance=2)
    >>> found.row.tolist(), found.distance.tolist()
    ([1, 0, 2], [0, 1, 1])
    """
    if (queries.fingerprint, queries.n_bits) != (signatures.fingerprint, signatures.n_bits):
        both = [(name, f"{side.fingerprint};bits={side.n_bits}") for name, side in
                (("queries", queries), ("signatures", signatures))]  # fmt: skip
        raise FingerprintError.of("Signatures", "be compared", *both)
    _check(signatures, distance, threads, method, max_pairs)
    query_words, words = _words_with_features(queries), _words_with_features(signatures)
    plan = plan_hamming(words, query_words, n_bits=signatures.n_bits, distance=distance, method=method)
    query, row, distances = HammingSearch.of(plan, words, query_words, max_pairs).run(threads, progress)
    query, row = _rows_with_features(queries, query), _rows_with_features(signatures, row)
    sort_together(query, distances, row)
    return Nearest(query, row, distances, plan)


def _words_with_features(signatures: BitSignatures) -> U64:
    return signatures.words if signatures.has_features.all() else signatures.words[signatures.has_features]


def _rows_with_features(signatures: BitSignatures, places: U32) -> U32:
    if signatures.has_features.all():
        return places
    return np.flatnonzero(signatures.has_features)[places].astype(np.uint32)


def _check(signatures: BitSignatures, distance: int, threads: int, method: str | None, max_pairs: int) -> None:
    if not is_int(distance) or not 0 <= distance < signatures.n_bits:
        rule = f"an int from 0 to {signatures.n_bits - 1}, one less than the bits of a signature"
        raise ParameterError.of("distance", rule, distance)
    check_int("threads", threads, 1)
    if method not in (None, "tables", "brute force"):
        raise ParameterError.of("method", "'tables', 'brute force' or None", method)
    check_int("max_pairs", max_pairs, 1)


_MAX_ROWS_OF_A_JOB = 1 << 14
_TWO_PASSES = 22  # key bits that two passes of sorting cover
_MANY_ENTRIES = 1 << 24
Found = tuple[U64, U16]
Job = Callable[[], Iterator[Found]]


class Watcher(Protocol):
    """Receiver of a search's progress; see ``nearkin.runs.progress.Progress``."""

    def start(self, stage: str, total: int, unit: Literal["steps"]) -> None:
        """Begin a stage of ``total`` steps."""

    def advance(self, n: int) -> None:
        """Add ``n`` finished steps."""

    def finish(self) -> None:
        """End the stage."""

    def say(self, message: str) -> None:
        """Show a message, such as the plan as a sentence."""


@dataclass(frozen=True, slots=True)
class HammingSearch:
    """A search, cut into independent jobs."""

    plan: HammingPlan
    lefts: U64
    words: U64
    max_pairs: int

    @classmethod
    def of(cls, plan: HammingPlan, signatures: U64, queries: U64 | None, max_pairs: int) -> HammingSearch:
        """Make the search, with the bits in the order of the plan."""
        lefts = signatures if queries is None else queries
        words = np.concatenate([lefts, signatures]) if plan.method == "tables" and queries is not None else signatures
        if plan.order is not None:
            words = move_bits(words, plan.order)
            lefts = words if queries is None else move_bits(lefts, plan.order)
        return cls(plan, lefts, words, max_pairs)

    @property
    def n_queries(self) -> int:
        """Number of queries at the beginning of ``words`` for tables."""
        return self.plan.n_queries or 0

    def run(self, threads: int, progress: Watcher | None) -> tuple[U32, U32, U16]:
        """Return all pairs, in any order."""
        jobs = self._tables() if self.plan.method == "tables" else self._tiles()
        if progress is not None:
            progress.say(self.plan.describe())
            progress.start("search", len(jobs), "steps")
        parts_found: list[Found] = []
        n_found = 0
        with ThreadPoolExecutor(threads, thread_name_prefix="nearkin") as pool:
            for parts in pool.map(self._collect, jobs):
                parts_found += parts
                n_found += sum(len(pairs) for pairs, _ in parts)
                self._refuse_above_max(n_found)
                if progress is not None:
                    progress.advance(1)
        if progress is not None:
            progress.finish()
        return columns_of(parts_found)

    def _collect(self, job: Job) -> list[Found]:
        parts: list[Found] = []
        n_found = 0
        for part in job():
            parts.append(part)
            n_found += len(part[0])
            self._refuse_above_max(n_found)
        return parts

    def _refuse_above_max(self, n_found: int) -> None:
        if n_found > self.max_pairs:
            raise ParameterError.of(
                "distance",
                f"short enough for at most {counted(self.max_pairs, 'pair')} of signatures ('max_pairs')",
                self.plan.distance,
            )

    def _tables(self) -> list[Job]:
        chosen = combinations(range(self.plan.n_blocks), self.plan.n_blocks - self.plan.distance)
        return [partial(self._link, list(blocks)) for blocks in chosen]

    def _tiles(self) -> list[Job]:
        n_rows, lanes = self.plan.n_signatures, self.plan.n_lanes
        is_one_set = self.plan.n_queries is None
        n_left = n_rows if self.plan.n_queries is None else self.plan.n_queries
        # enough jobs for all threads, and blocks that stay in the nearest cache
        side = min(_MAX_ROWS_OF_A_JOB, max(lanes, -(-n_rows // (8 * lanes)) * lanes))
        return [
            partial(self._scan, (left, min(left + side, n_left)), (right, min(right + side, n_rows)))
            for left in range(0, n_left, side)
            for right in range(left if is_one_set else 0, n_rows, side)
        ]

    def _link(self, chosen: list[int]) -> Iterator[Found]:
        plan = self.plan
        is_key = np.zeros(plan.n_blocks, bool)
        is_key[chosen] = True
        mask = np.bitwise_or.reduce(plan.blocks[chosen])
        entries = sort_by_block(self.words, mask, key_bits=_key_bits(len(self.words)))
        blocks = near_in_table(
            entries, self.words, plan.blocks, is_key, distance=plan.distance, n_queries=self.n_queries
        )
        for pairs, distances in blocks:
            yield pairs - np.uint64(self.n_queries), distances

    def _scan(self, left: tuple[int, int], right: tuple[int, int]) -> Iterator[Found]:
        return scan_tiles(
            laid_in_tiles(self.words[right[0] : right[1]], self.plan.n_lanes),
            self.lefts,
            rows=left,
            first_row=right[0],
            end_row=right[1],
            is_one_set=self.plan.n_queries is None,
            n_lead_words=self.plan.n_lead_words,
            distance=self.plan.distance,
        )


def _key_bits(n_entries: int) -> int:
    """Return a number of key bits with which few unrelated documents share a key, limited by the passes of sorting."""
    wanted = n_entries.bit_length() + 3
    return min(wanted, _TWO_PASSES if n_entries <= _MANY_ENTRIES else 32)


_AT_A_TIME = 1 << 14  # rows whose differences stay in the nearest cache


def rows_within(words: U64, query: U64, distance: int) -> tuple[I64, I64]:
    """Find the rows, ascending, and distances of the signatures within a Hamming distance; none is missed.

    Examples
    --------
    >>> rows, distances = rows_within(np.array([[0b1111], [0b1000], [0b0111]], np.uint64), np.array([15], np.uint64), 1)
    >>> rows.tolist(), distances.tolist()
    ([0, 2], [0, 1])
    """
    rows, distances = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    ones = np.ones(words.shape[1], np.uint16)
    for start in range(0, len(words), _AT_A_TIME):
        part = np.bitwise_count(words[start : start + _AT_A_TIME] ^ query) @ ones  # faster than a sum of short rows
        near = np.flatnonzero(part <= distance)
        rows.append(near + start)
        distances.append(part[near].astype(np.int64))
    return np.concatenate(rows), np.concatenate(distances)
