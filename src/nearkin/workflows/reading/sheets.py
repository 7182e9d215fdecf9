"""Files with values of documents: rows with their columns, and objects of JSON Lines."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path

from nearkin.errors import SourceError, quoted
from nearkin.formats import parquet
from nearkin.formats.delimited import as_it_was
from nearkin.nouns import one_of
from nearkin.stages.documents.arrays import holds_characters, plain
from nearkin.stages.documents.columns import check_unique, missing_column
from nearkin.stages.documents.encodings import check_encoding
from nearkin.stages.documents.finding import by_suffix
from nearkin.stages.documents.reader import head_of_file, unreadable
from nearkin.stages.documents.readers.load_file import (
    Dialect,
    columns_of,
    dialect_of,
    encoding_of_lines,
    is_for_review,
    records_of,
)
from nearkin.stages.documents.readers.whole_file import text_of_file
from nearkin.stages.documents.rows import ids_of_table
from nearkin.stages.documents.rules import RecordFault, StreamFault
from nearkin.stages.documents.streams import ByteStream

# in lower case, with blanks for "_" and "-"; the first name of an id column found is used
_NAMES_OF_IDS = (
    *("id", "doc id", "docid", "document id", "documentid", "control number", "bates", "bates number", "document"),
    "doc",
)
_NAMES_OF_FILES = ("file", "filename", "file name", "path", "filepath", "file path", "name")
ID_NAMES = (*_NAMES_OF_IDS, *_NAMES_OF_FILES)
_RECORDS = (".jsonl", ".ndjson")
_PACKED = (".gz", ".bz2", ".xz", ".zst")
_MAX_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows of a file with named columns, with their lines; ``first`` of delimited text may be no header."""

    path: Path
    names: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]
    lines: Sequence[int]
    first: tuple[str, ...] | None = None

    def without_header(self) -> Sheet:
        """Return the rows of delimited text whose first row is no header."""
        names = tuple(f"column {number}" for number in range(1, len(self.names) + 1))
        first = [] if self.first is None else [self.first]
        return Sheet(self.path, names, [*first, *self.rows], [1, *self.lines] if first else self.lines)

    def text(self, column: int, row: int) -> str:
        """Return a value as text; empty if it is missing. Dates are written as YYYY-MM-DD."""
        value = self.rows[row][column]
        if isinstance(value, datetime) and value.time() == time():
            value = value.date()
        if value is None or isinstance(value, str):
            return value or ""
        return json.dumps(value) if isinstance(value, bool | list | dict) else str(value)


def has_columns(path: Path) -> bool:
    """Whether the name of a file, which may be compressed, is that of a table."""
    return _suffix_of(path) in (".csv", ".tsv", ".parquet", *_RECORDS)


def _suffix_of(path: Path) -> str:
    return next((suffix.lower() for suffix in reversed(path.suffixes) if suffix.lower() not in _PACKED), "")


def read_sheet(path: Path, encoding: str, places_of: Callable[[Sequence[str]], Sequence[int]]) -> Sheet:
    r"""Read a .jsonl, .ndjson or .parquet file, a load file, or other delimited text.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "labels.jsonl")
    ...     n = file.write_text('{"id": "a", "label": true}\n{"id": 7}\n')
    ...     sheet = read_sheet(file, "utf-8", lambda names: [0, 1])
    >>> sheet.names, [(sheet.text(0, i), sheet.text(1, i)) for i in range(len(sheet.rows))]
    (('id', 'label'), [('a', 'true'), ('7', '')])
    """
    suffix = _suffix_of(path)
    if suffix == ".parquet":
        sheet = _of_parquet(path, places_of)
    elif suffix in _RECORDS:
        records = dict(_json_objects(path, encoding))
        names = tuple(dict.fromkeys(name for record in records.values() for name in record))
        sheet = Sheet(path, names, [tuple(map(record.get, names)) for record in records.values()], list(records))
    else:
        sheet = _of_delimited(path, encoding)
    if not sheet.rows and not sheet.first:
        raise SourceError(f"{path} is empty. It must have columns.")
    return sheet


def _of_delimited(path: Path, encoding: str) -> Sheet:
    rows = load_file_rows(path, encoding)
    if rows is None:
        text = text_of(path, encoding)
        text = text if "\n" in text else text.replace("\r", "\n")
        usual = "\t" if by_suffix(str(path))[0] == "tsv" else max(",\t;|", key=text.partition("\n")[0].count)
        stream = ByteStream(io.BytesIO(text.encode()), "none")
        rows = _rows_of(path, stream, Dialect(separator=usual, qualifier='"', newline=""))
    (_, first), *rows = rows or [(0, [])]
    names = tuple(name.strip() for name in first)
    values = [tuple(map(as_it_was, row)) for _, row in rows]
    return Sheet(path, names, values, [line for line, _ in rows], tuple(map(as_it_was, first)))


