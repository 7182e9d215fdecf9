"""Checks of unreadable documents against the reading rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from nearkin.errors import DocumentError
from nearkin.stages.documents.faults import is_rest_missing, sentence_of
from nearkin.stages.documents.members import place_text
from nearkin.stages.documents.rules import STOPPED, ReadingRules

if TYPE_CHECKING:
    from nearkin.manifests.stored import DamagedFile


def first_problem(documents: pa.Table | pa.RecordBatch, source_of: Callable[[int], str]) -> str:
    """Return the place and the problem of the first unreadable document; empty if there is none.

    Parameters
    ----------
    documents : Table or RecordBatch
        With the columns ``line`` and ``problem``.
    source_of : function
        Returns the name of the source of a row.
    """
    problems = documents["problem"]
    if problems.null_count == len(problems):
        return ""
    row = problems.is_valid().index(True).as_py()
    doc_id = documents["doc_id"][row].as_py() if "doc_id" in documents.schema.names else None
    return f"{place_text(doc_id, source_of(row), documents['line'][row].as_py())}: {problems[row]}"


def stop_at_problem(documents: pa.RecordBatch, source_of: Callable[[int], str]) -> None:
    """Stop the run at the first unreadable document; see `first_problem`.

    Raises
    ------
    DocumentError
    """
    if where := first_problem(documents, source_of):
        raise DocumentError(f"{where}. {STOPPED}")


def check_readable(documents: Sequence[pa.Table], rules: ReadingRules, *, of: str = "") -> None:
    """Check that not too many documents are unreadable.

    Parameters
    ----------
    documents : sequence of Table or RecordBatch
        With the columns ``source``, ``line`` and ``problem``, in reading order.
    rules : ReadingRules
    of : str, optional
        Option that names the documents.

    Raises
    ------
    SourceError, DocumentError
        See `ReadingRules.check_readable`.
    """
    n_unreadable = sum(len(some) - some["problem"].null_count for some in documents)
    if n_unreadable:
        first = next(some for some in documents if some["problem"].null_count < len(some))
        where = first_problem(first, lambda row: str(first["source"][row]))
        rules.check_readable(n_unreadable, sum(map(len, documents)), where, of=of)


def damaged_files(documents: Sequence[pa.Table]) -> tuple[DamagedFile, ...]:
    """Return the files of which only a part was used, by the same columns."""
    from nearkin.manifests.stored import DamagedFile

    found: list[DamagedFile] = []
    for some in documents:
        if some["problem"].null_count < len(some):
            bad = some.select(["source", "line", "problem"]).filter(some["problem"].is_valid()).to_pylist()
            found += [
                DamagedFile(path=one["source"], line=one["line"], problem=sentence_of(one["problem"]))
                for one in bad
                if is_rest_missing(one["problem"])
            ]
    return tuple(found)
