"""Files with values of documents: rows of CSV, TSV and load files with their columns, and objects of JSON Lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nearkin.errors import SourceError
from nearkin.stages.documents.columns import listed_columns
from nearkin.stages.documents.encodings import check_encoding, looks_like_utf16, problem_pieces, why_not_utf8
from nearkin.stages.documents.finding import by_suffix
from nearkin.stages.documents.formats.load_file import NAME
from nearkin.stages.documents.load_files.columns import columns_of
from nearkin.stages.documents.load_files.dialect import Dialect, header_of
from nearkin.stages.documents.load_files.records import RecordReader
from nearkin.stages.documents.sniffing import head_of_file, unreadable
from nearkin.stages.documents.streams import ByteStream, StreamFault

# in lower case, with blanks for "_" and "-"; the first name of an id column found is used
ID_NAMES = (
    *("id", "doc id", "docid", "document id", "documentid", "control number", "bates", "bates number", "document"),
    *("doc", "file", "filename", "file name", "path", "filepath", "file path", "name"),
)
_MAX_OF_A_FIELD = 1 << 24
_READ_BYTES = 1 << 20


def read_rows(path: Path, encoding: str = "utf-8", *, delimiter: str | None = None) -> list[tuple[int, list[str]]]:
    """Return the rows that are not blank, each with the number of its last line; in a load file, of its first one.

    Without a delimiter, those of a load file are recognised by its first line; otherwise the most frequent one of the
    first line is used.

    Raises
    ------
    SourceError
        The file cannot be read, or is not delimited text.
    """
    text = text_of(path, encoding)
    dialect = load_file_dialect(path, text) if delimiter is None else None
    if dialect is not None:
        return list(_load_file_rows(path, text, dialect))
    try:
        with _long_fields():
            return _rows(text, delimiter)
    except csv.Error as error:
        raise SourceError(f"{path} is not a CSV file: {error}.") from error


def json_objects(path: Path, encoding: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the objects of a file of JSON Lines, each with the number of its line.

    Raises
    ------
    SourceError
        The file cannot be read, or a line is not a JSON object.
    """
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
    """Return all text of the file, unpacked and decoded."""
    name, encoding = str(path), check_encoding(encoding)
    head = head_of_file(name, name, encoding)
    try:
        with open(path, "rb", buffering=0) as raw:
            stream, parts = ByteStream(raw, head.compression, encoding=encoding), list[bytes]()
            while part := stream.read(_READ_BYTES):
                parts.append(part)
    except OSError as error:
        raise unreadable(name, error) from error
    except StreamFault as fault:
        raise SourceError(f"{name}: cannot be read: {fault}.") from fault
    data = b"".join(parts)
    if b"\0" in data:
        advice = looks_like_utf16(data) or "it contains the character U+0000"
        raise SourceError(f"{name}: ", *problem_pieces(advice), ".")
    if (problem := why_not_utf8(data, encoding)) is not None:
        raise SourceError(f"{name}: ", *problem_pieces(problem), ".")
    return data.decode("utf-8")


def load_file_dialect(path: Path, text: str) -> Dialect | None:
    r"""Return the delimiters of a load file that is not CSV; None for other text.

    In a file that is not called .dat, only the delimiters of Concordance prove it: an id may begin and end with the
    same sign, too.

    Examples
    --------
    >>> load_file_dialect(Path("a.txt"), "þDOCIDþ\x14þCUSTODIANþ\nþA-1þ\x14þKellerþ\n").separator
    '\x14'
    >>> load_file_dialect(Path("a.dat"), "^DOCID^|^CUSTODIAN^").separator, load_file_dialect(Path("a.txt"), "*id*")
    ('|', None)
    """
    found = header_of(text.partition("\n")[0].removesuffix("\r"))
    if found is None or found[1].is_csv:
        return None
    names, dialect = found
    return dialect if dialect.newline or (len(names) > 1 and by_suffix(path.name)[0] == NAME) else None


def _load_file_rows(path: Path, text: str, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    stream = ByteStream(io.BytesIO(text.encode()), "none")
    for record in RecordReader(stream, dialect).records():
        if record.problem is not None:
            raise SourceError(f"{path}:{record.line}: {record.problem}.")
        values = (value.decode() for value in record.fields)
        yield record.line, [one.replace(dialect.newline, "\n") if dialect.newline else one for one in values]


def _rows(text: str, delimiter: str | None) -> list[tuple[int, list[str]]]:
    first = text[: text.find("\n") + 1] or text
    usual = max(",\t;|", key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or usual, strict=True)
    return [(rows.line_num, row) for row in rows if row]


@contextmanager
def _long_fields() -> Iterator[None]:
    """Allow longer fields; the limit applies to the whole process, so it is restored afterwards."""
    was = csv.field_size_limit(_MAX_OF_A_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(was)


def named_column(path: Path, header: list[str], wanted: str | None) -> int | None:
    """Return the place of a requested column."""
    if wanted is None:
        return None
    n_found = header.count(wanted.strip())
    if n_found == 1:
        return header.index(wanted.strip())
    if n_found:
        raise repeated_column(path, wanted)
    raise SourceError(f"{path} has no column {wanted!r}. The columns are: {listed_columns(header)}.")


def usual_columns(path: Path, header: list[str], usual: tuple[str, ...], taken: int | None) -> list[int]:
    """Return the places of usual names, the likeliest first, without that of the other column."""
    names, found = [plain_name(name) for name in header], list[int]()
    for name in usual:
        places = [place for place, one in enumerate(names) if one == name and place != taken]
        if len(places) > 1:
            raise repeated_column(path, header[places[0]])
        found += places
    return found


def id_columns(path: Path, header: list[str], taken: int | None) -> list[int]:
    """Return the places of columns of ids by their usual names, the likeliest first.

    Those of control numbers, as load files have them, are used if no other name is a usual one.
    """
    usual = usual_columns(path, header, ID_NAMES, taken)
    control = None if usual else columns_of(header).control
    return [place for place, name in enumerate(header) if name == control and place != taken] or usual


def plain_name(name: str) -> str:
    """Return a name of a column as lists of usual names have it."""
    return name.lower().replace("_", " ").replace("-", " ")


def repeated_column(path: Path, name: str) -> SourceError:
    """Return the error for a column that occurs twice."""
    return SourceError(f"{path} has more than one column {name!r}. Give each a unique name.")
