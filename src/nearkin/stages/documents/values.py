"""Values of JSON, Python and Arrow as texts, ids and numbers, and what a column to keep by makes of them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.arguments import plain_number
from nearkin.errors import ParameterError
from nearkin.stages.documents.arrays import as_binary, holds_characters, without_empty
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


_ARE_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)


@dataclass(slots=True)
class KeepColumn:
    """A column of one source, which holds numbers or dates by its first value; values of the other kind are null.

    Examples
    --------
    >>> column = KeepColumn("created")
    >>> column.numbers(pa.array(["1970-01-02", None, "soon"])).to_pylist()
    [86400000000.0, None, None]
    >>> column.of_values([2004]).to_pylist()
    [None]
    """

    name: str
    holds_dates: bool | None = None

    def numbers(self, values: pa.Array, *, is_text: bool = False) -> pa.DoubleArray:
        """Convert values; strings may be dates, and only those of a file without types numbers, or true and false."""
        of_numbers = of_dates = pa.nulls(len(values), pa.float64())
        if holds_characters(values.type):
            strings = _legible(values)
            of_numbers = numbers_of(strings) if is_text and self.holds_dates is not True else of_numbers
            of_dates = microseconds_of_strings(strings) if self.holds_dates is not False else of_dates
        elif pa.types.is_timestamp(values.type) or pa.types.is_date(values.type):
            of_dates = microseconds_of_times(values)
        elif pa.types.is_boolean(values.type):
            of_numbers = values.cast(pa.uint8()).cast(pa.float64())
        elif any(check(values.type) for check in _ARE_NUMBERS):
            of_numbers = values.cast(pa.float64(), safe=False)
        return self._chosen(of_numbers, of_dates)

    def of_values(self, values: Sequence[object], *, is_text: bool = False) -> pa.DoubleArray:
        """Convert values of JSON or Python, or characters, by the same rule."""
        if is_text:
            return self.numbers(pa.array(values, pa.large_binary()), is_text=True)
        numbers = [None if isinstance(value, str) else number_of(value) for value in values]
        strings = [value.encode("utf-8", "replace") if isinstance(value, str) else None for value in values]
        dates = microseconds_of_strings(pa.array(strings, pa.large_binary()))
        return self._chosen(pa.array(numbers, pa.float64()), dates)

    def _chosen(self, of_numbers: pa.DoubleArray, of_dates: pa.DoubleArray) -> pa.DoubleArray:
        if self.holds_dates is None:
            first = pc.or_(of_numbers.is_valid(), of_dates.is_valid()).index(True).as_py()
            self.holds_dates = None if first < 0 else bool(of_dates[first].is_valid)
        return of_dates if self.holds_dates else of_numbers


def numbers_of(strings: pa.LargeStringArray) -> pa.DoubleArray:
    """Convert strings to numbers; true and false are 1 and 0, other strings null.

    Examples
    --------
    >>> numbers_of(pa.array(["2.5", "1e3", "TRUE", "x", "", None], pa.large_string())).to_pylist()
    [2.5, 1000.0, 1.0, None, None, None]
    """
    strings = without_empty(strings)
    try:
        return strings.cast(pa.float64())
    except pa.ArrowInvalid:
        words = strings.dictionary_encode()
        return pa.array(map(_number, words.dictionary.to_pylist()), pa.float64()).take(words.indices)


def _number(word: str) -> float | None:
    if (truth := word.strip().casefold()) in ("true", "false"):
        return float(truth == "true")
    try:
        number: float = pa.scalar(word, pa.large_string()).cast(pa.float64()).as_py()
    except pa.ArrowInvalid:
        return None
    return number


def _legible(values: pa.Array) -> pa.LargeStringArray:
    raw = as_binary(values)  # strings would not be checked
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        decoded = [None if value is None else value.decode("utf-8", "replace") for value in raw.to_pylist()]
        return pa.array(decoded, pa.large_string())


_ISO = r"^\s*\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?( ?([Zz]|[+-]\d{2}:?(\d{2})?))?)?\s*$"
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


def microseconds_of_strings(values: pa.Array) -> pa.DoubleArray:
    """Parse dates and times of ISO 8601, extended, into microseconds since 1970 in UTC; null for other strings.

    A date means its midnight, a time without an offset UTC; fractions count to six digits. Exact between 1685 and 2255.
    """
    strings = values.cast(pa.large_string())
    is_date = pc.match_substring_regex(strings, _ISO).fill_null(False)
    parsed = [_microseconds(word) for word in strings.filter(is_date).to_pylist()]
    return pc.replace_with_mask(pa.nulls(len(strings), pa.float64()), is_date, pa.array(parsed, pa.float64()))


def _microseconds(word: str) -> float | None:
    try:
        moment = datetime.fromisoformat(word.strip().upper().replace(" +", "+").replace(" -", "-"))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return float((moment - _EPOCH) // _MICROSECOND)
    except (ValueError, OverflowError):
        return None


def microseconds_of_times(values: pa.Array) -> pa.DoubleArray:
    """Convert dates and timestamps of a table to the same numbers."""
    type_ = values.type
    unit = pa.timestamp("us", tz=type_.tz if pa.types.is_timestamp(type_) else None)
    return values.cast(unit, safe=False).cast(pa.int64()).cast(pa.float64(), safe=False)
