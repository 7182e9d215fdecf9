"""Records that failed in earlier loads, and which of them a load has read."""

from __future__ import annotations

from collections.abc import Set

from nearkin.collection.loads.incoming import Examined
from nearkin.collection.stored.problem_rows import FailedPlace


class FailedRecords:
    """Failed records whose id has a document, during a load.

    A record is solved if a text is read at its place, or, under its id, elsewhere in its source, where records may have
    moved. The latter does not count if a record with the id fails in that source again, which may be the same record.
    """

    def __init__(self, places: Set[FailedPlace] = frozenset()) -> None:
        self._places = places
        self._ids = {doc_id for doc_id, _, _ in places}
        self._read, self._failed = set[FailedPlace](), set[tuple[str, str]]()

    def take(self, examined: Examined) -> None:
        """Look for the records in a batch."""
        if not self._ids.intersection(examined.doc_ids):
            return
        columns = examined.doc_ids, examined.sources, examined.lines, examined.problems
        for doc_id, source, line, problem in zip(*columns):
            if doc_id not in self._ids:
                continue
            if problem is None:
                self._read.add((doc_id, source, line))
            else:
                self._failed.add((doc_id, source))

    def solved(self) -> set[FailedPlace]:
        """Return the places, as they were listed, of the records that were read."""
        moved = {(doc_id, source) for doc_id, source, _ in self._read} - self._failed
        return {place for place in self._places if place in self._read or place[:2] in moved}
