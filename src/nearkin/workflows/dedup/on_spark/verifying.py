"""Candidates → matches → groups: the shingles of one text of each pair are sent to the partition of the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nearkin.engines.spark.blocks import Blocks
from nearkin.engines.spark.components import EDGES, LABELS, MAX_EDGES, components_of, find_components
from nearkin.engines.spark.layout import Block, Column
from nearkin.engines.spark.stages import Stages
from nearkin.options.dedup import DedupOptions
from nearkin.records import I64, U8, U32, U64, Candidates, Matches
from nearkin.stages.verification.overlap import verify
from nearkin.stages.verification.what_differs import Compared, TextNumbers
from nearkin.workflows.dedup.on_spark.keying import PartitionSizes, most_common, texts_at
from nearkin.workflows.dedup.on_spark.partitions import (
    ASKS,
    CANDIDATES,
    GROUPS,
    MATCHES,
    MEMBERS,
    PAIRS,
    PROFILES,
    SETS,
    Partitions,
)
from nearkin.workflows.dedup.on_spark.texts import PartitionTexts
from nearkin.workflows.dedup.outcome import Inside, differences_of
from nearkin.workflows.dedup.verifying import with_names

_HASHES_A_BLOCK = 1 << 15  # Java handles larger blocks separately, which is slower


def verify_all(
    stages: Stages, name: str, pairs: Blocks, partitions: Partitions, folders: tuple[Path, Path], options: DedupOptions
) -> Blocks:
    """Verify candidates, which lie in the partitions of their left texts."""
    n, (texts, sizes) = max(len(partitions), 1), folders
    return stages.kept(
        name,
        lambda: (
            pairs.shuffled(n, AskProfilesTask(partitions))
            .shuffled(n, SendProfilesTask(texts, sizes))
            .shuffled(n, ScreenCandidatesTask(partitions, texts, sizes, options))
            .shuffled(n, SendSetsTask(partitions, texts, options))
            .shuffled(n, VerifyPairsTask(partitions, texts, options))
        ),
    )


def compare_all(
    stages: Stages, name: str, pairs: Blocks, partitions: Partitions, texts: Path, options: DedupOptions
) -> Blocks:
    """Return the similarity of the texts of each pair, without a threshold."""
    n = max(len(partitions), 1)
    return stages.kept(
        name,
        lambda: (
            pairs.shuffled(n, AskProfilesTask(partitions))
            .shuffled(n, SendSetsTask(partitions, texts, options))
            .shuffled(n, VerifyPairsTask(partitions, texts, options, keeps_all=True))
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSets:
    """Shingle sets of some texts, each followed by its numbers, with other columns of matches."""

    nodes: U32
    offsets: I64
    n_shingles: I64
    hashes: U64
    best: U32
    code: U64
    frame: U64
    digest: U64

    @classmethod
    def in_partition(
        cls, partitions: Partitions, texts: PartitionTexts, partition: int, nodes: U32, options: DedupOptions
    ) -> TextSets:
        """Read texts of a partition, in ascending order, from the spool."""
        sizes, hashes, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)], list[TextNumbers]()
        for chunk in partitions.chunks(partition):
            here = nodes[slice(*np.searchsorted(nodes, [chunk.start, chunk.end]).tolist())]
            if len(here):
                found = texts_at(chunk, here)
                sets = options.shingle.sets(found)
                sizes.append(sets.sizes)
                hashes.append(sets.hashes)
                numbers.append(TextNumbers.of(found))
        at, of_numbers, n_shingles = texts.at(nodes), TextNumbers.joined(numbers), np.concatenate(sizes)
        n_numbers = of_numbers.ends - of_numbers.starts
        offsets = np.concatenate([[0], np.cumsum(n_shingles + n_numbers)]).astype(np.int64)
        together = np.empty(offsets[-1], np.uint64)
        together[ranges(offsets[:-1], n_shingles)] = np.concatenate(hashes)
        together[ranges(offsets[:-1] + n_shingles, n_numbers)] = of_numbers.hashes
        return cls(
            nodes=nodes, offsets=offsets, n_shingles=n_shingles, hashes=together, best=texts.best[at],
            code=texts.code[at], frame=of_numbers.frame, digest=of_numbers.digest,
        )  # fmt: skip

    def sent(self, target: int, wanted: U32) -> Iterator[Block]:
        """Yield some of the texts, as blocks."""
        at = np.searchsorted(self.nodes, wanted)
        sizes = self.offsets[at + 1] - self.offsets[at]
        of_block = (np.cumsum(sizes) - sizes) // _HASHES_A_BLOCK
        for part in np.split(np.arange(len(at)), np.flatnonzero(np.diff(of_block)) + 1):
            some = at[part]
            n_shingles = self.n_shingles[some]
            columns = self.nodes[some], n_shingles, sizes[part] - n_shingles, *self._facts(some)
            yield SETS.block(target, columns, self.hashes[ranges(self.offsets[some], sizes[part])])

    @classmethod
    def joined(cls, blocks: Sequence[Block], mine: TextSets) -> TextSets:
        """Join the received texts, after those of this partition."""
        (nodes, n_shingles, n_numbers, *facts), hashes = SETS.joined(blocks, np.uint64)
        sizes = n_shingles.astype(np.int64) + n_numbers
        offsets = np.concatenate([mine.offsets, mine.offsets[-1] + np.cumsum(sizes)])
        best, code, frame, digest = (
            np.concatenate([ours, theirs]) for ours, theirs in zip(mine._facts(slice(None)), facts, strict=True)
        )
        return cls(
            nodes=np.concatenate([mine.nodes, nodes]), offsets=offsets,
            n_shingles=np.concatenate([mine.n_shingles, n_shingles]).astype(np.int64),
            hashes=np.concatenate([mine.hashes, *hashes]), best=best, code=code, frame=frame, digest=digest,
        )  # fmt: skip

    def _facts(self, chosen: I64 | slice) -> tuple[U32, U64, U64, U64]:
        return self.best[chosen], self.code[chosen], self.frame[chosen], self.digest[chosen]

    def compared(self, options: DedupOptions) -> Compared:
        """Return the texts as their pairs are verified."""
        middles = self.offsets[:-1] + self.n_shingles
        numbers = TextNumbers(self.frame, self.digest, self.hashes, middles, self.offsets[1:])
        length, unit_words = options.shingle.length_in_words
        return Compared(
            hashes=self.hashes, starts=self.offsets[:-1], ends=middles, numbers=numbers, length=length,
            unit_words=unit_words,
        )  # fmt: skip


def ranges(starts: I64, sizes: I64) -> I64:
    """Return consecutive numbers from each start, ``sizes`` of them, concatenated.

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
    """Send shingle sets to where they are requested."""

    partitions: Partitions
    texts: Path
    options: DedupOptions

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        yield from (block for block in blocks if block.stream != ASKS.stream)
        nodes, reply_to = ASKS.joined(blocks)
        if not len(nodes):
            return
        texts = PartitionTexts.load(self.texts, target)
        sets = TextSets.in_partition(self.partitions, texts, target, np.unique(nodes), self.options)
        for partition in np.unique(reply_to).tolist():
            yield from sets.sent(partition, np.sort(nodes[reply_to == partition]))


