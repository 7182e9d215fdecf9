"""What takes longer than a page may: a process computes it, that of short texts before long ones, and pages follow."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from time import monotonic
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, func, select

from nearkin.collection.decisions.log import BATCH, CODE, CODING, SEARCH, TAG, StoredState
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored.key_table import KEYS
from nearkin.errors import CollectionBusyError
from nearkin.store.schema import activity, groupings
from nearkin.web.beside import ProcessBeside

AT_ONCE = 15_000
"""Characters of texts that are compared while the page is made."""
_WAITING_S = 0.15
_CHARACTERS = 1_000
"""Characters of a text without keys, about."""
_MAX_KEPT = 64
"""Results, and works that wait, of pages; and as many of single requests."""
_CHARACTERS_PER_S = 1_000
"""A work that has waited for a second longer goes before one whose texts are shorter by this."""
_OF_NO_GROUP = (TAG, "untag", BATCH, CODE, CODING, SEARCH, "note", "group-note")
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


def characters_to_check(connection: Connection, texts: Iterable[str]) -> int:
    """Return the size of a check of texts: the first one after a load makes the keys of its texts."""
    return sum(map(len, texts)) + _CHARACTERS * KEYS.n_missing(connection)


@dataclass(frozen=True, slots=True)
class LongWork(Generic[Found]):
    """Work about texts of a size, as in `Later.get`, for one request; and what makes an answer of the result."""

    work: partial[Found]
    n_characters: int
    answer: Callable[[Found], object] = lambda found: found


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    rank: float
    work: partial[Any]
    made_from: Hashable
    is_kept: bool
    future: Future[Any] = field(default_factory=Future)

    @property
    def is_waiting(self) -> bool:
        return not (self.future.running() or self.future.done())


class Later:
    """Results that another process computes, one at a time, and the latest ones.

    ``compute`` does a work that can be pickled.
    """

    def __init__(self, opened: OpenedCollection) -> None:
        self._opened, self._process = opened, ProcessBeside(opened)
        self.compute = self._process.compute
        self._changed = threading.Condition()
        self._kept = OrderedDict[Hashable, _Waiting]()
        self._thread: threading.Thread | None = None
        self._is_over = False

    def get(
        self,
        work: partial[Found],
        n_characters: int,
        made_from: Hashable,
        *,
        key: Hashable = None,
        is_kept: bool = True,
    ) -> Found:
        """Return the result of work about texts of a size: at once if they are short.

        Parameters
        ----------
        work
            A function of the open collection, which another process can import, with its other arguments by name.
        key
            By default the function and the arguments. A key has one work at a time; one made from something else is
            replaced, unless it is running.
        is_kept
            Whether the result is asked for again.

        Raises
        ------
        NotYet
            They are long, and it is not done yet. The same call finds it later.
        CollectionBusyError
            They are long, and the service is ending.
        """
        if n_characters <= AT_ONCE:
            return work(self._opened)
        key = (work.func, *work.keywords.items()) if key is None else key
        with self._changed:
            work_of_key = self._kept.get(key)
            is_other = work_of_key is None or work_of_key.made_from != made_from
            if self._is_over and is_other:
                raise CollectionBusyError("The service is ending: it begins no long comparison.")
            if work_of_key is None or (is_other and not work_of_key.future.running()):
                awaited = work_of_key.future if work_of_key is not None and work_of_key.is_waiting else Future()
                rank = n_characters + _CHARACTERS_PER_S * monotonic()
                work_of_key = self._kept[key] = _Waiting(rank, work, made_from, is_kept, awaited)
            self._kept.move_to_end(key)
            self._drop_oldest()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="nearkin-later", daemon=True)
                self._thread.start()
            self._changed.notify()
        future: Future[Found] = work_of_key.future
        wait([future], _WAITING_S)
        if not future.done() or future.cancelled() or work_of_key.made_from != made_from:
            raise NotYet(future)
        if future.exception() is not None or not is_kept:
            with self._changed:
                if self._kept.get(key) is work_of_key:
                    del self._kept[key]
        return future.result()

    def _drop_oldest(self) -> None:
        """Keep what was asked for last, single requests apart from pages; what is dropped is not begun."""
        for is_done, is_kept in product((True, False), repeat=2):
            works = self._kept.items()
            keys = [key for key, work in works if (work.future.done(), work.is_kept) == (is_done, is_kept)]
            for key in keys[:-_MAX_KEPT]:
                if is_done or self._kept[key].future.cancel():
                    del self._kept[key]

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (waiting := [work for work in self._kept.values() if work.is_waiting]) and not self._is_over:
                    self._changed.wait()
                if self._is_over:
                    return
                work = min(waiting, key=lambda waiting_work: waiting_work.rank)
                work.future.set_running_or_notify_cancel()
            try:
                work.future.set_result(self.compute(work.work))
            except BaseException as error:  # noqa: BLE001  # whoever asks for the result gets it
                work.future.set_exception(error)

    def close(self) -> None:
        """Begin no more work, cancel what waits, and end what is being done."""
        with self._changed:
            self._is_over = True
            for work in self._kept.values():
                work.future.cancel()
            self._changed.notify()
        self._process.close()
