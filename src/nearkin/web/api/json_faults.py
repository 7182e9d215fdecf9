"""Sentences for a JSON body that breaks its rules: which field, what is wrong, what is allowed."""

from __future__ import annotations

import json
import re

import msgspec

from nearkin.errors import quoted
from nearkin.web.queries import fields_of
from nearkin.web.request_faults import InvalidRequestError, RequestFault, fault_in

_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`\Z", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`\Z", re.DOTALL)


def json_fault(error: Exception, kind: type[msgspec.Struct], body: bytes | str) -> InvalidRequestError:
    """Return an error that describes why a body is not of its kind.

    Examples
    --------
    >>> class Example(msgspec.Struct, forbid_unknown_fields=True):
    ...     limit: int
    >>> def fault(body):
    ...     try:
    ...         msgspec.json.decode(body, type=Example)
    ...     except msgspec.DecodeError as error:
    ...         return str(json_fault(error, Example, body))
    >>> fault('{"top": 3}'), fault('{}')
    ("body: there is no field 'top'. The fields are: limit.", "body: the field 'limit' is missing.")
    >>> fault('{"limit": "3"}')
    "body.limit: Expected `int`. Got '3' instead."
    """
    fault = RequestFault("", str(error))
    if isinstance(error, msgspec.ValidationError):
        fault = _fault_in(error, kind, body)
    where = f"body{fault.inside}"
    if found := _UNKNOWN.match(fault.rule):
        known = "" if fault.inside else f" The fields are: {', '.join(fields_of(kind))}."
        return InvalidRequestError(where, f"there is no field {quoted(found[1])}.{known}")
    if found := _MISSING.match(fault.rule):
        meaning = "" if fault.inside else _description(kind, found[1])
        return InvalidRequestError(where, f"the field {quoted(found[1])} is missing.{meaning}")
    return InvalidRequestError(where, f"{fault.for_programs}.")


def _description(kind: type[msgspec.Struct], name: str) -> str:
    """Return the description of a field in the OpenAPI document, after a space; nothing if it has none."""
    (found,) = (one.type for one in msgspec.structs.fields(kind) if one.encode_name == name)
    described = [one.description for one in getattr(found, "__metadata__", ()) if one.description]
    return "".join(f" {one}" for one in described)


def _fault_in(error: msgspec.ValidationError, kind: type[msgspec.Struct], body: bytes | str) -> RequestFault:
    try:
        return fault_in(error, msgspec.json.decode(body), kind)
    except (msgspec.DecodeError, UnicodeDecodeError):  # the body ends too early: its first fault was found before
        return fault_in(error, {}, kind)


def repeated_field(body: bytes) -> str | None:
    """Return a field that an object of a JSON body has twice, so that a value would be lost; None if there is none.

    Examples
    --------
    >>> repeated_field(b'{"limit": 1, "ids": [{"id": "a", "id": "b"}]}'), repeated_field(b'{"limit": 1}')
    ('id', None)
    """
    repeated: list[str] = []

    def of_object(pairs: list[tuple[str, object]]) -> None:
        seen = set[str]()
        for name, _ in pairs:
            if name in seen:
                repeated.append(name)
            seen.add(name)

    json.loads(body, object_pairs_hook=of_object, parse_int=str)  # an int of thousands of digits is no error here
    return repeated[0] if repeated else None
