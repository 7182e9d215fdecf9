"""Arguments of the Python API: flags must be True or False, and numbers of numpy count as Python's."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from nearkin.errors import ParameterError

_F = TypeVar("_F", bound=Callable[..., Any])
_C = TypeVar("_C", bound=type)
_MAX_BITS = 1024
"""Length of the first ints that are too large for a float."""
_ID = "doc_id"
"""Parameter that is a name, whatever its type."""
_FLAGS = ("bool", bool, "bool | None", bool | None)


def checking_arguments(function: _F, owner: str | None = None) -> _F:
    """Decorate a public function: refuse flags that are no bool, and convert numpy's bools and real numbers.

    A flag is a parameter with the annotation ``bool``: otherwise ``report="no"`` would write a report.

    Examples
    --------
    >>> @checking_arguments
    ... def walk(*, speed: float, is_slow: bool = False) -> tuple[float, bool]:
    ...     return speed, is_slow
    >>> import numpy as np
    >>> walk(speed=np.float32(0.8), is_slow=np.True_)
    (0.8, True)
    >>> walk(speed=1.0, is_slow="no")
    Traceback (most recent call last):
    ...
    nearkin.errors.ParameterError: The 'is_slow' parameter of walk must be True or False. Got 'no' instead.
    """
    parameters = inspect.signature(function).parameters.values()
    flags = {one.name: one.annotation in _FLAGS[2:] for one in parameters if one.annotation in _FLAGS}
    places = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    whose = owner or function.__name__

    def checked(name: str, value: object) -> object:
        if name == _ID:
            return value
        value = plain_number(value)
        if name in flags and not isinstance(value, bool) and not (value is None and flags[name]):
            raise ParameterError.of(name, whose, "True or False", value)
        if isinstance(value, int) and value.bit_length() >= _MAX_BITS:
            raise ParameterError.of(name, whose, "a number with fewer digits", value)
        return value

    @functools.wraps(function)
    def called(*values: Any, **given: Any) -> Any:
        names = [*places, *[""] * len(values)]
        return function(*map(checked, names, values), **{name: checked(name, value) for name, value in given.items()})

    return called  # type: ignore[return-value]  # it takes what the function takes


def checking_methods(cls: _C) -> _C:
    """Decorate a class of the Python API: `checking_arguments` for its public methods and its constructor."""
    for name, method in list(vars(cls).items()):
        if inspect.isfunction(method) and not name.startswith("_"):
            setattr(cls, name, checking_arguments(method))
        elif inspect.isfunction(method) and name == "__init__":
            setattr(cls, name, checking_arguments(method, cls.__name__))
        elif isinstance(method, classmethod) and not name.startswith("_"):
            owner = f"{cls.__name__}.{name}"
            setattr(cls, name, classmethod(checking_arguments(method.__func__, owner)))
    return cls


def plain_number(value: object) -> object:
    """Return a bool, int or float of Python for a scalar of numpy, and any other value unchanged.

    A float32 becomes the shortest decimal that it stands for, 0.8 rather than 0.800000011920929.
    """
    numpy = sys.modules.get("numpy")  # without numpy there is no such value
    if numpy is None or not isinstance(value, numpy.generic) or isinstance(value, float):
        return value
    if isinstance(value, numpy.bool_ | numpy.integer):
        return value.item()
    return float(str(value)) if isinstance(value, numpy.floating) else value
