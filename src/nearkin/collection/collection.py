"""`Collection`, the public entry point: stored documents and queries over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from nearkin.collection.decisions.methods import DecisionMethods
from nearkin.collection.group_queries import GroupQueries
from nearkin.collection.listing.browsing import DocumentQueries
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.results import SimilarDocuments, StoredDocument
from nearkin.collection.similar import similar_documents
from nearkin.collection.stored.contents import stored_text
from nearkin.collection.stored.documents import document, is_current
from nearkin.collection.tolerance import MethodName, Tolerance
from nearkin.errors import ParameterError
from nearkin.runs.progress import Progress
from nearkin.stages.documents.ignoring import Ignored
from nearkin.stages.documents.rules import OnError, ReadingRules
from nearkin.stages.features.letters import Alphabet
from nearkin.stages.signatures.similarity_index import SimilarityIndex
from nearkin.store.store import Access

if TYPE_CHECKING:
    from nearkin.collection.check_in.results import CheckAnswer, Checked, CheckIn, CheckInMany, CheckOptions
    from nearkin.collection.comparing import ComparedDocuments
    from nearkin.collection.decisions.removing import Removed
    from nearkin.collection.info import Info
    from nearkin.collection.integrity.fsck import IntegrityReport
    from nearkin.collection.loads.adding import Added

_ADD_READS_NO_FILES = (
    "Collection.add reads no files: run nearkin add, or pass their texts; if the names are the texts, pass (id, text) "
    "pairs."
)


class Collection(DocumentQueries, GroupQueries, DecisionMethods):
    """Stored documents, added in waves, and queries over all of them.

    One process or thread writes at a time. Any number read meanwhile, and each sees the state at the start of its
    query. Several threads may use one object; another process that receives it opens the collection again.

    Attributes
    ----------
    place : Place
        The directory or URL; `str` omits the password.
    opened : OpenedCollection
        The store and the index, for Nearkin's own commands; not public, and may change in any version.

    Examples
    --------
    >>> import tempfile
    >>> lease = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord."
    >>> with tempfile.TemporaryDirectory() as folder, Collection.open(f"{folder}/matter", create=True) as collection:
    ...     added = collection.add([("a", lease), ("b", lease.replace("900", "950")), ("c", lease.upper())])
    ...     found = collection.similar("a", gamma=0.1)
    >>> added.n_new, [(one.document.doc_id, one.distance) for one in found.documents]
    (3, [('b', 1.4142135623730951)])
    """

    def __init__(self, opened: OpenedCollection) -> None:
        self.opened, self.place = opened, opened.place

    @classmethod
    def open(
        cls,
        path_or_url: str | Path,
        *,
        create: bool = False,
        alphabet: Alphabet | None = None,
        similarity_index: SimilarityIndex | str | None = None,
        ignored: Ignored | None = None,
        cache: str | Path | None = None,
        wait: float | None = None,
        read_only: bool = False,
        progress: Progress | None = None,
    ) -> Collection:
        """Open a collection.

        Parameters
        ----------
        path_or_url : str or Path
            A directory, or ``postgresql://USER:PASSWORD@HOST:PORT/DATABASE``, to which ``?schema=NAME``, ``service``,
            ``host``, ``port``, ``sslmode`` and ``sslrootcert`` may be added. What is omitted comes from the
            environment, as for psql.
        create : bool
            Create a missing collection.
        alphabet : {"universal", "latin"}, optional
            Letters to count, fixed when the collection is created. An existing collection must have the same.
        similarity_index : SimilarityIndex or str, optional
            Method of the similarity indexes, fixed when the collection is created, by default ``"43B:k=40"``. An
            existing collection must have the same.
        ignored : Ignored, optional
            Passages and numbers that do not count, fixed when the collection is created. An existing collection must
            have the same.
        cache : str or Path, optional
            Directory for the index of a collection in PostgreSQL, by default ``~/.cache/nearkin``. It can be removed
            at any time and is made again from the store.
        wait : float, optional
            Seconds to wait while another process is writing, by default 2.
        read_only : bool
            Write nothing, for a read-only medium. Missing parts of the index, and missing keys of check-ins, are then
            made for this object only, which takes longer.
        progress : Progress, optional
            Receiver of progress reports.

        Raises
        ------
        CollectionError
            The collection is missing, damaged, or made by a newer Nearkin; or the database does not answer.
        FingerprintError
            The collection has similarity indexes of another method.
        """
        return cls(
            OpenedCollection.open(
                path_or_url,
                create=create,
                alphabet=alphabet,
                similarity_index=similarity_index,
                ignored=ignored,
                cache=cache,
                access=Access(wait, read_only),
                progress=progress,
            )
        )

    def add(
        self,
        documents: object,
        *,
        wave: str | None = None,
        text: str | None = None,
        id: str | None = None,
        threads: int = 1,
        on_error: OnError = "skip-documents",
        max_unreadable: float | str = 0.5,
    ) -> Added:
        """Add all documents, or none if anything fails. Stored documents are not stored again.

        Parameters
        ----------
        documents : pyarrow Table, pandas or polars DataFrame, iterable of str, of (id, text) pairs or of dicts
            Texts, not files. Strings of which the first 20 are all names of files are refused; see
            `nearkin.paths.check_are_texts`.
        wave : str, optional
            Name of a new or existing wave; by default "wave 1", "wave 2", …
        text, id : str, optional
            Columns; by default guessed from their names. Documents without ids are named after the wave:
            ``wave 1:1``, …
        threads : int
            At least 1.
        on_error : {"skip-documents", "skip", "stop"}
            "stop": raise at the first document that cannot be stored. Otherwise such documents are skipped and listed.
        max_unreadable : float or str
            Maximum share of documents that may be unreadable, such as 0.01 or "1%".

        Raises
        ------
        DocumentError, SourceError
            More than ``max_unreadable``, or all documents, are unreadable; nothing is added.
        ParameterError
            The documents have no accepted type, or are names of files.
        CollectionBusyError
        OutputError
            The disk is full.
        """
        from nearkin.collection.loads.adding import add_incoming
        from nearkin.collection.loads.incoming import Incoming
        from nearkin.stages.documents.tables import read_table

        source = pa.scalar("table", pa.large_string())
        batches = read_table(documents, text=text, doc_id=id, read_files=_ADD_READS_NO_FILES)
        incoming = (Incoming(batch, pa.repeat(source, len(batch)), None) for batch in batches)
        rules = ReadingRules.of(on_error, max_unreadable)
        return add_incoming(self.opened, incoming, wave=wave, threads=threads, rules=rules)

    def remove(
        self,
        doc_ids: Sequence[str] = (),
        *,
        wave: str | None = None,
        by: str | None = None,
        dry_run: bool = False,
        max_documents: int | None = None,
    ) -> Removed:
        """Remove the named documents, or all documents of a wave. Their versions stay in the history of the store.

        The removal is an activity of the log; see `log`.

        Parameters
        ----------
        doc_ids : sequence of str
        wave : str, optional
            Wave that added the current versions of the documents.
        by : str, optional
            Who removes them; by default the name of the system's user.
        dry_run : bool
            Only list the documents; nothing is removed.
        max_documents : int, optional
            Maximum number of documents to remove. If there are more, it is a dry run.

        Raises
        ------
        UnknownDocumentError
            A document is not stored; nothing is removed.
        """
        from nearkin.collection.decisions.methods import checked_max
        from nearkin.collection.decisions.removing import remove

        return remove(
            self.opened.store,
            doc_ids,
            wave=wave,
            by=by,
            dry_run=dry_run,
            max_documents=checked_max("max_documents", "remove", max_documents),
        )

    def document(self, doc_id: str, *, version: int | None = None) -> StoredDocument:
        """Return a document, by default its current version.

        Raises
        ------
        UnknownDocumentError
        """
        with self.opened.store.reading() as connection:
            return document(connection, doc_id, version)

    def has_document(self, doc_id: str) -> bool:
        """Whether there is a current document with this id."""
        with self.opened.store.reading() as connection:
            return is_current(connection, doc_id)

    def text(self, doc_id: str, *, version: int | None = None) -> str:
        """Return the text of a document, unchanged.

        Raises
        ------
        UnknownDocumentError
        """
        with self.opened.store.reading() as connection:
            return stored_text(connection, document(connection, doc_id, version).content)

    def similar(
        self,
        doc_id: str | None = None,
        *,
        text: str | None = None,
        method: MethodName | None = None,
        gamma: float | None = None,
        threshold: float | None = None,
        distance: int | None = None,
        tolerance: float | None = None,
        index: SimilarityIndex | str | None = None,
        version: int | None = None,
        limit: int = 50,
    ) -> SimilarDocuments:
        """Find all documents within a tolerance of a stored document or of a text, across all waves.

        Parameters
        ----------
        doc_id, version : str and int, optional
            The stored document to query with; the result does not contain it.
        text : str, optional
            The text itself to query with, instead of a document; the name of a file is compared as the text that it is.
        method, gamma, threshold, distance, tolerance
            See `Tolerance`; by default a Jaccard similarity of the word 5-grams of at least 0.5. Each query chooses its
            own.
        index : SimilarityIndex or str, optional
            Required method of the similarity indexes.
        limit : int
            Maximum number of documents to return; the result always has the total.

        Raises
        ------
        UnknownDocumentError
        ParameterError
            A parameter breaks its rule; or neither or both of ``doc_id`` and ``text`` are given.
        FingerprintError
        """
        if (doc_id is None) == (text is None):
            raise ParameterError("Give either the id of a document or a text, to find what is similar to it.")
        self.opened.check_index(index)
        alike = Tolerance.of(method, gamma=gamma, threshold=threshold, distance=distance, tolerance=tolerance)
        return similar_documents(self.opened, doc_id, text, alike, version=version, limit=limit)

    def check(self, text: str, *, options: CheckOptions | None = None, store: CheckIn | None = None) -> Checked:
        """Check whether an exact copy, a near-duplicate, a part or a superset of a text is stored.

        Parameters
        ----------
        text : str
            The text itself; the name of a file is compared as the text that it is.
        options : CheckOptions, optional
            Thresholds of the answer.
        store : CheckIn, optional
            Store the text in the same transaction: if two similar texts are checked in at once, the second sees the
            first. By default nothing is stored.

        Raises
        ------
        CollectionBusyError
            Another process is writing, and the text is to be stored.
        ParameterError
        """
        from nearkin.collection.check_in.check_in import check_in, check_only
        from nearkin.collection.check_in.results import CheckOptions

        options = options or CheckOptions()
        return check_only(self.opened, text, options) if store is None else check_in(self.opened, text, options, store)

    def check_many(
        self,
        documents: Iterable[tuple[str, str]],
        *,
        options: CheckOptions | None = None,
        store: CheckInMany | None = None,
        stops_at_problem: bool = False,
    ) -> tuple[CheckAnswer, ...]:
        """Check documents one after another; with ``store``, each sees the documents stored before it.

        All of them are stored in one transaction: once the answers are returned, what they say is stored durably. If
        the call fails, nothing is stored. A document that cannot be checked or stored gets an answer with a problem.

        Parameters
        ----------
        documents : iterable of (str, str)
            Ids and texts. A stream of any length is checked in calls of some dozens of documents.
        options : CheckOptions, optional
            By default parts of texts are not looked for (``containment`` is None), as in ``nearkin check --jsonl``.
        store : CheckInMany, optional
            How to store them; by default nothing is stored.
        stops_at_problem : bool
            End at the first document with a problem: later documents are not checked, not stored, and have no answer.

        Returns
        -------
        tuple of CheckAnswer
            In the order of the documents.

        Raises
        ------
        CollectionBusyError
        ParameterError
            The name of the wave breaks its rule; ``documents`` are not pairs; or there is not one line per document.

        Examples
        --------
        >>> import tempfile
        >>> from nearkin.results import CheckInMany
        >>> lease = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord."
        >>> with tempfile.TemporaryDirectory() as folder, Collection.open(f"{folder}/m", create=True) as collection:
        ...     documents = [("a", lease), ("b", lease.upper()), ("c", "A note about kites, and nothing else.")]
        ...     answers = collection.check_many(documents, store=CheckInMany(only_new=True))
        >>> [(one.doc_id, one.checked.verdict, one.is_kept) for one in answers]
        [('a', 'new', True), ('b', 'exact', False), ('c', 'new', True)]
        """
        from nearkin.collection.check_in.check_in import check_many
        from nearkin.collection.check_in.results import CheckOptions

        options = options or CheckOptions(containment=None, with_passage=False)
        if not isinstance(documents, Iterable) or isinstance(documents, str):
            raise ParameterError.of("documents", "check_many", "an iterable of pairs (id, text)", documents)
        return check_many(self.opened, list(documents), options, store, stops=stops_at_problem)

    def info(self) -> Info:
        """Count documents, versions, waves and texts."""
        from nearkin.collection.info import info

        return info(self.opened)

    def compare(
        self,
        a: str,
        b: str,
        *,
        version_a: int | None = None,
        version_b: int | None = None,
        context_lines: int = 2,
        ignore: Iterable[str] = (),
    ) -> ComparedDocuments:
        """Compare two documents word by word, and measure how similar they are.

        Parameters
        ----------
        a, b : str
            Ids; the same id twice compares two versions of one document.
        version_a, version_b : int, optional
            By default the current versions.
        context_lines : int
            Lines shown around each difference.
        ignore : iterable of {"case", "punctuation", "numbers"}
            Differences that do not count; white space never does.

        Raises
        ------
        UnknownDocumentError
        ParameterError
        """
        from nearkin.collection.comparing import compare

        return compare(
            self.opened, a, b, version_a=version_a, version_b=version_b, context_lines=context_lines, ignore=ignore
        )

    def fsck(self, *, threads: int = 1) -> IntegrityReport:
        """Check every checksum, compute all derived data again, and repair what can be repaired.

        Opened read-only, nothing is repaired: ``repairable`` of the report lists what would be.
        """
        if self.opened.store.access.is_read_only:
            from nearkin.collection.integrity.read_only import check_only

            return check_only(self.opened, threads=threads)
        from nearkin.collection.integrity.fsck import fsck

        return fsck(self.opened, threads=threads)

    verify = fsck
    """Former name of `fsck`, for one release."""

    def close(self) -> None:
        """Close the database."""
        self.opened.close()

    def __enter__(self) -> Collection:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Collection({str(self.place)!r})"
