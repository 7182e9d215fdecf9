"""Documents of known families, from a Parquet, CSV, TSV or JSON Lines file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json

from nearkin.errors import ParameterError, SourceError
from nearkin.formats import parquet
from nearkin.records import I64
from nearkin.stages.documents.arrow_values import holds_characters
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.documents.rows import as_large_strings


@dataclass(frozen=True, slots=True)
class FamilyFile:
    """File of the documents, in terms of the command line.

    Parameters
    ----------
    path : Path
    family, text : str
        Names of the columns.
    only : str, optional
        ``COLUMN=VALUE``: only rows with this value are used.
    leave_out : tuple of str
        Values that are no families, such as "other".
    """

    path: Path
    family: str
    text: str = "text"
    only: str | None = None
    leave_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.only is not None and not self.only.partition("=")[0].strip():
            raise ParameterError.of("only", "COLUMN=VALUE", self.only)
        if self.only is not None and "=" not in self.only:
            raise ParameterError.of("only", "COLUMN=VALUE", self.only)


@dataclass(frozen=True, slots=True)
class Families:
    """Documents that were read.

    Parameters
    ----------
    texts : LargeStringArray, shape (n_documents,)
    family : int64 array, shape (n_documents,)
        Numbers from 0.
    digests : int64 array, shape (n_documents,)
        Equal if the SHA-256 of the normalised texts is.
    n_left_out : int
        Number of documents of families that were omitted.
    n_without : int
        Number of rows without a text or a family.
    """

    texts: pa.LargeStringArray
    family: I64
    digests: I64
    n_left_out: int
    n_without: int

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def sizes(self) -> I64:
        """Number of documents in each family."""
        return np.bincount(self.family).astype(np.int64)


def read_families(file: FamilyFile) -> Families:
    """Read all documents of a file that have a text and a family.

    Raises
    ------
    SourceError
        The file cannot be read or lacks a column, or no family has two documents.
    """
    table = _table(file.path)
    only, _, wanted = (file.only or "").partition("=")
    for column in [file.text, file.family, *([only.strip()] if file.only else [])]:
        if column not in table.column_names:
            raise SourceError(
                f"{file.path} has no column {column!r}. Its columns are {', '.join(map(repr, table.column_names))}."
            )
    if file.only:
        table = table.filter(pc.equal(_strings(table, only.strip()), wanted.strip()))
    texts, names = _strings(table, file.text), _strings(table, file.family)
    has_both = pc.and_(
        pc.fill_null(pc.greater(pc.utf8_length(pc.utf8_trim_whitespace(texts)), 0), False),
        pc.fill_null(pc.greater(pc.utf8_length(names), 0), False),
    )
    is_left_out = pc.is_in(names, value_set=pa.array(file.leave_out, pa.large_string()))
    is_taken = pc.and_(has_both, pc.invert(is_left_out))
    texts, names = texts.filter(is_taken), names.filter(is_taken)
    family = names.dictionary_encode().indices.to_numpy().astype(np.int64)
    if not len(family) or np.bincount(family).max() < 2:
        raise SourceError(f"{file.path}: no two documents have the same {file.family!r}, so there is nothing to find.")
    n_both = int(pc.sum(has_both).as_py() or 0)
    return Families(texts, family, _digests(texts), n_both - len(texts), len(table) - n_both)


def _table(path: Path) -> pa.Table:
    """Read a file as a table."""
    name = path.name.removesuffix(".gz").removesuffix(".zst").lower()
    try:
        if name.endswith(".parquet"):
            return parquet.read_table(path)
        with pa.input_stream(str(path)) as stream:
            if name.endswith((".jsonl", ".ndjson")):
                return pyarrow.json.read_json(stream)
            if name.endswith((".csv", ".tsv")):
                parse = pyarrow.csv.ParseOptions(
                    delimiter="\t" if name.endswith(".tsv") else ",", newlines_in_values=True
                )
                return pyarrow.csv.read_csv(stream, parse_options=parse)
    except (OSError, pa.ArrowException) as error:
        raise SourceError(f"Cannot read {path}: {error}.") from error
    raise SourceError(f"{path}: --documents accepts .parquet, .csv, .tsv and .jsonl files.")


def _strings(table: pa.Table, column: str) -> pa.LargeStringArray:
    """Return a column as texts."""
    values = table[column].combine_chunks()
    if holds_characters(values.type) and not pa.types.is_dictionary(values.type):
        return as_large_strings(values)  # replaces invalid UTF-8
    try:
        return values.cast(pa.large_string())
    except pa.ArrowException as error:
        raise SourceError(f"The column {column!r} contains no texts: {error}.") from error


def _digests(texts: pa.LargeStringArray) -> I64:
    """Return a number for each text, equal if the normalised texts are."""
    numbers = dict[bytes, int]()
    digests = (hashlib.sha256(text.as_py().encode()).digest() for text in Normalisation().apply(texts))
    return np.array([numbers.setdefault(digest, len(numbers)) for digest in digests], np.int64)