@dataclass(frozen=True, slots=True)
class VerifyPairsTask:
    """Verify the pairs whose left text is in this partition; the left text of a match is the lower row."""

    partitions: Partitions
    texts: Path
    options: DedupOptions
    keeps_all: bool = False

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        yield from (block for block in blocks if block.stream == CANDIDATES.stream)
        left, right, tag = PAIRS.joined(blocks)
        if not len(left):
            return
        is_here = self.partitions.at(right) == target
        mine = np.unique(np.concatenate([left, right[is_here]]))
        texts = PartitionTexts.load(self.texts, target)
        sets = TextSets.joined(blocks, TextSets.in_partition(self.partitions, texts, target, mine, self.options))
        left, right = np.minimum(left, right), np.maximum(left, right)
        by_node = np.argsort(sets.nodes)
        place = by_node[np.searchsorted(sets.nodes, np.stack([left, right]), sorter=by_node)].astype(np.uint32)
        compared = sets.compared(self.options)
        found = verify(Candidates(place[0], place[1]), compared.hashes, compared.starts, compared.ends)
        if not self.keeps_all:
            is_match = self.options.is_match(found)
            found, tag = found.where(is_match), tag[is_match]
            differs = compared.differences(found)
            if self.options.looks_for_names:
                rows = sets.nodes[np.stack([found.left, found.right])]
                differs = with_names(differs, rows, self.partitions.chunks())
            found = replace(found, differs=differs)
        yield from _matches(target, sets, found, tag)


def _matches(target: int, sets: TextSets, found: Matches, tag: U32) -> Iterator[Block]:
    a, b = found.left, found.right
    counts = found.n_common, found.n_left, found.n_right, differences_of(found)
    told = sets.best[a], sets.best[b], sets.code[a], sets.code[b]
    yield from MATCHES.packed(target, sets.nodes[a], sets.nodes[b], *counts, *told, tag)


