"""Threads of mails, from files or a collection to a directory of results with its page."""

from __future__ import annotations

import heapq
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin._version import __version__
from nearkin.formats import parquet
from nearkin.manifests.stored import InputFile
from nearkin.manifests.threads import ThreadCounts, ThreadsManifest
from nearkin.reports import pages
from nearkin.reports.threads import MailLineRow, ThreadCard, render_threads_report
from nearkin.runs.directory import RunDirectory
from nearkin.runs.files import published
from nearkin.runs.for_pandas import for_pandas
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.spool import SPOOL, Spool
from nearkin.stages.documents.formats import holding
from nearkin.stages.documents.mail.inclusive import REASONS
from nearkin.stages.documents.mail.links import LINK_SOURCES
from nearkin.workflows.dedup.origins import with_exceptions
from nearkin.workflows.dedup.reporting import first_exceptions
from nearkin.workflows.reading.collection_exceptions import exceptions_of_collections
from nearkin.workflows.reading.exceptions import ExceptionRow, named_as_in, write_exceptions_in
from nearkin.workflows.reading.inputs import file_inputs
from nearkin.workflows.reading.request import ReadingRequest, check_inputs
from nearkin.workflows.reading.rereading import describe, not_read_files
from nearkin.workflows.reading.snapshots import check_unchanged, snapshots_of
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources
from nearkin.workflows.threads.judging import Threading, ThreadOptions, ThreadRow
from nearkin.workflows.threads.mails import MailReader, ReadMails

COMMAND = "threads"
TABLE = "threads.parquet"


def thread_files(
    asked: ReadingRequest,
    out: Path,
    options: ThreadOptions,
    *,
    overwrite: bool = False,
    report: bool = True,
    progress: Progress | None = None,
) -> ThreadsManifest:
    """Find the threads of mails, and write them into a directory.

    Parameters
    ----------
    asked : ReadingRequest
        Mails in files, folders and archives, or a collection.
    out : Path
        A new directory, or one with an earlier run that may be replaced.
    options : ThreadOptions
    overwrite, report : bool
        Replace an earlier run; write ``report.html``.
    progress : Progress, optional

    Returns
    -------
    ThreadsManifest

    Raises
    ------
    InputError, RunError, ParameterError, CollectionError
        See `nearkin.errors`.
    """
    meter = Meter(progress or Silent())
    found = asked.found(meter.progress, without=out, with_unread=True)
    sources = found.sources
    check_inputs(sources, encoding=asked.encoding, stdin=asked.stdin)
    watched = [source for source in sources if holding(source.format) != "one document"]
    before = snapshots_of(watched, asked.encoding)
    texts = Texts(sources, file_inputs(sources, encoding=asked.encoding, stdin=asked.stdin), asked.rules)
    directory = RunDirectory(out, is_resumable=False)
    identity = {"nearkin": __version__, "command": COMMAND, "parameters": options.in_words()}
    overwrite = overwrite or directory.is_left_by(COMMAND)
    with directory.claimed(identity, resume=False, overwrite=overwrite):
        texts_spool, origins = Spool(directory.work / SPOOL), Spool(directory.work / "origins")
        read = _read(texts, (texts_spool, origins), meter)
        check_unchanged(watched, before)
        with meter.stage("thread", 0, "steps"):
            threading = Threading(read, options, texts_spool.chunks())
        directory.begin_results()
        page, tally = PageThreads(), ThreadTally()
        with meter.stage("compare", len(read.mails), "documents") as told:
            rows = _counted(threading.rows(told), page, tally)
            write_threads(directory.path / TABLE, rows, read)
        inputs = describe(sources, Resources(), meter)
        beside = exceptions_of_collections(sources, texts.exceptions)
        exceptions = named_as_in(read.documents, [*texts.exceptions, *beside], texts.places)
        write_exceptions_in(directory.path, exceptions, texts.places, dict(enumerate(inputs)))
        inputs = [replace(one, n_documents=n) for one, n in zip(inputs, read.n_by_source, strict=True)]
        manifest = _manifest(asked, options, inputs, texts, read, tally, beside)
        manifest = replace(manifest, not_read=not_read_files(found.not_read), stages=tuple(meter.costs))
        if report:
            with meter.stage("report", 0, "steps") as told:
                problem = write_page(directory.path / "report.html", manifest, page, told, exceptions)
            manifest = replace(manifest, report_problem=problem, stages=tuple(meter.costs))
        directory.finish(manifest.as_stored())
    return manifest


