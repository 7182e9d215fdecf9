"""Partitions of the documents: groups of spool files, one per task; and what tasks send to one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nearkin.engines.spark.layout import Attached, Block, Layout
from nearkin.errors import RunError
from nearkin.records import I64, U8, U32
from nearkin.runs.spool import SPOOL, Arrays, Chunk, Spool, kept_arrays, load_arrays, save_arrays
from nearkin.workflows.dedup.corpus import Corpus, check_not_too_many

MAX_PARTITION_BYTES, MIN_PARTITION_BYTES = 192 << 20, 16 << 20
"""Sizes of a partition: large, since a task costs some 0.1 s; small enough to hold the sets of its texts in memory."""
_PARTITIONS_PER_CORE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitions:
    """Consecutive files of the spool, grouped into partitions.

    Parameters
    ----------
    parts, numbers : uint32 arrays, shape (n_chunks,)
        Number of each chunk's file in the spool.
    starts : int64 array, shape (n_chunks + 1,)
        First row of each chunk.
    first_node : int64 array, shape (n_partitions + 1,)
        First distinct text of each partition, once they are known; a text belongs to its first row.
    """

    work: Path
    parts: U32
    numbers: U32
    starts: I64
    first_chunk: I64
    first_node: I64

    @classmethod
    def of(cls, work: Path, blocks: Sequence[Block], n_at_a_time: int) -> Partitions:
        """Make the partitions from the results of reading."""
        parts, numbers, n_documents, n_bytes = CHUNKS.joined(blocks)
        check_not_too_many(int(n_documents.sum()))
        order = np.lexsort((numbers, parts))
        starts = np.concatenate([[0], np.cumsum(n_documents[order])]).astype(np.int64)
        of_partition = (np.cumsum(n_bytes[order]) - n_bytes[order]) // partition_bytes_of(
            int(n_bytes.sum()), n_at_a_time
        )
        is_new = (
            np.concatenate([[True], of_partition[1:] != of_partition[:-1]]) if len(order) else np.zeros(0, np.bool_)
        )
        cut = np.append(np.flatnonzero(is_new), len(order)).astype(np.int64)
        first_chunk = kept_arrays(work / "partitions.arrow", lambda: {"first_chunk": cut})["first_chunk"]
        if first_chunk[-1] != len(order):
            raise RunError(
                f"{work} is damaged: its partitions belong to other files. Run the command again, without --resume."
            )
        return cls(
            work=work, parts=parts[order], numbers=numbers[order], starts=starts, first_chunk=first_chunk,
            first_node=np.zeros(len(first_chunk), np.int64),
        )  # fmt: skip

    def with_texts(self, corpus: Corpus, order: U32) -> Partitions:
        """Write what tasks need of the distinct texts; ``order`` has those first with which others are compared."""
        self._texts.mkdir(exist_ok=True)
        first_node = np.searchsorted(corpus.first_row, self.starts[self.first_chunk])
        rank, sides = np.empty(corpus.n_nodes, np.uint32), corpus.sides
        rank[order] = np.arange(corpus.n_nodes, dtype=np.uint32)
        columns: Arrays = {"rows": corpus.first_row, "rank": rank, "sides": sides}
        for partition in range(len(self)):
            here = slice(*first_node[partition : partition + 2].tolist())
            save_arrays(self._texts_of(partition), {name: column[here] for name, column in columns.items()})
        return replace(self, first_node=first_node)

    def __len__(self) -> int:
        return len(self.first_chunk) - 1

    @property
    def keys(self) -> Path:
        """Folder of the sizes of texts, and of keys that stay in their partition."""
        return self.work / "keys"

    @property
    def _texts(self) -> Path:
        return self.work / "texts"

    def _texts_of(self, partition: int) -> Path:
        return self._texts / f"{partition:09d}.arrow"

    def texts(self, partition: int) -> PartitionTexts:
        """Return the texts of a partition."""
        return PartitionTexts(int(self.first_node[partition]), **load_arrays(self._texts_of(partition)))

    def at(self, nodes: U32) -> I64:
        """Return the partition of each text."""
        return np.searchsorted(self.first_node[1:], nodes, side="right")

    def n_documents(self, n_parts: int | None = None) -> int:
        """Return the number of the documents of the first ``n_parts`` inputs, or of all."""
        return int(self.starts[-1 if n_parts is None else np.searchsorted(self.parts, n_parts)])

    def chunks(self, partition: int | None = None) -> tuple[Chunk, ...]:
        """Return the files of a partition, or all files."""
        between = (0, len(self.parts)) if partition is None else self.first_chunk[partition : partition + 2].tolist()
        spool, starts = Spool(self.work / SPOOL), self.starts.tolist()
        return tuple(
            Chunk(spool.place(int(self.parts[i]), int(self.numbers[i])), starts[i], starts[i + 1] - starts[i])
            for i in range(*between)
        )


@dataclass(frozen=True, slots=True)
class PartitionTexts:
    """Distinct texts of a partition, which are numbered from ``start`` on: arrays of shape (n_texts,).

    ``rows`` are the rows at which they occur first; ``rank`` is lower for texts with which others are compared.
    """

    start: int
    rows: U32
    rank: U32
    sides: U8

    @property
    def nodes(self) -> U32:
        """Numbers of the texts."""
        return np.arange(self.start, self.start + len(self.rows), dtype=np.uint32)

    def at(self, nodes: U32) -> I64:
        """Return the places of texts in the arrays."""
        return nodes.astype(np.int64) - self.start

    def within(self, chunk: Chunk) -> slice:
        """Return the places of the texts that occur first in a chunk."""
        return slice(*np.searchsorted(self.rows, [chunk.start, chunk.end]).tolist())


def partition_bytes_of(total_bytes: float, n_at_a_time: int) -> int:
    """Return the size of a partition for the number of tasks that run at a time."""
    return min(max(int(total_bytes) // (_PARTITIONS_PER_CORE * n_at_a_time), MIN_PARTITION_BYTES), MAX_PARTITION_BYTES)


def each_partition(target: int, blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield a block for each partition, so that tasks run also for those without other blocks."""
    yield Block("partition", target, b"")