_BYTES_A_BLOCK = 1 << 18
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class AskProfilesTask:
    """Keep each pair once, and ask for the profile of its right text."""

    partitions: Partitions

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        left, right, tag = PAIRS.joined(blocks)
        order = np.lexsort((right, left))
        left, right, tag = left[order], right[order], tag[order]
        is_first = np.ones(len(left), np.bool_)
        is_first[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
        yield from PAIRS.packed(target, left[is_first], right[is_first], tag[is_first])
        yield from CANDIDATES.packed(target, np.array([is_first.sum()]))
        yield from _wanted(self.partitions, target, right)


@dataclass(frozen=True, slots=True)
class SendProfilesTask:
    """Send the requested profiles; other blocks stay."""

    texts: Path
    sizes: Path

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        yield from (block for block in blocks if block.stream != ASKS.stream)
        nodes, reply_to = ASKS.joined(blocks)
        if not len(nodes):
            return
        texts, sizes = PartitionTexts.load(self.texts, target), PartitionSizes.load(self.sizes, target)
        step = max(1, _BYTES_A_BLOCK // sizes.profiles.shape[1])
        for partition in np.unique(reply_to).tolist():
            wanted = nodes[reply_to == partition]
            at = texts.at(wanted)
            for start in range(0, len(at), step):
                some = at[start : start + step]
                yield PROFILES.block(partition, (texts.first[some], sizes.n_shingles[some]), sizes.profiles[some])


@dataclass(frozen=True, slots=True)
class ScreenCandidatesTask:
    """Keep the candidates that may be matches, and ask for the sets of their right texts."""

    partitions: Partitions
    texts: Path
    sizes: Path
    options: DedupOptions

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        yield from (block for block in blocks if block.stream == CANDIDATES.stream)
        left, right, tag = PAIRS.joined(blocks)
        if not len(left):
            return
        nodes, n_shingles, profiles = self._known(target, blocks)
        by_node = np.argsort(nodes)
        a, b = (by_node[np.searchsorted(nodes, column, sorter=by_node)] for column in (left, right))
        most, is_unknown = most_common(profiles, a, b)
        at_most = Matches(left, right, most.astype(np.uint32), n_shingles[a], n_shingles[b])
        passes = self.options.measure.similarity(at_most) >= self.options.threshold - _ROUNDING
        passes |= is_unknown
        yield from PAIRS.packed(target, left[passes], right[passes], tag[passes])
        yield from _wanted(self.partitions, target, right[passes])

    def _known(self, target: int, blocks: Sequence[Block]) -> tuple[U32, U32, U8]:
        texts, sizes = PartitionTexts.load(self.texts, target), PartitionSizes.load(self.sizes, target)
        (nodes, n_shingles), came = PROFILES.joined(blocks, np.uint8)
        n_bins = sizes.profiles.shape[1]
        return (
            np.concatenate([texts.first, nodes]),
            np.concatenate([sizes.n_shingles, n_shingles]),
            np.concatenate([sizes.profiles, *(profiles.reshape(-1, n_bins) for profiles in came)]),
        )


def _wanted(partitions: Partitions, target: int, right: U32) -> Iterator[Block]:
    wanted = np.unique(right)
    partition = partitions.at(wanted)
    is_elsewhere = partition != target
    yield from ASKS.scattered(partition[is_elsewhere], wanted[is_elsewhere], np.full(int(is_elsewhere.sum()), target))


_UNKNOWN = "unknown"
_MATCHES_A_TASK = 2_000_000


def group_all(
    stages: Stages,
    matches: Blocks,
    n_matches: int,
    partitions: Partitions,
    texts: Path,
    options: DedupOptions,
) -> Blocks:
    """Group the texts that match another: `MEMBERS`, and `GROUPS` in the partitions of their principals."""
    n = 1 + n_matches // _MATCHES_A_TASK
    by_text = SendLabelsTask(n)
    components = stages.kept(
        "components",
        lambda: (
            find_components(stages, matches.mapped(contracted), n_matches, max_edges=MAX_EDGES)
            .mapped(by_text)
            .and_those_of(matches.mapped(by_text))
            .shuffled(n, LabelMatchesTask(n))
            .shuffled(n, AskInsidePairsTask(partitions, options))
        ),
    )
    known = components.of(MATCHES.stream)
    asked = components.of(PAIRS.stream)
    if not asked.is_empty():
        looked_at = compare_all(stages, "inside", asked, partitions, texts, options)
        known = known.and_those_of(looked_at.of(MATCHES.stream).mapped(SendAnswersTask(n)))
    return stages.kept("groups", lambda: known.shuffled(n, GroupTextsTask(partitions, options)))


def contracted(target: int, blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the matches as a minimal set of edges with the same components."""
    left, right, *_ = MATCHES.joined(blocks)
    nodes, component = components_of(left, right)
    is_linked = nodes != component
    yield from EDGES.packed(0, nodes[is_linked], component[is_linked])


@dataclass(frozen=True, slots=True)
class SendLabelsTask:
    """Send labels, and matches by their left text, to where those of a text meet."""

    n_targets: int

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        labels, matches = LABELS.joined(blocks), MATCHES.joined(blocks)
        yield from LABELS.scattered(labels[0] % np.uint32(self.n_targets), *labels)
        yield from MATCHES.scattered(matches[0] % np.uint32(self.n_targets), *matches)


@dataclass(frozen=True, slots=True)
class LabelMatchesTask:
    """Add the component to matches, and send them to where it meets."""

    n_targets: int

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        nodes, component = LABELS.joined(blocks)
        order = np.argsort(nodes)
        left, *others, _ = MATCHES.joined(blocks)
        tag = component[order[np.searchsorted(nodes, left, sorter=order)]]
        yield from MATCHES.scattered(tag % np.uint32(self.n_targets), left, *others, tag)


@dataclass(frozen=True, slots=True)
class SendAnswersTask:
    """Send verified pairs to where the component that asked for them meets."""

    n_targets: int

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        columns = MATCHES.joined(blocks)
        for block in MATCHES.scattered(columns[-1] % np.uint32(self.n_targets), *columns):
            yield Block(_UNKNOWN, block.target, block.data)


@dataclass(frozen=True, slots=True)
class Connected:
    """Matches of some components, sorted, as places in ``nodes``.

    Parameters
    ----------
    nodes : uint32 array, shape (n_texts,)
        Ascending.
    order : uint32 array, shape (n_texts,)
        Places, most preferred text first.
    component, best : uint32 arrays, shape (n_texts,)
        Component of each text, and the row to keep.
    """

    nodes: U32
    order: U32
    matches: Matches
    component: U32
    best: U32

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> Connected:
        """Make the components from blocks of `MATCHES`."""
        left, right, *counts, best_left, best_right, code_left, code_right, tag = MATCHES.joined(blocks)
        nodes, first, place = np.unique(np.concatenate([left, right]), return_index=True, return_inverse=True)
        best, code, component = (
            np.concatenate(pair)[first] for pair in ((best_left, best_right), (code_left, code_right), (tag, tag))
        )
        a, b = place[: len(left)].astype(np.uint32), place[len(left) :].astype(np.uint32)
        by_pair = np.lexsort((b, a))
        matches = Matches(*(column[by_pair] for column in (a, b, *counts)))
        return cls(nodes, np.lexsort((best, code)).astype(np.uint32), matches, component, best)


@dataclass(frozen=True, slots=True)
class AskInsidePairsTask:
    """Ask for the pairs within groups that are not among the matches."""

    partitions: Partitions
    options: DedupOptions

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        yield from (block for block in blocks if block.stream == MATCHES.stream)
        connected = Connected.of(blocks)
        inside = Inside(connected.matches, connected.order, self.options)
        for pairs in inside.unknown():
            left, right = connected.nodes[pairs.left], connected.nodes[pairs.right]
            yield from PAIRS.scattered(self.partitions.at(left), left, right, connected.component[pairs.left])


@dataclass(frozen=True, slots=True)
class GroupTextsTask:
    """Group the texts of the components of this task."""

    partitions: Partitions
    options: DedupOptions

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        connected = Connected.of(blocks)
        inside = Inside(connected.matches, connected.order, self.options)
        inside.learn(_looked_at(blocks, connected.nodes))
        found = inside.grouping(is_looked_at=True)
        nodes, principal = connected.nodes, found.groups.principal
        of_member = nodes[principal], connected.best[principal], found.to_principal, found.differs
        yield from MEMBERS.scattered(self.partitions.at(nodes), nodes, *of_member)
        heads = np.flatnonzero(principal == np.arange(len(nodes)))
        n_texts = np.bincount(principal, minlength=len(nodes))
        told: tuple[Column, ...] = n_texts, found.lowest, found.is_lowest_exact, found.groups.n_bridges_refused
        yield from GROUPS.scattered(self.partitions.at(nodes[heads]), nodes[heads], *(column[heads] for column in told))


def _looked_at(blocks: Sequence[Block], nodes: U32) -> Matches:
    some = [Block(MATCHES.stream, block.target, block.data) for block in blocks if block.stream == _UNKNOWN]
    left, right, n_common, n_left, n_right, *_ = MATCHES.joined(some)
    a, b = (np.searchsorted(nodes, column).astype(np.uint32) for column in (left, right))
    return Matches(a, b, n_common, n_left, n_right)  # what differs was not determined
