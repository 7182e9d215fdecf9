"""Candidates → matches: the shingles of one text of each pair travel to the home of the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.blocks import Blocks
from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.records import I64, U32, U64, Bool, Candidates, Matches
from nearkin.stages.verification.overlap import verify
from nearkin.workflows.dedup.on_spark.homes import Homes
from nearkin.workflows.dedup.on_spark.keying import sets_at
from nearkin.workflows.dedup.on_spark.screening import AskProfilesTask, ScreenCandidatesTask, SendProfilesTask
from nearkin.workflows.dedup.on_spark.streams import ASKS, CANDIDATES, MATCHES, PAIRS, SETS
from nearkin.workflows.dedup.on_spark.texts import HomeTexts
from nearkin.workflows.dedup.options import DedupOptions

_HASHES_A_BLOCK = 1 << 15  # Java keeps larger blocks apart, which costs it


def verify_all(
    stages: Stages, name: str, pairs: Blocks, homes: Homes, folders: tuple[Path, Path], options: DedupOptions
) -> Blocks:
    """Verify candidates.

    Parameters
    ----------
    pairs : Blocks
        `PAIRS`, at the homes of their left texts.
    folders : tuple of two Paths
        Where the texts of homes stand, and their sizes.

    Returns
    -------
    Blocks
        `MATCHES`, each at the home of one of its texts, and `CANDIDATES`.
    """
    n, (texts, sizes) = max(len(homes), 1), folders
    return stages.kept(
        name,
        lambda: (
            pairs.exchanged(n, AskProfilesTask(homes))
            .exchanged(n, SendProfilesTask(texts, sizes))
            .exchanged(n, ScreenCandidatesTask(homes, texts, sizes, options))
            .exchanged(n, SendSetsTask(homes, texts, options))
            .exchanged(n, VerifyPairsTask(homes, texts, options))
        ),
    )


def compare_all(stages: Stages, name: str, pairs: Blocks, homes: Homes, texts: Path, options: DedupOptions) -> Blocks:
    """How similar the texts of each pair are, however little that is."""
    n = max(len(homes), 1)
    return stages.kept(
        name,
        lambda: (
            pairs.exchanged(n, AskProfilesTask(homes))
            .exchanged(n, SendSetsTask(homes, texts, options))
            .exchanged(n, VerifyPairsTask(homes, texts, options, keeps_all=True))
        ),
    )


@dataclass(frozen=True, slots=True)
class TextSets:
    """The shingle sets of some texts, and what else matches are to tell of them."""

    nodes: U32
    offsets: I64
    hashes: U64
    best: U32
    code: U64

    @classmethod
    def at_home(cls, homes: Homes, texts: HomeTexts, home: int, nodes: U32, options: DedupOptions) -> TextSets:
        """Of texts of a home, in rising order, from the spool."""
        sizes, hashes = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)]
        for chunk in homes.chunks(home):
            here = nodes[slice(*np.searchsorted(nodes, [chunk.start, chunk.end]).tolist())]
            if len(here):
                sets = sets_at(chunk, here, options.shingle)
                sizes.append(sets.sizes)
                hashes.append(sets.hashes)
        at = texts.at(nodes)
        offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
        return cls(nodes, offsets, np.concatenate(hashes), texts.best[at], texts.code[at])

    def sent(self, target: int, wanted: U32) -> Iterator[Block]:
        """Some of the texts, as blocks."""
        at = np.searchsorted(self.nodes, wanted)
        sizes = self.offsets[at + 1] - self.offsets[at]
        of_block = (np.cumsum(sizes) - sizes) // _HASHES_A_BLOCK
        for part in np.split(np.arange(len(at)), np.flatnonzero(np.diff(of_block)) + 1):
            some = at[part]
            columns = self.nodes[some], sizes[part], self.best[some], self.code[some]
            yield SETS.block(target, columns, self.hashes[ranges(self.offsets[some], sizes[part])])

    @classmethod
    def joined(cls, blocks: Sequence[Block], mine: TextSets) -> TextSets:
        """Those that came, after those that are here."""
        (nodes, sizes, best, code), hashes = SETS.joined(blocks, np.uint64)
        offsets = np.concatenate([mine.offsets, mine.offsets[-1] + np.cumsum(sizes, dtype=np.int64)])
        return cls(
            np.concatenate([mine.nodes, nodes]),
            offsets,
            np.concatenate([mine.hashes, *hashes]),
            np.concatenate([mine.best, best]),
            np.concatenate([mine.code, code]),
        )


def ranges(starts: I64, sizes: I64) -> I64:
    """The numbers from each start on, so many of them, one after another.

    Examples
    --------
    >>> ranges(np.array([10, 3]), np.array([2, 3])).tolist()
    [10, 11, 3, 4, 5]
    """
    ends = np.cumsum(sizes)
    found: I64 = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - sizes), sizes)
    return found


@dataclass(frozen=True, slots=True)
class SendSetsTask:
    """Send shingle sets to where they are asked for."""

    homes: Homes
    texts: Path
    options: DedupOptions

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        yield from (block for block in blocks if block.stream != ASKS.stream)
        nodes, reply_to = ASKS.joined(blocks)
        if not len(nodes):
            return
        texts = HomeTexts.load(self.texts, target)
        sets = TextSets.at_home(self.homes, texts, target, np.unique(nodes), self.options)
        for home in np.unique(reply_to).tolist():
            yield from sets.sent(home, np.sort(nodes[reply_to == home]))


@dataclass(frozen=True, slots=True)
class VerifyPairsTask:
    """Verify the pairs whose left text is at home here; of matches the left text is the lower row."""

    homes: Homes
    texts: Path
    options: DedupOptions
    keeps_all: bool = False

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        yield from (block for block in blocks if block.stream == CANDIDATES.stream)
        left, right, tag = PAIRS.joined(blocks)
        if not len(left):
            return
        is_here = self.homes.at(right) == target
        mine = np.unique(np.concatenate([left, right[is_here]]))
        texts = HomeTexts.load(self.texts, target)
        sets = TextSets.joined(blocks, TextSets.at_home(self.homes, texts, target, mine, self.options))
        left, right = np.minimum(left, right), np.maximum(left, right)
        by_node = np.argsort(sets.nodes)
        place = by_node[np.searchsorted(sets.nodes, np.stack([left, right]), sorter=by_node)].astype(np.uint32)
        found = verify(Candidates(place[0], place[1]), sets.hashes, sets.offsets[:-1], sets.offsets[1:])
        is_match = np.ones(len(found), np.bool_) if self.keeps_all else self.options.is_match(found)
        yield from _matches(target, sets, found, tag, is_match)


def _matches(target: int, sets: TextSets, found: Matches, tag: U32, is_match: Bool) -> Iterator[Block]:
    """Matches of places in ``sets`` as matches of texts."""
    found, tag = found.where(is_match), tag[is_match]
    a, b = found.left, found.right
    counts = found.n_common, found.n_left, found.n_right
    told = sets.best[a], sets.best[b], sets.code[a], sets.code[b]
    yield from MATCHES.packed(target, sets.nodes[a], sets.nodes[b], *counts, *told, tag)
