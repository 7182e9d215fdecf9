"""Grouping of verified matches by one of two rules.

``principal``: every member matches its principal; there are no chains. ``component``: everything that is connected by a
chain of matches.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from nearkin.kernels.grouping import components, principals
from nearkin.records import F64, I64, U32, Groups, Matches

Rule = Literal["principal", "component"]


def group(matches: Matches, similarity: F64, order: U32, *, rule: Rule) -> Groups:
    """Group the rows.

    Parameters
    ----------
    matches : Matches
        All matches, at or above the threshold.
    similarity : float64 array, shape (n_pairs,)
        Similarities, by which a member chooses among principals.
    order : uint32 array, shape (n_rows,)
        All rows, the most preferred first.
    rule : {"principal", "component"}

    Returns
    -------
    Groups
        The principal of a component is its most preferred row.
    """
    if rule == "principal":
        principal = principals(matches.left, matches.right, similarity, order)
    else:
        component = components(matches.left, matches.right, len(order))
        principal = _first_of_each(component, order)[component]
    return Groups(principal, count_bridges(matches, principal))


def count_bridges(matches: Matches, principal: U32) -> I64:
    """Count, at the row of each principal, the matches that lead out of its group, shape (n_rows,)."""
    a, b = principal[matches.left], principal[matches.right]
    crossing = a != b
    ends = np.concatenate([a[crossing], b[crossing]])
    return np.bincount(ends, minlength=len(principal)).astype(np.int64)


def _first_of_each(component: U32, order: U32) -> U32:
    """Return, at the index of each component, its most preferred row."""
    first = np.zeros(len(component), np.uint32)
    backwards = order[::-1]
    first[component[backwards]] = backwards  # the last write wins: the most preferred row
    return first
