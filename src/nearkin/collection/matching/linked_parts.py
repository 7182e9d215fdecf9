"""Parts of components that were divided by decisions: each consists of contents that match, directly or by a chain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from nearkin.records import I64

Linked = Callable[[I64], I64]
"""A label for each of some contents: equal for those that match or must be together, through these contents alone."""


def linked_parts(nodes: I64, united: I64, component: I64, anchors: I64, linked: Linked) -> I64:
    """Return the components, of which those that were divided consist of contents that are linked.

    A content goes to the part of its most similar anchor, also where all are equally unlike it, and an anchor may join
    a part without any match. So each part is split into what is linked in it. What has no anchor then joins the first
    part that it is linked with, and is a component of its own if there is none.

    Parameters
    ----------
    nodes : int64 array, shape (n_nodes,)
        Distinct contents, ascending.
    united, component : int64 arrays, shape (n_nodes,)
        Component of each before and after the division.
    anchors : int64 array
        Contents of the pairs that must not be together.
    linked : callable

    Returns
    -------
    int64 array, shape (n_nodes,)
        The position of the lowest content of each one's component.

    Examples
    --------
    Of a component, 1 and 5 had to be separated; 4 matches 5 only, and 2 nothing:

    >>> def linked(contents):
    ...     return np.where(np.isin(contents, [4, 5]), 4, contents)
    >>> nodes, united = np.array([1, 2, 4, 5]), np.zeros(4, np.int64)
    >>> linked_parts(nodes, united, np.array([0, 0, 0, 3]), np.array([1, 5]), linked).tolist()
    [0, 1, 2, 2]
    """
    parts = np.unique(np.stack([united, component]), axis=1)
    whole, n_parts = np.unique(parts[0], return_counts=True)
    result = component.copy()
    for label in whole[n_parts > 1].tolist():
        members = np.flatnonzero(united == label)
        divided = _split(nodes[members], component[members])
        pieces = [piece for part in divided for piece in _split(part, linked(part))]
        if len(pieces) > len(divided):
            for piece in _joined(pieces, anchors, linked):
                places = np.searchsorted(nodes, piece)
                result[places] = places.min()
    return result


def _split(contents: I64, labels: I64) -> list[I64]:
    """Return the contents with each label, those with the lowest content first."""
    found = [contents[labels == label] for label in np.unique(labels)]
    return sorted(found, key=lambda part: int(part.min()))


def _joined(pieces: Sequence[I64], anchors: I64, linked: Linked) -> list[I64]:
    """Join each piece without an anchor to the first one that it is linked with, as long as there is any."""
    has_anchor = [bool(np.isin(piece, anchors).any()) for piece in pieces]
    held = [piece for piece, has in zip(pieces, has_anchor, strict=True) if has]
    free = [piece for piece, has in zip(pieces, has_anchor, strict=True) if not has]
    last = -1
    while last != len(free):
        last, rest = len(free), list[I64]()
        for piece in free:
            for among in (held, rest):
                at = next((i for i, other in enumerate(among) if _are_linked(piece, other, linked)), None)
                if at is not None:
                    among[at] = np.union1d(among[at], piece)
                    break
            else:
                rest.append(piece)
        free = rest
    return held + free


def _are_linked(piece: I64, other: I64, linked: Linked) -> bool:
    """Whether two pieces, each of which is linked in itself, are linked with each other."""
    return len(np.unique(linked(np.union1d(piece, other)))) == 1
