"""Figures, threads and audits of the current documents, kept in memory until the service ends."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Select, func, select

from nearkin.collection.decisions.log import StoredState
from nearkin.collection.info import Info, info
from nearkin.collection.listing.exceptions import ExceptionFilter, stored_exceptions
from nearkin.collection.listing.lists import DocumentFilter
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError
from nearkin.formats import parquet
from nearkin.nouns import counted
from nearkin.options.families import MailOptions
from nearkin.records import I64
from nearkin.reports.families import ThreadCard
from nearkin.runs.progress import Progress
from nearkin.store.schema import documents, origins
from nearkin.tabular import AnswerRecord
from nearkin.workflows.auditing.audited import Audited, AuditOptions
from nearkin.workflows.auditing.collection import audit_opened
from nearkin.workflows.reading.collection_documents import is_without_text
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources
from nearkin.workflows.threads.job import TABLE, card_of, thread_files


@dataclass(frozen=True, slots=True)
class Counted:
    """Figures about the collection, and the numbers of exceptions and of documents with copies."""

    info: Info
    n_with_same_text: int
    n_exceptions: int


class CurrentInfo:
    """Figures about a collection, counted again only if its documents have changed: each count reads whole tables."""

    def __init__(self, opened: OpenedCollection) -> None:
        self._opened, self._lock = opened, threading.Lock()
        self._known: tuple[StoredState, Counted] | None = None

    def get(self) -> Counted:
        """Return the current figures."""
        with self._lock:  # one thread counts, and those that wait get its answer
            with self._opened.store.reading() as connection:
                state = StoredState.now(connection)
            if self._known is None or self._known[0] != state:
                self._known = state, self._counted()  # of this state or a later one, which is then counted again
            counts = self._known[1]
        n_segments = len(self._opened.index.listed())
        return replace(counts, info=replace(counts.info, n_segments=n_segments))

    def _counted(self) -> Counted:
        with self._opened.store.reading() as connection:
            has_copies = DocumentFilter(has_copies=True).condition(connection, None)
            n_with_same_text = int(
                connection.execute(select(func.count(documents.c.row)).where(has_copies)).scalar_one()
            )
            n_exceptions = len(stored_exceptions(connection, ExceptionFilter()).exceptions)
        return Counted(info(self._opened), n_with_same_text, n_exceptions)


AUDITED = (Tolerance.of("letters"), Tolerance.of("jaccard"))
"""Searches that are audited, each at its usual tolerance."""


@dataclass(frozen=True, slots=True)
class MadeAudits(AnswerRecord):
    """Audits as they were measured.

    Parameters
    ----------
    state
        State of the documents then.
    made_at
        UTC, ISO 8601.
    """

    hidden = ("state",)

    state: StoredState
    made_at: str
    audits: Sequence[Audited]


class CurrentAudits:
    """The latest audits of a collection, ``made``; None before there are any."""

    def __init__(self, opened: OpenedCollection) -> None:
        self._opened = opened
        self.made: MadeAudits | None = None

    def are_outdated(self, made: MadeAudits) -> bool:
        """Whether documents were added, replaced, removed or erased since the audits."""
        with self._opened.store.reading() as connection:
            return StoredState.now(connection) != made.state

    def measure(self, progress: Progress) -> str:
        """Audit by letters and by wording."""
        with self._opened.store.reading() as connection:
            state = StoredState.now(connection)
        threads = Resources().n_threads
        options = [AuditOptions(tolerance=audited, threads=threads) for audited in AUDITED]
        audits = [audit_opened(self._opened, option, progress) for option in options]
        self.made = MadeAudits(state, datetime.now(UTC).isoformat(timespec="seconds"), audits)
        return "the page Defensibility has the recall"


MAX_DOCUMENTS = 200_000
"""Maximum number of documents for which the service computes threads; for more, use the command."""


class StoredMails(NamedTuple):
    """Counts of stored mails, without attached ones, and of documents, and their state."""

    n_mails: int
    n_documents: int
    state: StoredState


@dataclass(frozen=True, slots=True)
class FoundThreads:
    """Threads as they were computed.

    Parameters
    ----------
    mails
        What was stored then.
    table
        As in ``threads.parquet``.
    starts : int64 array
        First row of each thread.
    order : int64 array
        Indexes of the threads, the largest first.
    """

    mails: StoredMails
    table: pa.Table
    starts: I64
    order: I64

    @classmethod
    def of(cls, mails: StoredMails, table: pa.Table) -> FoundThreads:
        """Find the rows of each thread."""
        _, starts = np.unique(table["thread"].to_numpy(), return_index=True)
        sizes = table["thread_size"].to_numpy()[starts]
        return cls(mails, table, starts.astype(np.int64), np.argsort(-sizes, kind="stable"))

    @property
    def n_threads(self) -> int:
        """Number of threads."""
        return len(self.starts)

    @property
    def n_mails(self) -> int:
        """Number of mails, without missing ones."""
        return int(self.table.num_rows) - self.n_missing

    @property
    def n_missing(self) -> int:
        """Number of missing mails."""
        return int(pc.sum(self.table["is_missing"]).as_py() or 0)

    @property
    def n_inclusive(self) -> int:
        """Number of inclusive mails."""
        return int(pc.sum(self.table["is_inclusive"]).as_py() or 0)

    @property
    def inclusive(self) -> pa.Table:
        """The rows of inclusive mails."""
        return self.table.filter(self.table["is_inclusive"])

    def cards(self, first: int, n: int) -> list[ThreadCard]:
        """Return some threads in order, without their rows."""
        return [self._card(int(index), 0) for index in self.order[first : first + n]]

    def card(self, number: int, max_rows: int) -> ThreadCard | None:
        """Return a thread with its first rows."""
        return self._card(number - 1, max_rows) if 1 <= number <= self.n_threads else None

    def neighbours(self, number: int) -> tuple[int | None, int | None]:
        """Return the numbers of the threads before and after a thread, in order."""
        place = int(np.flatnonzero(self.order == number - 1)[0])
        before = int(self.order[place - 1]) + 1 if place else None
        return before, int(self.order[place + 1]) + 1 if place + 1 < self.n_threads else None

    def number_of(self, doc_id: str) -> int | None:
        """Return the number of a document's thread; None if it is no mail."""
        place = pc.index(self.table["id"], pa.scalar(doc_id, self.table["id"].type)).as_py()
        return None if place < 0 else int(self.table["thread"][place].as_py())

    def _card(self, index: int, max_rows: int) -> ThreadCard:
        start = int(self.starts[index])
        end = int(self.starts[index + 1]) if index + 1 < self.n_threads else self.table.num_rows
        return card_of(self.table.slice(start, end - start).to_pylist(), max_rows)


