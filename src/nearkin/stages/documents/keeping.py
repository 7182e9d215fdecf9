"""The column that chooses which copy survives: its check, and its values as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import SourceError
from nearkin.nouns import counted
from nearkin.stages.documents.columns import (
    ColumnSample,
    check_column,
    check_unique,
    has_column,
    listed_columns,
    missing_column,
)
from nearkin.stages.documents.rows import as_binary, holds_characters, plain
from nearkin.stages.documents.values import ColumnPath, number_of, value_in

_RULE = (
    "the column that chooses what to keep must hold numbers, true and false, dates or times (in strings: 2004-02-03, "
    "2004-02-03T10:00:00Z)"
)


def noting_values_without_number(
    batches: Iterable[pa.RecordBatch], name: str, keep: KeepColumn, note: Callable[[str], None]
) -> Iterator[pa.RecordBatch]:
    """Yield the batches unchanged; at the end, note documents without a value to keep by."""
    n_documents = n_without = 0
    for batch in batches:
        yield batch
        is_document = batch["problem"].is_null()
        n_documents += is_document.true_count
        n_without += pc.and_(is_document, batch["keep_value"].is_null()).true_count
    if n_without:
        kind = "date" if keep.holds_dates else "number"
        note(
            f"{name}: {keep.name}: no readable {kind} in {n_without:,} of {counted(n_documents, 'document')}; of "
            f"these, only documents that match no kept document with a {kind} are kept"
        )


def check_keep(name: str, sample: ColumnSample, column: str, *, is_text: bool) -> bool | None:
    """Return whether the first values of a column are dates."""
    keep = KeepColumn(column)
    if sample.table is not None:
        values, numbers = _of_table(name, sample.table, keep)
    else:
        if not has_column(sample, column):
            n_seen = None if is_text else len(sample.records)
            raise missing_column(name, "keep", column, sample.names, n_seen=n_seen, objects=sample.objects)
        check_unique(name, {"keep": column}, sample.header)
        values = [value for record in sample.records if (value := value_in(record, column)) not in (None, "")]
        if is_text:
            numbers = keep.of_characters(pa.array(values, pa.large_string())).to_pylist()
        else:
            numbers = keep.of_values(values).to_pylist()
    if keep.n_others:
        raise SourceError(
            f"{name}: the column '{column}' holds numbers and dates, which cannot be compared. Write all of its values "
            "in one way."
        )
    if values and all(number is None for number in numbers):
        raise SourceError(
            f"{name}: {_RULE}. The column '{column}' holds {str(values[0])[:60]!r}. "
            f"The columns are: {listed_columns(sample.names)}."
        )
    return keep.holds_dates


def _of_table(name: str, table: pa.Table, keep: KeepColumn) -> tuple[list[object], list[float | None]]:
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
    numbers = keep.of_json(values).to_pylist()
    return (as_binary(values).to_pylist() if holds_characters(values.type) else [], numbers)


_PLAIN_NUMBER = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"
_LIKE_DATE = r"^\s*[0-9]{4}-[0-9]{2}"


@dataclass(slots=True)
class KeepColumn:
    """A column of one source, which holds numbers or dates by its first value; values of the other kind are counted.

    Examples
    --------
    >>> column = KeepColumn("created")
    >>> column.of_json(pa.array(["1970-01-02", None, "soon"])).to_pylist()
    [86400000000.0, None, None]
    >>> column.of_values([2004]).to_pylist(), column.n_others
    ([None], 1)
    """

    name: str
    holds_dates: bool | None = None
    n_others: int = 0

    def of_json(self, values: pa.Array) -> pa.DoubleArray:
        """Convert values of a JSON or table type: strings may be dates, but never numbers."""
        type_ = values.type
        if holds_characters(type_):
            return self._chosen(None, microseconds_of_strings(_legible(values)))
        if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
            return self._chosen(None, microseconds_of_times(values))
        if pa.types.is_boolean(type_):
            values = values.cast(pa.uint8())
        return self._chosen(pc.cast(values, pa.float64(), safe=False), None)

    def of_characters(self, values: pa.Array) -> pa.DoubleArray:
        """Convert values of an untyped file: each may be a number, true or false, or a date."""
        strings = _legible(values)
        return self._chosen(numbers_of(strings), microseconds_of_strings(strings))

    def of_values(self, values: Sequence[object]) -> pa.DoubleArray:
        """Convert values of JSON or Python, by the rule of `of_json`."""
        are_strings = [isinstance(value, str) for value in values]
        pairs = [*zip(values, are_strings, strict=True)]
        strings = [str(given).encode("utf-8", "replace") if is_string else None for given, is_string in pairs]
        numbers = pa.array([None if is_string else number_of(given) for given, is_string in pairs], pa.float64())
        return self._chosen(numbers, microseconds_of_strings(pa.array(strings, pa.large_binary())))

    def _chosen(self, numbers: pa.DoubleArray | None, dates: pa.DoubleArray | None) -> pa.DoubleArray:
        none = pa.nulls(max(len(column) for column in (numbers, dates) if column is not None), pa.float64())
        numbers, dates = none if numbers is None else numbers, none if dates is None else dates
        if self.holds_dates is None:
            first = pc.or_(numbers.is_valid(), dates.is_valid()).index(True).as_py()
            if first < 0:
                return none
            self.holds_dates = bool(dates[first].is_valid)
        chosen, others = (dates, numbers) if self.holds_dates else (numbers, dates)
        self.n_others += pc.and_(others.is_valid(), chosen.is_null()).true_count
        return chosen


def numbers_of(strings: pa.LargeStringArray) -> pa.DoubleArray:
    """Convert strings to numbers; true and false are 1 and 0, other strings null.

    Examples
    --------
    >>> numbers_of(pa.array(["2.5", "1e3", "TRUE", "x", "", None], pa.large_string())).to_pylist()
    [2.5, 1000.0, 1.0, None, None, None]
    """
    try:
        return strings.cast(pa.float64())
    except pa.ArrowInvalid:
        pass
    is_plain = pc.match_substring_regex(strings, _PLAIN_NUMBER).fill_null(False)
    numbers = pc.if_else(is_plain, strings, pa.scalar(None, strings.type)).cast(pa.float64())
    # the rest one by one, except dates, of which there may be many
    is_odd = pc.and_(strings.is_valid(), pc.invert(pc.or_(is_plain, pc.match_substring_regex(strings, _LIKE_DATE))))
    is_odd = is_odd.fill_null(False)
    parsed = [_number(word) for word in strings.filter(is_odd).to_pylist()]
    return pc.replace_with_mask(numbers, is_odd, pa.array(parsed, pa.float64()))


def _number(word: str) -> float | None:
    if word.strip().casefold() in ("true", "false"):
        return float(word.strip().casefold() == "true")
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
