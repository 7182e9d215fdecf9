"""Methods of `Collection` for decisions of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nearkin.arguments import checking_methods
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError

if TYPE_CHECKING:
    from nearkin.collection.decisions.coding import CodingLayout
    from nearkin.collection.decisions.deciding import Tags
    from nearkin.collection.decisions.log import Activity, ActivityResult
    from nearkin.collection.decisions.purging import Purged


@checking_methods
class DecisionMethods:
    """Tags, decisions on groups, and the activity log, whose activities on tags and decisions can be undone."""

    opened: OpenedCollection

    def tag(
        self,
        doc_ids: Sequence[str] = (),
        field: str = "",
        value: str = "",
        *,
        group: int | None = None,
        threshold: float | None = None,
        gamma: float | None = None,
        by: str | None = None,
        dry_run: bool = False,
        max_changes: int | None = None,
        seen: int | None = None,
    ) -> ActivityResult:
        """Set a tag of documents, or of all documents of a group. If anything fails, no tag is set.

        A tag belongs to an id, and stays when the document gets a new version. A document has one value per field; a
        later value replaces it.

        Parameters
        ----------
        doc_ids : sequence of str
        field : str
            Name of the tag.
        value : str
            Value of the tag; empty for a tag without a value.
        group : int, optional
            Number of a stored group, instead of ``doc_ids``.
        threshold, gamma : float, optional
            Tolerance of the group; see `groups`.
        by : str, optional
            Who decides; by default the name of the system's user.
        dry_run : bool
            Store nothing; return what would be changed.
        max_changes : int, optional
            Maximum number of documents to change. If there are more, nothing is stored, as in a dry run.
        seen : int, optional
            Number of the last activity that the caller knows, such as `last_activity` of the document: nothing is
            stored if a later one changed the tag of a document that this would change.

        Raises
        ------
        ChangedMeanwhileError
            A later activity than ``seen`` changed one of the tags.
        UnknownDocumentError
            A document, or the group, is not in the collection.
        ParameterError

        Examples
        --------
        >>> import tempfile, nearkin
        >>> with tempfile.TemporaryDirectory() as folder, nearkin.Collection.open(folder + "/m", create=True) as matter:
        ...     added = matter.add([("a", "The rent is due on Monday."), ("b", "The tenant shall pay the rent.")])
        ...     tagged = matter.tag(["a", "b"], "responsive", "yes", by="ada")
        ...     changed = matter.tag(["b"], "responsive", "no", by="ada")
        ...     before = [(one.value, one.n_documents) for one in matter.tags().counts]
        ...     undone = matter.undo(2, by="ada")
        ...     now = [(one.value, one.n_documents) for one in matter.tags().counts]
        >>> before, now
        ([('no', 1), ('yes', 1)], [('yes', 2)])
        """
        from nearkin.collection.decisions.deciding import tag
        from nearkin.collection.decisions.log import ChangeRequest

        tolerance = _tolerance_of("group", group, threshold, gamma)
        options = ChangeRequest(by=by, dry_run=dry_run, max_changes=max_changes, seen=seen)
        return tag(self.opened.store, doc_ids, field, value, group=group, tolerance=tolerance, options=options)

    def untag(
        self,
        doc_ids: Sequence[str] = (),
        field: str = "",
        *,
        group: int | None = None,
        threshold: float | None = None,
        gamma: float | None = None,
        by: str | None = None,
        dry_run: bool = False,
        max_changes: int | None = None,
        seen: int | None = None,
    ) -> ActivityResult:
        """Remove a tag of documents, whatever its value is; see `tag`."""
        from nearkin.collection.decisions.deciding import tag
        from nearkin.collection.decisions.log import ChangeRequest

        tolerance = _tolerance_of("group", group, threshold, gamma)
        options = ChangeRequest(by=by, dry_run=dry_run, max_changes=max_changes, seen=seen)
        return tag(self.opened.store, doc_ids, field, None, group=group, tolerance=tolerance, options=options)

    def tag_values(
        self,
        values: Mapping[str, str],
        field: str,
        *,
        by: str | None = None,
        dry_run: bool = False,
        max_changes: int | None = None,
    ) -> ActivityResult:
        """Set a tag to a different value for each document, such as labels or dates from a table, in one activity.

        Parameters
        ----------
        values : mapping of str to str
            Values by document id.
        field : str
        by, dry_run, max_changes
            See `tag`.

        Raises
        ------
        UnknownDocumentError
            A document is not in the collection; nothing is changed.
        ParameterError

        Examples
        --------
        >>> import tempfile, nearkin
        >>> with tempfile.TemporaryDirectory() as folder, nearkin.Collection.open(folder + "/m", create=True) as matter:
        ...     added = matter.add([("a", "The rent is due on Monday."), ("b", "The tenant shall pay the rent.")])
        ...     tagged = matter.tag_values({"a": "2024-01-31", "b": "2024-06-30"}, "date", by="ada")
        >>> [(one.subject, one.now) for one in tagged.changes]
        [('a', '2024-01-31'), ('b', '2024-06-30')]
        """
        from nearkin.collection.decisions.deciding import tag_values
        from nearkin.collection.decisions.log import ChangeRequest

        options = ChangeRequest(by=by, dry_run=dry_run, max_changes=max_changes)
        return tag_values(self.opened.store, values, field, options)

    def tags(self) -> Tags:
        """List the tags of current documents, with counts of their values."""
        from nearkin.collection.decisions.deciding import tags

        return tags(self.opened.store)

    def coding(self, layout: str | None = None, *, by: str | None = None) -> CodingLayout:
        """Return the fields that reviewers set for every document on the screen; store others first if given.

        Parameters
        ----------
        layout : str, optional
            TOML with a table ``[[fields]]`` for each field; see `CodingField`.
        by : str, optional
            Who decides; by default the name of the system's user.

        Raises
        ------
        ParameterError
            The layout is no TOML, or breaks a rule.
        """
        from nearkin.collection.decisions.coding import layout_of, set_layout
        from nearkin.collection.decisions.log import ChangeRequest

        if layout is not None:
            set_layout(self.opened.store, layout, ChangeRequest(by=by))
        with self.opened.store.reading() as connection:
            return layout_of(connection)

    def code(
        self,
        doc_ids: Sequence[str],
        values: Mapping[str, Sequence[str]],
        *,
        by: str | None = None,
        dry_run: bool = False,
        seen: int | None = None,
    ) -> ActivityResult:
        """Set all fields of `coding` for documents, in one activity; a field that is not named is emptied.

        Parameters
        ----------
        doc_ids : sequence of str
        values : mapping of str to sequence of str
            Values by field: one, or for a field of kind "several" any number.
        by, dry_run, seen
            See `tag`.

        Raises
        ------
        ChangedMeanwhileError
        UnknownDocumentError
        ParameterError
            A value is not among those of its field, or a required field has none.

        Examples
        --------
        >>> import tempfile, nearkin
        >>> with tempfile.TemporaryDirectory() as folder, nearkin.Collection.open(folder + "/m", create=True) as matter:
        ...     added = matter.add([("a", "The rent is due on Monday."), ("b", "The tenant shall pay the rent.")])
        ...     layout = matter.coding("fields = [{name = 'responsive', kind = 'yes-no', required = true}]")
        ...     coded = matter.code(["a"], {"responsive": ["yes"]}, by="ada")
        >>> [(one.subject, one.other, one.now) for one in coded.changes]
        [('a', 'responsive', 'yes')]
        """
        from nearkin.collection.decisions.coding import code
        from nearkin.collection.decisions.log import ChangeRequest

        options = ChangeRequest(by=by, dry_run=dry_run, seen=seen)
        return code(self.opened.store, doc_ids, values, options=options)

    def decide(
        self,
        *,
        never_group: Sequence[str] | None = None,
        split_off: Sequence[str] | None = None,
        same_group: Sequence[str] | None = None,
        principal: str | None = None,
        note: tuple[str, str] | None = None,
        group_note: tuple[int, str] | None = None,
        threshold: float | None = None,
        gamma: float | None = None,
        by: str | None = None,
        dry_run: bool = False,
        seen: int | None = None,
    ) -> ActivityResult:
        """Store a decision on groups, which every later call of `groups` follows at every tolerance; or store a note.

        A note has no effect on groups.

        Parameters
        ----------
        never_group : two ids, optional
            Documents that must not be in one group. Each other member of the group joins the document that it is more
            similar to.
        split_off : two ids, optional
            Documents that must not be in one group; the first of them leaves the group. Only members that equal the
            first document, or that are linked to the second only through it, leave with it.
        same_group : two ids, optional
            Documents that must be in one group.
        principal : str, optional
            Document that represents its group. If two documents were chosen for one group, the later choice counts.
        note : (id, text), optional
            Note on a document; it replaces the current note. An empty text removes the note.
        group_note : (group, text), optional
            Note on a stored group.
        threshold, gamma : float, optional
            Tolerance of the group of ``group_note``; see `groups`.
        by : str, optional
            Who decides; by default the name of the system's user.
        dry_run : bool
            Store nothing; return what would be changed.
        seen : int, optional
            Number of the last activity that the caller knows: nothing is stored if a later one is a decision on the
            same documents; for a principal, on a member of its groups.

        Raises
        ------
        ChangedMeanwhileError
        UnknownDocumentError
        ParameterError
            No decision or several are given; or a decision on two documents contradicts others, which the message
            lists. Contradictions among earlier decisions do not raise this error.
        """
        from nearkin.collection.decisions import log
        from nearkin.collection.decisions.deciding import decide

        given = {
            log.NEVER_GROUP: never_group,
            log.SPLIT_OFF: split_off,
            log.SAME_GROUP: same_group,
            log.PRINCIPAL: principal,
            log.NOTE: note,
            log.GROUP_NOTE: group_note,
        }
        tolerance = _tolerance_of("group_note", group_note, threshold, gamma)
        return decide(self.opened.store, given, tolerance, log.ChangeRequest(by=by, dry_run=dry_run, seen=seen))

    def undo(
        self, number: int, *, by: str | None = None, dry_run: bool = False, max_changes: int | None = None
    ) -> ActivityResult:
        """Undo an activity: set the values that it changed back to what they were before.

        The undo is itself an activity, and can be undone. If there are more than ``max_changes`` changes, nothing is
        stored, as in a dry run.

        Raises
        ------
        ParameterError
            The activity does not exist, was undone, or was a purge; a later activity changed the same value; or a
            decision on two documents that would be restored contradicts later decisions.
        """
        from nearkin.collection.decisions.deciding import undo
        from nearkin.collection.decisions.log import ChangeRequest

        return undo(self.opened.store, number, ChangeRequest(by=by, dry_run=dry_run, max_changes=max_changes))

    def log(self, *, since: str | None = None, of: str | None = None) -> list[Activity]:
        """List the activities, the oldest first.

        Parameters
        ----------
        since : str, optional
            Date or time in ISO 8601; without a zone it is UTC.
        of : str, optional
            Id of a document: list only activities that changed it.
        """
        from nearkin.collection.decisions.log import activities

        with self.opened.store.reading() as connection:
            return activities(connection, since=since, of=of)

    def purge(
        self, doc_ids: Sequence[str], *, copies: bool = False, by: str | None = None, dry_run: bool = False
    ) -> Purged:
        """Remove documents, and erase the texts of all of their versions from the files of the collection.

        The ids, the log and the SHA-256 of each text stay. An erased text cannot be added again. A purge cannot be
        undone.

        Parameters
        ----------
        doc_ids : sequence of str
            Ids of current or removed documents.
        copies : bool
            Whether to remove also other current documents that have one of these texts.
        by : str, optional
            Who decides; by default the name of the system's user.
        dry_run : bool
            Erase nothing; return what would be erased.

        Raises
        ------
        UnknownDocumentError
        ParameterError
            Another current document has one of the texts, and ``copies`` is False. Nothing is erased.
        CollectionBusyError
            Another process is reading or writing. The message says whether the texts are erased but can still be found
            in the files of the database.
        """
        from nearkin.collection.decisions.purging import purge

        return purge(self.opened, doc_ids, copies=copies, by=by, dry_run=dry_run)


def _tolerance_of(name: str, group: object, threshold: float | None, gamma: float | None) -> Tolerance:
    """Return the tolerance of a group; without a group, a tolerance is refused."""
    if group is None and (threshold is not None or gamma is not None):
        why = ": every other decision holds at every tolerance" if name == "group_note" else ""
        raise ParameterError(f"threshold and gamma require {name}{why}.")
    return Tolerance.of(threshold=threshold, gamma=gamma)
