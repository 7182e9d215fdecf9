"""A planned Hamming search, cut into independent jobs for any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Literal, Protocol

import numpy as np

from nearkin.errors import ParameterError
from nearkin.kernels.hamming_tables import near_in_table, sort_by_block
from nearkin.kernels.hamming_tiles import laid_in_tiles, move_bits, scan_tiles
from nearkin.nouns import counted
from nearkin.records import U32, U64
from nearkin.stages.search.hamming.pairs import U16, columns_of
from nearkin.stages.search.hamming.plan import HammingPlan

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
    """A search, cut into independent jobs.

    ``lefts`` are the queries, or the signatures if they are compared with each other; ``words`` are the signatures,
    preceded by the queries for tables.
    """

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
        """Number of queries at the beginning of ``words`` for tables; they are not compared with one another."""
        return self.plan.n_queries or 0

    def run(self, threads: int, progress: Watcher | None) -> tuple[U32, U32, U16]:
        """Return all pairs, in any order: rows of the queries or lower rows, other rows, and distances."""
        jobs = self._tables() if self.plan.method == "tables" else self._tiles()
        if progress is not None:
            progress.say(self.plan.describe())
            progress.start("search", len(jobs), "steps")
        found: list[Found] = []
        n_found = 0
        with ThreadPoolExecutor(threads, thread_name_prefix="nearkin") as pool:
            for parts in pool.map(self._collect, jobs):
                found += parts
                n_found += sum(len(pairs) for pairs, _ in parts)
                self._refuse_above_max(n_found)
                if progress is not None:
                    progress.advance(1)
        if progress is not None:
            progress.finish()
        return columns_of(found)

    def _collect(self, job: Job) -> list[Found]:
        """Return the results of one job, which ends early if it finds too many."""
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
        """Return a job for each table."""
        chosen = combinations(range(self.plan.n_blocks), self.plan.n_blocks - self.plan.distance)
        return [partial(self._link, list(blocks)) for blocks in chosen]

    def _tiles(self) -> list[Job]:
        """Return a job for each block of queries or left rows and each block of signatures, in one set those above."""
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
        """Yield the pairs of one table."""
        plan = self.plan
        is_key = np.zeros(plan.n_blocks, bool)
        is_key[chosen] = True
        mask = np.bitwise_or.reduce(plan.blocks[chosen])
        entries = sort_by_block(self.words, mask, key_bits=_key_bits(len(self.words)))
        found = near_in_table(
            entries, self.words, plan.blocks, is_key, distance=plan.distance, n_queries=self.n_queries
        )
        for pairs, distances in found:
            yield pairs - np.uint64(self.n_queries), distances

    def _scan(self, left: tuple[int, int], right: tuple[int, int]) -> Iterator[Found]:
        """Yield the pairs of some queries, or left rows, with some signatures."""
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
    """Return a number of key bits with which few unrelated documents share a key, limited by the passes of sorting.

    1,000 -> 13, 1,000,000 -> 22, 100,000,000 -> 30.
    """
    wanted = n_entries.bit_length() + 3
    return min(wanted, _TWO_PASSES if n_entries <= _MANY_ENTRIES else 32)
