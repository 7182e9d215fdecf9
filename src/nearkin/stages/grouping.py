"""Grouping of verified matches by one of two rules.

``principal``: every member matches its principal; there are no chains. ``component``: everything that is connected by a
chain of matches.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nearkin.errors import ParameterError
from nearkin.kernels.linking import components, principals
from nearkin.records import F64, I64, U32, U64, Groups, Matches

Rule = Literal["principal", "component"]


def group(matches: Matches, similarity: F64, order: U32, *, rule: Rule) -> Groups:
    """Group the rows; the principal of a component is its most preferred row.

    Parameters
    ----------
    similarity : float64 array, shape (n_pairs,)
        By which a member chooses among principals.
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
    first = np.zeros(len(component), np.uint32)
    backwards = order[::-1]
    first[component[backwards]] = backwards  # the last write wins: the most preferred row
    return first


_SIGN = np.uint64(1 << 63)
_LAST = np.uint64(2**64 - 1)
_MAX_HALF = 2**32 - 1
"""Lengths in characters from this on are equal."""
_FORM = re.compile(r"(longest|shortest|first)|(max|min):(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Keep:
    """Order in which principals, the documents to keep, are chosen.

    The longest, the shortest, the first, or the document with the maximum or minimum value in a column comes first.
    With groups around principals, a document joins its most similar principal, which can come after it. Lengths are
    compared without white space, equal ones with it. Of equal documents the first that was read is preferred. For the
    rule "first", sources are read in the order in which they were named, otherwise by path.

    Examples
    --------
    >>> Keep.parse("max:quality")
    Keep(rule='max', column='quality')
    >>> Keep.parse("longest").order(np.array([3, 9, 9]), None).tolist()
    [1, 2, 0]
    """

    rule: Literal["longest", "shortest", "first", "max", "min"] = "longest"
    column: str | None = None

    @classmethod
    def parse(cls, text: str) -> Keep:
        """Parse ``longest``, ``shortest``, ``first``, ``max:COLUMN`` or ``min:COLUMN``."""
        occurrence = _FORM.fullmatch(text)
        if not occurrence:
            raise ParameterError.of("keep", "longest, shortest, first, max:COLUMN or min:COLUMN", text)
        return cls(occurrence[1] or occurrence[2], occurrence[3])  # type: ignore[arg-type]  # the pattern admits only the rules

    @property
    def is_by_length(self) -> bool:
        """Whether lengths are compared."""
        return self.rule in ("longest", "shortest")

    def __str__(self) -> str:
        return self.rule if self.column is None else f"{self.rule}:{self.column}"

    def order(self, n_characters: I64, values: F64 | None) -> U32:
        """Return all rows, the most preferred first, shape (n_rows,).

        Parameters
        ----------
        values : float64 array, shape (n_rows,), or None
            Values of the column; a row without one (NaN) comes after all that have one. If lengths are compared: the
            length without white space, NaN where there is no text.
        """
        return np.argsort(self.codes(n_characters, values), kind="stable").astype(np.uint32)

    def codes(self, n_characters: I64, values: F64 | None) -> U64:
        """Return a number for each row: the lower one is preferred, in a tie the row read first."""
        if self.rule == "first":
            return np.zeros(len(n_characters), np.uint64)
        given = np.full(len(n_characters), np.nan) if values is None else values
        if self.is_by_length:
            lengths = np.where(np.isnan(given), n_characters.astype(np.float64), given)
            first, second = (np.minimum(n, _MAX_HALF).astype(np.uint64) for n in (lengths, n_characters))
            shortest_first: U64 = first << np.uint64(32) | second
            return shortest_first if self.rule == "shortest" else ~shortest_first
        ordered = np.where(np.isnan(given), np.nan, (given if self.rule == "min" else -given) + 0.0)  # no -0.0
        bits = ordered.view(np.uint64)
        # floats in the order of unsigned numbers: all bits of negative ones are inverted; NaN comes last
        codes: U64 = np.where(bits >> np.uint64(63) != 0, ~bits, bits ^ _SIGN)
        return np.where(np.isnan(given), _LAST, codes)
