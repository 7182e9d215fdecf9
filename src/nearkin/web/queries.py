"""Parameters of requests: typed records, from query strings and forms."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any, Literal, TypeVar, get_args, get_origin
from urllib.parse import parse_qsl

import msgspec

from nearkin.collection.tolerance import CONTAINMENT, EDIT, GAMMA, THRESHOLD, Tolerance
from nearkin.errors import ParameterError, is_int, quoted
from nearkin.nouns import one_of

Asked = TypeVar("Asked", bound=msgspec.Struct)
Measure = Literal["words", "letters", "containment", "edit"]
"""Measures with a slider."""
GroupMeasure = Literal["words", "letters"]
"""Measures by which documents can be grouped."""
Place = Literal["query", "form"]
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_DIGITS = re.compile(r"[+-]?[0-9]+")
_EXPECTED = re.compile(r"query\.([^:]*): Expected (.*)\. Got (.*) instead\.", re.DOTALL)
_LACKING = re.compile(r"query: Object missing required field `([^`]*)`\.")
_KINDS = {"float": "a number", "int": "a whole number", "bool": "1 or omitted"}
"""Types of parameters in words."""
MEASURES: tuple[Measure, ...] = ("words", "containment", "edit", "letters")
DEFAULTS: dict[Measure, float] = {"words": THRESHOLD, "letters": GAMMA, "containment": CONTAINMENT, "edit": EDIT}


def parameters_in(query: str, max_fields: int | None = None) -> list[tuple[str, str]]:
    """Return the names and values of a query string.

    Raises
    ------
    ParameterError
        It is not UTF-8, or has more than ``max_fields`` parameters.

    Examples
    --------
    >>> parameters_in("id=lease%2F1&wave=")
    [('id', 'lease/1'), ('wave', '')]
    """
    try:
        return parse_qsl(query, keep_blank_values=True, max_num_fields=max_fields, errors="strict")
    except UnicodeDecodeError:
        raise ParameterError("query: the parameters must be UTF-8, with % escapes.") from None
    except ValueError:
        raise ParameterError(f"query: a request must have at most {max_fields:,} parameters.") from None


def parsed(
    kind: type[Asked], given: Iterable[tuple[str, str]], place: Place = "query", in_path: Collection[str] = ()
) -> Asked:
    """Return the record of named values; an empty value counts as missing, a repeated value is a list.

    Messages name the value with its place: ``query.value``, ``form.tag``, or ``path.number`` for those ``in_path``.

    Raises
    ------
    ParameterError
        A value is missing or breaks its rule.
    """
    lists = {name for name, is_list in fields_of(kind).items() if is_list}
    listed, values = dict[str, list[str]](), dict[str, str]()
    for name, value in given:
        if name in lists:
            listed.setdefault(name, []).append(value)
        elif value != "":
            values[name] = value
    if kind.__struct_config__.forbid_unknown_fields:
        _check_known([*values, *listed], fields_of(kind), place, in_path)
    given_values = {**values, **listed}
    try:
        found = msgspec.convert(given_values, kind, strict=False)
    except msgspec.ValidationError as error:
        what, inside = fault_in(error, given_values, kind)
        where = "path" if re.split(r"[.\[]", inside.removeprefix("."))[0] in in_path else place
        raise ParameterError(f"{where}{inside}: {what}.") from error
    for name, value in values.items():  # msgspec takes 1e3 for an integer
        if is_int(getattr(found, name, None)) and not _DIGITS.fullmatch(value):
            where = "path" if name in in_path else place
            raise ParameterError(f"{where}.{name}: Expected `int`. Got {quoted(value)} instead.")
    return found


def in_plain_words(message: str) -> str:
    """Return the message about a parameter of the address of a page without the names of types.

    Examples
    --------
    >>> in_plain_words("query.value: Expected `float | null`. Got 'abc' instead.")
    "The parameter value must be a number. It is 'abc'."
    >>> in_plain_words("query.measure: Expected 'words' or 'letters'. Got 'x' instead.")
    "The parameter measure must be 'words' or 'letters'. It is 'x'."
    >>> in_plain_words("query: Object missing required field `id`.")
    'The parameter id is missing.'
    """
    if (found := _EXPECTED.fullmatch(message)) is not None:
        name, expected, given = found.groups()
        kind = _KINDS.get(expected.strip("`").removesuffix(" | null"), expected)
        return f"The parameter {name} must be {kind}. It is {given}."
    if (found := _LACKING.fullmatch(message)) is not None:
        return f"The parameter {found[1]} is missing."
    return message


def fault_in(error: msgspec.DecodeError, given: object, kind: type[msgspec.Struct]) -> tuple[str, str]:
    """Return what is wrong with a part of what was given, the allowed values or type and its value, and where it is.

    Examples
    --------
    >>> class Example(msgspec.Struct):
    ...     limit: int
    >>> try:
    ...     msgspec.convert({"limit": "many"}, Example, strict=False)
    ... except msgspec.ValidationError as error:
    ...     fault_in(error, {"limit": "many"}, Example)
    ("Expected `int`. Got 'many' instead", '.limit')
    """
    what, _, inside = str(error).partition(" - at `$")
    inside = inside.removesuffix("`")
    value: Any = given
    try:
        for name, place in _STEP.findall(inside):
            value = value[int(place)] if place else value[name]
    except (KeyError, IndexError, TypeError, ValueError):
        return what, inside
    if what.startswith("Expected ") and isinstance(value, int | float | str) and not isinstance(value, bool):
        what = f"{what.partition(', got ')[0]}. Got {quoted(value)} instead"
    elif what.startswith("Invalid enum value") and (allowed := _values_of(kind, inside)):
        what = f"Expected {one_of(map(repr, allowed))}. Got {quoted(value)} instead"
    return what, inside


def _values_of(kind: type[msgspec.Struct], inside: str) -> list[object]:
    """Return the allowed values of the field at a place such as ``.measure`` or ``.ignore[0]``, if it names them."""
    name = re.split(r"[.\[]", inside.removeprefix("."))[0]
    types = [one.type for one in msgspec.structs.fields(kind) if one.encode_name == name]
    found = list[object]()
    while types:
        one = types.pop()
        if get_origin(one) is Literal:
            found += get_args(one)
        else:
            types += get_args(one)
    return found


def _check_known(given: Iterable[str], known: Collection[str], place: Place, in_path: Collection[str]) -> None:
    """Refuse a parameter that an address does not take, and say which it takes."""
    for name in given:
        if name not in known:
            names = ", ".join(one for one in known if one not in in_path)
            takes = f"takes {names}" if names else "takes no parameters"
            raise ParameterError(f"{place}: {quoted(name)} is not a parameter of this address, which {takes}.")


def fields_of(kind: type[msgspec.Struct]) -> dict[str, bool]:
    """Return the names of the parameters of a record, and whether each may be repeated."""
    return {one.encode_name: get_origin(one.type) in (list, tuple) for one in msgspec.structs.fields(kind)}


class DoneQuery(msgspec.Struct):
    """Number of the activity that led to a page, and of the job that updates the groups after it."""

    done: int | None = None
    job: int | None = None


class ToleranceQuery(msgspec.Struct, kw_only=True):
    """Tolerance of a query: a measure and its limit."""

    measure: Measure = "words"
    value: float | None = None

    @property
    def chosen_measure(self) -> Measure:
        """The measure, also if it was not given."""
        return self.measure

    @property
    def tolerance(self) -> Tolerance:
        """The tolerance; the limit is that of the measure unless it is given."""
        measure = self.chosen_measure
        value = DEFAULTS[measure] if self.value is None else self.value
        if measure == "letters":
            return Tolerance.of("letters", gamma=value)
        return Tolerance.of(measure, threshold=value)


class GroupingQuery(ToleranceQuery, kw_only=True):
    """Tolerance of groups."""

    measure: GroupMeasure = "words"


class SizesQuery(GroupingQuery, kw_only=True):
    """Groups with some numbers of documents."""

    min_documents: int = 2
    max_documents: int | None = None


class OverlayQuery(GroupingQuery, kw_only=True):
    """Groups, and the review tool and the format of their overlay."""

    tool: Literal["relativity", "everlaw", "reveal", "purview", "plain"] = "relativity"
    format: Literal["dat", "csv"] = "dat"
