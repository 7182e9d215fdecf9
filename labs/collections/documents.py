"""Distinct documents of a table, and the pairs that belong together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json

from nearkin.collection.counting import NORMALISE
from nearkin.errors import ParameterError, SourceError
from nearkin.formats import parquet
from nearkin.records import I64

TRUE_JACCARD = 0.5
"""Jaccard similarity of the pairs that belong together if there are no labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledFile:
    """Table of documents, in terms of the command line.

    Parameters
    ----------
    path : Path
        A .parquet, .csv, .tsv or .jsonl file.
    text : str
        Column with the texts.
    label : str, optional
        Column with the labels; documents with one label belong together.
    only : str, optional
        ``COLUMN=VALUE``, or several values with ``|`` between: only these rows.
    leave_out : tuple of str
        Labels that are no families, such as "other".
    of_a_label : int
        Maximum number of documents with one label.
    n_documents : int
        Maximum number of distinct texts; if there are more, evenly chosen, with labels whole families.
    """

    path: Path
    text: str = "text"
    label: str | None = None
    only: str | None = None
    leave_out: tuple[str, ...] = ()
    of_a_label: int = 10
    n_documents: int = 2_000

    def __post_init__(self) -> None:
        for name, value, least in (("documents", self.n_documents, 2), ("of_a_label", self.of_a_label, 1)):
            if value < least:
                raise ParameterError.of(name, f"an int >= {least}", value)
        if self.only is not None and not self.only.partition("=")[1]:
            raise ParameterError.of("only", "COLUMN=VALUE", self.only)
        if self.label is None and self.leave_out:
            raise ParameterError("--leave-out names labels: give --label too.")


@dataclass(frozen=True, slots=True)
class LabelledTexts:
    """Distinct texts.

    Parameters
    ----------
    texts : LargeStringArray, shape (n_documents,)
    labels : int64 array, shape (n_documents,), or None
        A number for each label.
    n_rows : int
        Number of rows of the table that were asked for.
    """

    texts: pa.LargeStringArray
    labels: I64 | None
    n_rows: int

    def __len__(self) -> int:
        return len(self.texts)


def read_labelled(file: LabelledFile) -> LabelledTexts:
    """Read the distinct texts of a table; of texts that differ only in case and white space one is taken.

    Raises
    ------
    SourceError
        The file cannot be read or lacks a column, or fewer than two texts are left.
    """
    table = _table(file.path)
    only, _, values = (file.only or "").partition("=")
    for column in filter(None, (file.text, file.label, only.strip())):
        if column not in table.column_names:
            raise SourceError(
                f"{file.path} has no column {column!r}. The columns are: {', '.join(table.column_names)}."
            )
    if file.only:
        table = table.filter(_is_in(table[only.strip()], values.split("|")))
    if file.label:
        has_label = pc.fill_null(pc.greater(pc.utf8_length(_strings(table[file.label])), 0), False)
        table = table.filter(pc.and_(has_label, pc.invert(_is_in(table[file.label], file.leave_out))))
    texts = _strings(table[file.text])
    is_text = pc.fill_null(pc.greater(pc.utf8_length(pc.utf8_trim_whitespace(texts)), 0), False)
    table, texts = table.filter(is_text), texts.filter(is_text)
    rows = _distinct(texts)
    labels = None
    if file.label:
        codes = _strings(table[file.label]).dictionary_encode().indices.to_numpy().astype(np.int64)
        rows = rows[_rank_within(codes[rows]) < file.of_a_label]
        labels = codes
    if len(rows) > file.n_documents and labels is not None:  # whole families, or most of them would lose a member
        step = -(-len(rows) // file.n_documents)
        rows = rows[np.isin(labels[rows], np.unique(labels[rows])[::step])][: file.n_documents]
    elif len(rows) > file.n_documents:
        rows = rows[np.linspace(0, len(rows) - 1, file.n_documents).astype(np.int64)]
    if len(rows) < 2:
        raise SourceError(f"{file.path}: the experiment needs at least 2 distinct texts, and {len(rows)} are left.")
    return LabelledTexts(texts.take(pa.array(rows)), None if labels is None else labels[rows], len(table))


def _distinct(texts: pa.LargeStringArray) -> I64:
    codes = NORMALISE.apply(texts).dictionary_encode().indices.to_numpy()
    return np.sort(np.unique(codes, return_index=True)[1]).astype(np.int64)


def _rank_within(labels: I64) -> I64:
    """Return how many earlier rows have the label of each row."""
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    sizes = np.diff(np.append(starts, len(ordered)))
    ranks = np.empty(len(labels), np.int64)
    ranks[order] = np.arange(len(ordered)) - np.repeat(starts, sizes)
    return ranks


def _is_in(column: pa.ChunkedArray, values: object) -> pa.BooleanArray:
    return pc.is_in(_strings(column), value_set=pa.array(list(values), pa.large_string()))  # type: ignore[call-overload]


def _strings(column: pa.ChunkedArray) -> pa.LargeStringArray:
    return column.combine_chunks().cast(pa.large_string())


def _table(path: Path) -> pa.Table:
    try:
        if path.suffix == ".parquet":
            return parquet.read_table(path)
        if path.suffix in (".jsonl", ".ndjson"):
            return pyarrow.json.read_json(path)
        if path.suffix in (".csv", ".tsv"):
            options = pyarrow.csv.ParseOptions(
                delimiter="\t" if path.suffix == ".tsv" else ",", newlines_in_values=True
            )
            return pyarrow.csv.read_csv(path, parse_options=options)
    except (OSError, pa.ArrowException) as error:
        raise SourceError(f"Cannot read {path}: {error}.") from error
    raise SourceError(f"{path}: the table must be a .parquet, .csv, .tsv or .jsonl file.")
