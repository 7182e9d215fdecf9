"""Documents in memory: tables, data frames, lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

import pyarrow as pa

from nearkin.errors import ParameterError, SourceError, quoted
from nearkin.paths import check_are_texts
from nearkin.stages.documents.arrays import as_binary, holds_characters, plain
from nearkin.stages.documents.columns import (
    SAMPLE_ROWS,
    TABLE_IN_MEMORY,
    Columns,
    check_keep,
    check_unique,
    choose_columns,
    missing_column,
    sample_of_records,
    sample_of_table,
)
from nearkin.stages.documents.readers.tables import Wanted, check_schema, parts_of_batch
from nearkin.stages.documents.rows import Row, RowList
from nearkin.stages.documents.rules import RecordFault
from nearkin.stages.documents.streams import unreported
from nearkin.stages.documents.values import KeepColumn, id_of, in_words, text_in, text_of, text_paths, value_in

_ACCEPTED = (
    "a pyarrow Table or array, a pandas or polars frame or Series, a dict of columns, "
    "or an iterable of strings, of (id, text) pairs or of dicts"
)
_READ_FILES = (
    "To read files, pass one path or a list of pathlib.Path objects; if the names are the texts, pass (id, text) pairs."
)
_BATCH_BYTES = 8 << 20
_BATCH_ROWS = 1 << 14


def check_names(**columns: object) -> None:
    """Refuse names of columns that are no strings."""
    for parameter, name in columns.items():
        if name is not None and not isinstance(name, str):
            raise ParameterError.of(parameter, "the name of a column", name)


def read_table(
    table: object,
    *,
    text: str | None = None,
    doc_id: str | None = None,
    keep_column: str | None = None,
    is_whole: bool = True,
    read_files: str = _READ_FILES,
    chosen: Callable[[Columns], None] = unreported,
) -> Iterator[pa.RecordBatch]:
    """Yield the documents of a table in batches, like :func:`.reader.read_batches` for a file.

    Parameters
    ----------
    table
        A pyarrow Table or array, anything that provides Arrow data (pandas and polars data frames and series), what
        `as_table` converts, or an iterable of strings, of ``(id, text)`` pairs or of dicts.
    keep_column
        Its numbers, dates and times become ``keep_value``; see `KeepColumn`.
    is_whole
        False for a part of a table: its first strings need not be dates although others are.

    Yields
    ------
    RecordBatch
        With `records.DOCUMENTS_SCHEMA`; ``doc_id`` may be int64. ``line`` is the row, from 1.
    """
    check_names(text=text, id=doc_id)
    keep = None if keep_column is None else KeepColumn(keep_column)
    table = as_table(table)
    columns_of_frame = _columns_of_frame(table)
    table = _held(table)
    if hasattr(table, "__arrow_c_stream__") or isinstance(table, pa.Array):
        arrow = _as_arrow(table)
        if arrow is None:  # a single column
            column = pa.chunked_array(table)
            check_are_texts(_values(column.slice(0, SAMPLE_ROWS)), read_files)
            arrow, text = pa.table({"text": column}), "text"
        yield from _read_arrow(arrow, text, doc_id, keep, chosen, is_whole=is_whole)
    elif isinstance(table, Iterable) and not isinstance(table, (str, bytes, Mapping)):
        stream = iter(table)
        head = list(islice(stream, SAMPLE_ROWS))
        check_are_texts(head, read_files)
        records = chain(head, stream)
        yield from _read_records(head, records, text, doc_id, keep, chosen, columns_of_frame)
    else:
        raise _not_accepted(table)


def as_table(documents: object) -> object:
    """Return columns, lazy frames and data sets of several splits as tables; other documents unchanged.

    A mapping must name columns of one length, else ParameterError. A polars LazyFrame is collected; splits of a
    datasets.DatasetDict or IterableDatasetDict follow each other, with their names in the column ``split``.

    Examples
    --------
    >>> as_table({"id": [1, 2], "text": ["one", "two"]}).num_rows
    2
    """
    library = type(documents).__module__.partition(".")[0]
    if library == "polars" and hasattr(documents, "collect"):
        return documents.collect()
    if not isinstance(documents, Mapping):
        return documents
    if library == "datasets":
        from datasets import Dataset, concatenate_datasets

        if not all(isinstance(rows, Dataset) for rows in documents.values()):  # of an IterableDatasetDict
            return [{"split": name} | row for name, rows in documents.items() for row in rows]
        return concatenate_datasets([
            rows if "split" in rows.column_names else rows.add_column("split", [name] * len(rows))
            for name, rows in documents.items()
        ])  # fmt: skip
    columns = [*documents.values()]
    if any(isinstance(column, (str, bytes, Mapping)) or not hasattr(column, "__len__") for column in columns):
        raise _not_accepted(documents)
    if len({*map(len, columns)}) > 1:
        raise _not_accepted(documents, "a dict of columns of different lengths")
    try:
        return pa.table(documents)
    except (pa.ArrowException, TypeError, ValueError):  # one odd value is one bad document
        return [dict(zip(documents, row)) for row in zip(*columns, strict=True)]


def _values(column: pa.ChunkedArray) -> list[object]:
    if not holds_characters(column.type):
        return []
    return [value for chunk in column.chunks for value in as_binary(plain(chunk)).to_pylist()]


def _not_accepted(table: object, came: str = "") -> ParameterError:
    return ParameterError(f"The documents must be {_ACCEPTED}. Got {came or type(table).__name__} instead.")


def _held(table: object) -> object:
    """Return the table; of a pandas frame that Arrow refuses the records: an odd value is one bad document."""
    if type(table).__module__.partition(".")[0] != "pandas" or not hasattr(table, "__arrow_c_stream__"):
        return table
    try:
        _as_arrow(table)
    except SourceError:
        import pandas as pd

        if isinstance(table, pd.DataFrame):
            return table.astype(object).where(table.notna(), None).to_dict("records")
        if isinstance(table, pd.Series):
            return table.astype(object).where(table.notna(), None).tolist()
    return table


def _columns_of_frame(table: object) -> tuple[str, ...]:
    """Only columns of pandas may repeat without Arrow's knowledge."""
    is_pandas = type(table).__module__.partition(".")[0] == "pandas"
    return tuple(map(str, getattr(table, "columns", ()))) if is_pandas else ()


