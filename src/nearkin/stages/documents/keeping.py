"""Validation of the column that chooses which copy survives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.arguments import plain_number
from nearkin.errors import SourceError
from nearkin.nouns import agreeing, counted
from nearkin.stages.documents.arrow_values import holds_characters
from nearkin.stages.documents.column_samples import objects_of_records
from nearkin.stages.documents.columns import check_column, listed_columns, missing_column
from nearkin.stages.documents.dates import microseconds_of_string
from nearkin.stages.documents.keep_column import KeepColumn
from nearkin.stages.documents.values import number_of
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
