"""Values of JSON, Python and Arrow as texts, ids and numbers; texts inside the values of a column."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from nearkin.arguments import plain_number
from nearkin.errors import ParameterError
from nearkin.stages.documents.faults import RecordFault


def text_of(value: object, *, is_utf8: bool = True) -> bytes:
    r"""Return the text as bytes.

    ``is_utf8`` is false if the value came from bytes that are not UTF-8, which it contains as surrogates.

    Raises
    ------
    RecordFault
        There is none.

    Examples
    --------
    >>> text_of("née")
    b'n\xc3\xa9e'
    >>> text_of(5)
    Traceback (most recent call last):
    ...
    nearkin.stages.documents.faults.RecordFault: not text: the text is a number, not a string
    """
    if value is None:
        raise RecordFault("empty", "the text is null")
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise RecordFault("not text", f"the text is {in_words(value)}, not a string")
    try:
        return value.encode("utf-8", "strict" if is_utf8 else "surrogateescape")
    except UnicodeEncodeError as error:
        half = f"\\u{ord(value[error.start]):04x}"
        sentence = f"unpaired surrogate ({half} alone) at character {error.start + 1}"
        raise RecordFault("wrong encoding", sentence) from error


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


_STEP = re.compile(r"\[\]|\.([^.\[\]]+)")
_PATH = re.compile(r"([^.\[\]]+)((?:\[\]|\.[^.\[\]]+)+)")
_EACH = "[]"


@dataclass(frozen=True, slots=True)
class TextPath:
    r"""A column, and the way from its values to texts: ``[]`` for each element of a list, or the name of a member.

    Examples
    --------
    >>> path = TextPath.of("messages[].content", ["id", "messages"])
    >>> path.text([{"role": "user", "content": "Where is it?"}, {"role": "assistant", "content": "Here."}])
    'Where is it?\nHere.'
    """

    column: str
    steps: tuple[str, ...]

    @classmethod
    def of(cls, name: str, columns: Collection[str] = ()) -> TextPath | None:
        """Return the path that a name is, unless it is the name of a column."""
        found = None if name in columns else _PATH.fullmatch(name)
        return None if found is None else cls(found[1], tuple(step[1] or _EACH for step in _STEP.finditer(found[2])))

    def type_in(self, type_: pa.DataType) -> pa.DataType | None:
        """Return the type of the texts in a column of this type; None if the path leads nowhere."""
        for step in self.steps:
            if step == _EACH and pa.types.is_nested(type_) and hasattr(type_, "value_type"):
                type_ = type_.value_type
            elif step != _EACH and pa.types.is_struct(type_) and type_.get_field_index(step) >= 0:
                type_ = type_.field(step).type
            else:
                return None
        return type_

    def text(self, value: object) -> object:
        """Return the strings that a value holds, joined by line ends; None if it holds none.

        If one of them is no string, it is returned instead.
        """
        texts = [text for text in _inside(value, self.steps) if text is not None]
        odd = next((text for text in texts if not isinstance(text, (str, bytes))), None)
        if odd is not None or not texts:
            return odd
        if all(isinstance(text, str) for text in texts):
            return "\n".join(texts)  # type: ignore[arg-type]  # they are strings
        return b"\n".join(text.encode() if isinstance(text, str) else text for text in texts)  # type: ignore[misc]

    def texts(self, column: pa.Array) -> pa.LargeBinaryArray:
        """Return the text of each value of a column; null where there is none, or it is not valid UTF-8."""
        texts: list[bytes | None] = []
        for value in column:
            try:
                text = self.text(value.as_py())
            except UnicodeDecodeError:
                text = None
            texts.append(text.encode() if isinstance(text, str) else text if isinstance(text, bytes) else None)
        return pa.array(texts, pa.large_binary())


def _inside(value: object, steps: Sequence[str]) -> Iterator[object]:
    if not steps:
        yield value
    elif steps[0] == _EACH and isinstance(value, (list, tuple)):
        for element in value:
            yield from _inside(element, steps[1:])
    elif isinstance(value, Mapping) and steps[0] in value:
        yield from _inside(value[steps[0]], steps[1:])


def column_of(name: str, columns: Collection[str]) -> str:
    """Return the column that a text is in.

    Examples
    --------
    >>> column_of("meta.text", ["id", "meta"]), column_of("meta.text", ["meta.text"])
    ('meta', 'meta.text')
    """
    path = TextPath.of(name, columns)
    return name if path is None else path.column


def text_in(record: Mapping[str, object], name: str, *, of: str) -> object:
    """Return the text of a record; RecordFault if ``of``, such as "the object", has no such column."""
    path = TextPath.of(name, record)
    column = name if path is None else path.column
    if column not in record:
        raise RecordFault("no such column", f"{of} has no key {name!r}")
    return record[name] if path is None else path.text(record[column])
