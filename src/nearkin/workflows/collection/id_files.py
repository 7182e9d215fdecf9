"""File of ids → ids of documents: one per line, or a column of a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nearkin.errors import SourceError, quoted
from nearkin.stages.documents.columns import listed_columns
from nearkin.workflows.reading import sheets


def read_ids(path: Path, *, column: str | None = None, encoding: str = "utf-8") -> list[str]:
    r"""Read the ids of documents.

    Parameters
    ----------
    column
        A file with another suffix is then delimited text. Default: a usual name, or the only column, without a header.

    Returns
    -------
    list of str
        In file order, each once. Blanks around them stay: a collection may have ``a`` and ``a ``, and a command that
        erases must not take one for the other.
    """
    if column is None and not sheets.has_columns(path) and sheets.load_file_rows(path, encoding) is None:
        values = [line.removesuffix("\r") for line in sheets.text_of(path, encoding).split("\n")]
    else:
        sheet = sheets.read_sheet(path, encoding, lambda names: [_place(path, names, column) or 0])
        place = _place(path, sheet.names, column)
        if place is None:
            sheet = sheet.without_header()
        values = [_id_in(sheet, place or 0, row) for row in range(len(sheet.rows))]
    ids = list(dict.fromkeys(doc_id for doc_id in values if doc_id.strip()))
    if not ids:
        raise SourceError(f"{path} has no ids. It must have one per line, or a column of them.")
    return ids


def _id_in(sheet: sheets.Sheet, place: int, row: int) -> str:
    where, value = f"{sheet.path}:{sheet.lines[row]}", sheet.rows[row][place]
    if value is None or not str(value).strip():
        if any(other is not None and str(other).strip() for other in sheet.rows[row]):
            raise SourceError(f"{where}: no id in {quoted(sheet.names[place])}. Give the id, or leave the row out.")
        return ""
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise SourceError(f"{where}: ids are strings or integers, but {sheet.names[place]!r} is {value!r}.")
    return str(value)


def _place(path: Path, header: Sequence[str], column: str | None) -> int | None:
    """Return the place of the ids; None for an only column whose name is unusual: it may be an id."""
    named = sheets.named_column(path, header, column)
    if named is not None:
        return named
    usual = sheets.id_columns(path, header)
    if usual:
        return usual[0]
    if len(header) == 1:
        return None
    raise SourceError(
        f"Which column of {path} has the ids? Name it with --id. The columns are: {listed_columns(header)}."
    )
