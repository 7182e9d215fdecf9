"""Columns of the tables that results of a collection consist of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

_TEXT, _WHOLE, _NUMBER, _YES = pa.large_string(), pa.int64(), pa.float64(), pa.bool_()
Fields = Sequence[tuple[str, pa.DataType]]
DOCUMENT: Fields = (
    *(("doc_id", _TEXT), ("version", pa.int32()), ("wave", _TEXT), ("source", _TEXT), ("line", _WHOLE)),
    *(("n_characters", _WHOLE), ("n_letters", _WHOLE), ("is_counted", _YES), ("is_current", _YES)),
)
SIMILARITIES: Fields = (
    *(("jaccard", _NUMBER), ("edit_similarity", _NUMBER), ("distance", _NUMBER), ("relative_distance", _NUMBER)),
    *(("n_bits", _WHOLE), ("is_same_text", _YES), ("similarity_index", _WHOLE), ("is_letters_only", _YES)),
    *(("contained", _NUMBER), ("contains", _NUMBER), ("found_by", _TEXT)),
)
CHANGE: Fields = (
    *(("n_words_removed", _WHOLE), ("n_words_added", _WHOLE), ("n_differences", _WHOLE), ("is_whole", _YES)),
    ("passage", _TEXT),
)
VERSION: Fields = (("relation", _TEXT), ("filled_in", _TEXT), ("date", _TEXT), ("is_in_force", _YES))
ENTRY: Fields = (("added_at", _TEXT), ("removed_at", _TEXT), ("is_erased", _YES), ("is_same_text", _YES))
STEP: Fields = (
    *(("date", _TEXT), ("added_at", _TEXT), ("before", _TEXT), ("jaccard", _NUMBER), ("relation", _TEXT)),
    *(("kinds", _TEXT), ("is_same_text", _YES)),
)
CHECKED: Fields = (
    *(("relation", _TEXT), ("jaccard", _NUMBER), ("contained", _NUMBER), ("contains", _NUMBER)),
    *(("edit_similarity", _NUMBER), ("similarity_index", _WHOLE), ("is_same_text", _YES), ("is_damaged", _YES)),
)
WAVE: Fields = (
    *(("name", _TEXT), ("first_added_at", _TEXT), ("last_added_at", _TEXT), ("n_current", _WHOLE)),
    *(("n_new", _WHOLE), ("n_new_versions", _WHOLE), ("n_problems", _WHOLE)),
)
PROBLEM: Fields = (("doc_id", _TEXT), ("wave", _TEXT), ("source", _TEXT), ("line", _WHOLE), ("problem", _TEXT))
FOUND: Fields = (
    *(("doc_id", _TEXT), ("version", pa.int32()), ("wave", _TEXT), ("source", _TEXT), ("line", _WHOLE)),
    *(("n_characters", _WHOLE), ("relevance", _NUMBER), ("snippet", _TEXT)),
)
CONFLICT: Fields = (
    *(("group", _WHOLE), ("majority_label", _TEXT), ("n_documents", _WHOLE), ("n_with_majority_label", _WHOLE)),
    *(("id_a", _TEXT), ("label_a", _TEXT), ("id_b", _TEXT), ("label_b", _TEXT), ("jaccard", _NUMBER)),
    *(("edit_similarity", _NUMBER), ("relative_distance", _NUMBER), ("passage", _TEXT), ("is_match", _YES)),
    ("is_letters_only", _YES),
)


def table_of(rows: Iterable[Mapping[str, object]], *fields: tuple[str, pa.DataType]) -> pa.Table:
    """Return a table with one row for each record, and only the columns of the fields."""
    return pa.Table.from_pylist(list(rows), pa.schema(list(fields)))
