"""`Collection`, the public entry point: stored documents and queries over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from nearkin.arguments import checking_methods
from nearkin.collection import integrity
from nearkin.collection.decisions.methods import DecisionMethods
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.queries import DocumentQueries, GroupQueries
from nearkin.collection.results import SimilarDocuments, StoredDocument
from nearkin.collection.stored.contents import stored_text
from nearkin.collection.stored.documents import check_id, document, is_current
from nearkin.collection.tolerance import Measure, Tolerance
from nearkin.errors import ParameterError, check_int, quoted
from nearkin.runs.progress import Progress
from nearkin.stages.documents.ignoring import Ignored
from nearkin.stages.features.letters import Alphabet
from nearkin.stages.signatures.similarity_index import SimilarityIndex
from nearkin.store.store import Access

if TYPE_CHECKING:
    from nearkin.collection.check_in.results import CheckAnswer, Checked, CheckIn, CheckInMany, CheckOptions
    from nearkin.collection.decisions.removing import Removed
    from nearkin.collection.info import Info
    from nearkin.collection.integrity import IntegrityReport
    from nearkin.collection.loads.adding import Added
    from nearkin.collection.measuring import ComparedDocuments
    from nearkin.stages.documents.rules import OnError

_ADD_READS_NO_FILES = (
    "Collection.add reads no files: run nearkin add, or pass their texts; if the names are the texts, pass (id, text) "
    "pairs."
)


@checking_methods
class Collection(DocumentQueries, GroupQueries, DecisionMethods):
    """Stored documents, added in waves, and queries over all of them.

    One process or thread writes at a time; any number read meanwhile, and a query sees the state at its start. Threads
    may share one object; a process to which it is sent opens the collection again.

    Attributes
    ----------
    place : Place
        The directory or URL; ``str(place)`` omits the password.

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
        if not isinstance(opened, OpenedCollection):
            raise ParameterError(f"Open a collection with Collection.open(path). Got Collection({quoted(opened)}).")
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
            A directory, or ``postgresql://USER:PASSWORD@HOST:PORT/DATABASE``, to which ``?schema=NAME`` and settings of
            libpq may be added. Omitted parts come from the environment, as for psql.
        create : bool
            Create a missing collection.
        alphabet : {"universal", "latin"}, optional
            Letters that range search counts.
        similarity_index : SimilarityIndex or str, optional
            Method of the similarity indexes, by default ``"43B:k=40"``.
        ignored : Ignored, optional
            Passages and numbers that do not count. These three are fixed when the collection is created, and must then
            be the same.
        cache : str or Path, optional
            Directory for the index of a collection in PostgreSQL, by default ``~/.cache/nearkin``. It can be deleted at
            any time: the index is rebuilt from the store.
        wait : float, optional
            Seconds to wait while another process is writing, by default 2.
        read_only : bool
            Write nothing, for a read-only medium. Missing parts of the index, and missing keys of check-ins, are then
            made in memory for this object, which takes longer.
        progress : Progress, optional
            Receives progress reports.

        Raises
        ------
        CollectionError
            The collection is missing, damaged, or of another format; or the database does not answer.
        FingerprintError
            The collection has similarity indexes made by another method.
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
        """Add documents: all of them, or none if anything fails. Unchanged documents are not stored again.

        Parameters
        ----------
        documents : pyarrow Table, pandas or polars DataFrame, iterable of str, of (id, text) pairs or of dicts
            Texts, not files: if the first 20 strings are all names of files, they are refused.
        wave : str, optional
            Name of a new or existing wave; by default "wave 1", "wave 2", …
        text, id : str, optional
            Names of the columns; guessed if not given. Documents without ids are named after the wave: ``wave 1:1``, …
        threads : int
            Worker threads, at least 1.
        on_error : {"skip-documents", "skip", "stop"}
            "stop": raise at the first document that cannot be stored. Otherwise such documents are skipped and listed.
        max_unreadable : float or str
            Maximum share of documents that may be unreadable, such as 0.01 or "1%".

        Raises
        ------
        DocumentError, SourceError
            More than ``max_unreadable``, or all documents, are unreadable; or a document without an id would replace
            another one of the wave. Nothing is added.
        ParameterError
            The documents have no accepted type, or are names of files; or a column is named, and they have none.
        CollectionBusyError
        OutputError
            The disk is full.
        """
        from nearkin.collection.loads.adding import add_incoming
        from nearkin.collection.loads.incoming import Incoming
        from nearkin.stages.documents.rules import ReadingRules
        from nearkin.stages.documents.tables import read_table

        source = pa.scalar("table", pa.large_string())
        batches = read_table(documents, text=text, doc_id=id, read_files=_ADD_READS_NO_FILES)
        incoming = (Incoming(batch=batch, sources=pa.repeat(source, len(batch)), name=None) for batch in batches)
        rules = ReadingRules.of(on_error, max_unreadable)
        return add_incoming(self.opened, incoming, wave=wave, threads=threads, rules=rules)

    def remove(
        self,
        doc_ids: Sequence[str] = (),
        *,
        wave: str | None = None,
        by: str | None = None,
        dry_run: bool = False,
        max_changes: int | None = None,
    ) -> Removed:
        """Remove the named documents, or all documents of a wave. Their versions stay in the history.

        Parameters
        ----------
        doc_ids : sequence of str
        wave : str, optional
            Wave that added the current versions of the documents.
        by : str, optional
            Who removes them, for the `log`; by default the name of the system's user.
        dry_run : bool
            Return the documents that would be removed, and remove nothing.
        max_changes : int, optional
            If there are more documents to remove, nothing is removed, as in a dry run.
        """
        from nearkin.collection.decisions.log import ChangeRequest
        from nearkin.collection.decisions.removing import remove

        options = ChangeRequest(by=by, dry_run=dry_run, max_changes=max_changes)
        return remove(self.opened.store, doc_ids, wave, options)

    def document(self, doc_id: str, *, version: int | None = None) -> StoredDocument:
        """Return a document, by default its current version.

        Raises
        ------
        UnknownDocumentError
        """
        with self.opened.store.reading() as connection:
            return document(connection, doc_id, version)

    def has_document(self, doc_id: str) -> bool:
        """Whether there is a current document with this id.

        Raises
        ------
        ParameterError
            The id is no str.
        """
        check_id(doc_id)
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
        measure: Measure | None = None,
        gamma: float | None = None,
        threshold: float | None = None,
        tolerance: float | None = None,
        version: int | None = None,
        limit: int = 50,
    ) -> SimilarDocuments:
        """Find all documents of all waves within a tolerance of a stored document or of a text.

        Parameters
        ----------
        doc_id, version : str and int, optional
            The stored document to query with; the result does not contain it.
        text : str, optional
            Text to query with instead. A file name is not opened; it is compared as a text.
        measure, gamma, threshold, tolerance
            Measure of similarity and its limit; by default ``threshold=0.5``. The limit is ``threshold`` for "jaccard"
            (minimum Jaccard similarity of word 5-grams) and "containment"; ``gamma`` for "letters" (maximum distance of
            the letter counts, as a share of the query's length); ``tolerance`` for "index" (similarity index). The
            measure can be omitted if the limit implies it.
        limit : int
            Maximum number of documents to return; the result always has the total.

        Raises
        ------
        UnknownDocumentError
        ParameterError
            A parameter is invalid; or neither or both of ``doc_id`` and ``text`` are given.
        """
        from nearkin.collection.similar import similar_documents

        if (doc_id is None) == (text is None):
            raise ParameterError("Give either the id of a document or a text, to find what is similar to it.")
        alike = Tolerance.of(measure, gamma=gamma, threshold=threshold, tolerance=tolerance)
        return similar_documents(self.opened, doc_id, text, alike, version=version, limit=limit)

    def check(self, text: str, *, options: CheckOptions | None = None, store: CheckIn | None = None) -> Checked:
        """Check whether an exact copy, a near-duplicate, a part or a superset of a text is stored.

        Parameters
        ----------
        text : str
            A file name is not opened; it is compared as a text.
        options : CheckOptions, optional
            Thresholds of the answer.
        store : CheckIn, optional
            Id and wave under which to store the text in the same transaction: of two similar texts checked in at the
            same time, the second check finds the first text. By default nothing is stored.

        Raises
        ------
        CollectionBusyError
            The text is to be stored, and another process is writing.
        InputError
            The text is to be stored, and was purged.
        ParameterError
        """
        from nearkin.collection.check_in.check_in import check_one
        from nearkin.collection.check_in.results import CheckIn, CheckOptions, check_given

        check_given(options, store, CheckIn)
        return check_one(self.opened, text, options or CheckOptions(), store)

    def check_many(
        self,
        documents: Iterable[tuple[str, str]],
        *,
        options: CheckOptions | None = None,
        store: CheckInMany | None = None,
        stops_at_problem: bool = False,
    ) -> tuple[CheckAnswer, ...]:
        """Check documents one after another; with ``store``, each is also compared with those stored before it.

        All documents are stored in one transaction: when the answers are returned, the documents are stored durably. If
        the call fails, nothing is stored. A document that cannot be checked or stored gets an answer with a problem.

        Parameters
        ----------
        documents : iterable of (str, str)
            Ids and texts; of a long stream, a few dozen at a time.
        options : CheckOptions, optional
            By default ``containment`` is None, as in ``nearkin check --jsonl``.
        store : CheckInMany, optional
            How to store them; by default nothing is stored.
        stops_at_problem : bool
            Stop at the first document with a problem: later ones are not checked, not stored, and get no answer.

        Raises
        ------
        CollectionBusyError
        ParameterError
            The name of the wave is invalid; ``documents`` are not pairs; or ``lines`` has another number of entries.

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
        from nearkin.collection.check_in.results import CheckInMany, CheckOptions, check_given

        check_given(options, store, CheckInMany)
        options = options or CheckOptions(containment=None, with_passage=False)
        if not isinstance(documents, Iterable) or isinstance(documents, str):
            raise ParameterError.of("documents", "an iterable of pairs (id, text)", documents)
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
            Ids of the documents; the same id twice compares two versions of one document.
        version_a, version_b : int, optional
            By default the current versions.
        context_lines : int
            Number of unchanged lines shown around each difference.
        ignore : iterable of {"case", "punctuation", "numbers"}
            Differences that do not count; white space never does.

        Raises
        ------
        UnknownDocumentError
        ParameterError
        """
        from nearkin.collection.measuring import compare

        return compare(
            self.opened, a, b, version_a=version_a, version_b=version_b, context_lines=context_lines, ignore=ignore
        )

    def fsck(self, *, threads: int = 1, since: str | None = None) -> IntegrityReport:
        """Check every digest, compute all derived data again, and rebuild what differs from the texts.

        ``since``, the name of a wave, limits this to the loads and to texts that came with it or later. Opened read-
        only, nothing is rebuilt: ``not_rebuilt`` of the report lists what differs.
        """
        check_int("threads", threads, 1)

        return integrity.fsck(self.opened, threads=threads, since=since)

    def close(self) -> None:
        """Close the database."""
        self.opened.close()

    def __enter__(self) -> Collection:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Collection({str(self.place)!r})"
