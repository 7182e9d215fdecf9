"""Methods of `Collection` that read: documents, versions, groups, conflicting labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.arguments import checking_methods
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.tolerance import Measure, Tolerance
from nearkin.errors import ParameterError, check_int

if TYPE_CHECKING:
    from datetime import date

    from nearkin.collection.conflicts.by_group import Conflicts, Labels
    from nearkin.collection.decisions.log import ActivityResult
    from nearkin.collection.groups.changes import GroupsSince
    from nearkin.collection.groups.current import CollectionGroups
    from nearkin.collection.history import DocumentHistory
    from nearkin.collection.listing.details import DocumentDetails
    from nearkin.collection.listing.exceptions import StoredExceptions, WhichExceptions
    from nearkin.collection.listing.lists import DocumentFilter, ListedDocuments, Sort
    from nearkin.collection.stored.passages import DocumentsOfPassage, PassagesOfDocument
    from nearkin.collection.versions import Versions
    from nearkin.collection.word_search.saved import SavedSearch
    from nearkin.collection.word_search.searching import SearchResult


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

        Versions are the other texts stored under its id, and all other documents within the tolerance.

        Parameters
        ----------
        doc_id, version : str and int, optional
            The stored document; by default its current version.
        measure, gamma, threshold, tolerance
            See `similar`; by default ``threshold=0.5``.
        limit : int
            Maximum number of versions to return.
        at : date or str, optional
            Date such as ``"2024-03-01"``. The documents with the newest date that is not after it, perhaps the document
            itself, are marked as in force.
        date_tag : str, optional
            Field of the tags that have the dates of current documents, "date" by default.

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

        A group keeps its number and its principal when documents are added, and no number is used twice. Only new
        documents, and groups that lost a member, are compared again. Opened read-only, groups are not stored; numbers
        of new groups may then differ from those of the next call.

        Parameters
        ----------
        measure : {"jaccard", "letters"}, optional
            "jaccard", the default: documents match if the Jaccard similarity of their word 5-grams is at least
            ``threshold``, 0.5 by default. "letters": if their letter counts are within ``gamma``, 0.025 by default.
        threshold, gamma : float, optional
            Each limit has its own stored groups.
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

        Those are the groups of the first call of `groups` after the wave's last load before the next wave; documents of
        later loads of the wave are listed as changes. Documents added or removed after the latest call of `groups` are
        only counted.

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


@checking_methods
class DocumentQueries:
    """Queries that read stored documents and do not compare them."""

    opened: OpenedCollection

    def details(self, doc_id: str, *, version: int | None = None) -> DocumentDetails:
        """Return a document with its text, its dates, its versions and its copies.

        Raises
        ------
        UnknownDocumentError

        Examples
        --------
        >>> import nearkin, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with nearkin.Collection.open(f"{folder}/matter", create=True) as collection:
        ...         added = collection.add([("a", "The rent is due."), ("b", "The rent is due.")], wave="march")
        ...         found = collection.details("a")
        >>> found.document.wave, found.text, found.versions, found.copies
        ('march', 'The rent is due.', (1,), ('b',))

        Parameters
        ----------
        doc_id : str
        version : int, optional
            By default the current version.
        """
        from nearkin.collection.listing.details import details

        with self.opened.store.reading() as connection:
            return details(connection, doc_id, version)

    def documents(
        self,
        where: DocumentFilter | None = None,
        *,
        sort: Sort = "id",
        date_tag: str = "date",
        limit: int | None = None,
    ) -> ListedDocuments:
        """List documents that meet all of the given conditions, by default the current ones.

        Parameters
        ----------
        where : DocumentFilter, optional
        sort : {"id", "added", "length", "wave", "date"}
            "added": the newest first. "length": the longest first. "wave": the earliest wave first. "date": by the
            dates in tags, the earliest first; documents without a date come last.
        date_tag : str
            Field of the tags that have the dates.
        limit : int, optional
            Maximum number of documents to return, by default all; the result always has the total.

        Raises
        ------
        ParameterError
        UnknownDocumentError
            There is no such wave.

        Examples
        --------
        >>> import nearkin, tempfile
        >>> from nearkin.results import DocumentFilter
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with nearkin.Collection.open(f"{folder}/matter", create=True) as collection:
        ...         added = collection.add([("lease-1", "The rent is due."), ("note", "Nothing is due at all.")])
        ...         found = collection.documents(DocumentFilter(doc_id="lease-*"))
        >>> found.n_found, found.table.select(["doc_id", "wave", "n_characters"]).to_pylist()
        (1, [{'doc_id': 'lease-1', 'wave': 'wave 1', 'n_characters': 16}])
        """
        from nearkin.collection.listing.lists import DocumentFilter, listed

        if where is not None and not isinstance(where, DocumentFilter):
            raise ParameterError.of("where", "a DocumentFilter", where)
        with self.opened.store.reading() as connection:
            return listed(connection, where or DocumentFilter(), sort, limit, date_tag)

    def exceptions(
        self,
        *,
        wave: str | None = None,
        doc_id: str | None = None,
        reason: str | None = None,
        kind: str | None = None,
        which: WhichExceptions = "all",
    ) -> StoredExceptions:
        """List the files and documents from which no text, or only a part of it, could be read, with the reason.

        A file that gives a text when it is added again under the same id is no longer an exception.

        Parameters
        ----------
        wave : str, optional
            Only exceptions that this wave added.
        doc_id : str, optional
            Pattern of the id: ``*`` stands for any characters, ``?`` for one character.
        reason : str, optional
            Such as "encrypted"; `nearkin exceptions --help` lists them.
        kind : str, optional
            Kind of the file by its content, such as "pdf".
        which : {"all", "no text", "partial"}

        Raises
        ------
        ParameterError
        UnknownDocumentError
            There is no such wave.

        Examples
        --------
        >>> import nearkin, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with nearkin.Collection.open(f"{folder}/matter", create=True) as collection:
        ...         added = collection.add([("a", "The rent is due."), ("blank", " ")], wave="march")
        ...         found = collection.exceptions()
        >>> [(one.doc_id, one.exception, one.sentence) for one in found.exceptions]
        [('blank', 'empty', 'no text was found in it')]
        """
        from nearkin.collection.listing.exceptions import ExceptionFilter, stored_exceptions

        wanted = ExceptionFilter(wave=wave, doc_id=doc_id, reason=reason, kind=kind, which=which)
        with self.opened.store.reading() as connection:
            return stored_exceptions(connection, wanted)

    def history(self, doc_id: str) -> DocumentHistory:
        """List all versions of a document, the oldest first, with the change that each made.

        Raises
        ------
        UnknownDocumentError

        Examples
        --------
        >>> import nearkin, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with nearkin.Collection.open(f"{folder}/matter", create=True) as collection:
        ...         added = collection.add([("a", "The rent is due in 30 days.")], wave="march")
        ...         added = collection.add([("a", "The rent is due in 45 days.")], wave="april")
        ...         found = collection.history("a")
        >>> [(one.document.version, one.document.wave) for one in found.versions]
        [(1, 'march'), (2, 'april')]
        >>> "".join(piece.text for piece in found.versions[1].change.passage)
        'The rent is due in 30 45 days.'

        Parameters
        ----------
        doc_id : str
            Id of a current or removed document.
        """
        from nearkin.collection.history import history

        with self.opened.store.reading() as connection:
            return history(connection, doc_id)

    def passages(self, doc_id: str, *, version: int | None = None) -> PassagesOfDocument:
        """List the passages of a document that stand in other documents, too, as they were found last.

        `nearkin.passages` finds them, with ``store=True``.

        Parameters
        ----------
        doc_id : str
        version : int, optional
            By default the current version.

        Raises
        ------
        UnknownDocumentError

        Examples
        --------
        >>> import nearkin, tempfile
        >>> clause = "The tenant shall pay the rent on the first day of each month."
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with nearkin.Collection.open(f"{folder}/matter", create=True) as collection:
        ...         added = collection.add([("a", f"Lease of a house. {clause}"), ("b", clause), ("c", "A note.")])
        ...         found = nearkin.passages(f"{folder}/matter", min_words=8, store=True)
        ...         (passage,) = collection.passages("a").passages
        ...         documents = collection.documents_with_passage(passage.passage).documents
        >>> passage.start, passage.end, passage.n_documents, [one.document.doc_id for one in documents]
        (18, 78, 2, ['a', 'b'])
        """
        from nearkin.collection.stored.documents import document
        from nearkin.collection.stored.passages import passages_of

        with self.opened.store.reading() as connection:
            return passages_of(connection, document(connection, doc_id, version))

    def documents_with_passage(self, passage: int, *, limit: int = 50) -> DocumentsOfPassage:
        """List the current documents with a passage.

        Parameters
        ----------
        passage : int
            Its number in an answer of `passages`.
        limit : int
            Maximum number of documents to return; the result always has the total.

        Raises
        ------
        UnknownDocumentError
            No such passage is stored.
        """
        from nearkin.collection.stored.passages import documents_of

        check_int("passage", passage, 0)
        check_int("limit", limit, 1)
        with self.opened.store.reading() as connection:
            return documents_of(connection, passage, limit)

    def search(self, query: str, *, wave: str | None = None, limit: int | None = 50) -> SearchResult:
        """Find the current documents that meet a query of words, the most relevant first.

        Words are runs of letters and digits. Case and Unicode compatibility forms (NFKC) do not count; words are not
        stemmed.

        Parameters
        ----------
        query
            Words; phrases in "quotes"; beginnings of words followed by ``*``. Fields: ``from:``, ``to:`` (with cc and
            bcc), ``cc:``, ``bcc:`` and ``subject:`` with a part of the header of a mail, ``date:2024-03`` or
            ``date:2024..2025`` with the date of a mail or of the tag, ``wave:``, ``file:``, ``id:``, ``tag:``,
            ``kind:`` of a file, and ``saved:`` with the name of a saved search. All have to be met, unless ``OR`` or
            ``NOT`` stands between them; parentheses group. Documents are ranked by words that all of them have.
        limit
            Maximum number of documents to return; None means all. Of more than 10,000 documents found, the 10,000
            added last compete for the first places, unless all are returned.

        Raises
        ------
        ParameterError
            The query has no word, or cannot be parsed.
        UnknownDocumentError
            There is no such wave.

        Examples
        --------
        >>> import nearkin, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with nearkin.Collection.open(f"{folder}/matter", create=True) as collection:
        ...         added = collection.add([("a", "The rent is due on the first day."), ("b", "Rental cars.")])
        ...         found = collection.search('rent "first day"'), collection.search("rent*")
        >>> [(one.document.doc_id, one.snippet) for one in found[0].documents]
        [('a', 'The [rent] is due on the [first] [day].')]
        >>> [one.document.doc_id for one in found[1].documents]
        ['b', 'a']
        """
        from nearkin.collection.word_search.searching import search

        return search(self.opened, query, wave=wave, limit=limit)

    def saved_searches(self) -> list[SavedSearch]:
        """Return the saved searches, by name; `search` finds ``saved:NAME``."""
        from nearkin.collection.word_search.saved import saved_searches

        with self.opened.store.reading() as connection:
            return saved_searches(connection)

    def save_search(
        self, name: str, query: str | None, *, by: str | None = None, dry_run: bool = False
    ) -> ActivityResult:
        """Save a query under a name, or forget it if it is None.

        Parameters
        ----------
        name, query : str
        by, dry_run
            See `tag`.

        Raises
        ------
        ParameterError
            The name is blank or has quotes, or the query cannot be parsed.

        Examples
        --------
        >>> import tempfile, nearkin
        >>> with tempfile.TemporaryDirectory() as folder, nearkin.Collection.open(folder + "/m", create=True) as matter:
        ...     added = matter.add([("a", "The rent is due on Monday."), ("b", "The tenant shall pay the rent.")])
        ...     saved = matter.save_search("due", "rent due*", by="ada")
        ...     found = matter.search("saved:due OR tag:late")
        >>> [one.document.doc_id for one in found.documents]
        ['a']
        """
        from nearkin.collection.decisions.log import ChangeRequest
        from nearkin.collection.word_search.saved import save_search

        return save_search(self.opened.store, name, query, ChangeRequest(by=by, dry_run=dry_run))
