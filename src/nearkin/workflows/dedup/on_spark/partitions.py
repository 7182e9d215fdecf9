"""Partitions of the documents: groups of spool files, one per task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.layout import Attached, Block, Layout
from nearkin.errors import RunError
from nearkin.records import I64, U32
from nearkin.runs.arrays import kept_arrays
from nearkin.runs.spool import SPOOL, Chunk, Spool
from nearkin.workflows.dedup.corpus import check_not_too_many

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
    n_inputs
        Rows below this are documents to clean.
    """

    spool: Spool
    parts: U32
    numbers: U32
    starts: I64
    first_chunk: I64
    n_inputs: int

    @classmethod
    def of(cls, work: Path, blocks: Sequence[Block], n_input_parts: int, n_at_a_time: int) -> Partitions:
        """Make the partitions from the results of reading; the first ``n_input_parts`` inputs are to be cleaned.

        No result depends on their number, but files kept in ``work`` do: a resumed run uses the original partitions.
        """
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
        n_inputs = int(n_documents[parts < n_input_parts].sum())
        cut = np.append(np.flatnonzero(is_new), len(order)).astype(np.int64)
        first_chunk = kept_arrays(work / "partitions.arrow", lambda: {"first_chunk": cut})["first_chunk"]
        if first_chunk[-1] != len(order):
            raise RunError(
                f"{work} is damaged: its partitions belong to other files. Run the command again, without --resume."
            )
        return cls(
            spool=Spool(work / SPOOL),
            parts=parts[order],
            numbers=numbers[order],
            starts=starts,
            first_chunk=first_chunk,
            n_inputs=n_inputs,
        )

    def __len__(self) -> int:
        return len(self.first_chunk) - 1

    @property
    def n_documents(self) -> int:
        """Return the number of all documents."""
        return int(self.starts[-1])

    def at(self, rows: U32) -> I64:
        """Return the partition of each row."""
        bounds = self.starts[self.first_chunk[1:]]
        return np.searchsorted(bounds, rows, side="right")

    def start(self, partition: int) -> int:
        """Return the first row of a partition."""
        return int(self.starts[self.first_chunk[partition]])

    def chunks(self, partition: int | None = None) -> tuple[Chunk, ...]:
        """Return the files of a partition, or all files."""
        if partition is None:
            return self.chunks_between(0, len(self.parts))
        return self.chunks_between(*self.first_chunk[partition : partition + 2].tolist())

    def chunks_between(self, first: int, after: int) -> tuple[Chunk, ...]:
        """Return files by their numbers."""
        return tuple(
            Chunk(
                self.spool.place(int(self.parts[i]), int(self.numbers[i])),
                int(self.starts[i]),
                int(self.starts[i + 1] - self.starts[i]),
            )
            for i in range(first, after)
        )


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
DIGESTS = Layout(
    "digests",
    (("d0", "<u8"), ("d1", "<u8"), ("d2", "<u8"), ("d3", "<u8"), ("code", "<u8"), ("row", "<u4")),
)
"""Documents with a text; ``code`` is that of `stages.grouping.survivors.Keep`."""
IDS = Layout("ids", (("hash", "<u8"), ("row", "<u4")))
SUSPECTS = Layout("suspects", (("row", "<u4"),))
"""Documents whose hashed id another document has too."""
TEXTS = Layout("texts", (("first", "<u4"), ("best", "<u4"), ("code", "<u8"), ("n_documents", "<u4"), ("sides", "|u1")))
"""Distinct texts: the first and the most preferred row of each."""
COPIES = Layout("copies", (("row", "<u4"), ("first", "<u4")))
"""Rows whose text an earlier row has."""
COUNTED = Layout("counted", (("n_texts", "<i8"), ("n_mine", "<i8")))
"""Per partition: number of distinct texts, and of those that occur first among the documents to clean."""
UNREADABLE = Layout("unreadable", (("n", "<i8"), ("first", "<u4")))
"""Per chunk with unreadable documents: their number, and the row of the first."""
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
RANKED = Layout("ranked", (*SKEWED.columns, ("code", "<u8"), ("best", "<u4")))
"""The same, with the values that decide preference."""
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
PAIRS = Layout("pairs", (("left", "<u4"), ("right", "<u4"), ("tag", "<u4")))
"""Candidates, in the partition of their left text; ``tag`` is the component that asks for the pair, or 0."""
HUBS = Layout("popular", (("node", "<u4"), ("n_pairs", "<i8")))
"""Number of candidates of a text in a task, if more than a few."""
ASKS = Layout("asks", (("node", "<u4"), ("reply_to", "<u4")))
"""Texts whose shingles are requested, and by which partition."""
SETS = Attached(
    "sets",
    Layout(
        "set rows",
        (
            ("node", "<u4"), ("n_shingles", "<u4"), ("n_numbers", "<u4"), ("best", "<u4"), ("code", "<u8"),
            ("frame", "<u8"), ("digest", "<u8"),
        ),
    ),
)  # fmt: skip
"""Texts with the hashes of their shingles, followed by those of their numbers; see `what_differs.Numbers`."""
MATCHES = Layout(
    "matches",
    (
        ("left", "<u4"), ("right", "<u4"), ("n_common", "<u4"), ("n_left", "<u4"), ("n_right", "<u4"),
        ("differs", "|u1"), ("best_left", "<u4"), ("best_right", "<u4"), ("code_left", "<u8"), ("code_right", "<u8"),
        ("tag", "<u4"),
    ),
)  # fmt: skip
CANDIDATES = Layout("candidates", (("n_pairs", "<i8"),))
"""Number of distinct pairs."""
PROFILES = Attached("profiles", Layout("profile rows", (("node", "<u4"), ("n_shingles", "<u4"))))
"""Texts with the counts of `profiles`."""
MEMBERS = Layout(
    "members",
    (("node", "<u4"), ("principal", "<u4"), ("principal_best", "<u4"), ("similarity", "<f8"), ("differs", "|u1")),
)
"""Texts with a match, with the text that is the principal of their group, and its row to keep."""
GROUPS = Layout(
    "groups",
    (
        ("principal", "<u4"), ("n_texts", "<u4"), ("lowest", "<f8"), ("is_lowest_exact", "|u1"),
        ("n_bridges_refused", "<i8"),
    ),
)  # fmt: skip
"""Groups of texts with a match; some have one text."""
VERDICTS = Layout(
    "verdicts",
    (
        ("row", "<u4"),
        ("principal", "<u4"),
        ("copy_of", "<u4"),
        ("similarity", "<f8"),
        ("differs", "|u1"),
        ("reason", "|u1"),
    ),
)
"""Results for each document with a text: rows, and an index into `workflows.dedup.outcome.REASONS`."""
ROW_PAIRS = Layout(
    "row pairs",
    (("left", "<u4"), ("right", "<u4"), ("n_common", "<u4"), ("n_left", "<u4"), ("n_right", "<u4"), ("differs", "|u1")),
)
