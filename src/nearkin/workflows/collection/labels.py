"""File of labels → pairs of ids and labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nearkin.collection.collection import Collection
from nearkin.collection.decisions.deciding import tags_as_labels
from nearkin.collection.decisions.fields import MAX_OF_A_VALUE
from nearkin.collection.stored.documents import contents_of_current
from nearkin.errors import ParameterError, SourceError, quoted
from nearkin.nouns import counted, one_of
from nearkin.stages.documents.columns import listed_columns
from nearkin.workflows.reading import sheets

_LABEL_NAMES = (
    *("label", "labels", "class", "category", "code", "coding", "tag", "designation", "responsive", "privilege"),
)


@dataclass(frozen=True, slots=True)
class LabelsRead:
    """Content of a file of labels.

    Parameters
    ----------
    n_without_label
        Number of rows with an empty label, which give no pair.
    id_column, label_column
        "column 1" and "column 2" in a file without a header.
    """

    pairs: tuple[tuple[str, str], ...]
    n_without_label: int
    id_column: str
    label_column: str

    @property
    def is_bare(self) -> bool:
        """Whether the labels are the name of a tag, and "not" with it."""
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
    doc_id, label
        Columns. Default: those with a usual name; otherwise, of two columns, the remaining one, or the first for ids.
    is_document
        Whether an id is one of the collection's. A first row of two columns that begins with one is no header; around
        an unknown id, blanks are removed.
    """
    sheet = sheets.read_sheet(path, encoding, lambda names: _columns(path, names, doc_id, label))
    if doc_id is None and label is None and _is_headless(sheet, is_document):
        sheet = sheet.without_header()
    at_id, at_label = _columns(path, sheet.names, doc_id, label)
    pairs, n_without_label = list[tuple[str, str]](), 0
    for row, line in enumerate(sheet.lines):
        given_id, value = sheet.text(at_id, row), sheet.text(at_label, row).strip()
        if not value:
            n_without_label += 1
        elif not given_id.strip():
            raise SourceError(f"{path}:{line}: the row has {quoted(value)}, but no id in {quoted(sheet.names[at_id])}.")
        else:
            pairs.append((_own_id(given_id, is_document), value))
    return LabelsRead(tuple(pairs), n_without_label, sheet.names[at_id], sheet.names[at_label])


def values_by_id(path: Path, read: LabelsRead) -> dict[str, str]:
    """Return values by id."""
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


def _own_id(doc_id: str, is_document: Callable[[str], bool] | None) -> str:
    """Return an id unchanged, or without surrounding blanks if only that is an id of the collection."""
    bare = doc_id.strip()
    return doc_id if doc_id == bare or is_document is None or is_document(doc_id) else bare


def _is_headless(sheet: sheets.Sheet, is_document: Callable[[str], bool] | None) -> bool:
    if sheet.first is None or len(sheet.names) != 2:
        return False
    if any(sheets.plain_name(value) in (*sheets.ID_NAMES, *_LABEL_NAMES) for value in sheet.names):
        return False
    is_known = is_document is not None and is_document(sheet.first[0])
    return is_known or any(str(row[1]).strip() == sheet.names[1] for row in sheet.rows)


def _columns(path: Path, header: Sequence[str], doc_id: str | None, label: str | None) -> tuple[int, int]:
    at_id, at_label = sheets.named_column(path, header, doc_id), sheets.named_column(path, header, label, "label")
    if at_id is None:
        at_id = next(iter(sheets.id_columns(path, header, at_label)), None)
    if at_label is None:
        usual = sheets.usual_columns(path, header, _LABEL_NAMES, at_id)
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
        raise sheets.repeated_column(path, header[of_ids])
    return of_ids, of_labels


def _known(path: Path, header: Sequence[str], place: int | None, what: str, option: str) -> int:
    if place is None:
        raise SourceError(
            f"Which column of {path} has the {what}? Name it with {option}. The columns are: {listed_columns(header)}."
        )
    return place


def labels_of_tag(collection: Collection, field: str) -> LabelsRead:
    """Return the values of a tag as labels; if it is always bare, other documents have the label "not FIELD"."""
    with collection.opened.store.reading() as connection:
        values = dict(tags_as_labels(connection, field))
        if not values:
            raise ParameterError(f"No document has the tag {field!r}. List the tags: nearkin tags COLLECTION")
        pairs = [(doc_id, value or field) for doc_id, value in values.items()]
        if not any(values.values()):
            pairs += [(doc_id, f"not {field}") for doc_id in contents_of_current(connection) if doc_id not in values]
    return LabelsRead(tuple(pairs), 0, "", field)
