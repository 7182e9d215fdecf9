"""A file of labels → pairs of ids and labels."""

from __future__ import annotations

import csv
from pathlib import Path

from nearkin.errors import SourceError

_ID_NAMES = ("id", "doc_id", "docid", "document", "control_number", "control number", "bates", "name")
_LABEL_NAMES = (
    "label",
    "labels",
    "class",
    "category",
    "code",
    "coding",
    "tag",
    "designation",
    "responsive",
    "privilege",
)
_MOST_OF_A_FIELD = 1 << 24


def read_labels(path: Path, *, doc_id: str | None = None, label: str | None = None) -> list[tuple[str, str]]:
    """The ids and labels of a CSV or TSV file with a header.

    Parameters
    ----------
    path : Path
    doc_id, label : str, optional
        The columns; if not given, those with a usual name, else, of two columns, the first and the second.

    Raises
    ------
    SourceError
        The file cannot be read, or has no such columns; or a row has not as many fields as the header.
    """
    csv.field_size_limit(_MOST_OF_A_FIELD)
    pairs = list[tuple[str, str]]()
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            file.seek(0)
            delimiter = max(",\t;", key=first.count)
            rows = csv.reader(file, delimiter=delimiter, strict=True)
            header = next(rows, None)
            if header is None:
                raise SourceError(f"{path} is empty. It is to have a header, and a column of ids and one of labels.")
            at_id = _column(path, header, doc_id, _ID_NAMES, 0, "ids", "--id")
            at_label = _column(path, header, label, _LABEL_NAMES, 1, "labels", "--label")
            for row in rows:
                if len(row) != len(header):
                    if not row:
                        continue
                    raise SourceError(
                        f"{path}:{rows.line_num}: {len(row)} fields where the header has {len(header)}. A value with a "
                        "comma in it is to stand in quotes."
                    )
                pairs.append((row[at_id], row[at_label]))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{path} is no CSV file in UTF-8: {error}.") from error
    return pairs


def _column(
    path: Path, header: list[str], wanted: str | None, usual: tuple[str, ...], place: int, what: str, option: str
) -> int:
    """The place of a column."""
    if wanted is not None:
        if wanted in header:
            return header.index(wanted)
        raise SourceError(f"{path} has no column {wanted!r}. The columns are: {', '.join(header)}.")
    lower = [name.strip().lower() for name in header]
    for name in usual:
        if name in lower:
            return lower.index(name)
    if len(header) == 2:
        return place
    raise SourceError(f"Which column of {path} has the {what}? Name it with {option}. They are: {', '.join(header)}.")
