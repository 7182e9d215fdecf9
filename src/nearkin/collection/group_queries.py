"""Methods of `Collection` about documents that belong together: versions, groups, conflicting labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.arguments import checking_methods
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.tolerance import Measure, Tolerance

if TYPE_CHECKING:
    from datetime import date

    from nearkin.collection.conflicts.by_group import Conflicts, Labels
    from nearkin.collection.groups.changes import GroupsSince
    from nearkin.collection.groups.current import CollectionGroups
    from nearkin.collection.versions import Versions


@checking_methods
class GroupQueries:
    """Versions of a document, groups that keep their numbers, and near-duplicates with different labels."""

    opened: OpenedCollection

    def versions(
        self,
        doc_id: str,
        *,
        measure: Measure | None = None,
        gamma: float | None = None,
        threshold: float | None = None,
        tolerance: float | None = None,
        version: int | None = None,
        limit: int = 50,
        at: date | str | None = None,
        date_tag: str | None = None,
    ) -> Versions:
        """List all versions of a document, the most similar first, with their changes and their relations to it.

        The versions of a document are the other texts stored under its id, and all other documents within the
        tolerance.

        Parameters
        ----------
        doc_id, version : str and int, optional
        measure, gamma, threshold, tolerance
            See `similar`; by default ``threshold=0.5``.
        limit : int
            Maximum number of versions to return.
        at : date or str, optional
            Date such as ``"2024-03-01"``. The documents with the newest date that is not after it are marked as in
            force; the document itself may be one of them.
        date_tag : str, optional
            Field of the tags that have the dates, "date" by default. A date belongs to the current version of a
            document: replaced and removed versions have no date.

        Raises
        ------
        UnknownDocumentError
        ParameterError
            A date was given, and no document has a date, or the tag of a document is not a date.
        """
        from nearkin.collection.dates import DateAsked
        from nearkin.collection.versions import versions

        alike = Tolerance.of(measure, gamma=gamma, threshold=threshold, tolerance=tolerance)
        return versions(self.opened, doc_id, alike, version=version, limit=limit, dated=DateAsked.of(at, date_tag))

    def conflicts(
        self,
        labels: Labels,
        *,
        measure: Measure | None = None,
        threshold: float | None = None,
        gamma: float | None = None,
        limit: int = 1_000,
        threads: int = 1,
    ) -> Conflicts:
        """Find near-duplicates with different labels: in each group, the documents without the label of the majority.

        Parameters
        ----------
        labels : mapping of str to str, or iterable of pairs
            Labels by document id. A document with two different labels is a conflict with itself.
        measure, threshold, gamma
            See `groups`.
        limit : int
            Maximum number of documents to compare and return; the result always has the total.
        threads : int
        """
        from nearkin.collection.conflicts.by_group import conflicts

        tolerance = Tolerance.of(measure, threshold=threshold, gamma=gamma)
        return conflicts(self.opened, labels, tolerance, limit=limit, threads=threads)

    def groups(
        self,
        *,
        measure: Measure | None = None,
        threshold: float | None = None,
        gamma: float | None = None,
        threads: int = 1,
    ) -> CollectionGroups:
        """Group documents that match directly or through others, and list the changes since the last call.

        Groups are stored: a group keeps its number and its principal when documents are added, and no number is used
        twice. Only new documents, and groups that lost a member, are compared again. If the collection is opened
        read-only, groups are computed and not stored; the numbers of new groups may then differ from those of the next
        call.

        Parameters
        ----------
        measure : {"jaccard", "letters"}, optional
            "jaccard", the default: documents match if the Jaccard similarity of their word 5-grams is at least
            ``threshold``, 0.5 by default. "letters": documents match if their letter counts are within ``gamma``, 0.025
            by default.
        threshold, gamma : float, optional
            Limit of a match. Each limit has its own stored groups.
        threads : int

        Raises
        ------
        CollectionBusyError
            Another process is writing.
        CollectionError
            A text that must be compared is damaged.
        """
        from nearkin.collection.groups.current import group

        return group(self.opened, Tolerance.of(measure, threshold=threshold, gamma=gamma), threads=threads)

    def groups_since(
        self,
        wave: str,
        *,
        measure: Measure | None = None,
        threshold: float | None = None,
        gamma: float | None = None,
    ) -> GroupsSince:
        """List the changes of the stored groups since the end of a wave; nothing is grouped again or written.

        The groups at the end of a wave are those of the first call of `groups` after its last load before the next
        wave. Later loads of the wave do not change this; their documents are listed as changes. Documents added or
        removed after the latest call of `groups` are only counted.

        Parameters
        ----------
        wave : str
        measure, threshold, gamma
            See `groups`.

        Raises
        ------
        ParameterError
            There is no such wave, or the groups at its end were not stored.
        """
        from nearkin.collection.groups.changes import groups_since

        return groups_since(self.opened, wave, Tolerance.of(measure, threshold=threshold, gamma=gamma))

    def make_principal(
        self,
        doc_id: str,
        *,
        measure: Measure | None = None,
        threshold: float | None = None,
        gamma: float | None = None,
    ) -> int:
        """Make a document the principal of its group at a tolerance, and return the number of the group."""
        from nearkin.collection.groups.current import make_principal

        return make_principal(self.opened, doc_id, Tolerance.of(measure, threshold=threshold, gamma=gamma))
