"""Threads of mails, from files or a collection to a directory of results with its page."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import SourceError
from nearkin.formats import parquet
from nearkin.manifests.stored import ThreadCounts, ThreadsManifest
from nearkin.nouns import counted
from nearkin.options.families import MailOptions
from nearkin.records import I64
from nearkin.reports.families import MailLineRow, ThreadCard, render_threads_report
from nearkin.runs.files import make_work_folder
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.run import JobRun
from nearkin.runs.spool import SPOOL, Chunk, Spool, gathered
from nearkin.runs.tables import write_rows
from nearkin.stages.documents.mail.inclusive import (
    REASONS,
    InclusionVerdict,
    MailContent,
    MailWords,
    Quotations,
    judge_inclusion,
    mail_words,
)
from nearkin.stages.documents.mail.threads import (
    LINK_SOURCES,
    NamedMail,
    ThreadNode,
    base_subject,
    copy_key,
    reading_order,
    thread_mails,
)
from nearkin.stages.documents.members import MailHeaders, Origin
from nearkin.stages.documents.normalisation import AS_IT_CAME, ORIGIN
from nearkin.workflows.dedup.reporting import first_exceptions
from nearkin.workflows.dedup.row_places import Origins, extraction_counts, find_origins
from nearkin.workflows.reading.inputs import inputs_of
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.rereading import check_unchanged, input_file, seen, with_digests
from nearkin.workflows.reading.texts import EXCEPTIONS_FILE, Texts, check_readable, exception_lines, write_exceptions
from nearkin.workflows.resources import Resources

COMMAND = "threads"
TABLE = "threads.parquet"
N_THREADS = 200
N_ROWS = 100


def thread_files(
    request: ReadingRequest,
    out: Path,
    options: MailOptions,
    *,
    overwrite: bool = False,
    report: bool = True,
    progress: Progress | None = None,
) -> ThreadsManifest:
    """Find the threads of mails, and write them into a directory."""
    run = JobRun(out, Meter(progress or Silent()), is_resumable=False)
    resolved = request.found(run.progress, without=out, with_unread=True)
    sources = [seen(source) for source in resolved.sources]
    texts = Texts(inputs_of(sources), request.rules)
    fingerprint = {"command": COMMAND, "parameters": options.in_words()}
    with run.claimed(fingerprint, resume=False, overwrite=overwrite):
        spool = Spool(run.work / SPOOL)
        make_work_folder(spool.path)
        with run.stage("read", texts.size_bytes, "bytes") as stage_progress:
            read = read_mails(texts, spool, stage_progress)
        with run.stage("thread"):
            quotations = Quotations(lambda mail: read.text_of(read.mails[mail]))
            nodes = thread_mails(read.mails, timedelta(days=options.window_days), quotations)
        with run.stage("compare", len(read.with_spares), "documents") as stage_progress:
            write_threads(run.results / TABLE, thread_rows(nodes, read, stage_progress, options=options), read)
        inputs = [*map(input_file, with_digests(sources, Resources(), run.meter))]
        exceptions = texts.all_exceptions(read.documents)
        lines = exception_lines(exceptions, texts.places, dict(enumerate(inputs)))
        write_exceptions(run.results / EXCEPTIONS_FILE, lines)
        manifest = ThreadsManifest(
            parameters=options.in_words(),
            inputs=tuple(replace(file, n_documents=n) for file, n in zip(inputs, read.n_by_source, strict=True)),
            encoding=request.encoding,
            reading=request.as_read(),
            counts=_counts(run.results / TABLE, read, is_of_new_text=options.new_text_only),
            extraction=extraction_counts(read.origins, exceptions),
            damaged_files=texts.damaged_files or None,
            not_read=resolved.not_read or None,
        )
        if report:
            manifest = run.report(
                manifest,
                lambda facts: render_threads_report(facts, _cards(run.results / TABLE), first_exceptions(exceptions)),
            )
        check_unchanged(sources)
        return run.finish(manifest)


Family = tuple[int, str]
"""Number of a source, and an id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail(NamedMail):
    """A mail that is not attached to another; ``row`` is its number among all documents."""

    row: int
    family: Family
    digest: bytes
    is_read: bool
    attachments: frozenset[str] = frozenset()
    spares: tuple[Mail, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMails:
    """Mails without the duplicate spares, and everything that was read.

    Parameters
    ----------
    texts, documents
        Of everything that was read; the columns of documents are ``id``, ``name``, ``line``, ``problem``, ``source``.
    """

    mails: list[Mail]
    texts: pa.ChunkedArray
    documents: pa.Table
    origins: Origins | None
    n_inside: int
    n_by_source: list[int]
    n_unreadable: int

    def text_of(self, mail: Mail) -> str:
        """Return the text of a mail; empty if it has none."""
        return self.texts[mail.row].as_py() or ""

    @property
    def with_spares(self) -> list[Mail]:
        """All mails, each with its spares."""
        return [message for mail in self.mails for message in (mail, *mail.spares)]


def read_mails(texts: Texts, spool: Spool, progress: Progress) -> ReadMails:
    """Read all documents into a spool, and find the mails among them."""
    facts, sources = list[pa.RecordBatch](), list[I64]()
    for number, raw in enumerate(texts.raw_batches(progress)):
        batch = texts.prepare(raw, AS_IT_CAME)
        spool.write(0, number, batch.prepared)
        facts.append(texts.facts(batch))
        sources.append(batch.sources)
    check_readable(facts, texts.rules)
    documents, chunks = texts.documents(facts), spool.chunks()
    found, inside = list[Mail](), defaultdict[Family, list[str | None]](list)
    for chunk, source in zip(chunks, sources, strict=True):
        _take(chunk, source, documents["name"], found, inside)
    if not found:
        raise _no_mail(len(documents), sum(not exception.is_partial for exception in texts.exceptions))
    same = defaultdict[bytes, list[Mail]](list)
    for bare in found:
        mail = replace(bare, attachments=frozenset(filter(None, inside.get(bare.family, ()))))
        same[_copy_key(mail)].append(mail)
    mails = list[Mail]()
    for copies in same.values():
        copies.sort(key=lambda mail: mail.order)
        original = min(copies, key=lambda mail: mail.headers.bcc is None)  # the first with a Bcc, else the first
        mails.append(replace(original, spares=tuple(copy for copy in copies if copy is not original)))
    return ReadMails(
        mails=mails,
        texts=pa.chunked_array(gathered(chunks, "text"), pa.large_string()),
        documents=documents,
        origins=find_origins(chunks),
        n_inside=sum(len(inside.get(mail.family, ())) for mail in found),
        n_by_source=np.bincount(np.concatenate(sources), minlength=len(texts.places)).tolist(),
        n_unreadable=sum(len(fact) - fact["problem"].null_count for fact in facts),
    )


def _take(
    chunk: Chunk, sources: I64, names: pa.ChunkedArray, found: list[Mail], inside: dict[Family, list[str | None]]
) -> None:
    """Note the mails of a chunk, and what is inside them: digests, None for technical attachments."""
    batch = chunk.batch()
    ids, problems = batch["doc_id"].to_pylist(), batch["problem"].to_pylist()
    for i, row in enumerate(batch[ORIGIN].to_pylist() if ORIGIN in batch.schema.names else ()):
        if row is None:
            continue
        source, family, number = int(sources[i]), row["family"], chunk.start + i
        if family is not None and family != ids[i]:
            compared = None if row["exception"] == "technical" else row["sha256"] or f"unread {number}"
            inside[source, family].append(compared)
        elif row["mail"] is not None:
            text = None if problems[i] is not None else batch["text"][i].as_py()
            content = row["sha256"] if text is None else " ".join(text.split())
            mail = Mail(
                name=names[number].as_py(), headers=Origin.of_row(row).mail or MailHeaders(), row=number,
                family=(source, ids[i]), digest=hashlib.sha256(content.encode()).digest(),
                is_read=text is not None and row["exception"] is None,
            )  # fmt: skip
            found.append(mail)


def _no_mail(n_documents: int, n_without: int) -> SourceError:
    return SourceError(
        f"There is no mail among {counted(n_documents, 'document')}, of which {n_without:,} gave no text. "
        "nearkin threads takes mails with their headers: EML, MBOX and MSG files, and folders and archives of these."
    )


def _copy_key(mail: Mail) -> bytes:
    """Return a key that two mails share if one is a duplicate spare of the other."""
    headers = copy_key(mail.headers) or replace(mail.headers, bcc=None)
    parts = (headers, mail.digest, mail.is_read, sorted(mail.attachments))
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).digest()


