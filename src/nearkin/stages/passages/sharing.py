"""Whether two similar texts share one passage and little else, such as two source files with one licence header."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from nearkin.kernels.passages import hash_windows
from nearkin.records import I64, U64, Bool

_WINDOW = 20
"""Words of the shortest passage."""
_MIN_REST = 5
"""Words that each text has besides the passage, at least: with fewer the texts are versions of each other."""
_MIN_SHARE = 0.8
"""Of the shared words, those of the passage."""
_MAX_COMMON = 0.5
"""Of the distinct words that the text with fewer of them has besides the passage, those that the other has, too."""


class TextWindows(NamedTuple):
    """Words of a text, and its windows of as many words as the shortest passage has."""

    words: U64
    keys: U64

    @classmethod
    def of_texts(cls, words: U64, starts: I64) -> list[TextWindows]:
        """Return those of several texts, whose words begin at ``starts``, in one pass."""
        keys, places = hash_windows(words, starts, np.ones(len(words), np.uint8), _WINDOW)
        bounds = np.searchsorted(places, starts).tolist()
        edges = pairwise(zip(starts.tolist(), bounds, strict=True))
        return [cls(words[a:b], keys[low:high]) for (a, low), (b, high) in edges]


def passage_shared_alone(a: TextWindows, b: TextWindows) -> int | None:
    """Return a number for the passage that two texts share if they share little else, else None.

    Examples
    --------
    >>> header, own, other = ([*range(at, at + 30)] for at in (0, 100, 200))
    >>> texts = [header + own, header + other, other + header, header + own[1:]]
    >>> words, starts = np.array(sum(texts, []), np.uint64), np.cumsum([0, *map(len, texts)])
    >>> a, b, c, d = TextWindows.of_texts(words, starts)
    >>> passage_shared_alone(a, b) == passage_shared_alone(a, c), passage_shared_alone(a, d)
    (True, None)
    """
    rests = list[set[int]]()
    longest = slice(0, 0)
    for (words, keys), other in ((b, a), (a, b)):
        is_shared: Bool = np.isin(keys, other.keys)
        edges = np.flatnonzero(np.diff(np.concatenate(([False], is_shared, [False])).astype(np.int8)))
        starts, ends = edges[::2], edges[1::2] + _WINDOW - 1
        if not len(starts):
            return None
        is_inside = np.zeros(len(words) + 1, np.int64)
        np.add.at(is_inside, starts, 1)
        np.subtract.at(is_inside, ends, 1)
        rest = words[np.cumsum(is_inside)[:-1] == 0]
        best = int(np.argmax(ends - starts))
        longest = slice(int(starts[best]), int(ends[best]) - _WINDOW + 1)
        if len(rest) < _MIN_REST or ends[best] - starts[best] < _MIN_SHARE * (len(words) - len(rest)):
            return None
        rests.append(set(rest.tolist()))
    if len(rests[0] & rests[1]) > _MAX_COMMON * min(map(len, rests)):
        return None
    return int(a.keys[longest].min())
