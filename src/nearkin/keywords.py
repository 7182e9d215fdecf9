"""Keywords of functions, written once in a ``TypedDict``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])


def taking(keywords: type) -> Callable[[_F], _F]:
    """Make a decorator for functions with ``**given: Unpack[keywords]``, which type checkers understand by themselves.

    The decorated function refuses other keywords, as Python does, and its signature lists those that there are, for
    ``help`` and the documentation: with the default False for a ``bool``, and None for all others.

    Parameters
    ----------
    keywords : subclass of TypedDict
        Keywords with their types.

    Examples
    --------
    >>> from typing import TypedDict, Unpack
    >>> class Pace(TypedDict, total=False):
    ...     n_steps: int | None
    ...     is_slow: bool
    >>> @taking(Pace)
    ... def walk(place: str, **given: Unpack[Pace]) -> str:
    ...     return f"{place}: {given}"
    >>> list(inspect.signature(walk).parameters)
    ['place', 'n_steps', 'is_slow']
    >>> walk("home", n_steps=3)
    "home: {'n_steps': 3}"
    >>> walk("home", steps=3)
    Traceback (most recent call last):
    ...
    TypeError: walk() got an unexpected keyword argument 'steps'
    """
    types = {name: getattr(kind, "__forward_arg__", kind) for name, kind in keywords.__annotations__.items()}
    listed = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=_default(kind))
        for name, kind in types.items()
    ]

    def decorated(function: _F) -> _F:
        signature = inspect.signature(function)
        named = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        signature = signature.replace(parameters=[*named, *listed])

        @functools.wraps(function)
        def called(*values: Any, **given: Any) -> Any:
            try:
                signature.bind(*values, **given)
            except TypeError as error:
                error.args = (f"{function.__name__}() {error}",)
                raise
            return function(*values, **given)

        called.__signature__ = signature  # type: ignore[attr-defined]  # what inspect and Sphinx ask for
        return called  # type: ignore[return-value]  # it takes what the function takes

    return decorated


def _default(kind: object) -> bool | None:
    return False if kind in ("bool", bool) else None
