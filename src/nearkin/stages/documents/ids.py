"""Kind of document ids, determined from all of them, and names of documents.

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
        """Return the kind of a batch's ids, ignoring documents without an id."""
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
    """Return the ids of all documents from their names, null if a document has none."""
    if kind == IdKind.NONE:
        return names
    if has_id.true_count < len(has_id):
        names = pc.if_else(has_id, names, pa.scalar(None, names.type))
    return names.cast(pa.int64()) if kind == IdKind.INTEGERS else names
