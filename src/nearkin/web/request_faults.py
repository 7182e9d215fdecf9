"""Faults of requests: where a part breaks its rule, in words for programs and in words for pages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args, get_origin

import msgspec

from nearkin.errors import ParameterError, quoted
from nearkin.nouns import one_of

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


class InvalidRequestError(ParameterError):
    """A part of a request to ``nearkin serve`` breaks its rule.

    Parameters
    ----------
    where : str
        The place in the request, and the field, such as "query.value"; the message begins with it.
    what : str
        What is wrong there, for programs.
    on_page : str, optional
        The whole message as a page shows it; by default ``what``.
    """

    def __init__(self, where: str, what: str, *, on_page: str = "") -> None:
        super().__init__(what, parameter=where)
        self.on_page = on_page or what


@dataclass(frozen=True, slots=True)
class RequestFault:
    """Part of a request that breaks its rule.

    Parameters
    ----------
    inside : str
        Where it is in the record, such as ``.limit`` or ``.ignore[0]``; "" for the whole record.
    rule : str
        The type or the values that msgspec expects.
    came : str, optional
        The value, quoted; unless the rule says it.
    missing : str
        Name of a field without a value; else "".

    Examples
    --------
    >>> RequestFault(".ignore[0]", "Expected `int`", "'x'").for_programs
    "Expected `int`. Got 'x' instead"
    >>> RequestFault(".ignore[0]", "Expected `int`", "'x'").field
    'ignore'
    """

    inside: str
    rule: str
    came: str | None = None
    missing: str = ""

    @property
    def field(self) -> str:
        """Name of the field, without what is inside it; "" for the whole record."""
        return re.split(r"[.\[]", self.inside.removeprefix("."))[0]

    @property
    def for_programs(self) -> str:
        """Message in the words of the API, without the place."""
        return self.rule if self.came is None else f"{self.rule}. Got {self.came} instead"


def fault_in(error: msgspec.DecodeError, given: object, kind: type[msgspec.Struct]) -> RequestFault:
    """Return what is wrong with a part of what was given, the allowed values or type and its value, and where it is.

    Examples
    --------
    >>> class Example(msgspec.Struct):
    ...     limit: int
    >>> def fault(given):
    ...     try:
    ...         msgspec.convert(given, Example, strict=False)
    ...     except msgspec.ValidationError as error:
    ...         return fault_in(error, given, Example)
    >>> fault({"limit": "many"})
    RequestFault(inside='.limit', rule='Expected `int`', came="'many'", missing='')
    >>> fault({}).missing
    'limit'
    """
    what, _, inside = str(error).partition(" - at `$")
    inside = inside.removesuffix("`")
    value: Any = given
    try:
        for name, place in _STEP.findall(inside):
            value = value[int(place)] if place else value[name]
    except (KeyError, IndexError, TypeError, ValueError):
        return RequestFault(inside, what)
    if what.startswith("Expected ") and isinstance(value, int | float | str) and not isinstance(value, bool):
        return RequestFault(inside, what.partition(", got ")[0], quoted(value))
    if what.startswith("Invalid enum value"):
        fault = RequestFault(inside, what, quoted(value))
        if allowed := values_of(types_of(kind, fault.field)):
            return replace(fault, rule=f"Expected {one_of(map(repr, allowed))}")
    lacking = "" if inside or not isinstance(given, dict) else _missing_field(kind, given)
    return RequestFault(inside, what, missing=lacking)


def _missing_field(kind: type[msgspec.Struct], given: Collection[str]) -> str:
    """Return the first required field without a value; "" if there is none."""
    required = (one.encode_name for one in msgspec.structs.fields(kind) if one.required)
    return next((name for name in required if name not in given), "")


def types_of(kind: type[msgspec.Struct], field: str) -> list[object]:
    """Return the type of a field and all types inside it, such as those of a union."""
    left, found = [one.type for one in msgspec.structs.fields(kind) if one.encode_name == field], list[object]()
    while left:
        one = left.pop()
        found.append(one)
        if get_origin(one) is not Literal:
            left += get_args(one)
    return found


def values_of(types: Iterable[object]) -> list[object]:
    """Return the values that types name, as in ``Literal``; none if they name none."""
    return [value for one in types if get_origin(one) is Literal for value in get_args(one)]
