"""Rate limit of attempts to sign in, kept in memory."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable


class AttemptLimit:
    """Counts attempts by key, and refuses more than a maximum within a window.

    Parameters
    ----------
    max_attempts : int
    window_s : float
    max_keys : int
        Keys in memory; beyond, the one that was not used for the longest time is forgotten.
    clock : callable
        Returns seconds that never go back.

    Examples
    --------
    >>> limit = AttemptLimit(2, 60.0, clock=lambda: 0.0)
    >>> [limit.wait_s("ada"), limit.count("ada"), limit.wait_s("ada"), limit.count("ada"), limit.wait_s("ada")]
    [0.0, None, 0.0, None, 60.0]
    """

    def __init__(
        self,
        max_attempts: int,
        window_s: float,
        *,
        max_keys: int = 50_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max, self._window_s, self._max_keys, self._clock = max_attempts, window_s, max_keys, clock
        self._times = OrderedDict[str, deque[float]]()

    def wait_s(self, key: str) -> float:
        """Return the seconds until another attempt is accepted; 0 if it is now."""
        times = self._times.get(key)
        if times is None or len(times) < self._max:
            return 0.0
        return max(0.0, times[0] + self._window_s - self._clock())

    def count(self, key: str) -> None:
        """Count an attempt; before it is known whether it succeeds, so that many at once are counted, too."""
        self._times.setdefault(key, deque(maxlen=self._max)).append(self._clock())
        self._times.move_to_end(key)
        while len(self._times) > self._max_keys:
            self._times.popitem(last=False)

    def take_back(self, key: str) -> None:
        """Forget the last attempt of a key: it succeeded."""
        if times := self._times.get(key):
            times.pop()

    def forget(self, key: str) -> None:
        """Forget all attempts of a key."""
        self._times.pop(key, None)
