"""Results of a Hamming search: pairs of distinct signatures, and the documents that have each signature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearkin.errors import ParameterError
from nearkin.kernels.hamming import equal_classes, expand_classes, members_of
from nearkin.records import I32, I64, U32, U64, BitSignatures
from nearkin.stages.search.hamming.plan import HammingPlan

U16 = NDArray[np.uint16]
Unsigned = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Pairs of documents within a Hamming distance: each pair once, ``left < right``, sorted."""

    left: U32
    right: U32
    distance: U16

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True, slots=True)
class EqualSignatures:
    """Documents by signature: a *class* is all documents with the same signature.

    Parameters
    ----------
    class_of_row : int32 array, shape (n_documents,)
        Classes are numbered in order of their first documents; -1: the document has no features.
    members : uint32 array, shape (n_members,)
        The rows, by class, ascending within each.
    offsets : int64 array, shape (n_classes + 1,)
        Class ``c`` is ``members[offsets[c]:offsets[c + 1]]``.
    """

    class_of_row: I32
    members: U32
    offsets: I64

    @classmethod
    def of(cls, signatures: BitSignatures) -> EqualSignatures:
        """Group documents by their signatures.

        Examples
        --------
        >>> signatures = BitSignatures(np.array([[7], [3], [7], [0]], np.uint8), np.array([True] * 3 + [False]), "")
        >>> EqualSignatures.of(signatures).class_of_row.tolist()
        [0, 1, 0, -1]
        """
        class_of_row, n_classes = equal_classes(signatures.words, signatures.has_features)
        return cls(class_of_row, *members_of(class_of_row, n_classes))

    @property
    def firsts(self) -> U32:
        """First document of each class, shape (n_classes,)."""
        return self.members[self.offsets[:-1]]

    @property
    def sizes(self) -> I64:
        """Number of documents in each class, shape (n_classes,)."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class HammingPairs:
    """All pairs of documents within a Hamming distance, as pairs of their distinct signatures.

    Parameters
    ----------
    left, right : uint32 arrays, shape (n_pairs,)
        Classes of ``classes``, ``left < right``, each pair once, sorted.
    distance : uint16 array, shape (n_pairs,)
        At least 1; documents of the same class have distance 0.

    Examples
    --------
    >>> from nearkin.stages.search.hamming.neighbours import neighbour_pairs
    >>> packed = np.array([[0b1111], [0b1110], [0b1111], [0b1111_0000]], np.uint8)
    >>> found = neighbour_pairs(BitSignatures(packed, np.ones(4, bool), "topsig;bits=8"), distance=2)
    >>> len(found), found.n_document_pairs
    (1, 3)
    >>> [(b.left.tolist(), b.right.tolist(), b.distance.tolist()) for b in found.blocks()]
    [([0, 0, 1], [1, 2, 2], [1, 0, 1])]
    """

    left: U32
    right: U32
    distance: U16
    classes: EqualSignatures
    plan: HammingPlan
    fingerprint: str

    def __len__(self) -> int:
        return len(self.left)

    @property
    def n_document_pairs(self) -> int:
        """Number of pairs of documents, including equal signatures; computed without listing them."""
        sizes = self.classes.sizes
        equal = int((sizes * (sizes - 1) // 2).sum())
        return equal + int((sizes[self.left] * sizes[self.right]).sum())

    def within(self, distance: int) -> HammingPairs:
        """Return the pairs within a shorter distance.

        Examples
        --------
        >>> from nearkin.stages.search.hamming.neighbours import neighbour_pairs
        >>> packed = np.array([[0b1111], [0b1110], [0b1001]], np.uint8)
        >>> found = neighbour_pairs(BitSignatures(packed, np.ones(3, bool), "topsig;bits=8"), distance=3)
        >>> found.distance.tolist(), found.within(1).distance.tolist()
        ([1, 2, 3], [1])
        """
        if not 0 <= distance <= self.plan.distance:
            raise ParameterError.of(
                "distance",
                f"an int from 0 to {self.plan.distance}, the searched distance",
                distance,
            )
        near = self.distance <= distance
        return HammingPairs(
            left=self.left[near],
            right=self.right[near],
            distance=self.distance[near],
            classes=self.classes,
            plan=self.plan,
            fingerprint=self.fingerprint,
        )

    def blocks(self, *, block_pairs: int = 1 << 20) -> Iterator[Neighbours]:
        """Yield the pairs of documents, sorted by left row, then right row.

        Parameters
        ----------
        block_pairs
            Approximate number of pairs per block; larger if a single left row has more.
        """
        if block_pairs < 1:
            raise ParameterError.of("block_pairs", "an int >= 1", block_pairs)
        neighbours, distances, offsets = self._neighbour_classes()
        n_rows, start = len(self.classes.class_of_row), 0
        sizes = np.concatenate([[0], np.cumsum(self.classes.sizes[neighbours])])
        max_per_row = int((sizes[offsets[1:]] - sizes[offsets[:-1]]).max(initial=0))
        # every pair from both sides, and every document with itself: the kernel makes room for these
        room = max(max_per_row, min(block_pairs, 2 * self.n_document_pairs + len(self.classes.members)))
        while start < n_rows:
            pairs, of_pairs = np.empty(room, np.uint64), np.empty(room, np.uint16)
            n_pairs, start = expand_classes(
                self.classes.class_of_row,
                self.classes.members,
                self.classes.offsets,
                neighbours,
                distances,
                offsets,
                start=start,
                pairs=pairs,
                distances=of_pairs,
            )
            if n_pairs:
                columns = columns_of([(pairs[:n_pairs], of_pairs[:n_pairs])])
                sort_together(*columns)
                yield Neighbours(*columns)

    def _neighbour_classes(self) -> tuple[U32, U16, I64]:
        every = np.arange(len(self.classes), dtype=np.uint32)
        class_of_pair = np.concatenate([every, self.left, self.right])
        order = np.argsort(class_of_pair, kind="stable")
        neighbours = np.concatenate([every, self.right, self.left])[order]
        distances = np.concatenate([np.zeros(len(every), np.uint16), self.distance, self.distance])[order]
        counts = np.bincount(class_of_pair, minlength=len(every))
        return neighbours, distances, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def columns_of(parts: list[tuple[U64, U16]]) -> tuple[U32, U32, U16]:
    """Return left rows, right rows and distances of pairs; empties the list."""
    n = sum(len(pairs) for pairs, _ in parts)
    left, right, distance = np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.uint16)
    while parts:  # one by one: intermediate data is small and stays in the nearest cache
        pairs, of_pairs = parts.pop()
        here = slice(n - len(pairs), n)
        left[here], right[here], distance[here] = pairs >> np.uint64(32), pairs & np.uint64(0xFFFFFFFF), of_pairs
        n -= len(pairs)
    return left, right, distance


def sort_together(*columns: Unsigned) -> None:
    """Sort the lines of a table in place: by the first column, then the second, and so on."""
    widths = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(widths) > 64:
        order = np.lexsort(columns[::-1])
        for column in columns:
            column[:] = column[order]
        return
    # each line as one number: sorting numbers is many times faster than computing their order
    lines = np.zeros(len(columns[0]), np.uint64)
    for column, width in zip(columns, widths, strict=True):
        lines <<= np.uint64(width)
        lines |= column
    lines.sort()
    for column, width in zip(reversed(columns), reversed(widths), strict=True):
        np.bitwise_and(lines, np.uint64((1 << width) - 1), out=column, casting="unsafe")  # it fits
        lines >>= np.uint64(width)
