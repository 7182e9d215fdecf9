"""Labelled documents, by their texts: how many pairs of them conflict, and which come first, without listing them all.

An *entry* is a document with one of its labels. Two entries conflict if their labels differ and their texts are equal
or match. Conflicts are in the order of distance, then of the rows of both documents, then of both labels.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from nearkin.collection.results import StoredDocument
from nearkin.records import F64, I64

_EXPANDED_AT_A_TIME = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """A document with one of its labels."""

    document: StoredDocument
    row: int
    label: str


FoundConflict = tuple[float, Entry, Entry]
_Order = tuple[int, int, int, int, int, int]  # ranks, labels and numbers of both entries


class Labelled:
    """Entries, in the order of rows and labels, and what is known of those of each content.

    Documents are ranked by their rows; the rank ``_none`` is that of no document. A content is meant by its place
    among ``contents``.

    Attributes
    ----------
    entries : list of Entry
    contents : int64 array, shape (n_contents,)
        Sorted.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = sorted(entries, key=lambda one: (one.row, one.label))
        labels = {label: i for i, label in enumerate(sorted({one.label for one in self.entries}))}
        self._label = np.array([labels[one.label] for one in self.entries], np.int64)
        rows, self._rank = np.unique(np.array([one.row for one in self.entries], np.int64), return_inverse=True)
        self._none, self._n_labels = len(rows), max(1, len(labels))
        own = np.array([one.document.content for one in self.entries], np.int64)
        self.contents, self._content = np.unique(own, return_inverse=True)
        self._in_order = np.argsort(self._content, kind="stable")
        self._starts = np.searchsorted(self._content[self._in_order], np.arange(len(self.contents) + 1))
        self._n_entries = np.diff(self._starts)
        # of each content: its first document, a label of that, and the first document with another label
        firsts = self._in_order[self._starts[:-1]]
        self._first, self._first_label = self._rank[firsts], self._label[firsts]
        is_other = self._label != self._first_label[self._content]
        self._other = np.full(len(self.contents), self._none, np.int64)
        np.minimum.at(self._other, self._content[is_other], self._rank[is_other])
        # how many entries of each content have which label
        self._kinds, self._n_of_kind = np.unique(self._content * self._n_labels + self._label, return_counts=True)
        self._kind_starts = np.searchsorted(self._kinds, np.arange(len(self.contents) + 1) * self._n_labels)

    def first_conflicts(self, a: I64, b: I64) -> I64:
        """Of each pair of contents, or of a content with itself, a number by which their first conflicts are ordered.

        It is -1 where nothing conflicts.
        """
        x = np.where(self._first[a] <= self._first[b], a, b)
        y = a + b - x
        is_any = self._other[x] == self._first[x]  # a document with two labels: every label differs from one of them
        same = self._first_label[x] == self._first_label[y]
        partner = np.where(same & ~is_any, self._other[y], self._first[y])
        # all of y carry the label that x begins with: what conflicts are others of x
        is_late = (partner == self._none) & (x != y)
        first = np.where(is_late, np.minimum(self._other[x], self._first[y]), self._first[x])
        second = np.where(is_late, np.maximum(self._other[x], self._first[y]), partner)
        return np.where(second == self._none, -1, first * self._none + second)

    def n_within(self) -> int:
        """Conflicts among entries of one content, of all contents."""
        n_same = int((self._n_of_kind**2).sum())
        return (int((self._n_entries**2).sum()) - n_same) // 2

    def n_between(self, a: I64, b: I64) -> int:
        """Conflicts between the entries of pairs of different contents, of all pairs."""
        n_pairs = int((self._n_entries[a] * self._n_entries[b]).sum())
        is_plain = (self._other[a] == self._none) & (self._other[b] == self._none)
        plain = is_plain & (self._first_label[a] == self._first_label[b])
        n_same = int((self._n_entries[a[plain]] * self._n_entries[b[plain]]).sum())
        return n_pairs - n_same - self._n_same(a[~is_plain], b[~is_plain])

    def _n_same(self, a: I64, b: I64) -> int:
        """Pairs of entries with the same label: the labels of the content that has fewer are looked up in the other."""
        n_kinds = np.diff(self._kind_starts)
        fewer = np.where(n_kinds[a] <= n_kinds[b], a, b)
        more = a + b - fewer
        ends = np.cumsum(n_kinds[fewer])
        total, start = 0, 0
        while start < len(fewer):
            done = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + _EXPANDED_AT_A_TIME, "right")))
            n_each = n_kinds[fewer[start:stop]]
            shift = np.repeat(self._kind_starts[fewer[start:stop]] - (ends[start:stop] - n_each), n_each)
            kind = shift + np.arange(done, done + len(shift))
            wanted = np.repeat(more[start:stop], n_each) * self._n_labels + self._kinds[kind] % self._n_labels
            place = np.minimum(np.searchsorted(self._kinds, wanted), len(self._kinds) - 1)
            is_there = self._kinds[place] == wanted
            total += int((self._n_of_kind[kind[is_there]] * self._n_of_kind[place[is_there]]).sum())
            start = stop
        return total

    def conflicts(self, best: Best) -> Iterator[FoundConflict]:
        """All conflicts of the pairs of contents that were kept, in their order; worked out as they are taken."""
        pairs = zip(best.distance.tolist(), best.first.tolist(), best.a.tolist(), best.b.tolist())
        # a pair of contents waits with its first conflict, and is opened when its turn comes
        waiting: list[tuple[float, int, int, int, int, int, int, Iterator[_Order] | None]] = [
            (distance, *divmod(first, self._none), -1, -1, i, -1, None)
            for i, (distance, first, _, _) in enumerate(pairs)
        ]
        heapq.heapify(waiting)
        while waiting:
            distance, _, _, _, _, one, other, opened = heapq.heappop(waiting)
            if opened is None:
                opened = self._of_pair(int(best.a[one]), int(best.b[one]), best.limit)
            else:
                yield distance, self.entries[one], self.entries[other]
            if (following := next(opened, None)) is not None:
                heapq.heappush(waiting, (distance, *following, opened))

    def _of_pair(self, a: int, b: int, most: int) -> Iterator[_Order]:
        """The conflicts of two contents, or of one with itself, in their order; of each document at most so many."""
        entries = {one: self._in_order[self._starts[one] : self._starts[one + 1]] for one in (a, b)}
        firsts = np.sort(np.concatenate([self._with_later(entries[one], entries[a + b - one]) for one in entries]))
        for _, of_document in groupby(firsts.tolist(), key=lambda entry: int(self._rank[entry])):
            found = list[_Order]()
            for entry in of_document:
                others = entries[a + b - int(self._content[entry])]
                later = others[np.searchsorted(others, entry, "right") :]
                label = int(self._label[entry])
                partners = later[self._label[later] != label][:most].tolist()
                rank = int(self._rank[entry])
                found += [(rank, int(self._rank[p]), label, int(self._label[p]), entry, p) for p in partners]
            yield from sorted(found)

    def _with_later(self, entries: I64, others: I64) -> I64:
        """Those entries that conflict with one of the others that comes after them."""
        labels = self._label[others]
        last_label = labels[-1]
        is_other = np.flatnonzero(labels != last_label)
        last_other = others[is_other[-1]] if len(is_other) else -1
        return entries[np.where(self._label[entries] != last_label, others[-1], last_other) > entries]


