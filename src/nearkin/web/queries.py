"""Parameters of requests: typed records, from query strings and forms, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, get_args, get_origin
from urllib.parse import parse_qsl

import msgspec

from nearkin.collection.tolerance import LIMITS, Tolerance
from nearkin.errors import ParameterError, is_int, quoted
from nearkin.nouns import one_of

Asked = TypeVar("Asked", bound=msgspec.Struct)
SliderMeasure = Literal["jaccard", "letters", "containment"]
"""Measures with a slider."""
GroupMeasure = Literal["jaccard", "letters"]
"""Measures by which documents can be grouped."""
Place = Literal["query", "form"]
_DIGITS = re.compile(r"[+-]?[0-9]+")
_KINDS = {float: "a number", int: "a whole number", bool: "1 or omitted", str: "text"}
"""Types of parameters in words."""
SLIDER_MEASURES: tuple[SliderMeasure, ...] = ("jaccard", "containment", "letters")


def parameters_in(query: str, max_fields: int | None = None) -> list[tuple[str, str]]:
    """Return the names and values of a query string.

    Raises
    ------
    InvalidRequestError
        It is not UTF-8, or has more than ``max_fields`` parameters.

    Examples
    --------
    >>> parameters_in("id=lease%2F1&wave=")
    [('id', 'lease/1'), ('wave', '')]
    """
    try:
        return parse_qsl(query, keep_blank_values=True, max_num_fields=max_fields, errors="strict")
    except UnicodeDecodeError:
        raise InvalidRequestError(
            "query",
            "the parameters must be UTF-8, with % escapes.",
            on_page="The parameters must be UTF-8, with % escapes.",
        ) from None
    except ValueError:
        raise InvalidRequestError("query", f"a request must have at most {max_fields:,} parameters.") from None


def parsed(
    kind: type[Asked],
    given: Iterable[tuple[str, str]],
    place: Place = "query",
    in_path: Collection[str] = (),
    *,
    is_strict: bool = False,
) -> Asked:
    """Return the record of named values; an empty value counts as missing, and only lists may be repeated.

    Messages name the value with its place: ``query.value``, ``form.tag``, or ``path.number`` for those ``in_path``.
    If ``is_strict``, an empty value outside the path counts as missing only for text of any length.

    Raises
    ------
    InvalidRequestError
        A value is missing or breaks its rule, or is given twice.
    """
    is_list = fields_of(kind)
    listed, values, seen = dict[str, list[str]](), dict[str, str](), set[str]()
    for name, value in given:
        if is_list.get(name):
            listed.setdefault(name, []).append(value)
            continue
        if name in seen and name in is_list:
            raise repeated_error(name, place)
        seen.add(name)
        if value != "" or (is_strict and name not in in_path and not _may_be_empty(kind, name)):
            values[name] = value
    if kind.__struct_config__.forbid_unknown_fields:
        _check_known([*values, *listed], fields_of(kind), place, in_path)
    given_values = {**values, **listed}
    try:
        found = msgspec.convert(given_values, kind, strict=False)
    except msgspec.ValidationError as error:
        fault = fault_in(error, given_values, kind)
        where = "path" if fault.field in in_path else place
        raise _error_of(fault, f"{where}{fault.inside}", kind) from error
    for name, value in values.items():  # msgspec takes 1e3 for an integer
        if is_int(getattr(found, name, None)) and not _DIGITS.fullmatch(value):
            where = "path" if name in in_path else place
            raise _error_of(RequestFault(f".{name}", "Expected `int`", quoted(value)), f"{where}.{name}", kind)
    return found


def repeated_error(name: str, place: Place) -> InvalidRequestError:
    """Return the error of a value that is given twice, so that one would be lost without a word.

    Examples
    --------
    >>> str(repeated_error("value", "query"))
    'query.value: this parameter must be given once. It came several times.'
    >>> repeated_error("is_removed", "form").on_page
    "The field 'is removed' of the form must be given once. It came several times."
    """
    what = "field" if place == "form" else "parameter"
    once = "must be given once. It came several times."
    return InvalidRequestError(f"{place}.{name}", f"this {what} {once}", on_page=f"{_shown(name, place)} {once}")


def _shown(field: str, place: str) -> str:
    """Return the name of a value as a page shows it."""
    return f"The field '{field.replace('_', ' ')}' of the form" if place == "form" else f"The parameter {field}"


def _error_of(fault: RequestFault, where: str, kind: type[msgspec.Struct]) -> InvalidRequestError:
    """Return the error of a fault, in words for programs and in words for pages."""
    field = fault.field or fault.missing
    shown = _shown(field, where.partition(".")[0])
    if fault.missing:
        on_page = f"{shown} is missing."
    else:
        came = "" if fault.came is None else f" It is {fault.came}."
        on_page = f"{shown} must be {_rule_on_page(kind, field)}.{came}"
    return InvalidRequestError(where, f"{fault.for_programs}.", on_page=on_page)


def _rule_on_page(kind: type[msgspec.Struct], field: str) -> str:
    """Return the values that a field can have, as a page describes them."""
    types = types_of(kind, field)
    if allowed := values_of(types):
        return one_of(map(repr, allowed))
    return next((words for of_python, words in _KINDS.items() if of_python in types), "valid")


def _check_known(given: Iterable[str], known: Collection[str], place: Place, in_path: Collection[str]) -> None:
    """Refuse a parameter that an address does not take, and say which it takes."""
    for name in given:
        if name not in known:
            names = ", ".join(one for one in known if one not in in_path)
            takes = f"takes {names}" if names else "takes no parameters"
            raise InvalidRequestError(place, f"{quoted(name)} is not a parameter of this address, which {takes}.")


def fields_of(kind: type[msgspec.Struct]) -> dict[str, bool]:
    """Return the names of the parameters of a record, and whether each may be repeated."""
    return {one.encode_name: get_origin(one.type) in (list, tuple) for one in msgspec.structs.fields(kind)}


def _may_be_empty(kind: type[msgspec.Struct], name: str) -> bool:
    """Whether a parameter can be text of no length."""
    for one in msgspec.structs.fields(kind):
        if one.encode_name == name:
            try:
                msgspec.convert("", one.type, strict=False)
            except msgspec.ValidationError:
                return False
    return True


class DoneQuery(msgspec.Struct):
    """Number of the activity that led to a page, and of the job that updates the groups after it.

    ``unchanged``: a form led to the page, and changed nothing.
    """

    done: int | None = None
    job: int | None = None
    is_unchanged: bool = msgspec.field(default=False, name="unchanged")


class ToleranceQuery(msgspec.Struct, kw_only=True):
    """Tolerance of a query: a measure and its limit."""

    measure: SliderMeasure = "jaccard"
    value: float | None = None

    @property
    def chosen_measure(self) -> SliderMeasure:
        """The measure, also if it was not given."""
        return self.measure

    @property
    def tolerance(self) -> Tolerance:
        """The tolerance; the limit is that of the measure unless it is given."""
        measure = self.chosen_measure
        return Tolerance(measure, LIMITS[measure].default if self.value is None else self.value)


class GroupingQuery(ToleranceQuery, kw_only=True):
    """Tolerance of groups."""

    measure: GroupMeasure = "jaccard"


class SizesQuery(GroupingQuery, kw_only=True):
    """Groups with some numbers of documents."""

    min_documents: int = 2
    max_documents: int | None = None


class OverlayQuery(GroupingQuery, kw_only=True):
    """Groups, and the review tool and the format of their overlay."""

    tool: Literal["relativity", "everlaw", "reveal", "purview", "plain"] = "relativity"
    format: Literal["dat", "csv"] = "dat"


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
