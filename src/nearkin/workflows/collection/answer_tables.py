"""Answers about documents as tables for other programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import pyarrow as pa

from nearkin.stages.differences.marks import marked_text

if TYPE_CHECKING:
    from nearkin.collection.check_in.results import Checked
    from nearkin.collection.history import DocumentHistory
    from nearkin.collection.info import Problem, Wave
    from nearkin.collection.results import SimilarDocuments, StoredDocument
    from nearkin.collection.versions import Versions
    from nearkin.stages.differences.comparison import Piece

_TEXT, _WHOLE, _NUMBER, _YES = pa.large_string(), pa.int64(), pa.float64(), pa.bool_()
_Fields = Sequence[tuple[str, pa.DataType]]
_DOCUMENT: _Fields = (
    *(("doc_id", _TEXT), ("version", pa.int32()), ("wave", _TEXT), ("source", _TEXT), ("line", _WHOLE)),
    *(("n_characters", _WHOLE), ("n_letters", _WHOLE), ("is_counted", _YES), ("is_current", _YES)),
)
_MEASURES: _Fields = (
    *(("jaccard", _NUMBER), ("edit_similarity", _NUMBER), ("distance", _NUMBER), ("relative_distance", _NUMBER)),
    *(("n_bits", _WHOLE), ("is_same_text", _YES), ("similarity_index", _WHOLE), ("is_letters_only", _YES)),
    *(("contained", _NUMBER), ("contains", _NUMBER), ("found_by", _TEXT)),
)
_CHANGE: _Fields = (
    *(("n_words_removed", _WHOLE), ("n_words_added", _WHOLE), ("n_differences", _WHOLE), ("is_whole", _YES)),
    ("passage", _TEXT),
)
_VERSION: _Fields = (("relation", _TEXT), ("filled_in", _TEXT), ("date", _TEXT), ("is_in_force", _YES))
_ENTRY: _Fields = (("added_at", _TEXT), ("removed_at", _TEXT), ("is_erased", _YES), ("is_same_text", _YES))
_CHECKED: _Fields = (
    *(("relation", _TEXT), ("jaccard", _NUMBER), ("contained", _NUMBER), ("contains", _NUMBER)),
    *(("edit_similarity", _NUMBER), ("similarity_index", _WHOLE), ("is_same_text", _YES), ("is_damaged", _YES)),
)
_WAVE: _Fields = (
    *(("name", _TEXT), ("first_added_at", _TEXT), ("last_added_at", _TEXT), ("n_current", _WHOLE)),
    *(("n_new", _WHOLE), ("n_new_versions", _WHOLE), ("n_problems", _WHOLE)),
)
_PROBLEM: _Fields = (("doc_id", _TEXT), ("wave", _TEXT), ("source", _TEXT), ("line", _WHOLE), ("problem", _TEXT))


def table_of_similar(found: SimilarDocuments) -> pa.Table:
    """Return a row for each document that a query found, the nearest first."""
    return _table((one.to_dict() for one in found.documents), (*_DOCUMENT, *_MEASURES))


def table_of_versions(found: Versions) -> pa.Table:
    """Return a row for each version, the most similar first; the passage as marked-up text."""
    rows = ({**one.to_dict(), "passage": _text(one.passage)} for one in found.versions)
    return _table(rows, (*_DOCUMENT, *_MEASURES, *_VERSION, ("is_older", _YES), *_CHANGE))


def table_of_history(found: DocumentHistory) -> pa.Table:
    """Return a row for each version of a document, the oldest first, with its change as columns."""
    rows = (
        {**({} if (change := one.change) is None else {**change.to_dict(), "passage": _text(change.passage)}), **own}
        for one in found.versions
        for own in [one.to_dict()]
    )
    return _table(rows, (*_DOCUMENT, *_ENTRY, *_CHANGE))


def table_of_checked(found: Checked) -> pa.Table:
    """Return a row for each stored document that is similar to the checked text."""
    return _table((one.to_dict() for one in found.documents), (*_DOCUMENT, *_CHECKED))


def table_of_documents(listed: Iterable[StoredDocument]) -> pa.Table:
    """Return a row for each document."""
    return _table((one.to_dict() for one in listed), _DOCUMENT)


def table_of_waves(listed: Iterable[Wave]) -> pa.Table:
    """Return a row for each wave."""
    return _table(map(asdict, listed), _WAVE)


def table_of_problems(listed: Iterable[Problem]) -> pa.Table:
    """Return a row for each document that could not be stored, or got another id."""
    return _table(map(asdict, listed), _PROBLEM)


def _table(rows: Iterable[Mapping[str, object]], fields: _Fields) -> pa.Table:
    return pa.Table.from_pylist(list(rows), pa.schema(list(fields)))


def _text(passage: Sequence[Piece]) -> str:
    return marked_text(passage)
