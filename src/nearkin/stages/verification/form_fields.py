"""Fields of a form: places where the texts of a large group go on in different ways after the same words, or before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.kernels.overlap import n_common
from nearkin.kernels.plain.hashing import GOLDEN
from nearkin.records import I64, U32, U64, Bool, ShingleSets

MIN_TEXTS = 50
"""Distinct texts of a group that are rather records of one form than versions of one document."""
SAMPLED_TEXTS = 256
"""Texts of a group by which its fields are found."""
_MIN_TEXTS, _MIN_SHARE = 3, 0.05
_BACKWARDS = np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True, slots=True)
class Fields:
    """Fields of a form.

    Parameters
    ----------
    free : uint64 array
        Ascending `Steps.start` of fields in which most texts have something of their own, such as a name.
    values : uint64 array
        Ascending `Steps.step` of the others to their usual values, such as yes and no; anything else is a misprint.
    """

    free: U64
    values: U64

    @classmethod
    def joined(cls, parts: Sequence[Fields]) -> Fields:
        """Return those of all groups."""
        return cls(*(np.sort(np.concatenate([getattr(part, name) for part in parts])) for name in cls.__slots__))


@dataclass(frozen=True, slots=True)
class Steps:
    """From each shingle of a text to the next one, and to the one before.

    Parameters
    ----------
    start, step : uint64 arrays, shape (n_steps,)
        The shingle with its direction and the group of the text; the same with the shingle that follows.
    text : uint32 array, shape (n_steps,)
    """

    start: U64
    step: U64
    text: U32

    @classmethod
    def of(cls, sets: ShingleSets, texts: U32, groups: U32) -> Steps:
        """Return the steps of texts with these numbers, each in a group."""
        text = np.repeat(texts, sets.sizes)
        hashes = sets.hashes ^ np.repeat(groups.astype(np.uint64) * np.uint64(GOLDEN), sets.sizes)
        is_inside = text[1:] == text[:-1]
        before, after = hashes[:-1][is_inside], hashes[1:][is_inside]
        start = np.concatenate([before, after * _BACKWARDS])
        step = (start ^ np.concatenate([after, before]) >> np.uint64(1)) * np.uint64(GOLDEN)
        return cls(start, step, np.tile(text[1:][is_inside], 2))

    @classmethod
    def joined(cls, parts: Sequence[Steps]) -> Steps:
        """Return all steps, ordered by text."""
        start, step, text = (np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__)
        order = np.argsort(text, kind="stable")
        return cls(start[order], step[order], text[order])

    def where(self, mask: Bool) -> Steps:
        """Return the steps for which ``mask`` holds."""
        return Steps(self.start[mask], self.step[mask], self.text[mask])

    def at(self, fields: Fields) -> Steps:
        """Return the steps from free fields, and those to values of the others."""
        return self.where(_are_among(self.start, fields.free) | _are_among(self.step, fields.values))

    def fields(self) -> Fields:
        """Find the starts from which at least a twentieth of the texts, and three, go another way than the others."""
        order = np.argsort(self.step)
        first = np.flatnonzero(np.append(True, np.diff(self.step[order]) != 0)[: len(order)])
        steps, n_texts = self.step[order][first], np.diff(np.append(first, len(order)))
        starts, of_step = np.unique(self.start[order][first], return_inverse=True)
        n_all, n_most, n_rare = (np.zeros(len(starts), np.int64) for _ in range(3))
        is_rare = n_texts < _MIN_TEXTS
        np.add.at(n_all, of_step, n_texts)
        np.add.at(n_rare, of_step, n_texts * is_rare)
        np.maximum.at(n_most, of_step, n_texts)
        is_field = n_all - n_most >= np.maximum(_MIN_TEXTS, _MIN_SHARE * n_all)
        is_free = 2 * n_rare >= n_all
        return Fields(starts[is_field & is_free], steps[(is_field & ~is_free)[of_step] & ~is_rare])

    def differ(self, left: U32, right: U32) -> Bool:
        """Whether the texts of each pair go different ways from a start that both have; ordered by text."""
        bounds: I64 = np.searchsorted(self.text, np.arange(int(max(left.max(), right.max())) + 2))
        starts, ends = bounds[:-1], bounds[1:]
        n_starts, n_steps = (n_common(bits, starts, ends, left, right) for bits in (self.start, self.step))
        return np.greater(n_starts, n_steps)


def sample_of_groups(group: U32, groups: U32) -> U32:
    """Return at most `SAMPLED_TEXTS` texts of each of the ``groups``, those of one side by side.

    Examples
    --------
    >>> sample_of_groups(np.array([0, 1, 0, 0, 1], np.uint32), np.array([0], np.uint32)).tolist()
    [0, 2, 3]
    """
    texts = np.flatnonzero(np.isin(group, groups)).astype(np.uint32)
    texts = texts[np.argsort(group[texts], kind="stable")]
    first = np.searchsorted(group[texts], group[texts])
    size = np.bincount(group[texts])[group[texts]]
    rank = np.arange(len(texts)) - first
    chosen: U32 = texts[rank * SAMPLED_TEXTS // size != (rank - 1) * SAMPLED_TEXTS // size]
    return chosen


def _are_among(hashes: U64, ascending: U64) -> Bool:
    places = np.searchsorted(ascending, hashes)
    return np.equal(np.append(ascending, np.uint64(0))[places], hashes)
