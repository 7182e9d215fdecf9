"""Parts of the documents, on which tasks work."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parts:
    """Documents with a vector, in parts: those on the left, then those on the right.

    A document is identified by its number among all of them.

    Parameters
    ----------
    n_left, n_right : int
        Numbers of documents.
    size : int
        Maximum size of a part.

    Examples
    --------
    >>> parts = Parts(n_left=5, n_right=3, size=2)
    >>> [(parts.side(part), parts.documents(part)) for part in range(len(parts))]
    [(0, range(0, 2)), (0, range(2, 4)), (0, range(4, 5)), (1, range(5, 7)), (1, range(7, 8))]
    """

    n_left: int
    n_right: int
    size: int

    def __len__(self) -> int:
        return self.n_left_parts + self.n_right_parts

    @property
    def n_documents(self) -> int:
        """Number of documents of both sides."""
        return self.n_left + self.n_right

    @property
    def n_left_parts(self) -> int:
        """Number of parts of the left side, which come first."""
        return -(-self.n_left // self.size)

    @property
    def n_right_parts(self) -> int:
        """Number of parts of the right side."""
        return -(-self.n_right // self.size)

    def side(self, part: int) -> int:
        """Return 0 for the left side, 1 for the right one."""
        return int(part >= self.n_left_parts)

    def documents(self, part: int) -> range:
        """Return the numbers of the documents of a part."""
        if part < self.n_left_parts:
            return range(part * self.size, min((part + 1) * self.size, self.n_left))
        start = self.n_left + (part - self.n_left_parts) * self.size
        return range(start, min(start + self.size, self.n_documents))

    def within(self, part: int) -> slice:
        """Return the documents of a part, numbered within its side."""
        documents = self.documents(part)
        before = self.side(part) * self.n_left
        return slice(documents.start - before, documents.stop - before)

    def tile(self, number: int) -> tuple[int, int]:
        """Return the left and the right part of a tile, among the tiles that cover all pairs."""
        left, right = divmod(number, self.n_right_parts)
        return left, self.n_left_parts + right
