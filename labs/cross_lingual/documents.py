"""Documents and their translations: each row of a file contains both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin import nouns
from nearkin.errors import SourceError
from nearkin.records import I64
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.documents.normalisation import AS_IT_CAME
from nearkin.stages.documents.rules import ReadingRules
from nearkin.workflows.reading.request import ReadingRequest

LEAST = 2


@dataclass(frozen=True, slots=True)
class ParallelColumns:
    """Columns of a file: the two languages and the id, which is guessed by default; and how files are read."""

    left: str
    right: str
    doc_id: str | None = None
    rules: ReadingRules = field(default_factory=ReadingRules)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelDocuments:
    """Documents in two languages: the two texts of a row are translations of each other.

    Parameters
    ----------
    name : str
    ids, left, right : LargeStringArray, shape (n_documents,)
    n_read : int
        Number of rows in the file.
    n_incomplete : int
        Number of rows omitted because a text is missing.

    Examples
    --------
    >>> documents = ParallelDocuments.of("two", ["a", "b"], ["ein Haus", "ein Boot"], ["a house", "a boat"])
    >>> len(documents), documents.spread(1).ids.to_pylist()
    (2, ['a'])
    """

    name: str
    ids: pa.LargeStringArray
    left: pa.LargeStringArray
    right: pa.LargeStringArray
    n_read: int
    n_incomplete: int = 0

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, name: str, ids: list[str], left: list[str], right: list[str]) -> ParallelDocuments:
        """Make documents from texts in memory; rows that lack a text are omitted.

        Raises
        ------
        SourceError
            An id occurs twice, or fewer than two rows have both texts.
        """
        return cls._checked(name, *(pa.array(column, pa.large_string()) for column in (ids, left, right)))

    @classmethod
    def _checked(
        cls, name: str, ids: pa.LargeStringArray, left: pa.LargeStringArray, right: pa.LargeStringArray
    ) -> ParallelDocuments:
        counted = ids.value_counts()
        repeated = counted.filter(pc.greater(counted.field("counts"), 1))
        if len(repeated):
            twice = repeated[0]["values"].as_py()
            raise SourceError(
                f"{name}: the id {twice!r} occurs {repeated[0]['counts'].as_py()} times, but must be unique: a "
                "row is a document and its translation. Name another column with --id."
            )
        has_both = pc.and_(*(pc.greater(pc.utf8_length(pc.utf8_trim_whitespace(one)), 0) for one in (left, right)))
        n_both = int(pc.sum(has_both).as_py() or 0)
        if n_both < LEAST:
            raise SourceError(
                f"{name}: {n_both} of {nouns.counted(len(ids), 'row')} {nouns.agreeing(n_both, 'has', 'have')} a text "
                f"in both columns. The experiment needs at least {LEAST}, so that a translation can be confused with "
                "another."
            )
        own_ids, lefts, rights = (column.filter(has_both) for column in (ids, left, right))
        return cls(name=name, ids=own_ids, left=lefts, right=rights, n_read=len(ids), n_incomplete=len(ids) - n_both)

    def spread(self, most: int) -> ParallelDocuments:
        """Select at most ``most`` documents at equal distances."""
        rows = spread_rows(len(self), most)
        if len(rows) == len(self):
            return self
        ids, left, right = (column.take(pa.array(rows)) for column in (self.ids, self.left, self.right))
        return replace(self, ids=ids, left=left, right=right)


def spread_rows(n: int, most: int) -> I64:
    """Return at most ``most`` rows at equal distances.

    Examples
    --------
    >>> spread_rows(9, 3).tolist(), spread_rows(2, 3).tolist()
    ([0, 3, 6], [0, 1])
    """
    if n <= most:
        return np.arange(n)
    return (np.arange(most) * n // most).astype(np.int64)


def read_parallel(path: Path, columns: ParallelColumns, progress: Progress) -> ParallelDocuments:
    """Read all rows of a file that have a text in both columns.

    Raises
    ------
    SourceError
        The file cannot be read, lacks a column, repeats an id, or has fewer than two rows with both texts.
    """
    if columns.left == columns.right:
        raise SourceError(f"{path}: both languages would be read from the column {columns.left!r}.")
    ids, left = _texts(path, columns.left, columns, progress)
    _, right = _texts(path, columns.right, columns, None)
    return ParallelDocuments._checked(str(path), ids, left, right)


def read_translated(path: Path, columns: ParallelColumns, progress: Progress) -> Mapping[str, str]:
    """Read the texts of a given translation, by id.

    Raises
    ------
    SourceError
        The file cannot be read, or has no texts.
    """
    ids, texts = _texts(path, None, columns, progress)
    return dict(zip(ids.to_pylist(), texts.to_pylist(), strict=True))


def _texts(
    path: Path, column: str | None, columns: ParallelColumns, progress: Progress | None
) -> tuple[pa.LargeStringArray, pa.LargeStringArray]:
    """Return the ids and the texts of a column, empty if missing; guesses are reported once."""
    watched = progress or Silent()
    texts = ReadingRequest(inputs=[str(path)], text=column, doc_id=columns.doc_id, rules=columns.rules).opened(watched)
    if not texts.can_be_read_again:
        raise SourceError(f"{path} must be read once for each language, which is impossible for a pipe. Give a file.")
    batches = [texts.prepare(raw, AS_IT_CAME).prepared for raw in texts.raw_batches(watched)]
    if not batches:
        raise SourceError(f"{path} has no rows.")
    table = pa.Table.from_batches(batches).combine_chunks()
    return table["doc_id"].combine_chunks(), table["text"].combine_chunks()
