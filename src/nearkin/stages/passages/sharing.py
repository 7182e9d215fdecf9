"""Whether two similar texts share one passage and little else, such as two source files with one licence header."""

from __future__ import annotations

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


def passage_shared_alone(a: U64, b: U64) -> int | None:
    """Return a number for the passage that two texts, given as hashes of words, share if they share little else.

    It is the same for all pairs that share the same passage, and nearly always if its ends differ.

    Examples
    --------
    >>> header, one, other = (np.arange(at, at + 30, dtype=np.uint64) for at in (0, 100, 200))
    >>> key = passage_shared_alone(np.append(header, one), np.append(header, other))
    >>> key is not None, key == passage_shared_alone(np.append(other, header), np.append(one, header))
    (True, True)
    >>> passage_shared_alone(np.append(header, one), np.append(header, one[1:])) is None
    True
    """
    keys_a, keys_b = _window_keys(a), _window_keys(b)
    rests = list[set[int]]()
    longest = slice(0, 0)
    for words, keys, others in ((b, keys_b, keys_a), (a, keys_a, keys_b)):
        is_shared: Bool = np.isin(keys, others)
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
    return int(keys_a[longest].min())


def _window_keys(words: U64) -> U64:
    starts: I64 = np.array([0, len(words)], np.int64)
    return hash_windows(words, starts, np.ones(len(words), np.uint8), _WINDOW)[0]
