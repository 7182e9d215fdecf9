"""Values of JSON, Python and Arrow as texts, ids and numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.arguments import plain_number
from nearkin.errors import ParameterError
from nearkin.stages.documents.rules import RecordFault


def text_of(value: object, *, is_utf8: bool = True) -> bytes:
    r"""Return the text as bytes; RecordFault if there is none.

    Examples
    --------
    >>> text_of("née")
    b'n\xc3\xa9e'
    >>> text_of(5)
    Traceback (most recent call last):
    ...
    nearkin.stages.documents.rules.RecordFault: not text: the text is a number, not a string
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

    ParameterError for an object of Python whose text would have its address, which is another one each time.

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
    """Whether a value that JSON lacks has a text, such as a UUID, a date or a path."""
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
BETWEEN_COLUMNS = "\n\n"


@dataclass(frozen=True, slots=True)
class ColumnPath:
    r"""A column, and the way into its values: ``[]`` for each element of a list, or the name of a member.

    Examples
    --------
    >>> path = ColumnPath.of("messages[].content", ["id", "messages"])
    >>> path.text([{"role": "user", "content": "Where is it?"}, {"role": "assistant", "content": "Here."}])
    'Where is it?\nHere.'
    """

    column: str
    steps: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, columns: Collection[str] = (), *, may_repeat: bool = True) -> ColumnPath:
        """Return the path that a name is; the column alone if there is one of that name."""
        path = None if name in columns else _PATH.fullmatch(name)
        steps = () if path is None else tuple(step[1] or _EACH for step in _STEP.finditer(path[2]))
        return cls(name) if path is None or (_EACH in steps and not may_repeat) else cls(path[1], steps)

    def type_in(self, type_: pa.DataType) -> pa.DataType | None:
        """Return the type of the values in a column of this type; None if the path leads nowhere."""
        for step in self.steps:
            if step == _EACH and pa.types.is_nested(type_) and hasattr(type_, "value_type"):
                type_ = type_.value_type
            elif step != _EACH and pa.types.is_struct(type_) and type_.get_field_index(step) >= 0:
                type_ = type_.field(step).type
            else:
                return None
        return type_

    def text(self, value: object) -> object:
        """Return the strings that a value holds, joined by line ends, or a value that is no string."""
        return _joined(_inside(value, self.steps), "\n")

    def values(self, column: pa.Array) -> pa.Array:
        """Return the member of each value of a column; of lists the text, null if it is not valid UTF-8."""
        if _EACH not in self.steps:
            return pc.struct_field(column, self.steps) if self.steps else column
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


def _joined(values: Iterable[object], between: str) -> object:
    texts = [text for text in values if text is not None]
    odd = next((text for text in texts if not isinstance(text, (str, bytes))), None)
    if odd is not None or not texts:
        return odd
    if all(isinstance(text, str) for text in texts):
        return between.join(texts)  # type: ignore[arg-type]  # they are strings
    encoded = (text.encode() if isinstance(text, str) else text for text in texts)
    return between.encode().join(encoded)  # type: ignore[arg-type]  # they are bytes now


def text_names(name: str, columns: Collection[str]) -> list[str]:
    """Return the names between commas, unless there is a column with the whole name."""
    return [name] if name in columns else [part.strip() for part in name.split(",")]


def text_paths(name: str, columns: Collection[str] = ()) -> list[ColumnPath]:
    """Return the places of a text: of one column, or of several with commas between them.

    Examples
    --------
    >>> [path.column for path in text_paths("title, meta.text", ["title", "meta"])]
    ['title', 'meta']
    >>> [path.column for path in text_paths("title, short", ["title, short"])]
    ['title, short']
    """
    return [ColumnPath.of(part, columns) for part in text_names(name, columns)]


def joined_columns(columns: Sequence[pa.Array]) -> pa.Array:
    r"""Join texts of several columns by a blank line; null where all are empty.

    Examples
    --------
    >>> joined_columns([pa.array([b"Title", None, b""]), pa.array([b"Body", b"Body", None])]).to_pylist()
    [b'Title\n\nBody', b'Body', None]
    """
    if len(columns) == 1:
        return columns[0]
    none, between = (pa.scalar(value, pa.large_binary()) for value in (None, BETWEEN_COLUMNS.encode()))
    joined = pa.nulls(len(columns[0]), pa.large_binary())
    for column in columns:  # the join of Arrow 26 that skips nulls loses rows that have nothing else
        text = column.cast(pa.large_binary())
        text = pc.if_else(pc.equal(pc.binary_length(text), 0), none, text)
        joined = pc.coalesce(pc.binary_join_element_wise(joined, text, between), joined, text)
    return joined


def joined_fields(fields: Sequence[bytes]) -> bytes:
    """Return one field, or join those of a record by the rule of `joined_columns`."""
    return fields[0] if len(fields) == 1 else BETWEEN_COLUMNS.encode().join(filter(None, fields))


def text_in(record: Mapping[str, object], name: str, *, of: str) -> object:
    """Return the text of a record; RecordFault if ``of``, such as "the object", has no such column."""
    if name in record:
        return record[name]
    paths = [path for path in text_paths(name, record) if path.column in record]
    if not paths:
        raise RecordFault("no such column", f"{of} has no key {name!r}")
    texts = (path.text(record[path.column]) for path in paths)
    return next(texts) if len(paths) == 1 else _joined((text for text in texts if text != ""), BETWEEN_COLUMNS)


def value_in(record: Mapping[str, object], name: str | None) -> object:
    """Return a value of a record, or one inside an object of it; None if there is none.

    Examples
    --------
    >>> value_in({"meta": {"quality": 3}}, "meta.quality"), value_in({"meta.quality": 2}, "meta.quality")
    (3, 2)
    """
    if name is None or name in record:
        return record.get(name)  # type: ignore[arg-type]  # None is no key
    path = ColumnPath.of(name, may_repeat=False)
    return next(_inside(record.get(path.column), path.steps), None)
