"""Parameters of requests: typed records, from query strings and forms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeVar, get_origin

import msgspec

from nearkin.collection.tolerance import CONTAINMENT, EDIT, GAMMA, THRESHOLD, Tolerance
from nearkin.errors import ParameterError

Asked = TypeVar("Asked", bound=msgspec.Struct)
Measure = Literal["words", "letters", "containment", "edit"]
"""Measures with a slider."""
MEASURES: tuple[Measure, ...] = ("words", "containment", "edit", "letters")
DEFAULTS: dict[Measure, float] = {"words": THRESHOLD, "letters": GAMMA, "containment": CONTAINMENT, "edit": EDIT}


def parsed(kind: type[Asked], given: Iterable[tuple[str, str]]) -> Asked:
    """Return the record of named values; an empty one counts as missing, a repeated one is a list.

    Raises
    ------
    ParameterError
        A value is missing or breaks its rule.
    """
    lists = {one.encode_name for one in msgspec.structs.fields(kind) if get_origin(one.type) in (list, tuple)}
    listed, values = dict[str, list[str]](), dict[str, str]()
    for name, value in given:
        if name in lists:
            listed.setdefault(name, []).append(value)
        elif value != "":
            values[name] = value
    try:
        return msgspec.convert({**values, **listed}, kind, strict=False)
    except msgspec.ValidationError as error:
        raise ParameterError(f"The request is not valid: {error}.") from error


class DoneQuery(msgspec.Struct):
    """Number of the activity that led to a page."""

    done: int | None = None


class ToleranceQuery(msgspec.Struct, kw_only=True):
    """Tolerance of a question: a measure and its limit."""

    measure: Measure = "words"
    value: float | None = None

    @property
    def tolerance(self) -> Tolerance:
        """The tolerance; the limit is that of the measure unless it is given."""
        value = DEFAULTS[self.measure] if self.value is None else self.value
        if self.measure == "letters":
            return Tolerance.of("letters", gamma=value)
        return Tolerance.of(self.measure, threshold=value)
