"""File of labels, or of other values of documents → pairs of ids and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from nearkin.collection.collection import Collection
from nearkin.collection.decisions.tags import MAX_OF_A_VALUE, tags_as_labels
from nearkin.collection.stored.documents import contents_of_current
from nearkin.errors import ParameterError, SourceError, quoted
from nearkin.formats import parquet
from nearkin.formats.delimited import as_it_was
from nearkin.nouns import counted, one_of
from nearkin.stages.documents.columns import listed_columns
from nearkin.workflows.reading.sheets import (
    ID_NAMES,
    id_columns,
    json_objects,
    named_column,
    plain_name,
    read_rows,
    repeated_column,
    usual_columns,
)

_LABEL_NAMES = (
    *("label", "labels", "class", "category", "code", "coding", "tag", "designation", "responsive", "privilege"),
)


@dataclass(frozen=True, slots=True)
class LabelsRead:
    """Content of a file of labels.

    Parameters
    ----------
    pairs : tuple of (str, str)
        Ids and labels in file order: labels without surrounding blanks, and ids that ``is_document`` does not know.
    n_without_label : int
        Number of rows with an empty label; they are not among the pairs.
    id_column, label_column : str
        Names of the columns; "column 1" and "column 2" in a file without a header.
    """

    pairs: tuple[tuple[str, str], ...]
    n_without_label: int
    id_column: str
    label_column: str

    @property
    def is_bare(self) -> bool:
        """Whether the labels are those of a tag without values: its name, and "not" with its name."""
        return not self.id_column and {label for _, label in self.pairs} <= {
            self.label_column,
            f"not {self.label_column}",
        }


def read_labels(
    path: Path,
    *,
    doc_id: str | None = None,
    label: str | None = None,
    encoding: str = "utf-8",
    is_document: Callable[[str], bool] | None = None,
) -> LabelsRead:
    """Read the ids and labels of a file: CSV, TSV or other delimited text, a load file, JSON Lines or Parquet.

    Parameters
    ----------
    path : Path
        A .jsonl, .ndjson or .parquet file; any other is delimited text. Dates in Parquet are read as YYYY-MM-DD.
    doc_id, label : str, optional
        Columns. Default: those with a usual name; otherwise, of two columns, the remaining one, or the first for
        ids and the second for labels.
    encoding : str
        Fallback encoding of text that is not UTF-8; a byte order mark takes precedence.
    is_document : callable, optional
        Whether an id is one of the collection's. If so, a first row of two columns that begins with it is no header. If
        not, blanks around the id are removed; without the function no id is changed.

    Raises
    ------
    SourceError
        The file cannot be read; a column is missing or occurs twice; several columns may hold the labels; the rows
        have different numbers of fields; a value is neither text, a number, a date nor true or
        false; or a row with a label has no id.
    ParameterError
        Both are the same column.
    """
    rows = table_rows(path, encoding)
    if rows is not None:
        at_id, at_label = _columns(path, list(rows.names), doc_id, label)
        columns = rows.names[at_id], rows.names[at_label]
        read = ((rows.lines[i], rows.text(at_id, i), rows.text(at_label, i)) for i in range(len(rows)))
        return _labels(path, read, columns, is_document)
    return _of_delimited(path, doc_id, label, encoding, is_document)


def values_by_id(path: Path, read: LabelsRead) -> dict[str, str]:
    """Return values by id.

    Raises
    ------
    SourceError
        There is no value, a document has two, or one is longer than a tag's.
    """
    values = dict[str, str]()
    for doc_id, value in read.pairs:
        if len(value) > MAX_OF_A_VALUE:
            raise SourceError(
                f"{path}: {quoted(read.label_column)} of {quoted(doc_id)} has {counted(len(value), 'character')}. A "
                f"tag has at most {MAX_OF_A_VALUE:,}."
            )
        if values.setdefault(doc_id, value) != value:
            raise SourceError(
                f"{path}: {quoted(doc_id)} has two values in {quoted(read.label_column)}: {quoted(values[doc_id])} and "
                f"{quoted(value)}."
            )
    if not values:
        raise SourceError(f"{path} has no values in {read.label_column!r}.")
    return values


def _of_delimited(
    path: Path, doc_id: str | None, label: str | None, encoding: str, is_document: Callable[[str], bool] | None
) -> LabelsRead:
    rows = read_rows(path, encoding)
    if not rows:
        raise SourceError(f"{path} is empty. It must have a column of ids and one of labels.")
    header = [name.strip() for name in rows[0][1]]
    is_headless = doc_id is None and label is None and _is_headless([row for _, row in rows], is_document)
    if is_headless:
        header = ["column 1", "column 2"]
    at_id, at_label = _columns(path, header, doc_id, label)
    what = "where the first row has" if is_headless else "where the header has"

    def read() -> Iterator[tuple[int, str, str]]:
        for line, row in rows if is_headless else rows[1:]:
            if len(row) != len(header):
                raise SourceError(
                    f"{path}:{line}: {counted(len(row), 'field')} {what} {len(header)}. Put a value that contains the "
                    "delimiter in quotes."
                )
            yield line, as_it_was(row[at_id]), as_it_was(row[at_label].strip())

    return _labels(path, read(), (header[at_id], header[at_label]), is_document)


def _labels(
    path: Path,
    rows: Iterable[tuple[int, str, str]],
    columns: tuple[str, str],
    is_document: Callable[[str], bool] | None,
) -> LabelsRead:
    """Return what the rows, (line, id, label), say."""
    pairs, n_without_label = list[tuple[str, str]](), 0
    for line, doc_id, label in rows:
        if not label.strip():
            n_without_label += 1
        elif not doc_id.strip():
            raise SourceError(f"{path}:{line}: the row has {quoted(label.strip())}, but no id in {quoted(columns[0])}.")
        else:
            pairs.append((_own_id(doc_id, is_document), label.strip()))
    return LabelsRead(tuple(pairs), n_without_label, *columns)


def _own_id(found: str, is_document: Callable[[str], bool] | None) -> str:
    """Return an id unchanged, or without surrounding blanks if only that is an id of the collection."""
    bare = found.strip()
    return found if found == bare or is_document is None or is_document(found) else bare


def _is_headless(rows: Sequence[Sequence[str]], is_document: Callable[[str], bool] | None) -> bool:
    """Whether a file of two columns begins with an id and its label.

    It does if the id is a document's, or the label occurs again: a column name is neither.
    """
    first = [value.strip() for value in rows[0]]
    if len(first) != 2 or any(plain_name(value) in (*ID_NAMES, *_LABEL_NAMES) for value in first):
        return False
    if is_document is not None and is_document(rows[0][0]):
        return True
    return any(len(row) == 2 and row[1].strip() == first[1] for row in rows[1:])


def _columns(path: Path, header: list[str], doc_id: str | None, label: str | None) -> tuple[int, int]:
    """Return the places of the ids and of the labels."""
    at_id, at_label = named_column(path, header, doc_id), named_column(path, header, label)
    if at_id is None:
        at_id = next(iter(id_columns(path, header, at_label)), None)
    if at_label is None:
        usual = usual_columns(path, header, _LABEL_NAMES, at_id)
        if len(usual) > 1:
            names = one_of(repr(header[place]) for place in sorted(usual))
            raise SourceError(
                f"Which column of {path} has the labels, {names}? Name it with --label. The columns are: "
                f"{listed_columns(header)}."
            )
        at_label = next(iter(usual), None)
    if len(header) == 2 and at_id is None:
        at_id = 0 if at_label is None else 1 - at_label
    if len(header) == 2 and at_label is None and at_id is not None:
        at_label = 1 - at_id
    of_ids, of_labels = _known(path, header, at_id, "ids", "--id"), _known(path, header, at_label, "labels", "--label")
    if of_ids == of_labels:
        raise ParameterError(f"--id and --label must be two columns. Got {header[of_ids]!r} for both.")
    if header[of_ids] == header[of_labels]:
        raise repeated_column(path, header[of_ids])
    return of_ids, of_labels


def _known(path: Path, header: list[str], place: int | None, what: str, option: str) -> int:
    """Return the place, or raise an error if there is none."""
    if place is None:
        raise SourceError(
            f"Which column of {path} has the {what}? Name it with {option}. The columns are: {listed_columns(header)}."
        )
    return place


_RECORDS = (".jsonl", ".ndjson")
_PACKED = (".gz", ".bz2", ".xz", ".zst")


@dataclass(frozen=True, slots=True)
class NamedRows:
    """Rows of a file with named columns.

    Parameters
    ----------
    path : Path
    names : tuple of str
    rows : sequence of tuple
        Values as they were read; None: missing.
    lines : sequence of int
        Line, or row, of each in the file.
    """

    path: Path
    names: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]
    lines: Sequence[int]

    def __len__(self) -> int:
        return len(self.rows)

    def text(self, column: int, row: int) -> str:
        """Return a value as text; empty if it is missing.

        Raises
        ------
        SourceError
            It is neither text, a number, a date nor true or false.
        """
        value = self.rows[row][column]
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, datetime):
            is_day = (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0)
            return value.date().isoformat() if is_day else value.isoformat()
        if isinstance(value, date):
            return value.isoformat()
        if isinstance(value, str | int | float):
            return str(value)
        raise SourceError(
            f"{self.path}:{self.lines[row]}: {self.names[column]!r} must be text, a number, a date or true or false, "
            f"but is {value!r}."
        )


def table_rows(path: Path, encoding: str) -> NamedRows | None:
    r"""Read a .jsonl, .ndjson or .parquet file, which may be compressed; None for a file with another suffix.

    Raises
    ------
    SourceError
        The file cannot be read, or is empty.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "labels.jsonl")
    ...     n = file.write_text('{"id": "a", "label": true}\n{"id": 7}\n')
    ...     found = table_rows(file, "utf-8")
    >>> found.names, [(found.text(0, i), found.text(1, i)) for i in range(len(found))]
    (('id', 'label'), [('a', 'true'), ('7', '')])
    """
    suffix = next((one.lower() for one in reversed(path.suffixes) if one.lower() not in _PACKED), "")
    if suffix == ".parquet":
        return _of_parquet(path)
    return _of_records(path, encoding) if suffix in _RECORDS else None


def _of_records(path: Path, encoding: str) -> NamedRows:
    records, lines = list[dict[str, object]](), list[int]()
    for number, record in json_objects(path, encoding):
        records.append(record)
        lines.append(number)
    if not records:
        raise SourceError(f"{path} is empty. It must have a member with the ids and one with the labels.")
    names = tuple(dict.fromkeys(name for one in records for name in one))
    return NamedRows(path, names, [tuple(one.get(name) for name in names) for one in records], lines)


def _of_parquet(path: Path) -> NamedRows:
    try:
        with parquet.open_table(path) as file:
            table = file.read()
    except parquet.UNREADABLE as error:
        raise SourceError(f"{path}: {parquet.why_unreadable(path, error)}.") from error
    columns = [column.to_pylist() for column in table.columns]
    if not len(table):
        raise SourceError(f"{path} is empty. It must have a column of ids and one of labels.")
    return NamedRows(path, tuple(table.column_names), list(zip(*columns, strict=True)), range(1, len(table) + 1))


def labels_of_tag(collection: Collection, field: str) -> LabelsRead:
    """Return the values of a tag as labels, as if they had been read from a file.

    The label of a bare tag is its name; if the tag is always bare, every other current document has the label
    "not FIELD".

    Raises
    ------
    ParameterError
        No current document has the tag.
    """
    with collection.opened.store.reading() as connection:
        values = dict(tags_as_labels(connection, field))
        if not values:
            raise ParameterError(f"No document has the tag {field!r}. List the tags: nearkin tags COLLECTION")
        pairs = [(doc_id, value or field) for doc_id, value in values.items()]
        if not any(values.values()):
            pairs += [(doc_id, f"not {field}") for doc_id in contents_of_current(connection) if doc_id not in values]
    return LabelsRead(tuple(pairs), 0, "", field)
