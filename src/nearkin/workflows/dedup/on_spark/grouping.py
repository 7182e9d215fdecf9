"""Matches → groups: the matches of a component meet, and are grouped by the same rule as on one machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.blocks import Blocks
from nearkin.engines.spark.components import EDGES, LABELS, MAX_EDGES, components_of, find_components
from nearkin.engines.spark.layout import Block, Column
from nearkin.engines.spark.stages import Stages
from nearkin.records import U32, Matches
from nearkin.workflows.dedup.grouping import Inside
from nearkin.workflows.dedup.on_spark.partitions import GROUPS, MATCHES, MEMBERS, PAIRS, Partitions
from nearkin.workflows.dedup.on_spark.verifying import compare_all
from nearkin.workflows.dedup.options import DedupOptions

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
    """Group the texts that match another.

    Parameters
    ----------
    matches : Blocks
        `MATCHES`.
    n_matches : int

    Returns
    -------
    Blocks
        `MEMBERS`, in the partitions of their texts, and `GROUPS`, in those of their principals.
    """
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
    """Matches of some components, as places in ``nodes``.

    Parameters
    ----------
    nodes : uint32 array, shape (n_texts,)
        Texts, ascending.
    order : uint32 array, shape (n_texts,)
        Places, most preferred text first.
    matches : Matches
        Sorted.
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
        left, right, n_common, n_left, n_right, best_left, best_right, code_left, code_right, tag = MATCHES.joined(
            blocks
        )
        nodes, first, place = np.unique(np.concatenate([left, right]), return_index=True, return_inverse=True)
        best, code, component = (
            np.concatenate(pair)[first] for pair in ((best_left, best_right), (code_left, code_right), (tag, tag))
        )
        a, b = place[: len(left)].astype(np.uint32), place[len(left) :].astype(np.uint32)
        by_pair = np.lexsort((b, a))
        matches = Matches(*(column[by_pair] for column in (a, b, n_common, n_left, n_right)))
        return cls(nodes, np.lexsort((best, code)).astype(np.uint32), matches, component, best)


@dataclass(frozen=True, slots=True)
class AskInsidePairsTask:
    """Ask for the pairs within groups that are not among the matches; the matches stay."""

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
        of_member = nodes[principal], connected.best[principal], found.to_principal
        yield from MEMBERS.scattered(self.partitions.at(nodes), nodes, *of_member)
        heads = np.flatnonzero(principal == np.arange(len(nodes)))
        n_texts = np.bincount(principal, minlength=len(nodes))
        told: tuple[Column, ...] = n_texts, found.lowest, found.is_lowest_exact, found.groups.n_bridges_refused
        yield from GROUPS.scattered(self.partitions.at(nodes[heads]), nodes[heads], *(column[heads] for column in told))


def _looked_at(blocks: Sequence[Block], nodes: U32) -> Matches:
    """Return the pairs that were verified, as places in ``nodes``."""
    some = [Block(MATCHES.stream, block.target, block.data) for block in blocks if block.stream == _UNKNOWN]
    left, right, n_common, n_left, n_right, *_ = MATCHES.joined(some)
    a, b = (np.searchsorted(nodes, column).astype(np.uint32) for column in (left, right))
    return Matches(a, b, n_common, n_left, n_right)
