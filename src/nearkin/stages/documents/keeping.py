"""The column that chooses which copy survives: what may be in it, and its values as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import SourceError
from nearkin.stages.documents.columns import check_column, missing_column
from nearkin.stages.documents.formats import WITHOUT_COLUMNS

RULE = "the column that chooses what to keep holds numbers, true and false, dates or times"


def no_note(note: str) -> None:
    """Tell nobody."""


def check_has_columns(name: str, file_format: str | None) -> None:
    """SourceError where a format has no columns to keep by; None stands for strings and pairs in memory."""
    if file_format is None:
        raise SourceError(f"{name}: {RULE}. Strings and (id, text) pairs have no columns.")
    if file_format in WITHOUT_COLUMNS:
        raise SourceError(f"{name}: {RULE}. {file_format} has no columns.")


def noting_values_without_number(
    batches: Iterable[pa.RecordBatch], name: str, column: str, note: Callable[[str], None]
) -> Iterator[pa.RecordBatch]:
    """The batches as they are, and at the end of them a sentence about the documents that have no number to keep by."""
    n_documents = n_without = 0
    for batch in batches:
        yield batch
        is_document = batch["problem"].is_null()
        n_documents += is_document.true_count
        n_without += pc.and_(is_document, batch["keep_value"].is_null()).true_count
    if n_without:
        note(
            f"{name}: {column}: {n_without:,} of {n_documents:,} documents have no number in it; "
            "they come after all that have one"
        )


def check_keep_type(name: str, column: str, schema: pa.Schema) -> None:
    """SourceError where a table lacks the column or it holds nothing that can be ordered as numbers."""
    check_column(name, "keep", column, schema.names)
    type_ = schema.field(column).type
    checks = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal,
              pa.types.is_timestamp, pa.types.is_date)  # fmt: skip
    if not any(check(type_) for check in checks):
        raise SourceError(
            f"{name}: {RULE}. The column '{column}' holds {type_}. The columns are: {', '.join(schema.names)}."
        )


def check_keep_records(name: str, column: str, records: Sequence[Mapping[str, object]], *, is_text: bool) -> None:
    """The same for the first records of JSON, or of a file whose values are all characters."""
    if not records:
        return
    names = list(dict.fromkeys(key for record in records for key in record))
    if column not in names:
        raise missing_column(name, "keep", column, names)
    values = [record[column] for record in records if record.get(column) not in (None, "")]
    strings = [value for value in values if isinstance(value, (str, list, dict))]
    is_no_number = len(strings) == len(values) > 0
    if is_text:
        is_no_number = bool(strings) and not any(_reads_as_number(str(value)) for value in strings)
    if is_no_number:
        raise SourceError(
            f"{name}: {RULE}. The column '{column}' holds {str(strings[0])[:60]!r}. "
            f"The columns are: {', '.join(names)}."
        )


def _reads_as_number(characters: str) -> bool:
    """Whether characters are a number, or true or false."""
    try:
        float(characters)
    except ValueError:
        return characters.strip().casefold() in ("true", "false")
    return True


def keep_values(values: pa.Array) -> pa.Array:
    """A column of a table as float64; a date or a time counts from 1970, null stays null."""
    type_ = values.type
    if pa.types.is_boolean(type_):
        values = values.cast(pa.uint8())
    elif pa.types.is_date32(type_):
        values = values.cast(pa.int32())
    elif pa.types.is_timestamp(type_) or pa.types.is_date(type_):
        values = values.cast(pa.int64())
    return pc.cast(values, pa.float64(), safe=False)
