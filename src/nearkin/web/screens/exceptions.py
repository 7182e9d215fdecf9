"""Exceptions: added files from which no text, or only a part of it, could be read, with the reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pyarrow as pa

from nearkin.collection.listing.exceptions import REASONS, StoredExceptions, WhichExceptions
from nearkin.collection.stored.document_rows import current_ids
from nearkin.errors import ParameterError, quoted
from nearkin.nouns import counted
from nearkin.reports.sentences.exceptions import exception_counts
from nearkin.web.answers import GoTo, ScreenAnswer
from nearkin.web.jobs import JobProgress
from nearkin.web.read_again import ENCODINGS, MAX_FILES, SentAgain, read_again, store_read_again
from nearkin.web.screen import ChangeForm, FileField, Screen
from nearkin.web.sent_files import SentFile
from nearkin.web.service import ReviewService
from nearkin.web.sign_in import Visitor

_MAX_SHOWN, _MAX_PREVIEW = 300, 400
_WAIT_S = 2.0


class ExceptionsQuery(msgspec.Struct, kw_only=True):
    """Exceptions of a wave, for a reason, by id, with or without a part of the text.

    ``stored``: the job that has just stored texts of some.
    """

    wave: str | None = None
    reason: str | None = None
    id: str | None = None
    which: WhichExceptions = "all"
    stored: int | None = None


def exceptions(service: ReviewService, asked: ExceptionsQuery) -> ScreenAnswer:
    """List the exceptions, and count them by wave and reason."""
    found = _found(service, asked)
    rows = found.exceptions[:_MAX_SHOWN]
    with service.collection.opened.store.reading() as connection:
        documents = current_ids(connection, [one.doc_id for one in rows])
    stored = None if asked.stored is None else service.jobs.find(asked.stored)
    values = {
        "stored": stored if stored is not None and stored.kind == "storing" else None,
        "asked": asked,
        "found": found,
        "counts": exception_counts(found.n_no_text, found.n_partial, found.n_not_stored)
        if found.exceptions
        else "0 exceptions",
        "rows": rows,
        "documents": documents,
        "waves": [one.name for one in service.info.get().info.waves],
        "reasons": REASONS,
        "encodings": ENCODINGS,
    }
    return ScreenAnswer("exceptions.html.j2", values, found.to_dict(_MAX_SHOWN))


def exceptions_table(service: ReviewService, asked: ExceptionsQuery) -> pa.Table:
    """Return a row for each exception."""
    return _found(service, asked).table


def _found(service: ReviewService, asked: ExceptionsQuery) -> StoredExceptions:
    return service.collection.exceptions(wave=asked.wave, reason=asked.reason, doc_id=asked.id, which=asked.which)


class ReadForm(msgspec.Struct, kw_only=True):
    """Encoding with which to read files again; the job whose files to read, unless files are sent."""

    encoding: str
    job: int | None = None


def read(service: ReviewService, visitor: Visitor, body: ReadForm, files: Sequence[SentFile]) -> GoTo:
    """Read files again by a job; the page of the job shows their texts."""
    if body.encoding not in ENCODINGS:
        raise ParameterError(f"The encoding must be one of {', '.join(ENCODINGS)}. It is {quoted(body.encoding)}.")
    if body.job is not None:
        sent = replace(service.sent_again.get(body.job), encoding=body.encoding, read=None)
    elif files:
        sent = SentAgain(tuple((one.name, one.content.read()) for one in files), body.encoding)
    else:
        raise ParameterError("Choose the files first.")

    def work(progress: JobProgress) -> str:
        service.sent_again.keep(progress.number, sent)
        found = read_again(service.collection, sent, progress)
        service.sent_again.keep(progress.number, found)
        return f"{counted(len(found.readable), 'text')} in {counted(len(sent.files), 'file')}"

    job = service.jobs.begin("reading", work, by=visitor.name)
    service.jobs.wait(job.number, _WAIT_S)
    return GoTo("/exceptions/read", {"job": job.number})


class ReadQuery(msgspec.Struct, kw_only=True):
    """A job that reads files again."""

    job: int


def preview(service: ReviewService, asked: ReadQuery) -> ScreenAnswer:
    """Show the beginnings of texts that were read again; none of them is stored."""
    job = service.jobs.find(asked.job)
    if job is not None and not job.is_over:
        return ScreenAnswer("read_again.html.j2", {"asked": asked, "job_now": job, "sent": None}, {"state": job.state})
    sent = service.sent_again.get(asked.job)
    rows = sent.read or ()
    values = {
        "asked": asked,
        "job_now": job,
        "sent": sent,
        "rows": rows,
        "encodings": ENCODINGS,
        "max_preview": _MAX_PREVIEW,
    }
    data = {"encoding": sent.encoding, "files": [one.to_dict() for one in rows]}
    return ScreenAnswer("read_again.html.j2", values, data)


class StoreReadForm(msgspec.Struct, kw_only=True):
    """A job that read files again."""

    job: int


def store_read(service: ReviewService, visitor: Visitor, body: StoreReadForm) -> GoTo:
    """Store the texts that a job read, in the background if that takes long."""
    sent = service.sent_again.get(body.job)

    def work(progress: JobProgress) -> str:
        said = store_read_again(service.collection, sent, progress, by=visitor.name)
        service.sent_again.forget(body.job)
        return said

    job = service.jobs.begin("storing", work, by=visitor.name)
    service.jobs.wait(job.number, _WAIT_S)
    return GoTo("/exceptions", {"stored": job.number})


SCREENS = (
    Screen("/exceptions", ExceptionsQuery, exceptions, exceptions_table),
    Screen("/exceptions/read", ReadQuery, preview),
)
FORMS = (
    ChangeForm("/exceptions/read", ReadForm, read, file=FileField("file", MAX_FILES)),
    ChangeForm("/exceptions/store", StoreReadForm, store_read),
)
