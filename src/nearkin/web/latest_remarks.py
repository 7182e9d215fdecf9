"""Remarks on the latest decisions, for the page that follows each of them; they are not stored."""

from __future__ import annotations

import threading
from collections import OrderedDict

from nearkin.collection.decisions.records import ActivityResult

_MAX_KEPT = 100


class LatestRemarks:
    """Remarks on the latest decisions, by the numbers of their activities; older ones are forgotten."""

    def __init__(self) -> None:
        self._lock, self._kept = threading.Lock(), OrderedDict[int, tuple[str, ...]]()

    def keep(self, found: ActivityResult) -> None:
        """Keep the remarks on a decision, if there are any."""
        if found.number is None or not found.remarks:
            return
        with self._lock:
            self._kept[found.number] = found.remarks
            while len(self._kept) > _MAX_KEPT:
                self._kept.popitem(last=False)

    def on(self, number: int) -> tuple[str, ...]:
        """Return the remarks on a decision."""
        with self._lock:
            return self._kept.get(number, ())
