"""A file of labels → pairs of ids and labels."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nearkin.errors import ParameterError, SourceError
from nearkin.formats.delimited import as_it_was
from nearkin.nouns import counted

# in small letters, with blanks for "_" and "-"; the first that is there is taken
_ID_NAMES = (
    *("id", "doc id", "docid", "document id", "documentid", "control number", "bates", "bates number", "document"),
    *("doc", "file", "filename", "file name", "path", "filepath", "file path", "name"),
)
_LABEL_NAMES = (
    *("label", "labels", "class", "category", "code", "coding", "tag", "designation", "responsive", "privilege"),
)
_MOST_OF_A_FIELD = 1 << 24


@dataclass(frozen=True, slots=True)
class LabelsRead:
    """What a file of labels says.

    Parameters
    ----------
    pairs : tuple of (str, str)
        Ids and labels, in the order of the file, without the blanks around them.
    n_without_label : int
        Rows whose label is empty; they are not among the pairs.
    """

    pairs: tuple[tuple[str, str], ...]
    n_without_label: int


def read_labels(path: Path, *, doc_id: str | None = None, label: str | None = None) -> LabelsRead:
    """The ids and labels of a CSV or TSV file with a header.

    Parameters
    ----------
    path : Path
    doc_id, label : str, optional
        The columns; if not given, those with a usual name, else, of two columns, the one that is left, or the first
        for ids and the second for labels.

    Raises
    ------
    SourceError
        The file cannot be read, or has no such columns, or has one of them twice; or a row has not as many fields as
        the header.
    ParameterError
        Both are the same column.
    """
    pairs = list[tuple[str, str]]()
    n_without_label = 0
    try:
        with open(path, encoding="utf-8-sig", newline="") as file, _long_fields():
            first = file.readline()
            file.seek(0)
            delimiter = max(",\t;", key=first.count)
            rows = csv.reader(file, delimiter=delimiter, strict=True)
            header = next(rows, None)
            if header is None:
                raise SourceError(f"{path} is empty. It is to have a header, and a column of ids and one of labels.")
            at_id, at_label = _columns(path, [name.strip() for name in header], doc_id, label)
            for row in rows:
                if not row:
                    continue
                if len(row) != len(header):
                    raise SourceError(
                        f"{path}:{rows.line_num}: {counted(len(row), 'field')} where the header has {len(header)}. A "
                        "value with a comma in it is to stand in quotes."
                    )
                its_label = as_it_was(row[at_label].strip())
                if its_label:
                    pairs.append((as_it_was(row[at_id].strip()), its_label))
                else:
                    n_without_label += 1
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{path} is no CSV file in UTF-8: {error}.") from error
    return LabelsRead(tuple(pairs), n_without_label)


@contextmanager
def _long_fields() -> Iterator[None]:
    """Longer fields than usual; the limit is one for the whole process, so it is put back."""
    was = csv.field_size_limit(_MOST_OF_A_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(was)


def _columns(path: Path, header: list[str], doc_id: str | None, label: str | None) -> tuple[int, int]:
    """The places of the ids and of the labels."""
    at_id, at_label = _named(path, header, doc_id), _named(path, header, label)
    if at_id is None:
        at_id = _usual(path, header, _ID_NAMES, at_label)
    if at_label is None:
        at_label = _usual(path, header, _LABEL_NAMES, at_id)
    if len(header) == 2 and at_id is None:
        at_id = 0 if at_label is None else 1 - at_label
    if len(header) == 2 and at_label is None and at_id is not None:
        at_label = 1 - at_id
    of_ids, of_labels = _known(path, header, at_id, "ids", "--id"), _known(path, header, at_label, "labels", "--label")
    if of_ids == of_labels:
        raise ParameterError(f"--id and --label are to be two columns. Got {header[of_ids]!r} for both.")
    if header[of_ids] == header[of_labels]:
        raise _twice(path, header[of_ids])
    return of_ids, of_labels


def _named(path: Path, header: list[str], wanted: str | None) -> int | None:
    """The place of a column that was asked for."""
    if wanted is None:
        return None
    n_found = header.count(wanted.strip())
    if n_found == 1:
        return header.index(wanted.strip())
    if n_found:
        raise _twice(path, wanted)
    raise SourceError(f"{path} has no column {wanted!r}. The columns are: {', '.join(header)}.")


def _known(path: Path, header: list[str], place: int | None, what: str, option: str) -> int:
    """The place, if there is one."""
    if place is None:
        raise SourceError(
            f"Which column of {path} has the {what}? Name it with {option}. They are: {', '.join(header)}."
        )
    return place


def _usual(path: Path, header: list[str], usual: tuple[str, ...], taken: int | None) -> int | None:
    """The place of the first usual name, not that of the other column."""
    names = [name.lower().replace("_", " ").replace("-", " ") for name in header]
    for name in usual:
        places = [place for place, one in enumerate(names) if one == name and place != taken]
        if len(places) > 1:
            raise _twice(path, header[places[0]])
        if places:
            return places[0]
    return None


def _twice(path: Path, name: str) -> SourceError:
    return SourceError(f"{path} has more than one column {name!r}. Give each a name of its own.")
