"""Kind of document ids, determined from all of them, and their separation from names of documents.

The *id* of a document is what the user gave, or nothing. Its *name* always exists and is unique: the id, or the place
of the document if it has none.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

import pyarrow as pa
import pyarrow.compute as pc


class IdKind(IntEnum):
    """Kind of the ids of some documents. For several parts of a corpus, the greatest kind applies."""

    NONE = 0
    """No document has an id."""
    INTEGERS = 1
    """Every existing id is a 64-bit integer."""
    STRINGS = 2

    @classmethod
    def of(cls, ids: pa.Array) -> IdKind:
        """Return the kind of a batch's ids, ignoring documents without an id.

        Examples
        --------
        >>> IdKind.of(pa.array([7, None])).name, IdKind.of(pa.array([None], pa.large_string())).name
        ('INTEGERS', 'NONE')
        """
        if ids.null_count == len(ids):
            return cls.NONE
        return cls.INTEGERS if pa.types.is_int64(ids.type) else cls.STRINGS

    @classmethod
    def joint(cls, kinds: Iterable[int]) -> IdKind:
        """Return the kind for several parts of a corpus, from the kind of each part.

        Examples
        --------
        >>> IdKind.joint([IdKind.NONE, IdKind.INTEGERS]).name
        'INTEGERS'
        """
        return cls(max(map(int, kinds), default=cls.NONE))


def given_ids(names: pa.LargeStringArray, has_id: pa.BooleanArray, kind: IdKind) -> pa.LargeStringArray | pa.Int64Array:
    """Return the ids of documents, from the names given by `preparing.prepare`: null if a document has no id.

    If no document has an id, the names are the ids.

    Parameters
    ----------
    names : LargeStringArray
    has_id : BooleanArray
    kind : IdKind
        Kind of all ids.

    Examples
    --------
    >>> names, has_id = pa.array(["7", "a.jsonl:2"], pa.large_string()), pa.array([True, False])
    >>> given_ids(names, has_id, IdKind.INTEGERS).to_pylist()
    [7, None]
    >>> given_ids(names, pa.array([False, False]), IdKind.NONE).to_pylist()
    ['7', 'a.jsonl:2']
    """
    if kind == IdKind.NONE:
        return names
    if has_id.true_count < len(has_id):
        names = pc.if_else(has_id, names, pa.scalar(None, names.type))
    return names.cast(pa.int64()) if kind == IdKind.INTEGERS else names