def _counts(table: Path, read: ReadMails, *, is_of_new_text: bool) -> ThreadCounts:
    rows = parquet.read_table(table, ["thread", "thread_size", *_JUDGED])
    is_missing, is_spare, quotes_more = (pc.fill_null(rows[name], False) for name in _JUDGED[:3])
    links = Counter(rows["linked_by"].filter(pc.invert(is_spare)).to_pylist())
    reasons = Counter(rows["reason"].to_pylist())
    n_documents, n_missing, n_spares = read.documents.num_rows, _n(is_missing), _n(is_spare)
    mails = read.with_spares
    n_inclusive = len(rows) - reasons[None]
    return ThreadCounts(
        documents=n_documents,
        mails=len(mails),
        inside_mails=read.n_inside,
        others=n_documents - len(mails) - read.n_inside,
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
        without_message_id=sum(mail.headers.message_id is None for mail in mails),
        without_date=sum(mail.headers.sent_at is None for mail in mails),
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


Row = Mapping[str, Any]
"""Row of ``threads.parquet``, without the columns that repeat those of documents."""
_NO_WORDS = MailWords("", (), ())


def thread_rows(
    nodes: Sequence[ThreadNode], read: ReadMails, progress: Progress, *, options: MailOptions
) -> Iterator[list[Row]]:
    """Yield the rows of each thread, in the order of its tree."""
    for _, members in groupby(nodes, key=lambda node: node.thread):
        thread = list(members)
        verdicts = _verdicts(thread, read, is_new_text_only=options.new_text_only)
        n_mails = sum(1 + len(read.mails[mail].spares) for mail in verdicts)
        rows: list[Row] = [
            {**row, "thread_size": n_mails} for node in thread for row in _rows_of(node, thread, read, verdicts)
        ]
        yield rows
        progress.advance(n_mails)


def _verdicts(thread: Sequence[ThreadNode], read: ReadMails, *, is_new_text_only: bool) -> dict[int, InclusionVerdict]:
    def size_of(number: int) -> tuple[int, int]:
        return len(read.mails[number].attachments), len(read.text_of(read.mails[number]))

    order = reading_order(thread, read.mails, size_of)
    contents = list[MailContent]()
    for mail in (read.mails[number] for number in order):
        words = _NO_WORDS
        if len(order) > 1:
            words = mail_words(read.text_of(mail), is_new_text_only=is_new_text_only)
        contents.append(MailContent(words, mail.attachments, mail.is_read))
    return {
        number: replace(
            verdict,
            included_in=None if verdict.included_in is None else order[verdict.included_in],
            quotes_more=verdict.quotes_more if is_new_text_only else None,
        )
        for number, verdict in zip(order, judge_inclusion(contents), strict=True)
    }


def _rows_of(
    node: ThreadNode, thread: Sequence[ThreadNode], read: ReadMails, verdicts: Mapping[int, InclusionVerdict]
) -> Iterator[Row]:
    above = None if node.parent is None else thread[node.parent - 1]
    parent = None if above is None or above.mail is None else read.mails[above.mail]
    place: Row = {
        "thread": node.thread, "position": node.position, "depth": node.depth, "is_missing": node.mail is None,
        "message_id": node.message_id, "linked_by": node.source, "parent_mail": None if parent is None else parent.name,
        "parent_message_id": None if above is None else above.message_id,
    }  # fmt: skip
    if node.mail is None:
        yield place
    for number in node.mails:
        mail, verdict = read.mails[number], verdicts[number]
        same = (mail, *mail.spares)
        included_in = None if verdict.included_in is None else read.mails[verdict.included_in].name
        for copy in same:
            is_spare, headers = copy is not mail, copy.headers
            hidden = dict.fromkeys(other.headers.bcc for other in ([copy] if is_spare else same) if other.headers.bcc)
            is_other = node.source == "headers" and parent is not None and _differ(headers, parent.headers)
            yield {
                **place,
                "name": copy.name, "row": copy.row, "subject": headers.subject, "sender": headers.sender,
                "sent_at": headers.sent_at, "n_attachments": len(copy.attachments),
                "is_inclusive": not is_spare and verdict.reason is not None,
                "reason": None if is_spare else verdict.reason, "is_duplicate_spare": is_spare,
                "included_in": included_in or mail.name if is_spare else included_in,
                "quotes_more": None if is_spare else verdict.quotes_more,
                "bcc": ", ".join(hidden) or None,
                "all_places": None if is_spare else [other.name for other in same],
                "is_other_subject": is_other, "edrm_mih": edrm_hash(headers.message_id),
            }  # fmt: skip


def _differ(answer: MailHeaders, mail: MailHeaders) -> bool:
    subject, other = base_subject(answer.subject).text, base_subject(mail.subject).text
    return bool(subject and other) and subject != other


def edrm_hash(message_id: str | None) -> str | None:
    """Return the EDRM Message Identification Hash, by which tools of review recognise copies of a mail.

    Source: EDRM, Cross Platform Email Duplicate Identification Specification: MD5 of the Message-ID with its brackets.

    Examples
    --------
    >>> edrm_hash("CALckR-a8UDkRjO4xJyjd_s0GPxQWw@mail.gmail.com"), edrm_hash(None)
    ('1de319c276884bd0c9e2f1621ada26cc', None)
    """
    if message_id is None:
        return None
    return hashlib.md5(f"<{message_id}>".encode("utf-8", "backslashreplace"), usedforsecurity=False).hexdigest()
