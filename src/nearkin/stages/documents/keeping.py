"""The column that chooses which copy survives: its check, and its values as numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import SourceError
from nearkin.stages.documents.arrays import as_binary, holds_characters, plain, without_empty
from nearkin.stages.documents.columns import (
    ColumnSample,
    check_column,
    check_unique,
    has_column,
    listed_columns,
    missing_column,
)
from nearkin.stages.documents.values import ColumnPath, number_of, value_in

_RULE = (
    "the column that chooses what to keep must hold numbers, true and false, dates or times (in strings: 2004-02-03, "
    "2004-02-03T10:00:00Z)"
)


def check_keep(name: str, sample: ColumnSample, column: str, *, is_text: bool) -> bool | None:
    """Return whether the first values of a column are dates."""
    keep = KeepColumn(column)
    if sample.table is not None:
        values, numbers = _of_table(name, sample.table, keep)
    else:
        if not has_column(sample, column):
            raise missing_column(name, "keep", column, sample.names)
        check_unique(name, {"keep": column}, sample.header)
        values = [value for record in sample.records if (value := value_in(record, column)) not in (None, "")]
        numbers = keep.of_characters(pa.array(values, pa.large_string())) if is_text else keep.of_values(values)
        other = KeepColumn(column, holds_dates=not keep.holds_dates)
        others = other.of_characters(pa.array(values, pa.large_string())) if is_text else other.of_values(values)
        if others.null_count < len(others):
            raise SourceError(
                f"{name}: the column '{column}' holds numbers and dates, which cannot be compared. Write all of its "
                "values in one way."
            )
    if values and numbers.null_count == len(numbers):
        raise SourceError(
            f"{name}: {_RULE}. The column '{column}' holds {str(values[0])[:60]!r}. "
            f"The columns are: {listed_columns(sample.names)}."
        )
    return keep.holds_dates


def _of_table(name: str, table: pa.Table, keep: KeepColumn) -> tuple[list[object], pa.DoubleArray]:
    type_ = check_column(name, "keep", keep.name, table.schema)
    path = ColumnPath.of(keep.name, table.schema.names)
    checks = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal,
              pa.types.is_timestamp, pa.types.is_date, holds_characters)  # fmt: skip
    if not any(check(type_) for check in checks):
        raise SourceError(
            f"{name}: {_RULE}. The column '{keep.name}' holds {type_}. "
            f"The columns are: {listed_columns(table.schema.names)}."
        )
    values = plain(path.values(table[path.column].combine_chunks())).drop_null()
    return as_binary(values).to_pylist() if holds_characters(values.type) else [], keep.of_json(values)


@dataclass(slots=True)
class KeepColumn:
    """A column of one source, which holds numbers or dates by its first value; values of the other kind are null.

    Examples
    --------
    >>> column = KeepColumn("created")
    >>> column.of_json(pa.array(["1970-01-02", None, "soon"])).to_pylist()
    [86400000000.0, None, None]
    >>> column.of_values([2004]).to_pylist()
    [None]
    """

    name: str
    holds_dates: bool | None = None

    def of_json(self, values: pa.Array) -> pa.DoubleArray:
        """Convert values of a JSON or table type: strings may be dates, but never numbers."""
        none, type_ = pa.nulls(len(values), pa.float64()), values.type
        if holds_characters(type_):
            return self._chosen(lambda: none, lambda: microseconds_of_strings(_legible(values)))
        if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
            return self._chosen(lambda: none, lambda: microseconds_of_times(values))
        numbers = values.cast(pa.uint8()) if pa.types.is_boolean(type_) else values
        return self._chosen(lambda: pc.cast(numbers, pa.float64(), safe=False), lambda: none)

    def of_characters(self, values: pa.Array) -> pa.DoubleArray:
        """Convert values of an untyped file: each may be a number, true or false, or a date."""
        strings = _legible(values)
        return self._chosen(lambda: numbers_of(strings), lambda: microseconds_of_strings(strings))

    def of_values(self, values: Sequence[object]) -> pa.DoubleArray:
        """Convert values of JSON or Python, by the rule of `of_json`."""
        numbers = [None if isinstance(value, str) else number_of(value) for value in values]
        strings = [value.encode("utf-8", "replace") if isinstance(value, str) else None for value in values]
        return self._chosen(
            lambda: pa.array(numbers, pa.float64()),
            lambda: microseconds_of_strings(pa.array(strings, pa.large_binary())),
        )

    def _chosen(self, numbers: Callable[[], pa.DoubleArray], dates: Callable[[], pa.DoubleArray]) -> pa.DoubleArray:
        if self.holds_dates is None:
            of_numbers, of_dates = numbers(), dates()
            first = pc.or_(of_numbers.is_valid(), of_dates.is_valid()).index(True).as_py()
            self.holds_dates = None if first < 0 else bool(of_dates[first].is_valid)
            return of_dates if self.holds_dates else of_numbers
        return dates() if self.holds_dates else numbers()


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
