"""Values computed from an open store, kept while their source stays the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Engine

Value = TypeVar("Value")


class KeptValues(Generic[Value]):
    """The latest value of each name, by open store; a store that is closed takes its values with it.

    Examples
    --------
    >>> from sqlalchemy import create_engine
    >>> engine, lengths = create_engine("sqlite://"), KeptValues[int]()
    >>> lengths.get(engine, "word", "one", lambda: 3), lengths.get(engine, "word", "one", lambda: 0)
    (3, 3)
    >>> lengths.get(engine, "word", "seven", lambda: 5)
    5
    """

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[Engine, dict[str, tuple[object, Value]]] = WeakKeyDictionary()

    def get(self, engine: Engine, name: str, made_from: object, make: Callable[[], Value]) -> Value:
        """Return the value of a name; compute it again if its source has changed."""
        of_store = self._kept.setdefault(engine, {})
        known = of_store.get(name)
        if known is None or known[0] != made_from:
            known = of_store[name] = made_from, make()
        return known[1]

    def forget(self, engine: Engine, name: str) -> None:
        """Forget the value of a name."""
        self._kept.get(engine, {}).pop(name, None)