def _as_arrow(table: object) -> pa.Table | None:
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, (pa.Array, pa.ChunkedArray)):
        return None
    try:
        return pa.table(table)
    except (pa.ArrowException, TypeError, ValueError) as error:  # UnicodeEncodeError is a ValueError
        try:
            pa.chunked_array(table)
        except (pa.ArrowException, TypeError, ValueError):
            raise SourceError(f"{TABLE_IN_MEMORY} cannot be converted to Arrow data: {error}.") from error
        return None


def _read_arrow(
    table: pa.Table,
    text: str | None,
    doc_id: str | None,
    keep: KeepColumn | None,
    chosen: Callable[[Columns], None],
    *,
    is_whole: bool,
) -> Iterator[pa.RecordBatch]:
    keep_column = None if keep is None else keep.name
    if not len(table):
        for parameter, column in (("text", text), ("id", doc_id), ("keep", keep_column)):
            for path in [] if column is None else text_paths(column, table.schema.names):
                if path.column not in table.schema.names:
                    raise missing_column(TABLE_IN_MEMORY, parameter, path.column, table.schema.names)
        return
    columns = Columns(text or "", doc_id, ())  # if only the text is named, there are no ids
    if text is None:
        columns = choose_columns(
            sample_of_table(table.slice(0, SAMPLE_ROWS)), TABLE_IN_MEMORY, text=None, doc_id=doc_id
        )
    chosen(columns)
    text, doc_id = columns.text, columns.id
    check_schema(TABLE_IN_MEMORY, table.schema, text, doc_id)
    if keep_column is not None:
        seen = table.slice(0, SAMPLE_ROWS if is_whole else 0)
        check_keep(TABLE_IN_MEMORY, sample_of_table(seen), keep_column, is_text=False)
    wanted = Wanted(table.schema, text, doc_id, keep)
    ids = wanted.ids()
    row = 1
    for batch in table.select(wanted.names).to_batches(max_chunksize=_BATCH_ROWS):
        yield from parts_of_batch(batch, wanted, row, ids, name=TABLE_IN_MEMORY, batch_bytes=_BATCH_BYTES)
        row += len(batch)


def _read_records(
    head: list[object],
    records: Iterator[object],
    text: str | None,
    doc_id: str | None,
    keep: KeepColumn | None,
    chosen: Callable[[Columns], None],
    columns_of_frame: Sequence[str],
) -> Iterator[pa.RecordBatch]:
    dicts = [record for record in head if isinstance(record, Mapping)]
    columns = Columns("text", "id", ())
    if dicts:
        _check_keys(dicts, text, doc_id)
        columns = choose_columns(sample_of_records(dicts), TABLE_IN_MEMORY, text=text, doc_id=doc_id)
        chosen(columns)
    keep_name = None if keep is None else keep.name
    used = {"text": columns.text, "id": columns.id, "keep": keep_name}
    check_unique(TABLE_IN_MEMORY, used, columns_of_frame)
    first = next((record for record in head if record is not None), None)
    if first is not None and not isinstance(first, (str, bytes, Mapping, tuple, list)):
        raise _not_accepted(head, f"an iterable of {type(first).__name__}")
    if keep is not None and head:
        if not dicts:
            raise SourceError(f"{TABLE_IN_MEMORY} has no columns.", parameter="keep")
        check_keep(TABLE_IN_MEMORY, sample_of_records(dicts), keep.name, is_text=False)
    rows = RowList(keep=keep, batch_bytes=_BATCH_BYTES, batch_rows=_BATCH_ROWS)
    yield from rows.batches(
        _row(number, record, columns.text, columns.id, keep_name) for number, record in enumerate(records, start=1)
    )


def _row(number: int, record: object, text: str, doc_id: str | None, keep: str | None) -> Row:
    own_id, keep_value = None, None
    try:
        if not isinstance(record, Mapping):
            record, text, doc_id = _as_dict(record), "text", "id"
        own_id, keep_value = value_in(record, doc_id), value_in(record, keep)
        return Row(number, id_of(own_id), text_of(text_in(record, text, of="the dict")), None, keep_value)
    except RecordFault as fault:
        return Row(number, id_of(own_id), None, fault, keep_value)


def _as_dict(record: object) -> dict[str, object]:
    if record is None or isinstance(record, (str, bytes)):
        return {"text": record}
    if not isinstance(record, (tuple, list)):
        raise RecordFault("not text", f"neither a string, a pair nor a dict but {in_words(record)}")
    if len(record) != 2:
        raise RecordFault("damaged", f"not an (id, text) pair but {len(record)} values")
    return dict(zip(("id", "text"), record, strict=True))


def _check_keys(dicts: Sequence[Mapping[str, object]], text: object, doc_id: object) -> None:
    if text is not None and doc_id is not None:
        return
    for key in (key for nested in dicts for key in nested if not isinstance(key, str)):
        raise ParameterError(f"The keys of a dict must be strings, such as 'text'. Got {quoted(key)} instead.")
