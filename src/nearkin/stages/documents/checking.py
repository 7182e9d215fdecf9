"""Check that the sources have the columns to read, before anything is read or written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import BinaryIO

from nearkin.errors import SourceError, TruncatedInputError
from nearkin.paths import STDIN
from nearkin.stages.documents.column_samples import objects_of_records
from nearkin.stages.documents.columns import check_unique, inside_hint, listed_columns, missing_column
from nearkin.stages.documents.encodings import check_encoding
from nearkin.stages.documents.formats import FORMATS, TABLES, has_columns
from nearkin.stages.documents.sniffing import head_of_file, head_of_stdin, standard_input
from nearkin.stages.documents.source import Source
from nearkin.stages.documents.text_path import column_of, has_text, text_in

_STORED = {"collection": "a collection", "results": "a directory of results"}


def without_columns(name: str, file_format: str) -> str:
    """Return a clause that says what an input without columns is.

    Examples
    --------
    >>> without_columns("notes/a.txt", "file"), without_columns("matter", "collection")
    ('notes/a.txt is a text file, which has none.', 'matter is a collection, which has none.')
    """
    what = FORMATS[file_format].a_file if file_format in FORMATS else _STORED[file_format]
    return f"{name} is {what}, which has none."


def check_has_columns(name: str, file_format: str | None) -> None:
    """Raise SourceError for a format without a column to keep by; None stands for strings and pairs in memory."""
    if file_format is None:
        raise SourceError("a column needs columns; strings and (id, text) pairs have none.", parameter="keep")
    if not has_columns(file_format):
        raise SourceError(
            f"a column needs columns in every input; {without_columns(name, file_format)}", parameter="keep"
        )


def check_columns(
    sources: Sequence[Source],
    *,
    keep_column: str | None = None,
    encoding: str = "utf-8",
    stdin: BinaryIO | None = None,
    id_parameter: str = "id",
) -> None:
    """Check that each source has usable columns for text, ids and the choice of survivors.

    Only the beginning of a file is read, for Parquet and Arrow the schema; nothing is taken from a pipe. Files that are
    one document are not opened.

    Parameters
    ----------
    sources : sequence of Source
        From :func:`.sources.resolve_sources`.
    keep_column : str, optional
        The column that chooses which copy survives.
    encoding : str
        See :func:`.reader.read_batches`.
    stdin : binary file, optional
        Standard input; it is inspected, but nothing is taken from it.
    id_parameter : str
        Parameter by which the user named the column of ids, for messages.

    Raises
    ------
    SourceError
        A column is missing or has the wrong type; the message names the file, the column and the existing columns.
        Or the column to keep by holds numbers in one source and dates in another.
    """
    encoding = check_encoding(encoding)
    kinds: dict[str, bool] = {}
    for source in sources:
        if not has_columns(source.format):
            if keep_column is not None:
                check_has_columns(source.name, source.format)
            continue
        try:
            if source.format in TABLES:
                holds_dates = _check_table(source, keep_column, id_parameter)
            else:
                records, header = _first_records(source, encoding, stdin)
                holds_dates = _check_records(source, records, keep_column, id_parameter)
                check_unique(source.name, {id_parameter: source.id, "keep": keep_column}, header)
        except TruncatedInputError:
            if not source.takes_damaged:
                raise
            continue
        if holds_dates is not None:
            kinds[source.name] = holds_dates
    if keep_column is not None:
        from nearkin.stages.documents.keeping import check_one_kind

        check_one_kind(kinds, keep_column)


def _check_table(source: Source, keep_column: str | None, id_parameter: str) -> bool | None:
    """Check the schema, and the first rows if strings must be dates; return whether the column to keep by holds dates.

    Nothing is taken from a pipe.
    """
    from nearkin.stages.documents.table_columns import check_first_to_keep_by, check_schema

    if source.text is None or source.path == STDIN:
        return None
    with TABLES[source.format].at(source.path, source.name) as table:
        check_schema(source.name, table.schema, source.text, source.id, keep_column, id_parameter)
        return None if keep_column is None else check_first_to_keep_by(table, source.name, keep_column)


def _first_records(
    source: Source, encoding: str, stdin: BinaryIO | None
) -> tuple[Sequence[Mapping[str, object]], Sequence[str]]:
    """Return the visible first records of a source, and its header."""
    if source.path == STDIN:
        head = head_of_stdin(standard_input(stdin), encoding)
    else:
        head = head_of_file(source.path, source.name, encoding)
    form = FORMATS[source.format]
    records = [] if form.is_cut(head) else form.records(head, source.delimiter)
    return records, form.header(head, source.delimiter) if records else ()


def _check_records(
    source: Source, records: Sequence[Mapping[str, object]], keep_column: str | None, id_parameter: str
) -> bool | None:
    """Check the first records, if visible; return whether the column to keep by holds dates."""
    names = list(dict.fromkeys(name for record in records for name in record))
    if not names:
        return None
    for parameter, column in (("text", source.text), (id_parameter, source.id)):
        holder = column if column is None or parameter != "text" else column_of(column, names)
        if column is not None and holder not in names:
            n_seen = len(records) if FORMATS[source.format].has_types else None
            objects = objects_of_records(records)
            raise missing_column(source.name, parameter, column, names, n_seen=n_seen, objects=objects)
    if source.text is not None:
        texts = (text_in(record, source.text) for record in records if has_text(record, source.text))
        values = [text for text in texts if text is not None]
        if not values and source.text not in names:
            raise missing_column(source.name, "text", source.text, names, objects=objects_of_records(records))
        if values and not any(isinstance(value, str) for value in values):
            from nearkin.stages.documents.values import in_words

            raise SourceError(
                f"{source.name}: the text must be a column of strings. The column '{source.text}' holds "
                f"{in_words(values[0])}. The columns are: {listed_columns(names)}."
                f"{inside_hint([source.text], objects_of_records(records))}"
            )
    if keep_column is None:
        return None
    from nearkin.stages.documents.keeping import check_keep_records

    return check_keep_records(source.name, keep_column, records, is_text=not FORMATS[source.format].has_types)
