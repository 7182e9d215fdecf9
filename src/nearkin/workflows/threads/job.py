"""Threads of mails, from files or a collection to a directory of results."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin._version import __version__
from nearkin.manifests.inputs import InputFile
from nearkin.manifests.threads import ThreadsManifest
from nearkin.runs.directory import RunDirectory
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Progress, Silent
from nearkin.runs.spool import SPOOL, Spool
from nearkin.stages.documents.formats import holding
from nearkin.workflows.dedup.origins import with_exceptions
from nearkin.workflows.reading.collection_exceptions import exceptions_of_collections
from nearkin.workflows.reading.describing import describe, not_read_files
from nearkin.workflows.reading.exceptions import ExceptionRow, named_as_in, write_exceptions_in
from nearkin.workflows.reading.inputs import file_inputs
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.resolving import check_inputs
from nearkin.workflows.reading.snapshots import check_unchanged, snapshots_of
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources
from nearkin.workflows.threads.counts import ThreadTally
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
