"""Groups brought up to date, with a document that becomes the principal of its group."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from nearkin.collection.collection import Collection
from nearkin.collection.groups.current import CollectionGroups, group, make_principal
from nearkin.collection.tolerance import Tolerance


def groups_with_principal(
    collection: Collection, doc_id: str, tolerance: Tolerance, *, threads: int
) -> tuple[CollectionGroups, int | None]:
    """Make a document a principal; return the groups, the changes before that, and the number of its group.

    Parameters
    ----------
    collection : Collection
    doc_id : str
    tolerance : Tolerance
    threads : int

    Returns
    -------
    tuple of CollectionGroups and (int or None)
        None: the document is in no group, and no principal was changed.

    Raises
    ------
    UnknownDocumentError
        Raised before the groups are touched; the next call reports the changes.
    CollectionBusyError
        Another process is writing.
    """
    collection.document(doc_id)
    before = group(collection.opened, tolerance, threads=threads)
    if doc_id not in before.members["doc_id"].to_pylist():
        return before, None
    number = make_principal(collection.opened, doc_id, tolerance)
    return _changes_of_both(before, group(collection.opened, tolerance, threads=threads)), number


def _changes_of_both(before: CollectionGroups, now: CollectionGroups) -> CollectionGroups:
    """Return the current groups, with the changes of both calls, apart from the choice that was made between them."""
    told = before.members
    new = {doc_id for doc_id, is_new in zip(told["doc_id"].to_pylist(), told["is_new"].to_pylist()) if is_new}
    members = now.members
    ids, are_new = members["doc_id"].to_pylist(), members["is_new"].to_pylist()
    place = members.schema.get_field_index("is_new")
    column = pa.array([is_new or doc_id in new for doc_id, is_new in zip(ids, are_new)], pa.bool_())
    return replace(
        now,
        changes=(*before.changes, *(one for one in now.changes if not one.is_choice_alone)),
        is_first=before.is_first,
        new_waves=tuple(dict.fromkeys((*before.new_waves, *now.new_waves))),
        members=members.set_column(place, members.schema.field(place), column),
    )
