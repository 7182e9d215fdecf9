"""Parameters of requests: typed records, from query strings and forms, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin
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
_KINDS = {
    "float": "a number", "int": "a whole number", "bool": "true or false", "str": "text", "array": "a list",
    "object": "an object",
}  # fmt: skip
"""Types of values in words, by their names in messages of msgspec."""
_STEP, _TYPE = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]"), re.compile("`([^`]+)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`\Z", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`\Z", re.DOTALL)
SLIDER_MEASURES: tuple[SliderMeasure, ...] = ("jaccard", "containment", "letters")


def parameters_in(query: str, max_fields: int | None = None) -> list[tuple[str, str]]:
    """Return the names and values of a query string.

    Examples
    --------
    >>> parameters_in("id=lease%2F1&wave=")
    [('id', 'lease/1'), ('wave', '')]
    """
    try:
        return parse_qsl(query, keep_blank_values=True, max_num_fields=max_fields, errors="strict")
    except UnicodeDecodeError:
        raise ParameterError("must be UTF-8, with % escapes.", parameter="query") from None
    except ValueError:
        raise ParameterError(f"must have at most {max_fields:,} parameters.", parameter="query") from None


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
    """
    is_list = fields_of(kind)
    listed, values, seen = dict[str, list[str]](), dict[str, str](), set[str]()
    for name, value in given:
        if is_list.get(name):
            listed.setdefault(name, []).append(value)
            continue
        if name in seen and name in is_list:
            raise repeated_error(f"{place}.{name}")
        seen.add(name)
        if value != "" or (is_strict and name not in in_path and not _may_be_empty(kind, name)):
            values[name] = value
    given_values = {**values, **listed}
    try:
        parameters = msgspec.convert(given_values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise request_error(error, given_values, kind, place, in_path) from error
    for name, value in values.items():  # msgspec takes 1e3 for an integer
        if is_int(getattr(parameters, name, None)) and not _DIGITS.fullmatch(value):
            raise ParameterError.of(f"{'path' if name in in_path else place}.{name}", _KINDS["int"], value)
    return parameters


def repeated_error(where: str) -> ParameterError:
    """Return the error of a value that is given twice, so that one would be lost without a word.

    Examples
    --------
    >>> str(repeated_error("query.value"))
    'query.value: must be given once. It came several times.'
    """
    return ParameterError("must be given once. It came several times.", parameter=where)


@cache
def fields_of(kind: type[msgspec.Struct]) -> dict[str, bool]:
    """Return the names of the parameters of a record, and whether each may be repeated."""
    return {field.encode_name: get_origin(field.type) in (list, tuple) for field in msgspec.structs.fields(kind)}


def _may_be_empty(kind: type[msgspec.Struct], name: str) -> bool:
    """Whether a parameter can be text of no length."""
    for field in msgspec.structs.fields(kind):
        if field.encode_name == name:
            try:
                msgspec.convert("", field.type, strict=False)
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


class ListPage(NamedTuple):
    """A page of a list: its number, from 1, the items of a page, and the number of pages."""

    number: int
    size: int
    n_pages: int = 1

    @classmethod
    def asked(cls, number: int, size: int) -> ListPage:
        """Return a page of this number, or near it if there is no such page."""
        return cls(max(1, min(number, 1 << 40)), size)

    @property
    def start(self) -> int:
        """Number of items before it."""
        return (self.number - 1) * self.size

    def of(self, n_items: int) -> ListPage:
        """Return the page of a list of so many items."""
        return self._replace(n_pages=-(-n_items // self.size))


class ToleranceQuery(msgspec.Struct, kw_only=True):
    """Tolerance of a query: a measure and its limit."""

    measure: SliderMeasure = "jaccard"
    value: float | None = None

    @property
    def tolerance(self) -> Tolerance:
        """The tolerance; the limit is that of the measure unless it is given."""
        return Tolerance(self.measure, LIMITS[self.measure].default if self.value is None else self.value)


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


def request_error(
    error: Exception, given: object, kind: type[msgspec.Struct], place: str, in_path: Collection[str] = ()
) -> ParameterError:
    """Return the error of a value in a request: its place, such as ``body.ids[1]``, its rule, and the value."""
    what, _, inside = str(error).partition(" - at `$")
    inside = inside.removesuffix("`")
    field = re.split(r"[.\[]", inside.removeprefix("."))[0]
    where = f"{'path' if field in in_path else place}{inside}"
    if matched := _UNKNOWN.match(what):
        known = ", ".join(name for name in fields_of(kind) if name not in in_path) or "nothing"
        allowed = "" if inside else f" Allowed: {known}."
        return ParameterError(f"there is no {quoted(matched[1])}.{allowed}", parameter=where)
    if matched := _MISSING.match(what):
        return ParameterError("is missing.", parameter=f"{where}.{matched[1]}")
    if not what.startswith(("Expected ", "Invalid enum value")):
        return ParameterError(f"{what}.", parameter=where)
    rule = _TYPE.sub(
        lambda match: " or ".join(_KINDS.get(name, name) for name in match[1].split(" | ") if name != "null"), what
    )
    values = values_of(types_of(kind, field))
    rule = one_of(map(repr, values)) if values else rule.removeprefix("Expected ").partition(", got ")[0]
    value: Any = given
    try:
        for name, index in _STEP.findall(inside):
            value = value[int(index)] if index else value[name]
    except (KeyError, IndexError, TypeError, ValueError):
        return ParameterError(f"must be {rule}.", parameter=where)
    return ParameterError.of(where, rule, value)


def types_of(kind: type[msgspec.Struct], field: str) -> list[object]:
    """Return the type of a field and all types inside it, such as those of a union."""
    left, types = [part.type for part in msgspec.structs.fields(kind) if part.encode_name == field], list[object]()
    while left:
        part = left.pop()
        types.append(part)
        if get_origin(part) is not Literal:
            left += get_args(part)
    return types


def values_of(types: Iterable[object]) -> list[object]:
    """Return the values that types name, as in ``Literal``; none if they name none."""
    return [value for kind in types if get_origin(kind) is Literal for value in get_args(kind)]
