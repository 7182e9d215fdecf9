"""Inverted index of a few sets, which counts the shingles that each of very many sets shares with each of the few.

Source: Justin Zobel, Alistair Moffat, "Inverted files for text search engines", 2006.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.errors import FingerprintError
from nearkin.records import I64, U32, U64, Matches, ShingleSets

_AT_A_TIME = 1 << 21


@dataclass(frozen=True, slots=True)
class InvertedSets:
    """Index from shingles to the few sets that have them.

    Parameters
    ----------
    keys : uint64 array, shape (n_keys,)
        The distinct shingles of the few sets, ascending.
    starts, owners : int64 array of shape (n_keys + 1,), uint32 array
        The sets that have ``keys[i]`` are ``owners[starts[i]:starts[i + 1]]``, ascending.
    """

    keys: U64
    starts: I64
    owners: U32
    sizes: I64
    fingerprint: str

    @classmethod
    def of(cls, few: Sequence[ShingleSets]) -> InvertedSets:
        """Index the shingles of some sets, which are numbered from one part to the next."""
        hashes = np.concatenate([np.zeros(0, np.uint64), *(part.hashes for part in few)])
        sizes = np.concatenate([np.zeros(0, np.int64), *(part.sizes for part in few)])
        order = np.argsort(hashes, kind="stable")
        owners = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)[order]
        keys, starts = np.unique(hashes[order], return_index=True)
        ends = np.append(starts, len(order)).astype(np.int64)
        return cls(keys, ends, owners, sizes, few[0].fingerprint if few else "")

    def shared(self, many: ShingleSets) -> Matches:
        """Return the pairs of one of the few and one of ``many`` that share a shingle, sorted by the right one."""
        if many.fingerprint != self.fingerprint:
            raise FingerprintError(
                f"Shingles of {many.fingerprint!r} cannot be looked up among those of {self.fingerprint!r}."
            )
        parts = [np.zeros((3, 0), np.int64), *self._counted(many)]
        right, left, n_common = np.concatenate(parts, axis=1)
        n_left, n_right = self.sizes[left], many.sizes[right]
        return Matches(*(column.astype(np.uint32) for column in (left, right, n_common, n_left, n_right)))

    def _counted(self, many: ShingleSets) -> Iterator[I64]:
        if not len(self.keys) or not len(many.hashes):
            return
        place = np.minimum(np.searchsorted(self.keys, many.hashes), len(self.keys) - 1)
        is_known = self.keys[place] == many.hashes
        place = place[is_known]
        row = np.repeat(np.arange(len(many)), many.sizes)[is_known]
        n_owners = np.diff(self.starts)[place]
        # a row is never split: it shares at most all shingles of the few
        running = np.concatenate([[0], np.cumsum(n_owners)])
        first_of_row = np.searchsorted(row, np.arange(len(many) + 1))
        at = 0
        while at < len(many):
            until = (
                int(np.searchsorted(running[first_of_row], running[first_of_row[at]] + _AT_A_TIME, side="right")) - 1
            )
            until = max(until, at + 1)
            part = slice(first_of_row[at], first_of_row[until])
            yield self._count(row[part], place[part], n_owners[part])
            at = until

    def _count(self, row: I64, place: I64, n_owners: I64) -> I64:
        inside = np.arange(n_owners.sum()) - np.repeat(np.cumsum(n_owners) - n_owners, n_owners)
        owner = self.owners[np.repeat(self.starts[place], n_owners) + inside].astype(np.int64)
        pairs, n_common = np.unique(np.repeat(row, n_owners) * len(self.sizes) + owner, return_counts=True)
        return np.stack([*np.divmod(pairs, max(1, len(self.sizes))), n_common])