def _of_parquet(path: Path, places_of: Callable[[Sequence[str]], Sequence[int]]) -> Sheet:
    try:
        with parquet.open_table(path) as file:
            names = file.schema_arrow.names
            places = places_of(names)
            table = file.read([names[place] for place in places])
    except parquet.UNREADABLE as error:
        raise SourceError(f"{path}: {parquet.why_unreadable(path, error)}.") from error
    columns: list[list[object]] = [[None] * len(table) for _ in names]
    for place in places:
        column = table[names[place]].combine_chunks()
        columns[place] = (ids_of_table(plain(column)) if holds_characters(column.type) else column).to_pylist()
    return Sheet(path, tuple(names), list(zip(*columns, strict=True)), range(1, len(table) + 1))


def _json_objects(path: Path, encoding: str) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in enumerate(text_of(path, encoding).split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise SourceError(f"{path}:{number}: not a JSON object.")
        yield number, record


def text_of(path: Path, encoding: str) -> str:
    """Return all text of the file, unpacked and decoded; SourceError if it is no text."""
    try:
        return text_of_file(str(path), check_encoding(encoding), _MAX_BYTES).decode()
    except OSError as error:
        raise unreadable(str(path), error) from error
    except RecordFault as fault:
        raise SourceError(f"{path}: {fault.sentence}.") from fault


def load_file_rows(path: Path, encoding: str = "utf-8") -> list[tuple[int, list[str]]] | None:
    r"""Return the records of a load file that is not CSV, with their first lines; None for other files.

    SourceError if a record is damaged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.dat")
    ...     n = file.write_bytes("þBEGDOCþ\x14þCUSTODIANþ\nþA-1þ\x14þZoëþ\n".encode("cp1252"))
    ...     load_file_rows(file)
    [(1, ['BEGDOC', 'CUSTODIAN']), (2, ['A-1', 'Zoë'])]
    """
    name = str(path)
    head = head_of_file(name, name, check_encoding(encoding))
    dialect = dialect_of(head.data)
    if dialect is None or dialect.is_csv:
        return None
    if not dialect.newline and (len(dialect.names) < 2 or by_suffix(name)[0] != "load-file"):
        return None
    try:
        with open(path, "rb", buffering=0) as raw:
            return _rows_of(path, ByteStream(raw, head.compression, encoding=encoding_of_lines(encoding)), dialect)
    except OSError as error:
        raise unreadable(name, error) from error
    except StreamFault as fault:
        raise SourceError(f"{name}: cannot be read: {fault}.") from fault


def _rows_of(path: Path, stream: ByteStream, dialect: Dialect) -> list[tuple[int, list[str]]]:
    rows = list[tuple[int, list[str]]]()
    for record in records_of(stream, dialect):
        if record.fault is not None:
            raise SourceError(f"{path}:{record.line}: {record.fault}.")
        rows.append((record.line, [value.replace(dialect.newline or "\n", "\n") for value in record.fields]))
    return rows


def named_column(path: Path, header: Sequence[str], wanted: str | None, parameter: str = "id") -> int | None:
    """Return the place of a requested column."""
    if wanted is None:
        return None
    if wanted.strip() not in header:
        raise missing_column(str(path), parameter, wanted, header)
    check_unique(str(path), {parameter: wanted.strip()}, header)
    return header.index(wanted.strip())


def usual_columns(path: Path, header: Sequence[str], usual: tuple[str, ...], taken: int | None) -> list[int]:
    """Return the places of usual names, the likeliest first, without that of the other column."""
    names, positions = [plain_name(name) for name in header], list[int]()
    for name in usual:
        places = [place for place, title in enumerate(names) if title == name and place != taken]
        if len(places) > 1:
            raise repeated_column(path, header[places[0]])
        positions += places
    return positions


def id_columns(path: Path, header: Sequence[str], taken: int | None = None) -> list[int]:
    """Return the places of columns that may hold the ids, the likeliest first: in a load file, the control number.

    SourceError if a column with another usual name stands beside the control number, and nothing proves a load file.

    Examples
    --------
    >>> id_columns(Path("a.dat"), ["CUSTODIAN", "BEGDOC", "FILENAME"]), id_columns(Path("a.csv"), ["name", "doc_id"])
    ([1, 2], [1, 0])
    """
    control = columns_of(header).get("control")
    if control is not None and header.count(control) > 1:
        raise repeated_column(path, control)
    controls = [] if control is None or header.index(control) == taken else [header.index(control)]
    usual = usual_columns(path, header, _NAMES_OF_IDS, taken)
    if controls and usual and controls[0] != usual[0] and not is_for_review(header):
        either = one_of(quoted(header[place]) for place in sorted({usual[0], controls[0]}))
        raise SourceError(f"Which column of {path} has the ids, {either}? Name it with --id.")
    likeliest = [*controls, *usual]
    return list(dict.fromkeys([*likeliest, *usual_columns(path, header, _NAMES_OF_FILES, taken)]))


def plain_name(name: str) -> str:
    """Return a name of a column as lists of usual names have it."""
    return name.lower().replace("_", " ").replace("-", " ")


def repeated_column(path: Path, name: str) -> SourceError:
    """Return the error for a column that occurs twice."""
    return SourceError(f"{path} has more than one column {name!r}. Give each a unique name.")
