"""Connected components of a distributed graph, by large-star and small-star rounds.

Each round links every node to the smallest one it knows, first the larger neighbours (large star), then the smaller
ones (small star); after about log2 of the longest chain, every component is a star. A graph that fits is done in one
task.

Source: Raimondas Kiveris, Silvio Lattanzi, Vahab Mirrokni, Vibhor Rastogi, Sergei Vassilvitskii, "Connected components
in MapReduce and beyond", 2014.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearkin.engines.spark.blocks import Blocks
from nearkin.engines.spark.layout import Block, Layout
from nearkin.engines.spark.stages import Stages
from nearkin.kernels.grouping import components

EDGES = Layout("edges", (("node", "<u4"), ("other", "<u4")))
LABELS = Layout("labels", (("node", "<u4"), ("component", "<u4")))
"""Component of each node, identified by its smallest node."""
_CHANGED = Layout("changed", (("n", "<i8"),))
MAX_EDGES = 1 << 25
"""Maximum number of edges for one task, which takes about a gigabyte."""
_EDGES_A_TASK = 1 << 22
_MAX_ROUNDS = 128  # a chain of 2**32 nodes needs some 40
Nodes = NDArray[np.uint32]


def find_components(stages: Stages, edges: Blocks, n_edges: int, *, max_edges: int = MAX_EDGES) -> Blocks:
    """Return the component of each node, as blocks of `LABELS` in target 0.

    Parameters
    ----------
    max_edges
        Up to this number, a single task processes all edges.
    """
    if n_edges <= max_edges:
        return edges.shuffled(1, joined)
    n_tasks = 1 + 2 * n_edges // _EDGES_A_TASK
    stars = stages.kept("star-000", lambda: edges.shuffled(n_tasks, SendEdgesTask(n_tasks)))
    for number in range(1, _MAX_ROUNDS):
        stars = stages.kept(f"star-{number:03d}", _StarRound(stars, n_tasks))
        (n_changed,) = _CHANGED.joined(stars.of(_CHANGED.stream).collected())
        if not n_changed.sum():
            break
    return stars.of(EDGES.stream).shuffled(n_tasks, labelled)


@dataclass(frozen=True)
class _StarRound:
    """A large star followed by a small star."""

    stars: Blocks
    n_tasks: int

    def __call__(self) -> Blocks:
        edges = self.stars.of(EDGES.stream)
        return edges.shuffled(self.n_tasks, LinkLargerTask(self.n_tasks)).shuffled(
            self.n_tasks, LinkSmallerTask(self.n_tasks)
        )


@dataclass(frozen=True, slots=True)
class SendEdgesTask:
    """Send each edge to both its nodes."""

    n_tasks: int

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """Process the blocks of a target; see `Task`."""
        nodes, others = EDGES.joined(blocks)
        yield from _both_ways(nodes, others, self.n_tasks)


@dataclass(frozen=True, slots=True)
class LinkLargerTask:
    """Link the larger neighbours of each node to the smallest of its neighbours and itself."""

    n_tasks: int

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """Process the blocks of a target; see `Task`."""
        nodes, others, starts = _adjacency(blocks)
        if not len(nodes):
            return
        least = np.repeat(np.minimum(np.minimum.reduceat(others, starts), nodes[starts]), _lengths(starts, nodes))
        is_greater = others > nodes
        moved = others[is_greater]
        yield from EDGES.scattered(moved % np.uint32(self.n_tasks), moved, least[is_greater])
        yield from _CHANGED.packed(target, np.array([(least < nodes)[is_greater].sum()]))


@dataclass(frozen=True, slots=True)
class LinkSmallerTask:
    """Link the smaller neighbours of each node, and the node itself, to the smallest of them."""

    n_tasks: int

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """Process the blocks of a target; see `Task`."""
        yield from (block for block in blocks if block.stream == _CHANGED.stream)
        nodes, others, starts = _adjacency(blocks)
        if not len(nodes):
            return
        lengths = _lengths(starts, nodes)
        least = np.minimum.reduceat(others, starts)
        of_other = np.repeat(least, lengths)
        is_linked = others != of_other
        yield from _both_ways(
            np.concatenate([nodes[starts], others[is_linked]]),
            np.concatenate([least, of_other[is_linked]]),
            self.n_tasks,
        )
        yield from _CHANGED.packed(target, np.array([is_linked.sum()]))


def labelled(target: int, blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the labels of nodes, once every component is a star."""
    nodes, others, starts = _adjacency(blocks)
    if len(nodes):
        yield from LABELS.packed(0, nodes[starts], np.minimum(np.minimum.reduceat(others, starts), nodes[starts]))


def _both_ways(a: Nodes, b: Nodes, n_tasks: int) -> Iterator[Block]:
    nodes, others = np.concatenate([a, b]), np.concatenate([b, a])
    yield from EDGES.scattered(nodes % np.uint32(n_tasks), nodes, others)


def _adjacency(blocks: Sequence[Block]) -> tuple[Nodes, Nodes, NDArray[np.intp]]:
    nodes, others = EDGES.joined(blocks)
    edges = np.unique(nodes.astype(np.uint64) << np.uint64(32) | others)
    nodes, others = (edges >> np.uint64(32)).astype(np.uint32), edges.astype(np.uint32)
    is_new = np.ones(len(nodes), np.bool_)
    is_new[1:] = nodes[1:] != nodes[:-1]
    return nodes, others, np.flatnonzero(is_new)


def _lengths(starts: NDArray[np.intp], nodes: Nodes) -> NDArray[np.intp]:
    return np.diff(np.append(starts, len(nodes)))


def joined(target: int, blocks: Sequence[Block]) -> Iterator[Block]:
    """Find the components of all edges at once."""
    left, right = EDGES.joined(blocks)
    nodes, component = components_of(left, right)
    yield from LABELS.packed(target, nodes, component)


def components_of(left: Nodes, right: Nodes) -> tuple[Nodes, Nodes]:
    """Return the nodes of some edges, ascending, and for each node the smallest node of its component.

    Examples
    --------
    >>> nodes, component = components_of(np.array([9, 4], np.uint32), np.array([4, 7], np.uint32))
    >>> nodes.tolist(), component.tolist()
    ([4, 7, 9], [4, 4, 4])
    """
    nodes, places = np.unique(np.concatenate([left, right]), return_inverse=True)
    a, b = places[: len(left)].astype(np.uint32), places[len(left) :].astype(np.uint32)
    least = components(a, b, len(nodes))
    return nodes, nodes[least]