def _read(texts: Texts, spools: tuple[Spool, Spool], meter: Meter) -> ReadMails:
    """Read the mails; if that fails, leave no files behind."""
    try:
        for spool in spools:
            spool.path.mkdir()
        with meter.stage("read", texts.size_bytes, "bytes") as told:
            return MailReader(texts, *spools).read(told)
    except BaseException:
        for spool in spools:
            shutil.rmtree(spool.path, ignore_errors=True)
        raise


def _counted(threads: Iterator[list[ThreadRow]], page: PageThreads, tally: ThreadTally) -> Iterator[ThreadRow]:
    for thread in threads:
        page.take(thread)
        tally.take(thread)
        yield from thread


def _manifest(
    asked: ReadingRequest,
    options: ThreadOptions,
    inputs: list[InputFile],
    texts: Texts,
    read: ReadMails,
    tally: ThreadTally,
    beside: list[ExceptionRow],
) -> ThreadsManifest:
    extraction = None if read.origins is None else read.origins.counts_of(texts.exceptions)
    return ThreadsManifest(
        version=__version__,
        made_with={"numpy": np.__version__, "pyarrow": pa.__version__},
        command=COMMAND,
        parameters=options.in_words(),
        inputs=tuple(inputs),
        encoding=asked.encoding,
        reading=asked.as_read(),
        counts=tally.counts(read, is_of_new_text=options.new_text_only),
        extraction=with_exceptions(extraction, beside),
        damaged_files=texts.damaged_files or None,
    )


@dataclass(slots=True)
class ThreadTally:
    """Counts of rows, thread by thread."""

    n_threads: int = 0
    n_of_several: int = 0
    n_missing: int = 0
    n_spares: int = 0
    n_included: int = 0
    n_quoting_more: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)

    def take(self, thread: Sequence[ThreadRow]) -> None:
        """Count the rows of a thread."""
        self.n_threads += 1
        self.n_of_several += thread[0].thread_size > 1
        for row in thread:
            if row.linked_by is not None and not row.is_duplicate_spare:
                self.links[row.linked_by] += 1
            if row.is_missing:
                self.n_missing += 1
            elif row.is_duplicate_spare:
                self.n_spares += 1
            elif row.reason is not None:
                self.reasons[row.reason] += 1
            else:
                self.n_included += 1
                self.n_quoting_more += bool(row.quotes_more)

    def counts(self, read: ReadMails, *, is_of_new_text: bool) -> ThreadCounts:
        """Return the counts for the manifest."""
        n_mails, n_documents = len(read.mails), read.documents.num_rows
        return ThreadCounts(
            documents=n_documents,
            mails=n_mails,
            inside_mails=read.n_inside,
            others=n_documents - n_mails - read.n_inside,
            unreadable=read.n_unreadable,
            threads=self.n_threads,
            threads_of_several=self.n_of_several,
            missing=self.n_missing,
            inclusive=self.reasons.total(),
            duplicate_spares=self.n_spares,
            included=self.n_included,
            quoting_more=self.n_quoting_more if is_of_new_text else None,
            by_reason={reason: self.reasons[reason] for reason in REASONS},
            by_link={source: self.links[source] for source in LINK_SOURCES},
            without_message_id=sum(mail.headers.message_id is None for mail in read.mails),
            without_date=sum(mail.headers.sent_at is None for mail in read.mails),
        )


_ROWS_AT_ONCE = 1 << 14


def schema(id_type: pa.DataType) -> pa.Schema:
    """Return the columns of ``threads.parquet``, in their order."""
    text, whole, truth = pa.large_string(), pa.int64(), pa.bool_()
    return pa.schema(
        [
            pa.field("thread", whole, nullable=False), pa.field("thread_size", whole, nullable=False),
            pa.field("position", whole, nullable=False), pa.field("depth", whole, nullable=False),
            ("id", id_type), ("name", text), ("row", whole), pa.field("is_missing", truth, nullable=False),
            ("message_id", text), ("parent_mail", text), ("parent_message_id", text), ("linked_by", text),
            ("subject", text), ("sent_at", pa.timestamp("us", "UTC")), ("sender", text), ("n_attachments", whole),
            ("is_inclusive", truth), ("reason", text), ("is_duplicate_spare", truth), ("included_in", text),
            ("quotes_more", truth), ("source", text), ("line", whole),
        ]
    )  # fmt: skip


