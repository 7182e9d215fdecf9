"""Note on an interrupted command that its documents are stored already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from nearkin.errors import NearkinError
from nearkin.store import schema
from nearkin.store.store import Store

if TYPE_CHECKING:
    from nearkin.collection.loads.loading import Load

_STORED = "All documents of this command are stored."


@dataclass(slots=True)
class Storing:
    """Whether the documents of a command are stored."""

    is_done: bool = False


@contextmanager
def noted_as_stored(*, is_done: bool = False) -> Iterator[Storing]:
    """Say that the documents are stored if the block is interrupted after it set ``is_done``."""
    storing = Storing(is_done)
    try:
        yield storing
    except KeyboardInterrupt as error:
        if storing.is_done:
            _note(error)
        raise


class Commit:
    """The end of a load's transaction, during which an interruption can arrive before or after the load is stored.

    Attributes
    ----------
    load : Load or None
        The load, once all of it was written.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.load: Load | None = None

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Say that the documents are stored if the block is interrupted and the database has the load."""
        try:
            yield
        except KeyboardInterrupt as error:
            if self.load is not None and self._is_stored(self.load):
                _note(error)
            raise

    def _is_stored(self, load: Load) -> bool:
        loads = schema.loads.c
        same = (loads.load == load.number, loads.added_at == load.added_at, loads.digest == load.digest.digest())
        with suppress(NearkinError), self._store.reading() as connection:
            return connection.execute(select(loads.load).where(*same)).first() is not None
        return False


def _note(error: KeyboardInterrupt) -> None:
    if _STORED not in getattr(error, "__notes__", ()):
        error.add_note(_STORED)
