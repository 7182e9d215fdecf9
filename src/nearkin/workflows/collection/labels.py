"""File of labels → pairs of ids and labels."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nearkin.errors import ParameterError, SourceError
from nearkin.formats.delimited import as_it_was
from nearkin.nouns import counted
from nearkin.stages.documents.encodings import check_encoding, looks_like_utf16, why_not_utf8
from nearkin.stages.documents.sniffing import head_of_file, unreadable
from nearkin.stages.documents.streams import ByteStream, StreamFault

# in lower case, with blanks for "_" and "-"; the first name of an id column found is used
_ID_NAMES = (
    *("id", "doc id", "docid", "document id", "documentid", "control number", "bates", "bates number", "document"),
    *("doc", "file", "filename", "file name", "path", "filepath", "file path", "name"),
)
_LABEL_NAMES = (
    *("label", "labels", "class", "category", "code", "coding", "tag", "designation", "responsive", "privilege"),
)
_MAX_OF_A_FIELD = 1 << 24
_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class LabelsRead:
    """Content of a file of labels.

    Parameters
    ----------
    pairs : tuple of (str, str)
        Ids and labels in file order, without surrounding blanks.
    n_without_label : int
        Number of rows with an empty label; they are not among the pairs.
    id_column, label_column : str
        Names of the columns; "column 1" and "column 2" in a file without a header.
    """

    pairs: tuple[tuple[str, str], ...]
    n_without_label: int
    id_column: str
    label_column: str


def read_labels(
    path: Path,
    *,
    doc_id: str | None = None,
    label: str | None = None,
    encoding: str = "utf-8",
    is_document: Callable[[str], bool] | None = None,
) -> LabelsRead:
    """Read the ids and labels of a CSV or TSV file.

    Parameters
    ----------
    path : Path
    doc_id, label : str, optional
        Columns. Default: those with a usual name; otherwise, of two columns, the remaining one, or the first for
        ids and the second for labels.
    encoding : str
        Fallback encoding of text that is not UTF-8; a byte order mark takes precedence.
    is_document : callable, optional
        Whether an id is one of the collection's. If so, a first row of two columns that begins with it is no header.

    Raises
    ------
    SourceError
        The file cannot be read; a column is missing or occurs twice; several columns may hold the labels; or the
        rows have different numbers of fields.
    ParameterError
        Both are the same column.
    """
    pairs = list[tuple[str, str]]()
    n_without_label = 0
    try:
        with _long_fields():
            rows = _rows(path, _text(path, encoding))
    except csv.Error as error:
        raise SourceError(f"{path} is not a CSV file: {error}.") from error
    if not rows:
        raise SourceError(f"{path} is empty. It must have a column of ids and one of labels.")
    header = [name.strip() for name in rows[0][1]]
    is_headless = doc_id is None and label is None and _is_headless([row for _, row in rows], is_document)
    if is_headless:
        header = ["column 1", "column 2"]
    at_id, at_label = _columns(path, header, doc_id, label)
    for line, row in rows if is_headless else rows[1:]:
        if len(row) != len(header):
            what = "where the first row has" if is_headless else "where the header has"
            raise SourceError(
                f"{path}:{line}: {counted(len(row), 'field')} {what} {len(header)}. Put a value that contains the "
                "delimiter in quotes."
            )
        its_label = as_it_was(row[at_label].strip())
        if its_label:
            pairs.append((as_it_was(row[at_id].strip()), its_label))
        else:
            n_without_label += 1
    return LabelsRead(tuple(pairs), n_without_label, header[at_id], header[at_label])


def _text(path: Path, encoding: str) -> str:
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
        raise SourceError(f"{name}: {advice}.")
    if (problem := why_not_utf8(data, encoding)) is not None:
        raise SourceError(f"{name}: {problem}.")
    return data.decode("utf-8")


def _rows(path: Path, text: str) -> list[tuple[int, list[str]]]:
    """Return the rows that are not blank, each with the number of its last line."""
    first = text[: text.find("\n") + 1] or text
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(",\t;|", key=first.count), strict=True)
    return [(rows.line_num, row) for row in rows if row]


def _is_headless(rows: Sequence[Sequence[str]], is_document: Callable[[str], bool] | None) -> bool:
    """Whether a file of two columns begins with an id and its label.

    It does if the id is a document's, or the label occurs again: a column name is neither.
    """
    first = [value.strip() for value in rows[0]]
    if len(first) != 2 or any(_plain(value) in (*_ID_NAMES, *_LABEL_NAMES) for value in first):
        return False
    if is_document is not None and is_document(first[0]):
        return True
    return any(len(row) == 2 and row[1].strip() == first[1] for row in rows[1:])


@contextmanager
def _long_fields() -> Iterator[None]:
    """Allow longer fields; the limit applies to the whole process, so it is restored afterwards."""
    was = csv.field_size_limit(_MAX_OF_A_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(was)


def _columns(path: Path, header: list[str], doc_id: str | None, label: str | None) -> tuple[int, int]:
    """Return the places of the ids and of the labels."""
    at_id, at_label = _named(path, header, doc_id), _named(path, header, label)
    if at_id is None:
        at_id = next(iter(_usual(path, header, _ID_NAMES, at_label)), None)
    if at_label is None:
        usual = _usual(path, header, _LABEL_NAMES, at_id)
        if len(usual) > 1:
            names = " or ".join(repr(header[place]) for place in sorted(usual))
            raise SourceError(
                f"Which column of {path} has the labels, {names}? Name it with --label. The columns are: "
                f"{', '.join(header)}."
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
        raise _twice(path, header[of_ids])
    return of_ids, of_labels


def _named(path: Path, header: list[str], wanted: str | None) -> int | None:
    """Return the place of a requested column."""
    if wanted is None:
        return None
    n_found = header.count(wanted.strip())
    if n_found == 1:
        return header.index(wanted.strip())
    if n_found:
        raise _twice(path, wanted)
    raise SourceError(f"{path} has no column {wanted!r}. The columns are: {', '.join(header)}.")


def _known(path: Path, header: list[str], place: int | None, what: str, option: str) -> int:
    """Return the place, or raise an error if there is none."""
    if place is None:
        raise SourceError(
            f"Which column of {path} has the {what}? Name it with {option}. The columns are: {', '.join(header)}."
        )
    return place


def _usual(path: Path, header: list[str], usual: tuple[str, ...], taken: int | None) -> list[int]:
    """Return the places of usual names, the likeliest first, without that of the other column."""
    names, found = [_plain(name) for name in header], list[int]()
    for name in usual:
        places = [place for place, one in enumerate(names) if one == name and place != taken]
        if len(places) > 1:
            raise _twice(path, header[places[0]])
        found += places
    return found


def _plain(name: str) -> str:
    return name.lower().replace("_", " ").replace("-", " ")


def _twice(path: Path, name: str) -> SourceError:
    return SourceError(f"{path} has more than one column {name!r}. Give each a unique name.")