_OF_ROWS = (
    "thread", "thread_size", "position", "depth", "name", "is_missing", "message_id", "parent_mail",
    "parent_message_id", "linked_by", "subject", "sent_at", "sender", "n_attachments", "is_inclusive", "reason",
    "is_duplicate_spare", "included_in", "quotes_more",
)  # fmt: skip


def write_threads(path: Path, rows: Iterable[ThreadRow], read: ReadMails) -> None:
    """Write a row for each mail and each missing mail."""
    columns = for_pandas(schema(read.documents["id"].type))
    with published(path) as aside, parquet.table_writer(aside, columns) as writer:
        held: list[ThreadRow] = []
        for one in rows:
            held.append(one)
            if len(held) == _ROWS_AT_ONCE:
                writer.write_table(_table(held, read, columns))
                held.clear()
        writer.write_table(_table(held, read, columns))


def _table(rows: Sequence[ThreadRow], read: ReadMails, columns: pa.Schema) -> pa.Table:
    of_documents = np.array([-1 if row.mail is None else read.rows[row.mail] for row in rows], np.int64)
    places = pa.array(of_documents, mask=of_documents < 0)
    arrays = {name: [getattr(row, name) for row in rows] for name in _OF_ROWS}
    taken = {name: read.documents[name].combine_chunks().take(places) for name in ("id", "source", "line")}
    found = {**{name: pa.array(values, columns.field(name).type) for name, values in arrays.items()}, **taken}
    return pa.Table.from_arrays([(found | {"row": places})[name] for name in columns.names], schema=columns)


N_THREADS = 200
N_ROWS = 100


@dataclass(slots=True)
class PageThreads:
    """The largest threads, for the page."""

    _held: list[tuple[int, int, ThreadCard]] = field(default_factory=list)

    def take(self, thread: list[ThreadRow]) -> None:
        """Add the next thread, in the order of the table."""
        size, number = thread[0].thread_size, thread[0].thread
        if len(self._held) == N_THREADS and (size, -number) < self._held[0][:2]:
            return
        entry = (size, -number, card_of(thread, N_ROWS))
        if len(self._held) < N_THREADS:
            heapq.heappush(self._held, entry)
        else:
            heapq.heappushpop(self._held, entry)

    @property
    def cards(self) -> list[ThreadCard]:
        """The threads, the largest first, the earliest first among equals."""
        return [card for _, _, card in sorted(self._held, key=lambda held: held[:2], reverse=True)]


def write_page(
    path: Path, manifest: ThreadsManifest, page: PageThreads, progress: Progress, exceptions: Sequence[ExceptionRow]
) -> str | None:
    """Write ``report.html``; see `nearkin.reports.pages.write_page`."""

    def render() -> str:
        return render_threads_report(manifest, page.cards, first_exceptions(exceptions))

    instead = "Run the command again with --overwrite to create the report."
    return pages.write_page(path, render, progress, instead=instead)


def card_of(thread: list[ThreadRow], max_rows: int) -> ThreadCard:
    """Describe a thread, with its first rows."""
    subject = next((row.subject for row in thread if row.subject), "")
    return ThreadCard(
        number=thread[0].thread,
        size=thread[0].thread_size,
        subject=subject,
        n_missing=sum(row.is_missing for row in thread),
        n_inclusive=sum(bool(row.is_inclusive) for row in thread),
        n_rows=len(thread),
        rows=tuple(_lines(thread[:max_rows])),
    )


def _lines(rows: Sequence[ThreadRow]) -> Iterator[MailLineRow]:
    """Yield the lines of a thread; a duplicate spare comes after the mail that it duplicates."""
    original = None
    for row in rows:
        if not row.is_duplicate_spare:
            original = row.name
        yield _line(row, original if row.is_duplicate_spare else None)


def _line(row: ThreadRow, spare_of: str | None) -> MailLineRow:
    return MailLineRow(
        position=row.position,
        depth=row.depth,
        name=row.name,
        message_id=row.message_id,
        subject=row.subject,
        sender=row.sender,
        sent_at=None if row.sent_at is None else row.sent_at.strftime("%Y-%m-%d %H:%M"),
        n_attachments=row.n_attachments or 0,
        linked_by=row.linked_by,
        reason=row.reason,
        is_duplicate_spare=bool(row.is_duplicate_spare),
        spare_of=spare_of,
        included_in=row.included_in,
        quotes_more=bool(row.quotes_more),
    )
