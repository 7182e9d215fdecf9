"""Properties that are computed once, for objects of one thread: a short mail has eight of them.

`functools.cached_property` of Python 3.11 takes a lock for each, which takes longer than the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class kept_property(Generic[T]):
    """Decorator of a method whose value takes its place in the object.

    Examples
    --------
    >>> class Text:
    ...     @kept_property
    ...     def words(self):
    ...         print("counted")
    ...         return 3
    >>> text = Text()
    >>> text.words + text.words
    counted
    6
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, of: None, owner: type) -> kept_property[T]: ...

    @overload
    def __get__(self, of: object, owner: type) -> T: ...

    def __get__(self, of: object | None, owner: type) -> kept_property[T] | T:
        if of is None:
            return self
        value = self._compute(of)
        of.__dict__[self._name] = value
        return value