class CurrentThreads:
    """The threads that were computed last, ``found``; None before they are computed."""

    def __init__(self, opened: OpenedCollection) -> None:
        self._opened = opened
        self.found: FoundThreads | None = None

    def stored(self) -> StoredMails:
        """Return the current state of the data on which threads depend."""
        is_attached = origins.c.family.is_not(None) & (origins.c.family != origins.c.doc_id)
        mails = select(func.count()).where(origins.c.mail.is_not(None) & ~is_attached)
        with_text = mails.select_from(origins.join(documents, documents.c.row == origins.c.row))
        current = select(func.count()).select_from(documents).where(documents.c.is_current)
        with self._opened.store.reading() as connection:

            def number(query: Select[Any]) -> int:
                return int(connection.execute(query).scalar_one() or 0)

            return StoredMails(
                n_mails=number(with_text.where(documents.c.is_current)) + number(mails.where(is_without_text())),
                n_documents=number(current),
                state=StoredState.now(connection),
            )

    def compute(self, progress: Progress) -> str:
        """Compute the threads, and count them in words."""
        mails = self.stored()
        if mails.n_documents > MAX_DOCUMENTS:
            raise ParameterError(
                f"The page computes the threads of up to {MAX_DOCUMENTS:,} documents. Use: nearkin threads COLLECTION "
                "--out threads"
            )
        with tempfile.TemporaryDirectory(prefix="nearkin-") as folder:
            out = Path(folder, "threads")
            request = ReadingRequest(inputs=[self._opened.place.address])
            thread_files(request, out, MailOptions(), report=False, progress=progress)
            threads = FoundThreads.of(mails, parquet.read_table(out / TABLE))
        self.found = threads
        return f"{counted(threads.n_threads, 'thread')} with {counted(threads.n_mails, 'mail')}"
