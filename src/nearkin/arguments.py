"""Arguments of the Python API: flags must be True or False, and numbers of numpy count as Python's."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from nearkin.errors import ParameterError

_F = TypeVar("_F", bound=Callable[..., Any])
_C = TypeVar("_C", bound=type)
_MAX_BITS = 1024
"""Length of the first ints that are too large for a float."""
_ID = "doc_id"
"""Parameter that is a name, whatever its type."""
_FLAGS = ("bool", bool, "bool | None", bool | None)


def checking_arguments(function: _F) -> _F:
    """Decorate a public function: refuse flags that are no bool, and convert numpy's bools and real numbers.

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
    nearkin.errors.ParameterError: is_slow: must be True or False. Got: 'no'
    """
    parameters = inspect.signature(function).parameters.values()
    flags = {
        parameter.name: parameter.annotation in _FLAGS[2:] for parameter in parameters if parameter.annotation in _FLAGS
    }
    places = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]

    def checked(name: str, value: object) -> object:
        value = plain_argument(name, value)
        if name in flags and not isinstance(value, bool) and not (value is None and flags[name]):
            raise ParameterError.of(name, "True or False", value)
        return value

    @functools.wraps(function)
    def called(*values: Any, **given: Any) -> Any:
        names = [*places, *[""] * len(values)]
        return function(*map(checked, names, values), **{name: checked(name, value) for name, value in given.items()})

    return called  # type: ignore[return-value]  # it takes what the function takes


def plain_argument(name: str, value: object) -> object:
    """Return an argument, with Python's bool or number for one of numpy; refuse values that no parameter takes."""
    if name == _ID:
        return value
    value = plain_number(value)
    if _is_no_value(value):
        raise ParameterError.of(name, "a value of Python, a number of numpy, or an array with dimensions", value)
    if isinstance(value, int) and value.bit_length() >= _MAX_BITS:
        raise ParameterError.of(name, "a number with fewer digits", value)
    return value


def checking_methods(cls: _C) -> _C:
    """Decorate a class of the Python API: `checking_arguments` for its public methods and its constructor."""
    for name, method in list(vars(cls).items()):
        if inspect.isfunction(method) and (name == "__init__" or not name.startswith("_")):
            setattr(cls, name, checking_arguments(method))
        elif isinstance(method, classmethod) and not name.startswith("_"):
            setattr(cls, name, classmethod(checking_arguments(method.__func__)))
    return cls


def checking_records(cls: _C) -> _C:
    """Decorate a class of `nearkin.signatures`: as `checking_methods`, and check the types of arguments."""
    for name, method in list(vars(cls).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if inspect.isfunction(method):
            setattr(cls, name, checking_types(method))
        elif isinstance(method, classmethod):
            setattr(cls, name, classmethod(checking_types(method.__func__)))
    return checking_methods(cls)


def checking_types(function: _F) -> _F:
    """Decorate a function: refuse arguments that are not of the annotated class, if it is str, a record or an array."""
    signature = inspect.signature(function)

    @functools.cache  # at the first call: the modules of the classes are loaded by then
    def classes() -> Mapping[str, type]:
        annotated = {
            name: _class_of(parameter.annotation, function) for name, parameter in signature.parameters.items()
        }
        return {name: parameter for name, parameter in annotated.items() if parameter is not None}

    @functools.wraps(function)
    def called(*values: Any, **given: Any) -> Any:
        try:
            bound = signature.bind(*values, **given).arguments
        except TypeError:
            return function(*values, **given)  # whose message names the function
        for name, wanted in classes().items():
            if name in bound and not isinstance(bound[name], wanted):
                module = "" if wanted.__module__.startswith(("nearkin", "builtins")) else f"{wanted.__module__}."
                article = "an" if wanted.__name__[0] in "aeiou" and not module else "a"
                rule = f"{article} {module.replace('.lib.', '.')}{wanted.__name__}"
                raise ParameterError.of(name, rule, bound[name])
        return function(*values, **given)

    return called  # type: ignore[return-value]  # it takes what the function takes


def _class_of(annotation: object, function: Callable[..., Any]) -> type | None:
    if annotation in ("str", str):
        return str
    first, *rest = str(annotation).split(".")
    value = functools.reduce(lambda place, name: getattr(place, name, None), rest, function.__globals__.get(first))
    for step in ("__origin__", "__value__", "__origin__"):  # of arrays of one type, which newer versions alias by name
        value = getattr(value, step, value)
    package = getattr(value, "__module__", "").partition(".")[0]
    is_known = package in ("numpy", "pyarrow", "nearkin") and not getattr(value, "_is_protocol", False)
    return value if isinstance(value, type) and is_known else None


def _is_no_value(value: object) -> bool:
    """Whether a value is masked or void, as numpy calls them, or an array of one value that is no number."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and (
        isinstance(value, numpy.void) or (isinstance(value, numpy.ndarray) and value.ndim == 0)
    )


def plain_number(value: object) -> object:
    """Return a bool, int or float of Python for a scalar of numpy, and any other value unchanged.

    A float32 becomes the shortest decimal that it stands for, 0.8 rather
    than 0.800000011920929.

    Examples
    --------
    >>> import numpy as np
    >>> plain_number(np.float32(0.8)), plain_number(np.array(0.8)), plain_number(np.int64(5)), plain_number("5")
    (0.8, 0.8, 5, '5')
    """
    numpy = sys.modules.get("numpy")  # without numpy there is no such value
    if numpy is not None and isinstance(value, numpy.ndarray) and value.ndim == 0:
        scalar = value[()]
        return plain_number(scalar) if isinstance(scalar, numpy.bool_ | numpy.number) else value
    if numpy is None or not isinstance(value, numpy.generic) or type(value) is float:
        return value
    if isinstance(value, numpy.bool_ | numpy.integer):
        return value.item()
    return float(str(value)) if isinstance(value, numpy.floating) else value
