"""What takes longer than a page may: one thread computes it, that of the shortest texts first, and pages follow."""

from __future__ import annotations

import heapq
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from itertools import count
from typing import Any, TypeVar

from sqlalchemy import Connection, func, select

from nearkin.collection.decisions.log import CODE, CODING, SEARCH, TAG, StoredState
from nearkin.store.schema import activity, groupings

AT_ONCE = 60_000
"""Characters of texts that are compared while the page is made."""
_WAITING_S = 0.15
_CLOSING_S = 10.0
_MAX_KEPT = 64
_OF_NO_GROUP = (TAG, "untag", CODE, CODING, SEARCH, "note", "group-note")
Found = TypeVar("Found")


class NotYet(Exception):  # it is no error
    """What a page shows is being computed; ``future`` has it then."""

    def __init__(self, future: Future[Any]) -> None:
        super().__init__("The texts are long: they are being compared.")
        self.future = future


def state_of_groups(connection: Connection) -> Hashable:
    """Return a value that changes whenever documents, decisions on groups, or groups change."""
    last = select(func.max(activity.c.number)).where(activity.c.kind.not_in(_OF_NO_GROUP)).scalar_subquery()
    n_groupings = select(func.count()).select_from(groupings).scalar_subquery()
    return StoredState.now(connection), tuple(connection.execute(select(last, n_groupings)).one())


class Later:
    """Results that a thread computes, and the latest ones, by key."""

    def __init__(self) -> None:
        self._changed, self._numbers = threading.Condition(), count()
        self._queue: list[tuple[int, int, Future[Any], Callable[[], Any]]] = []
        self._kept = OrderedDict[Hashable, Future[Any]]()
        self._thread: threading.Thread | None = None
        self._is_over = False

    def get(self, key: Hashable, n_characters: int, work: Callable[[], Found]) -> Found:
        """Return the result of work about texts of a size: at once if they are short.

        Raises
        ------
        NotYet
            They are long, and it is not done yet. The key finds it later.
        """
        if n_characters <= AT_ONCE:
            return work()
        with self._changed:
            future: Future[Found] | None = self._kept.get(key)
            if future is None:
                future = self._kept[key] = Future()
                heapq.heappush(self._queue, (n_characters, next(self._numbers), future, work))
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="nearkin-later", daemon=True)
                    self._thread.start()
                self._changed.notify()
                while len(self._kept) > _MAX_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
        try:
            return future.result(timeout=_WAITING_S)
        except TimeoutError:
            if not future.done():
                raise NotYet(future) from None
            self._forget(key)
            raise
        except BaseException:
            self._forget(key)
            raise

    def result(self, work: Callable[[], Found]) -> Found:
        """Return the result of work that asks this for others, however long they take."""
        while True:
            try:
                return work()
            except NotYet as later:
                later.future.exception()

    def _forget(self, key: Hashable) -> None:
        with self._changed:
            self._kept.pop(key, None)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._queue and not self._is_over:
                    self._changed.wait()
                if self._is_over:
                    return
                _, _, future, work = heapq.heappop(self._queue)
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001  # whoever asks for the result gets it
                future.set_exception(error)

    def close(self) -> None:
        """Begin no more work, and wait a while for what is being done."""
        with self._changed:
            self._is_over = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(_CLOSING_S)
