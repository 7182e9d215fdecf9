"""Values of the column that chooses survivors, as numbers: numbers unchanged, dates and times as microseconds."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.stages.documents.arrow_values import as_binary, holds_characters
from nearkin.stages.documents.dates import microseconds_of_string, microseconds_of_strings, microseconds_of_times
from nearkin.stages.documents.values import WrittenNumber, number_of

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