class Best:
    """The pairs of contents with the first conflicts, out of any number: at most as many as conflicts are asked for.

    Attributes
    ----------
    limit : int
    distance : float64 array, shape (n_kept,)
    first : int64 array, shape (n_kept,)
        See `Labelled.first_conflicts`; different for every pair.
    a, b : int64 arrays, shape (n_kept,)
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.distance: F64 = np.zeros(0)
        self.first, self.a, self.b = (np.zeros(0, np.int64) for _ in range(3))

    def add(self, distance: F64, first: I64, a: I64, b: I64) -> None:
        """Keep those that are among the best."""
        if len(self.distance) == self.limit:
            is_near = distance <= self.distance.max()
            distance, first, a, b = distance[is_near], first[is_near], a[is_near], b[is_near]
        distance = np.concatenate([self.distance, distance])
        first, a, b = (np.concatenate(pair) for pair in ((self.first, first), (self.a, a), (self.b, b)))
        if len(distance) > self.limit:
            farthest = np.partition(distance, self.limit - 1)[self.limit - 1]
            nearer, ties = np.flatnonzero(distance < farthest), np.flatnonzero(distance == farthest)
            n_ties = self.limit - len(nearer)
            ties = ties[np.argpartition(first[ties], n_ties - 1)[:n_ties]]
            kept = np.concatenate([nearer, ties])
            distance, first, a, b = distance[kept], first[kept], a[kept], b[kept]
        self.distance, self.first, self.a, self.b = distance, first, a, b
