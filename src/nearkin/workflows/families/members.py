"""Members of families, and their order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.records import F64, I64, U32, U64, Matches
from nearkin.workflows.dedup.job import Result
from nearkin.workflows.dedup.outcome import NO_ROW


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """Families, the largest first, the earlier one first among equals.

    Parameters
    ----------
    principals : uint32 array, shape (n_families,)
        Row of each principal.
    rows : int64 array, shape (n_documents,)
        Documents of one family after another: the principal, then the others, the most similar first.
    starts : int64 array, shape (n_families + 1,)
    copy_of : uint32 array
        For each row of the run; see `outcome.Outcome`.
    matches : Matches
        Matches of rows, sorted.
    keys : uint64 array, shape (n_matches,)
        Both rows of each match in one number, ascending.
    """

    principals: U32
    rows: I64
    starts: I64
    copy_of: U32
    matches: Matches
    keys: U64

    @classmethod
    def of(cls, result: Result) -> Members:
        """Make the families of a run that has just ended."""
        outcome, groups = result.judged.outcome, result.judged.groups
        principals = groups.principal[np.argsort(-groups.size, kind="stable")]
        rows = np.flatnonzero(np.isin(outcome.principal, principals))
        number_of = np.zeros(len(outcome.principal), np.int64)
        number_of[principals] = np.arange(len(principals))
        number = number_of[outcome.principal[rows]]
        similarity = outcome.similarity[rows]
        order = np.lexsort((rows, -similarity, outcome.principal[rows] != rows, number))
        starts = np.searchsorted(number[order], np.arange(len(principals) + 1))
        matches = result.judged.matches
        keys = _key(matches.left.astype(np.uint64), matches.right)
        return cls(
            principals=principals, rows=rows[order], starts=starts, copy_of=outcome.copy_of, matches=matches, keys=keys
        )

    def rows_of(self, number: int) -> I64:
        """Return the documents of a family."""
        return self.rows[self.starts[number] : self.starts[number + 1]]

    def to_read(self) -> I64:
        """Return the rows whose texts are needed: no exact copies of a principal, no principals with only those."""
        principal_of = np.repeat(self.principals, np.diff(self.starts))
        is_compared = (self.rows != principal_of) & (self.copy_of[self.rows] != principal_of)
        return np.unique(np.concatenate([self.rows[is_compared], principal_of[is_compared]])).astype(np.int64)

    def containments(self, rows: I64, principal: int) -> tuple[F64, F64]:
        """Return the shares of documents that the principal contains, and of the principal that they contain."""
        text = np.where(self.copy_of[rows] == NO_ROW, rows, self.copy_of[rows]).astype(np.uint64)
        low, high = np.minimum(text, np.uint64(principal)), np.maximum(text, np.uint64(principal))
        place = np.minimum(np.searchsorted(self.keys, _key(low, high)), len(self.keys) - 1)
        pairs = self.matches.where(place)
        is_left = low != np.uint64(principal)
        a, b = pairs.containment_left_in_right, pairs.containment_right_in_left
        is_same = text == principal
        return np.where(is_same, 1.0, np.where(is_left, a, b)), np.where(is_same, 1.0, np.where(is_left, b, a))


def _key(left: U64, right: U64 | U32) -> U64:
    return (left << np.uint64(32)) | right
