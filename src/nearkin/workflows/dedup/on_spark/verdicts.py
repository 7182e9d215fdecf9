"""Groups → results for each document, in its partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.layout import Block
from nearkin.workflows.dedup.on_spark.keying import load_sizes
from nearkin.workflows.dedup.on_spark.names import asked
from nearkin.workflows.dedup.on_spark.partitions import Partitions
from nearkin.workflows.dedup.on_spark.streams import COPIES, GROUPS, MATCHES, MEMBERS, ROW_PAIRS, VERDICTS
from nearkin.workflows.dedup.on_spark.texts import PartitionTexts
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.outcome import EXACT_COPY, NEAR_DUPLICATE, NO_ROW, TOO_SHORT, UNIQUE


@dataclass(frozen=True, slots=True)
class ListVerdictsTask:
    """List the results of all documents with a text of this partition, and ask for the ids that belong to them."""

    partitions: Partitions
    texts: Path
    sizes: Path
    options: DedupOptions
    has_ids: bool

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        texts, sizes = PartitionTexts.load(self.texts, target), load_sizes(self.sizes, target)
        principal, similarity = texts.best.copy(), np.ones(len(texts.first))
        members, _, of_member, to_principal = MEMBERS.joined(blocks)
        at = texts.at(members)
        principal[at], similarity[at] = of_member, to_principal
        is_alone = (principal == texts.best) & (texts.n_documents == 1)
        heads, n_texts, *_ = GROUPS.joined(blocks)
        is_alone[texts.at(heads[n_texts > 1])] = False
        is_short = is_alone & (sizes.n_units < self.options.shingle.length)
        copies, firsts = COPIES.joined(blocks)
        rows = np.concatenate([texts.first, copies])
        of_row = np.concatenate([np.arange(len(texts.first)), texts.at(firsts)])
        copy_of = np.where(texts.best[of_row] == rows, NO_ROW, texts.best[of_row])
        conditions = [is_short[of_row], principal[of_row] == rows, copy_of != NO_ROW]
        reason = np.select(conditions, [TOO_SHORT, UNIQUE, EXACT_COPY], NEAR_DUPLICATE)
        partitions = self.partitions.at(rows)
        yield from VERDICTS.scattered(partitions, rows, principal[of_row], copy_of, similarity[of_row], reason)
        if self.has_ids:
            told = np.concatenate([principal[of_row], copy_of])
            yield from asked(self.partitions, told, np.concatenate([partitions, partitions]))


@dataclass(frozen=True, slots=True)
class PairDocumentsTask:
    """Return matches of texts as pairs of the documents that represent them, with a pair for each exact copy."""

    partitions: Partitions
    texts: Path

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        _, _, n_common, n_left, n_right, left, right, *_ = MATCHES.joined(blocks)
        texts = PartitionTexts.load(self.texts, target)
        copies, firsts = COPIES.joined(blocks)
        best = texts.best[texts.at(firsts)]
        # the row to keep may be a copy itself: then the others, and the first row, are copies of it
        copies = np.where(copies == best, firsts, copies)
        ones = np.ones(len(copies), np.uint32)
        a, b = np.concatenate([left, copies]), np.concatenate([right, best])
        swap = a > b
        counts = [np.concatenate([column, ones]) for column in (n_common, n_left, n_right)]
        columns = (
            np.where(swap, b, a),
            np.where(swap, a, b),
            counts[0],
            np.where(swap, counts[2], counts[1]),
            np.where(swap, counts[1], counts[2]),
        )
        yield from ROW_PAIRS.scattered(self.partitions.at(columns[0]), *columns)


@dataclass(frozen=True, slots=True)
class AskIdsTask:
    """Ask for the ids of the right documents of pairs."""

    partitions: Partitions

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        yield from blocks
        _, right, *_ = ROW_PAIRS.joined(blocks)
        yield from asked(self.partitions, right, np.full(len(right), target))