CHUNKS = Layout(
    "chunks",
    (("part", "<u4"), ("number", "<u4"), ("n_documents", "<i8"), ("n_bytes", "<i8")),
)
"""Files of the spool."""
INPUTS = Layout("inputs", (("id_kind", "|u1"),))
ENTRIES = Layout("entries", (("key", "<u8"), ("node", "<u4"), ("size", "<u4"), ("sides", "|u1")))
"""Texts of a key; each band has its own stream."""
OCCURRENCES = Layout("occurrences", (("bucket", "<u4"), ("count", "<u4")))
"""Counts of shingles, by the upper bits of their hashes."""
LEADS = Layout("leads", (("bit", "<u4"),))
"""Bits of the shingles with which small texts lead; see `stages.search.containment.LeadKeys`."""
MARKS = Layout("marks", (("key", "<u8"), ("n", "<i8"), ("n_leads", "<i8")))
"""Numbers of entries, and of leading entries, of a skewed key that stay in a partition; a stream for each band."""
SKEWED = Layout("crowded", (("band", "<u4"), ("key", "<u8"), ("node", "<u4"), ("size", "<u4"), ("sides", "|u1")))
"""Entries of a key that very many texts share."""
RANKED = Layout("ranked", (*SKEWED.columns, ("rank", "<u4")))
"""The same, with the ranks of their texts."""
LENGTHS = Layout("lengths", (("band", "<u4"), ("length", "<i8"), ("n_leads", "<i8"), ("n", "<i8")))
"""Number of keys of a band by their numbers of texts and of leading texts."""
HOT = Layout("hot", (("band", "<u4"), ("key", "<u8"), ("length", "<i8"), ("n_leads", "<i8")))
"""Keys with too many texts for one task."""
NOT_COMPARED = Layout("not compared", (("n_pairs", "<i8"),))
HOT_RESTS = Layout(
    "hot rests",
    (
        ("hot", "<u4"),
        *((name, "<i8") for name in ("n_texts", "n_first", "n_second")),
        *((name, "<i8") for name in ("n_following", "n_first_following", "n_second_following")),
    ),
)
"""Texts of a hot key compared with its pivots only: all, those on one side alone, and those that follow."""
PAIRS = Layout("pairs", (("left", "<u4"), ("right", "<u4")))
"""Candidates, in the partition of their left text."""
HUBS = Layout("popular", (("node", "<u4"), ("n_pairs", "<i8")))
"""Number of candidates of a text in a task, if more than a few."""
ASKS = Layout("asks", (("node", "<u4"), ("reply_to", "<u4")))
"""Texts that are requested, or their profiles, and by which partition."""
TEXTS = Attached("texts", Layout("text rows", (("node", "<u4"), ("n_bytes", "<i8"))))
"""Texts in UTF-8, one after another."""
MATCHES = Layout(
    "matches",
    (("left", "<u4"), ("right", "<u4"), ("n_common", "<u4"), ("n_left", "<u4"), ("n_right", "<u4"), ("differs", "|u1")),
)
CANDIDATES = Layout("candidates", (("n_pairs", "<i8"),))
"""Number of distinct pairs."""
PROFILES = Attached("profiles", Layout("profile rows", (("node", "<u4"), ("n_shingles", "<u4"))))
"""Texts with the counts of `profiles`."""
