"""Threads of mails, from files or a collection to a directory of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin._version import __version__
from nearkin.manifests.inputs import InputFile
from nearkin.manifests.threads import ThreadCounts, ThreadsManifest
from nearkin.runs.directory import RunDirectory
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Progress, Silent
from nearkin.runs.spool import SPOOL, Spool
from nearkin.stages.documents.formats import holding
from nearkin.stages.documents.mail.inclusive import REASONS
from nearkin.stages.documents.mail.links import LINK_SOURCES
from nearkin.workflows.dedup.inputs import describe
from nearkin.workflows.dedup.origins import EXCEPTIONS_FILE, write_exceptions
from nearkin.workflows.reading.inputs import file_inputs
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.resolving import check_inputs
from nearkin.workflows.reading.snapshots import check_unchanged, snapshots_of
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources
from nearkin.workflows.threads.judging import Threading, ThreadRow
from nearkin.workflows.threads.mails import MailReader, ReadMails
from nearkin.workflows.threads.options import ThreadOptions
from nearkin.workflows.threads.reporting import PageThreads, write_page
from nearkin.workflows.threads.tables import write_threads

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
    sources = asked.resolved(meter.progress, without=out)
    check_inputs(sources, encoding=asked.encoding, stdin=asked.stdin)
    watched = [source for source in sources if holding(source.format) != "one document"]
    before = snapshots_of(watched)
    texts = Texts(sources, file_inputs(sources, encoding=asked.encoding, stdin=asked.stdin), asked.rules)
    directory = RunDirectory(out, is_resumable=False)
    identity = {"nearkin": __version__, "command": COMMAND, "parameters": options.in_words()}
    overwrite = overwrite or directory.is_left_by(COMMAND)
    with directory.claimed(identity, resume=False, overwrite=overwrite):
        spool, origins = Spool(directory.work / SPOOL), Spool(directory.work / "origins")
        spool.path.mkdir()
        origins.path.mkdir()
        with meter.stage("read", texts.size_bytes, "bytes") as told:
            read = MailReader(texts, spool, origins).read(told)
        check_unchanged(watched, before)
        with meter.stage("thread", 0, "steps"):
            threading = Threading(read, options)
        directory.begin_results()
        page, tally = PageThreads(), _Tally()
        with meter.stage("compare", len(read.mails), "documents") as told:
            rows = _counted(threading.rows(spool.chunks(), told), page, tally)
            write_threads(directory.path / TABLE, rows, read)
            if exceptions := read.exceptions():
                write_exceptions(directory.path / EXCEPTIONS_FILE, exceptions)
        inputs = describe(sources, Resources(), meter)
        inputs = [replace(one, n_documents=n) for one, n in zip(inputs, read.n_by_source, strict=True)]
        manifest = _manifest(asked, options, inputs, texts, tally.counts(read), meter)
        manifest = replace(manifest, extraction=read.origins.counts() if read.origins else None)
        if report:
            with meter.stage("report", 0, "steps") as told:
                problem = write_page(directory.path / "report.html", manifest, page, told)
            manifest = replace(manifest, report_problem=problem, stages=tuple(meter.costs))
        directory.finish(manifest.as_stored())
    return manifest


@dataclass(slots=True)
class _Tally:
    """Counts of rows."""

    n_threads: int = 0
    n_of_several: int = 0
    n_missing: int = 0
    n_spares: int = 0
    n_included: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)

    def take(self, thread: list[ThreadRow]) -> None:
        """Count the rows of a thread."""
        self.n_threads += 1
        self.n_of_several += thread[0].thread_size > 1
        for row in thread:
            if row.is_missing:
                self.n_missing += 1
                continue
            if row.linked_by is not None:
                self.links[row.linked_by] += 1
            if row.is_duplicate_spare:
                self.n_spares += 1
            elif row.reason is not None:
                self.reasons[row.reason] += 1
            else:
                self.n_included += 1

    def counts(self, read: ReadMails) -> ThreadCounts:
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
            by_reason={reason: self.reasons[reason] for reason in REASONS},
            by_link={source: self.links[source] for source in LINK_SOURCES},
            without_message_id=sum(mail.headers.message_id is None for mail in read.mails),
            without_date=sum(mail.headers.sent_at is None for mail in read.mails),
        )


def _counted(threads: Iterator[list[ThreadRow]], page: PageThreads, tally: _Tally) -> Iterator[ThreadRow]:
    for thread in threads:
        page.take(thread)
        tally.take(thread)
        yield from thread


def _manifest(
    asked: ReadingRequest,
    options: ThreadOptions,
    inputs: list[InputFile],
    texts: Texts,
    counts: ThreadCounts,
    meter: Meter,
) -> ThreadsManifest:
    return ThreadsManifest(
        version=__version__,
        made_with={"numpy": np.__version__, "pyarrow": pa.__version__},
        command=COMMAND,
        parameters=options.in_words(),
        inputs=tuple(inputs),
        encoding=asked.encoding,
        reading=asked.as_read(),
        counts=counts,
        damaged_files=texts.damaged_files or None,
        stages=tuple(meter.costs),
    )
