"""File of ids → ids of documents: one per line, or a column of a table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import SourceError, quoted
from nearkin.formats import parquet
from nearkin.formats.delimited import as_it_was
from nearkin.nouns import counted
from nearkin.stages.documents.columns import listed_columns
from nearkin.workflows.reading.sheets import id_columns, json_objects, load_file_rows, named_column, read_rows, text_of

_DELIMITED, _RECORDS = (".csv", ".tsv"), (".jsonl", ".ndjson")
_PACKED = (".gz", ".bz2", ".xz", ".zst")


def read_ids(path: Path, *, column: str | None = None, encoding: str = "utf-8") -> list[str]:
    r"""Read the ids of documents.

    Parameters
    ----------
    path : Path
        A .csv, .tsv, .jsonl or .parquet file or a load file, with a column of ids; any other file has one id per line.
    column : str, optional
        Column of the ids; a file with another suffix is then delimited text. Default: the one with a usual name, or
        the only one, which then needs no header.
    encoding : str
        Fallback encoding of text that is not UTF-8.

    Returns
    -------
    list of str
        In file order, each once, without blank lines. Blanks around them stay: a collection may have ``a`` and ``a ``,
        and a command that erases must not take one for the other.

    Raises
    ------
    SourceError
        The file cannot be read; it has no such column, or no id; or a row has values, but no id.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "old.csv")
    ...     n = file.write_text("doc_id,reason\na-1,expired\na-2,withdrawn\n")
    ...     read_ids(file)
    ['a-1', 'a-2']
    """
    suffix = next((one.lower() for one in reversed(path.suffixes) if one.lower() not in _PACKED), "")
    if suffix == ".parquet":
        found = _of_parquet(path, column)
    elif suffix in _RECORDS:
        found = _of_records(path, column, encoding)
    elif suffix in _DELIMITED or column is not None or load_file_rows(path, encoding) is not None:
        found = _of_rows(path, column, encoding)
    else:
        found = [line.removesuffix("\r") for line in text_of(path, encoding).split("\n")]
    ids = list(dict.fromkeys(one for one in found if one.strip()))
    if not ids:
        raise SourceError(f"{path} has no ids. It must have one per line, or a column of them.")
    return ids


def _of_rows(path: Path, column: str | None, encoding: str) -> list[str]:
    rows = read_rows(path, encoding)
    if not rows:
        raise SourceError(f"{path} is empty. It must have a column of ids.")
    header = [name.strip() for name in rows[0][1]]
    at = _place(path, header, column)
    is_headless = at is None
    for line, row in rows:
        if len(row) != len(header):
            raise SourceError(
                f"{path}:{line}: {counted(len(row), 'field')} where the first row has {len(header)}. Put a value that "
                "contains the delimiter in quotes."
            )
        if not row[at or 0].strip() and any(value.strip() for value in row):
            raise _without_id(path, line, header[at or 0])
    return [as_it_was(row[at or 0]) for _, row in (rows if is_headless else rows[1:])]


def _of_records(path: Path, column: str | None, encoding: str) -> list[str]:
    ids, names = list[str](), list[str]()
    for number, record in json_objects(path, encoding):
        names = names or [list(record)[_place(path, list(record), column) or 0]]
        doc_id = record.get(names[0])
        if not isinstance(doc_id, str | int) or isinstance(doc_id, bool):
            raise SourceError(f"{path}:{number}: ids are strings or integers, but {names[0]!r} is {doc_id!r}.")
        ids.append(str(doc_id))
    return ids


def _of_parquet(path: Path, column: str | None) -> list[str]:
    try:
        with parquet.open_table(path) as file:
            names = file.schema_arrow.names
            at = _place(path, names, column) or 0
            values = file.read([names[at]])[names[at]]
    except parquet.UNREADABLE as error:
        raise SourceError(f"{path}: {parquet.why_unreadable(path, error)}.") from error
    kind = values.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if not (pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise SourceError(f"{path}: ids are strings or integers, but the column {names[at]!r} has the type {kind}.")
    ids = values.cast(pa.large_string())
    if ids.null_count:
        raise _without_id(path, pc.index(pc.is_null(ids), True).as_py() + 1, names[at])
    return [str(one) for one in ids.to_pylist()]


def _without_id(path: Path, row: int, column: str) -> SourceError:
    return SourceError(f"{path}:{row}: no id in {quoted(column)}. Give the id, or leave the row out.")


def _place(path: Path, header: list[str], column: str | None) -> int | None:
    """Return the place of the ids; None for the only column if its name is not a usual one."""
    named = named_column(path, header, column)
    if named is not None:
        return named
    usual = id_columns(path, header)
    if usual:
        return usual[0]
    if len(header) == 1:
        return None
    raise SourceError(
        f"Which column of {path} has the ids? Name it with --id. The columns are: {listed_columns(header)}."
    )
