"""Documents → distinct texts: equal digests meet, and each text receives the row at which it occurs first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.blocks import Blocks
from nearkin.engines.spark.layout import Block, Column
from nearkin.engines.spark.stages import Stages
from nearkin.records import U8, U32, U64, Bool
from nearkin.runs.arrays import load_arrays, save_arrays
from nearkin.stages.grouping import Keep
from nearkin.workflows.dedup.corpus import (
    MINE,
    READABLE,
    THEIRS,
    copies_of,
    digests_of,
    facts_of,
    id_hashes_of,
    sharing_a_hash,
)
from nearkin.workflows.dedup.corpus import UNREADABLE as STATUS_UNREADABLE
from nearkin.workflows.dedup.on_spark.partitions import (
    COPIES,
    COUNTED,
    DIGESTS,
    IDS,
    SUSPECTS,
    TEXTS,
    UNREADABLE,
    Partitions,
)

_DOCUMENTS_A_TASK = 2_000_000
_PASSED_ON = (COPIES.stream, SUSPECTS.stream, UNREADABLE.stream)


@dataclass(frozen=True, slots=True)
class PartitionTexts:
    """Distinct texts of a partition, by the row at which each occurs first: arrays of shape (n_texts,).

    ``best`` is the row to keep of all with the text, ``code`` its preference; ``n_documents`` have the text.
    """

    first: U32
    best: U32
    code: U64
    n_documents: U32
    sides: U8

    @classmethod
    def load(cls, folder: Path, partition: int) -> PartitionTexts:
        """Load the texts that `WriteTextsTask` wrote; a partition without texts has no file."""
        if not _place(folder, partition).exists():
            return cls(*(np.zeros(0, dict(TEXTS.columns)[name]) for name in cls.__slots__))
        stored = load_arrays(_place(folder, partition))
        return cls(*(stored[name] for name in cls.__slots__))

    def at(self, nodes: U32) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        """Return the places of nodes of this partition in the arrays."""
        return np.searchsorted(self.first, nodes)


def _place(folder: Path, partition: int) -> Path:
    return folder / f"{partition:09d}.arrow"


def find_texts(
    stages: Stages, partitions: Partitions, keep: Keep, folder: Path, *, is_against: bool, has_ids: bool = True
) -> Blocks:
    """Write the distinct texts of each partition to ``folder``; there are no suspects without ids of the user."""
    folder.mkdir(exist_ok=True)
    n_meetings = max(stages.n_at_a_time, 1 + partitions.n_documents // _DOCUMENTS_A_TASK)
    return stages.kept(
        "texts",
        lambda: (
            stages.parts(len(partitions), SendDigestsTask(partitions, keep, n_meetings, has_ids))
            .shuffled(n_meetings, MatchDigestsTask(partitions, is_against))
            .shuffled(max(len(partitions), 1), WriteTextsTask(partitions, folder))
        ),
    )


@dataclass(frozen=True, slots=True)
class SendDigestsTask:
    """Send digests, and hashes of ids, to where equal ones meet."""

    partitions: Partitions
    keep: Keep
    n_meetings: int
    has_ids: bool

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        for chunk in self.partitions.chunks(target):
            facts = facts_of(chunk)
            bad = np.flatnonzero(facts.status == STATUS_UNREADABLE)
            if len(bad):
                yield from UNREADABLE.packed(0, np.array([len(bad)]), np.array([chunk.start + bad[0]]))
            rows = np.arange(chunk.start, chunk.end, dtype=np.uint32)
            codes = self.keep.codes(facts.n_characters, facts.keep_value)
            has_text = facts.status == READABLE
            digests = digests_of(chunk)[has_text]
            yield from DIGESTS.scattered(self._meeting(digests[:, 0]), *digests.T, codes[has_text], rows[has_text])
            if self.has_ids:
                id_hashes = id_hashes_of(chunk)
                yield from IDS.scattered(self._meeting(id_hashes), id_hashes, rows)

    def _meeting(self, hashes: U64) -> Column:
        return hashes % np.uint64(self.n_meetings)


@dataclass(frozen=True, slots=True)
class MatchDigestsTask:
    """Find equal digests, and equal hashes of ids."""

    partitions: Partitions
    is_against: bool

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        yield from self._texts(blocks)
        yield from (block for block in blocks if block.stream == UNREADABLE.stream)
        hashes, rows = IDS.joined(blocks)
        for of_side in (rows < self.partitions.n_inputs, rows >= self.partitions.n_inputs):
            suspects = sharing_a_hash(hashes[of_side], rows[of_side])
            yield from SUSPECTS.packed(0, suspects)

    def _texts(self, blocks: Sequence[Block]) -> Iterator[Block]:
        *words, codes, rows = DIGESTS.joined(blocks)
        by_row = np.argsort(rows)
        rows, codes, digests = rows[by_row], codes[by_row], np.stack(words, axis=1)[by_row]
        ordered, class_of, first = copies_of(digests, rows)
        places = np.searchsorted(rows, ordered)
        by_preference = np.lexsort((ordered, codes[places], class_of))
        n_documents = np.bincount(class_of, minlength=len(first))
        best_at = by_preference[np.cumsum(n_documents) - n_documents]
        partitions = self.partitions.at(first)
        yield from TEXTS.scattered(
            partitions,
            first,
            ordered[best_at],
            codes[places][best_at],
            n_documents,
            self._sides(ordered, class_of, first),
        )
        is_copy = ordered != first[class_of]
        yield from COPIES.scattered(partitions[class_of[is_copy]], ordered[is_copy], first[class_of[is_copy]])

    def _sides(self, rows: U32, class_of: Column, first: U32) -> Column:
        if not self.is_against:
            return np.full(len(first), MINE | THEIRS, np.uint8)
        sides = np.zeros(len(first), np.uint8)
        is_mine: Bool = rows < self.partitions.n_inputs
        np.bitwise_or.at(sides, class_of, np.where(is_mine, MINE, THEIRS))
        return sides


@dataclass(frozen=True, slots=True)
class WriteTextsTask:
    """Write the texts of a partition, in ascending order."""

    partitions: Partitions
    folder: Path

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        columns = TEXTS.joined(blocks)
        order = np.argsort(columns[0])
        texts = PartitionTexts(*(column[order] for column in columns))
        save_arrays(_place(self.folder, target), {name: getattr(texts, name) for name in PartitionTexts.__slots__})
        n_mine = int((texts.first < self.partitions.n_inputs).sum())
        yield from COUNTED.packed(target, np.array([len(texts.first)]), np.array([n_mine]))
        yield from (block for block in blocks if block.stream in _PASSED_ON)
