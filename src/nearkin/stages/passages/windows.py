"""Windows of words → passages, their occurrences, and the parts of documents that stand elsewhere too.

A *window* is a run of ``length`` words, the minimum of a passage. A *class* is all windows with the same words. Class B
follows class A if it does at four of five windows of A, and A precedes B at four of five windows of B. A *passage* is
the classes that are so joined, and an *occurrence* is a run of its windows in a document, as long as possible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nearkin.kernels.linking import components
from nearkin.kernels.passages import NONE, REPEATED, equal_windows, following, window_flags
from nearkin.records import I64, U8, U32, Bool

BYTES_A_WINDOW = 26
"""Memory of a window while passages are made, beside what is mapped: its flags, and the votes on what follows it."""
_WINDOWS_AT_ONCE = 1 << 20


class Spans(NamedTuple):
    """Runs of words, in reading order.

    Parameters
    ----------
    start, end : int64 array, shape (n_spans,)
        Numbers of words in the whole corpus: from the first word to after the last.
    """

    start: I64
    end: I64
    document: I64


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Windows that may stand in several places.

    Parameters
    ----------
    starts, places : int64 arrays, shapes (n_documents + 1,) and (n_windows,)
        Number of the first word of each document, and of each window; ascending.
    first, counts : uint32 arrays, shape (n_windows,)
        First window of the class of each; at the first window of a class, the number of its windows.
    """

    length: int
    starts: I64
    places: I64
    first: U32
    counts: U32

    def verified(self, data: U8, offsets: I64) -> Windows:
        """Return the windows after a comparison with the words: one with other words than its class stands alone."""
        is_equal = equal_windows(self.places, self.first, data, offsets, self.length)
        others = np.flatnonzero(~is_equal)
        if not len(others):
            return self
        first, counts = self.first.copy(), self.counts.copy()
        np.subtract.at(counts, first[others], np.uint32(1))
        first[others], counts[others] = others, 1
        return Windows(length=self.length, starts=self.starts, places=self.places, first=first, counts=counts)

    def across(self, n_documents: int) -> Windows:
        """Return the windows of those classes that stand both in the first documents and in the others."""
        is_other = self.places >= self.starts[n_documents]
        n_others = np.bincount(self.first[is_other], minlength=len(self.places))
        is_in_both = (n_others > 0) & (n_others < self.counts)
        counts = np.where(is_in_both, self.counts, np.minimum(self.counts, np.uint32(1)))
        return Windows(length=self.length, starts=self.starts, places=self.places, first=self.first, counts=counts)

    def flags(self) -> U8:
        """Return the flags of each window; see `nearkin.kernels.passages`."""
        return window_flags(self.places, self.first, self.counts, self.starts, self.length)

    def spans(self, is_inside: Bool) -> Spans:
        """Return the words of some windows, as runs; those that touch are one."""

        def are_joined(rows: I64) -> Bool:
            places = self.places[rows]
            document = np.searchsorted(self.starts, places, side="right")
            touch: Bool = (np.diff(places) <= self.length) & (np.diff(document) == 0)
            return touch

        return self._runs(is_inside, are_joined)[0]

    def occurrences(self, flags: U8) -> tuple[Spans, I64, U32]:
        """Return the occurrences of all passages, the passage of each, and the class of the first window of each.

        Occurrences with the same first class and length have the same words.
        """
        follows = following(self.places, self.first, self.counts)

        def are_joined(rows: I64) -> Bool:
            classes = self.first[rows]
            follow: Bool = (np.diff(self.places[rows]) == 1) & (follows[classes[:-1]] == classes[1:])
            return follow

        spans, first = self._runs((flags & REPEATED) > 0, are_joined)
        classes = self.first[first]
        left = np.flatnonzero(follows != NONE).astype(np.uint32)
        least = components(left, follows[left], len(self.places))
        _, numbers, passage = np.unique(least[classes], return_index=True, return_inverse=True)
        order = np.empty(len(numbers), np.int64)
        order[np.argsort(numbers, kind="stable")] = np.arange(len(numbers))
        return spans, order[passage], classes

    def _runs(self, is_inside: Bool, are_joined: Callable[[I64], Bool]) -> tuple[Spans, I64]:
        first, last, before = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], np.zeros(0, np.int64)
        for at in range(0, len(self.places), _WINDOWS_AT_ONCE):
            rows = np.append(before, at + np.flatnonzero(is_inside[at : at + _WINDOWS_AT_ONCE]))
            breaks = np.flatnonzero(~are_joined(rows))
            first += [rows[: 1 - len(before)], rows[breaks + 1]]
            last.append(rows[breaks])
            before = rows[-1:]
        starts, ends = np.concatenate(first), np.concatenate([*last, before])
        places = self.places[starts]
        document = np.searchsorted(self.starts, places, side="right") - 1
        return Spans(places, self.places[ends] + self.length, document), starts
