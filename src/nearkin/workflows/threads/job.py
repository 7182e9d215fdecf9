"""Threads of mails, from files or a collection to a directory of results with its page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.formats import parquet
from nearkin.manifests.threads import ThreadCounts, ThreadsManifest
from nearkin.options.families import MailOptions
from nearkin.reports.threads import MailLineRow, ThreadCard, render_threads_report
from nearkin.runs.files import make_work_folder
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.run import JobRun
from nearkin.runs.spool import SPOOL, Spool
from nearkin.runs.tables import write_rows
from nearkin.stages.documents.mail.inclusive import REASONS
from nearkin.stages.documents.mail.threads import LINK_SOURCES
from nearkin.workflows.dedup.reporting import first_exceptions
from nearkin.workflows.dedup.row_places import extraction_counts
from nearkin.workflows.reading.exceptions import (
    EXCEPTIONS_FILE,
    exception_lines,
    write_exceptions,
)
from nearkin.workflows.reading.identity import check_unchanged, records_of, with_digests
from nearkin.workflows.reading.inputs import inputs_of
from nearkin.workflows.reading.request import ReadingRequest, not_read_files
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources
from nearkin.workflows.threads.judging import Row, Threading
from nearkin.workflows.threads.mails import MailReader, ReadMails

COMMAND = "threads"
TABLE = "threads.parquet"
N_THREADS = 200
N_ROWS = 100


def thread_files(
    asked: ReadingRequest,
    out: Path,
    options: MailOptions,
    *,
    overwrite: bool = False,
    report: bool = True,
    progress: Progress | None = None,
) -> ThreadsManifest:
    """Find the threads of mails, and write them into a directory."""
    run = JobRun(out, Meter(progress or Silent()), is_resumable=False)
    found = asked.found(run.progress, without=out, with_unread=True)
    sources = found.sources
    records = records_of(sources, asked.encoding)
    texts = Texts(sources, inputs_of(sources, encoding=asked.encoding, stdin=asked.stdin), asked.rules)
    fingerprint = {"command": COMMAND, "parameters": options.in_words()}
    with run.claimed(fingerprint, resume=False, overwrite=overwrite):
        spool, origins = Spool(run.work / SPOOL), Spool(run.work / "origins")
        for folder in (spool.path, origins.path):
            make_work_folder(folder)
        with run.stage("read", texts.size_bytes, "bytes") as told:
            read = MailReader(texts, spool, origins).read(told)
        with run.stage("thread"):
            threading = Threading(read, options, spool.chunks())
        with run.stage("compare", len(read.mails), "documents") as told:
            write_threads(run.results / TABLE, threading.rows(told), read)
        inputs = [one.file for one in with_digests(records, Resources(), run.meter)]
        exceptions = texts.all_exceptions(read.documents)
        lines = exception_lines(exceptions, texts.places, dict(enumerate(inputs)))
        write_exceptions(run.results / EXCEPTIONS_FILE, lines)
        manifest = ThreadsManifest(
            parameters=options.in_words(),
            inputs=tuple(replace(file, n_documents=n) for file, n in zip(inputs, read.n_by_source, strict=True)),
            encoding=asked.encoding,
            reading=asked.as_read(),
            counts=_counts(run.results / TABLE, read, is_of_new_text=options.new_text_only),
            extraction=extraction_counts(read.origins, exceptions),
            damaged_files=texts.damaged_files or None,
            not_read=not_read_files(found.not_read),
        )
        if report:
            manifest = run.report(
                manifest,
                lambda facts: render_threads_report(facts, _cards(run.results / TABLE), first_exceptions(exceptions)),
            )
        check_unchanged([one for one in records if one.has_many_documents])
        return run.finish(manifest)


def _counts(table: Path, read: ReadMails, *, is_of_new_text: bool) -> ThreadCounts:
    rows = parquet.read_table(table, ["thread", "thread_size", *_JUDGED])
    is_missing, is_spare, quotes_more = (pc.fill_null(rows[name], False) for name in _JUDGED[:3])
    links = Counter(rows["linked_by"].filter(pc.invert(is_spare)).to_pylist())
    reasons = Counter(rows["reason"].to_pylist())
    n_documents, n_missing, n_spares = read.documents.num_rows, _n(is_missing), _n(is_spare)
    n_inclusive = len(rows) - reasons[None]
    return ThreadCounts(
        documents=n_documents,
        mails=len(read.mails),
        inside_mails=read.n_inside,
        others=n_documents - len(read.mails) - read.n_inside,
        unreadable=read.n_unreadable,
        threads=pc.count_distinct(rows["thread"]).as_py(),
        threads_of_several=pc.count_distinct(rows["thread"].filter(pc.greater(rows["thread_size"], 1))).as_py(),
        missing=n_missing,
        inclusive=n_inclusive,
        duplicate_spares=n_spares,
        included=len(rows) - n_missing - n_spares - n_inclusive,
        quoting_more=_n(quotes_more) if is_of_new_text else None,
        by_reason={reason: reasons[reason] for reason in REASONS},
        by_link={source: links[source] for source in LINK_SOURCES},
        other_subject=_n(pc.fill_null(rows["is_other_subject"], False)),
        without_message_id=sum(mail.headers.message_id is None for mail in read.mails),
        without_date=sum(mail.headers.sent_at is None for mail in read.mails),
    )


_JUDGED = ("is_missing", "is_duplicate_spare", "quotes_more", "reason", "linked_by", "is_other_subject")


def _n(is_so: pa.ChunkedArray) -> int:
    return pc.sum(is_so).as_py() or 0


def _cards(table: Path) -> list[ThreadCard]:
    sizes = parquet.read_table(table, ["thread", "thread_size"])
    thread, first = np.unique(sizes["thread"].to_numpy(), return_index=True)
    largest = thread[np.argsort(-sizes["thread_size"].to_numpy()[first], kind="stable")][:N_THREADS].tolist()
    rows = parquet.read_table(table).filter(pc.is_in(sizes["thread"], pa.array(largest)))
    threads = {number: list[Row]() for number in largest}
    for row in rows.to_pylist():
        threads[row["thread"]].append(row)
    return [card_of(rows, N_ROWS) for rows in threads.values()]


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
            ("quotes_more", truth), ("bcc", text), ("all_places", pa.list_(text)), ("is_other_subject", truth),
            ("edrm_mih", pa.string()), ("source", text), ("line", whole),
        ]
    )  # fmt: skip


def write_threads(path: Path, threads: Iterable[Sequence[Row]], read: ReadMails) -> None:
    """Write a row for each mail and each missing mail."""
    columns = schema(read.documents["id"].type)
    repeated = {name: read.documents[name].to_pylist() for name in ("id", "source", "line")}

    def values(row: Row) -> tuple[object, ...]:
        place = row.get("row")
        about = {} if place is None else {name: column[place] for name, column in repeated.items()}
        return tuple({**row, **about}.get(name) for name in columns.names)

    write_rows(path, columns, (values(row) for thread in threads for row in thread))


def card_of(thread: Sequence[Row], max_rows: int) -> ThreadCard:
    """Describe a thread, of whose rows the first are shown."""
    return ThreadCard(
        number=thread[0]["thread"],
        size=thread[0]["thread_size"],
        subject=next((row["subject"] for row in thread if row["subject"]), ""),
        n_missing=sum(row["is_missing"] for row in thread),
        n_inclusive=sum(bool(row["is_inclusive"]) for row in thread),
        n_rows=len(thread),
        rows=tuple(_lines(thread[:max_rows])),
    )


def _lines(rows: Sequence[Row]) -> Iterator[MailLineRow]:
    """Yield the lines of a thread; a duplicate spare comes after the mail that it duplicates."""
    original = None
    for row in rows:
        is_spare = bool(row["is_duplicate_spare"])
        original = original if is_spare else row["name"]
        shown = {
            "sent_at": None if row["sent_at"] is None else row["sent_at"].strftime("%Y-%m-%d %H:%M"),
            "n_attachments": row["n_attachments"] or 0,
            "is_duplicate_spare": is_spare,
            "spare_of": original if is_spare else None,
            "quotes_more": bool(row["quotes_more"]),
            "is_other_subject": bool(row["is_other_subject"]),
        }
        line = {**row, **shown}
        yield MailLineRow(**{name: line[name] for name in MailLineRow.__dataclass_fields__})
