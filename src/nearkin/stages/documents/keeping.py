"""The column that chooses which copy survives: its check, and its values as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.arguments import plain_number
from nearkin.errors import SourceError
from nearkin.nouns import agreeing, counted
from nearkin.stages.documents.arrow_values import as_binary, holds_characters
from nearkin.stages.documents.column_samples import objects_of_records
from nearkin.stages.documents.columns import check_column, listed_columns, missing_column
from nearkin.stages.documents.dates import microseconds_of_string, microseconds_of_strings, microseconds_of_times
from nearkin.stages.documents.values import WrittenNumber, number_of
from nearkin.wording import WarningMessage, reveal_line

RULE = (
    "the column that chooses what to keep must hold numbers, true and false, dates or times (in strings: 2004-02-03, "
    "2004-02-03T10:00:00Z)"
)

_FIRST_ROUNDED = 2.0**53
"""Magnitude from which float64 cannot represent every integer."""


def noting_values_without_number(
    batches: Iterable[pa.RecordBatch], name: str, keep: KeepColumn, note: Callable[[str], None]
) -> Iterator[pa.RecordBatch]:
    """Yield the batches unchanged; at the end, note documents without a value to keep by, and rounded values."""
    n_documents = n_without = n_rounded = 0
    for batch in batches:
        yield batch
        is_document = batch["problem"].is_null()
        n_documents += is_document.true_count
        values = batch["keep_value"]
        n_without += pc.and_(is_document, values.is_null()).true_count
        if not keep.holds_dates:
            is_rounded = pc.and_(pc.greater_equal(pc.abs(values), _FIRST_ROUNDED), pc.is_finite(values))
            n_rounded += pc.and_(is_document, is_rounded.fill_null(False)).true_count
    if n_rounded:
        note(
            f"{name}: {keep.name}: {counted(n_rounded, 'number')} of magnitude 2^53 or more "
            f"{agreeing(n_rounded, 'is', 'are')} compared rounded to 53 bits"
        )
    if n_without:
        kind, other = ("date", "numbers") if keep.holds_dates else ("number", "dates")
        mixed = f" ({keep.n_others:,} {other}, which cannot be compared with {kind}s)" if keep.n_others else ""
        first = f" (the first is {reveal_line(keep.first_unread[:30])!r})" if keep.first_unread else ""
        told = (
            f"{name}: {keep.name}: no readable {kind} in {n_without:,} of {counted(n_documents, 'document')}"
            f"{mixed or first}; of these, only documents that match no kept document with a {kind} are kept"
        )
        note(WarningMessage(told) if mixed or first else told)


def check_keep_type(name: str, column: str, schema: pa.Schema) -> None:
    """Raise SourceError if a table lacks the column or it holds nothing that can be ordered as numbers.

    Strings may be dates: see `check_keep_strings`.
    """
    check_column(name, "keep", column, schema)
    type_ = schema.field(column).type
    checks = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal,
              pa.types.is_timestamp, pa.types.is_date, holds_characters)  # fmt: skip
    if not any(check(type_) for check in checks):
        raise SourceError(
            f"{name}: {RULE}. The column '{column}' holds {type_}. The columns are: {listed_columns(schema.names)}."
        )


def check_keep_strings(name: str, column: str, values: pa.Array, names: Sequence[str]) -> None:
    """Raise SourceError if the first values of a column are strings and none of them is a date."""
    if not holds_characters(values.type):
        return
    dates = KeepColumn(column).of_json(values)
    if dates.null_count == len(dates) and values.null_count < len(values):
        raise SourceError(
            f"{name}: {RULE}. The column '{column}' holds {values.type}, such as "
            f"{str(values.drop_null()[0].as_py())[:60]!r}. The columns are: {listed_columns(names)}."
        )


def check_keep_records(
    name: str, column: str, records: Sequence[Mapping[str, object]], *, is_text: bool
) -> bool | None:
    """Check the first records of JSON, or of an untyped file, in the same way.

    Returns
    -------
    bool or None
        Whether the column holds dates; None if no value is visible.

    Raises
    ------
    SourceError
        The column is missing, holds neither numbers nor dates, or holds both.
    """
    if not records:
        return None
    names = list(dict.fromkeys(key for record in records for key in record))
    if column not in names:
        n_seen, objects = None if is_text else len(records), objects_of_records(records)
        raise missing_column(name, "keep", column, names, n_seen=n_seen, objects=objects)
    values = [plain_number(record[column]) for record in records if record.get(column) not in (None, "")]
    number, date = _first_of_each_kind(values, is_text=is_text)
    if number is not None and date is not None:
        raise SourceError(
            f"{name}: the column '{column}' holds numbers ({number}) and dates ({date}), which cannot be compared. "
            "Write all of its values in one way."
        )
    strings = [value for value in values if isinstance(value, (str, list, dict))]
    if number is None and date is None and len(strings) == len(values) > 0:
        raise SourceError(
            f"{name}: {RULE}. The column '{column}' holds {str(strings[0])[:60]!r}. "
            f"The columns are: {listed_columns(names)}."
        )
    return None if number is None and date is None else date is not None


def _first_of_each_kind(values: Sequence[object], *, is_text: bool) -> tuple[str | None, str | None]:
    """Return the first number and the first date among values, in words."""
    number = date = None
    for value in values:
        if isinstance(value, str) and microseconds_of_string(value) is not None:
            date = date or repr(value)
        elif _is_number(value, is_text=is_text):
            number = number or str(value)
    return number, date


def _is_number(value: object, *, is_text: bool) -> bool:
    """Whether a value is a number, true or false; strings count as numbers only in untyped files."""
    if not isinstance(value, str) or not is_text:
        return number_of(value) is not None
    try:
        float(value)
    except ValueError:
        return value.strip().casefold() in ("true", "false")
    return True


def check_one_kind(kinds: Mapping[str, bool], column: str) -> None:
    """Raise SourceError if the column holds numbers in one source and dates in another.

    Parameters
    ----------
    kinds : mapping of str to bool
        By the name of each source, whether its column holds dates.
    column : str
    """
    if len(set(kinds.values())) > 1:
        dates, numbers = (
            next(name for name, is_date in kinds.items() if is_date == wanted) for wanted in (True, False)
        )
        raise SourceError(
            f"The column '{column}' holds numbers in {numbers} and dates in {dates}, which cannot be compared. Write "
            "all of its values in one way."
        )


_PLAIN_NUMBER = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"
_LIKE_DATE = r"^\s*[0-9]{4}-[0-9]{2}"


@dataclass(slots=True)
class KeepColumn:
    """A column of one source, which holds numbers or dates; the first value of either kind decides.

    Numbers and dates cannot be compared: values of the other kind are ignored, and counted.

    Parameters
    ----------
    name : str
    holds_dates : bool or None
        None until a value decides.
    n_others : int
        Number of values of the other kind.
    first_unread : str
        First value, not blank, that is neither; "" if there is none.

    Examples
    --------
    >>> column = KeepColumn("created")
    >>> column.of_json(pa.array(["1970-01-02", None, "soon"])).to_pylist()
    [86400000000.0, None, None]
    >>> column.of_value(2004), column.n_others
    (None, 1)
    """

    name: str
    holds_dates: bool | None = None
    n_others: int = 0
    first_unread: str = ""

    def of_json(self, values: pa.Array) -> pa.DoubleArray:
        """Convert values of a JSON or table type: strings may be dates, but never numbers."""
        type_ = values.type
        if holds_characters(type_):
            strings = _legible(values)
            dates = microseconds_of_strings(strings)
            self._note_unread(strings, dates.is_null())
            return self._taken(dates, are_dates=True)
        if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
            return self._taken(microseconds_of_times(values), are_dates=True)
        if pa.types.is_boolean(type_):
            values = values.cast(pa.uint8())
        return self._taken(pc.cast(values, pa.float64(), safe=False), are_dates=False)

    def of_characters(self, values: pa.Array) -> pa.DoubleArray:
        """Convert values of an untyped file: each may be a number, true or false, or a date."""
        strings = _legible(values)
        numbers, dates = numbers_of(strings), microseconds_of_strings(strings)
        self._note_unread(strings, pc.and_(numbers.is_null(), dates.is_null()))
        if self.holds_dates is None:
            either = pc.or_(numbers.is_valid(), dates.is_valid()).index(True).as_py()
            if either < 0:
                return numbers
            self.holds_dates = bool(dates[either].is_valid)
        mine, others = (dates, numbers) if self.holds_dates else (numbers, dates)
        self.n_others += pc.and_(others.is_valid(), mine.is_null()).true_count
        return mine

    def of_value(self, value: object) -> float | None:
        """Convert one value of JSON or Python, by the rule of `of_json`."""
        is_date = isinstance(value, str) and not isinstance(value, WrittenNumber)
        number = microseconds_of_string(str(value)) if is_date else number_of(value)
        if number is None:
            if is_date:
                self.first_unread = self.first_unread or str(value).strip()
            return None
        if self.holds_dates is None:
            self.holds_dates = is_date
        if self.holds_dates != is_date:
            self.n_others += 1
            return None
        return number

    def _note_unread(self, strings: pa.LargeStringArray, is_unread: pa.BooleanArray) -> None:
        """Note the first value that is neither a number nor a date."""
        if self.first_unread or not pc.and_(strings.is_valid(), is_unread).true_count:
            return
        odd = strings.filter(is_unread).drop_null().to_pylist()
        self.first_unread = next((trimmed for value in odd if (trimmed := value.strip())), "")

    def _taken(self, numbers: pa.DoubleArray, *, are_dates: bool) -> pa.DoubleArray:
        """Return the numbers of some values, if they are of the column's kind."""
        n_there = len(numbers) - numbers.null_count
        if self.holds_dates is None and n_there:
            self.holds_dates = are_dates
        if self.holds_dates in (None, are_dates):
            return numbers
        self.n_others += n_there
        return pa.nulls(len(numbers), pa.float64())


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
    told = [_number(word) for word in strings.filter(is_odd).to_pylist()]
    return pc.replace_with_mask(numbers, is_odd, pa.array(told, pa.float64()))


def _number(word: str) -> float | None:
    """Convert one number, by the rule for a column."""
    if word.strip().casefold() in ("true", "false"):
        return float(word.strip().casefold() == "true")
    try:
        number: float = pa.scalar(word, pa.large_string()).cast(pa.float64()).as_py()
    except pa.ArrowInvalid:
        return None
    return number


def _legible(values: pa.Array) -> pa.LargeStringArray:
    """Return values as strings; invalid UTF-8 is neither a number nor a date, and becomes null."""
    raw = as_binary(values)  # strings would not be checked
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        decoded = [None if value is None else value.decode("utf-8", "replace") for value in raw.to_pylist()]
        return pa.array(decoded, pa.large_string())
