"""Conversion of JSON and Python values to texts, ids and numbers, or to words for messages."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from nearkin.arguments import plain_number
from nearkin.errors import ParameterError


class WrittenNumber(str):
    """Characters of a number of JSON that Python cannot convert: too many digits, or larger than every float."""

    __slots__ = ()


def text_of(value: object, *, is_utf8: bool = True) -> tuple[bytes | None, str | None]:
    r"""Return the text as bytes, or the reason why there is none.

    ``is_utf8`` is false if the value came from bytes that are not UTF-8, which it contains as surrogates.

    Examples
    --------
    >>> text_of("née")
    (b'n\xc3\xa9e', None)
    >>> text_of(5)
    (None, 'not text: the text is a number, not a string')
    """
    if value is None:
        return None, "empty: the text is null"
    if isinstance(value, bytes):
        return value, None
    if not isinstance(value, str) or isinstance(value, WrittenNumber):
        return None, f"not text: the text is {in_words(value)}, not a string"
    try:
        return value.encode("utf-8", "strict" if is_utf8 else "surrogateescape"), None
    except UnicodeEncodeError as error:
        half = f"\\u{ord(value[error.start]):04x}"
        return None, f"wrong encoding: unpaired surrogate ({half} alone) at character {error.start + 1}"


def id_of(value: object) -> int | str | bytes | None:
    r"""Return an id: integers, strings and bytes unchanged, values with a text of their own as it, others as JSON.

    Raises
    ------
    ParameterError
        An object of Python has no text of its own: that of ``object`` has its address, which is another one each time.

    Examples
    --------
    >>> from datetime import date
    >>> id_of(date(2020, 1, 2)), id_of(b"caf\xe9")
    ('2020-01-02', b'caf\xe9')
    >>> id_of({"$oid": "5f"})
    '{"$oid":"5f"}'
    >>> import numpy as np
    >>> id_of(np.int64(5))
    5
    """
    value = plain_number(value)
    if value is None or isinstance(value, (str, bytes)) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if has_own_text(value):
        return str(value)
    if not isinstance(value, (bool, float, list, tuple, Mapping)):
        rule = "a str, an int, or a value with a text of its own, such as a UUID"
        raise ParameterError(f"The id of a document must be {rule}. Got {value!r} instead.")
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def has_own_text(value: object) -> bool:
    """Whether a value that JSON lacks has a text of its own, such as a UUID, a date, a Decimal or a path."""
    is_of_json = value is None or isinstance(value, (bool, int, float, str, bytes, list, tuple, Mapping))
    return not is_of_json and type(value).__str__ is not object.__str__


def number_of(value: object) -> float | None:
    """Return a value that chooses survivors; null if it is not a number."""
    if isinstance(value, WrittenNumber):
        return -math.inf if value.startswith("-") else math.inf
    value = plain_number(value)
    if not isinstance(value, (bool, int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def in_words(value: object) -> str:
    """Describe the type of a value."""
    value = plain_number(value)
    if isinstance(value, WrittenNumber):
        return "a number"
    for types, words in (
        (bool, "true or false"),
        ((int, float), "a number"),
        (str, "a string"),
        ((list, tuple), "a list"),
        (dict, "an object"),
    ):
        if isinstance(value, types):
            return words
    return "null" if value is None else f"of type {type(value).__name__}"
