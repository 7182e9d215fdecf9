"""Exceptions, which can be read again with another encoding; and check-in of a file."""

from __future__ import annotations

import io
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import msgspec
import pyarrow as pa
from markupsafe import Markup

from nearkin.collection.check_in.results import Checked, CheckIn, CheckOptions
from nearkin.collection.collection import Collection
from nearkin.collection.listing.exceptions import REASONS, StoredException, StoredExceptions, WhichExceptions
from nearkin.collection.loads.adding import add_incoming
from nearkin.collection.loads.incoming import incoming_of
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored.documents import current_ids
from nearkin.errors import NearkinError, ParameterError, quoted
from nearkin.nouns import counted
from nearkin.reports.comparison import comparison_fragment
from nearkin.reports.facts.queries import check_facts, check_recall_facts, exact_text, verdict_fact
from nearkin.reports.facts.stored import exceptions_facts
from nearkin.runs.progress import Progress
from nearkin.stages.differences.comparing import compare_texts
from nearkin.stages.documents.rules import ReadingRules
from nearkin.web.jobs import JobProgress
from nearkin.web.later import characters_to_check, state_of_groups
from nearkin.web.screen import ChangeForm, FileField, Screen
from nearkin.web.sent_files import ENCODINGS, FileReadAgain, SentAgain, SentFile, SentText, source_of_sent
from nearkin.web.service import GoTo, ReviewService, ScreenAnswer
from nearkin.web.sign_in import Visitor

MAX_FILES = 500


def read_again(collection: Collection, sent: SentAgain, progress: Progress) -> SentAgain:
    """Read files with their encoding; find the exception of each by its name."""
    by_name = dict[str, list[StoredException]]()
    for exception in collection.exceptions(which="no text").exceptions:
        for name in _names_of(exception.doc_id):
            by_name.setdefault(name, []).append(exception)
    files = list[FileReadAgain]()
    progress.start("read", len(sent.files), "documents")
    for name, content in sent.files:
        files.append(_read(SentFile(name, io.BytesIO(content)), sent.encoding, by_name))
        progress.advance(1)
    progress.finish()
    return replace(sent, read=tuple(files))


def _names_of(doc_id: str) -> set[str]:
    """Return the names that the file of an exception may be sent under: its id, and the last part of it."""
    return {doc_id, doc_id.replace("\\", "/").rpartition("/")[2]}


def _read(file: SentFile, encoding: str, by_name: Mapping[str, Sequence[StoredException]]) -> FileReadAgain:
    named = by_name.get(file.name) or by_name.get(file.shown_name, ())
    if len(named) != 1:
        problem = f"{counted(len(named), 'exception')} have this name" if named else "no exception has this name"
        return FileReadAgain(name=file.shown_name, problem=problem)
    try:
        document = file.document(encoding)
    except NearkinError as error:
        return FileReadAgain(name=file.shown_name, exception=named[0], problem=str(error))
    return FileReadAgain(
        name=file.shown_name,
        exception=named[0],
        text=document.text,
        file=document.file_under(named[0].doc_id),
        problem="" if document.text.strip() else "no text was found in it",
    )


def store_read_again(collection: Collection, sent: SentAgain, progress: Progress, *, by: str) -> str:
    """Store the texts under the ids and in the waves of their exceptions; count them in words."""
    by_wave, n_stored = dict[str, dict[str, FileReadAgain]](), 0
    for file in sent.readable:
        if file.exception is not None and not collection.has_document(file.exception.doc_id):
            by_wave.setdefault(file.exception.wave, {})[file.exception.doc_id] = file
    progress.start("store", sum(map(len, by_wave.values())), "documents")
    for wave, files in by_wave.items():
        incoming = [
            incoming_of([doc_id], [file.text], [1], source_of_sent(file.name, "api"), file.file)
            for doc_id, file in files.items()
        ]
        rules = ReadingRules.of("skip-documents", 1.0)
        add_incoming(collection.opened, incoming, wave=wave, threads=1, rules=rules, by=by)
        n_stored += len(files)
        progress.advance(len(files))
    progress.finish()
    return f"{counted(n_stored, 'document')} stored"


_MAX_SHOWN, _MAX_PREVIEW = 300, 400


class ExceptionsQuery(msgspec.Struct, kw_only=True):
    """Exceptions of a wave, for a reason, by id, with or without a part of the text.

    ``stored``: the job that has just stored texts of some.
    """

    wave: str | None = None
    reason: str | None = None
    id: str | None = None
    which: WhichExceptions = "all"
    stored: int | None = None


def exceptions(service: ReviewService, query: ExceptionsQuery) -> ScreenAnswer:
    """List the exceptions, and count them by wave and reason."""
    listed = _found(service, query)
    rows = listed.exceptions[:_MAX_SHOWN]
    with service.collection.opened.store.reading() as connection:
        documents = current_ids(connection, [row.doc_id for row in rows])
    stored = None if query.stored is None else service.jobs.find(query.stored)
    values = {
        "stored": stored if stored is not None and stored.kind == "storing" else None,
        "found": listed,
        "facts": list(exceptions_facts(listed, len(listed.exceptions))),
        "rows": rows,
        "documents": documents,
        "waves": [wave.name for wave in service.info.get().info.waves],
        "reasons": REASONS,
        "encodings": ENCODINGS,
    }
    return ScreenAnswer("exceptions.html.j2", values, listed.first(_MAX_SHOWN))


def exceptions_table(service: ReviewService, query: ExceptionsQuery) -> pa.Table:
    """Return a row for each exception."""
    return _found(service, query).table


def _found(service: ReviewService, query: ExceptionsQuery) -> StoredExceptions:
    return service.collection.exceptions(wave=query.wave, reason=query.reason, doc_id=query.id, which=query.which)


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
        sent = SentAgain(tuple((file.name, file.content.read()) for file in files), body.encoding)
    else:
        raise ParameterError("Choose the files first.")

    def work(progress: JobProgress) -> str:
        service.sent_again.keep(progress.number, sent)
        sent_again = read_again(service.collection, sent, progress)
        service.sent_again.keep(progress.number, sent_again)
        return f"{counted(len(sent_again.readable), 'text')} in {counted(len(sent.files), 'file')}"

    job = service.jobs.run("reading", work, by=visitor.name)
    return GoTo("/exceptions/read", {"job": job.number})


class ReadQuery(msgspec.Struct, kw_only=True):
    """A job that reads files again."""

    job: int


def preview(service: ReviewService, query: ReadQuery) -> ScreenAnswer:
    """Show the beginnings of texts that were read again; none of them is stored."""
    job = service.jobs.find(query.job)
    if job is not None and not job.is_over:
        return ScreenAnswer("read_again.html.j2", {"job_now": job, "sent": None}, {"state": job.state})
    sent = service.sent_again.get(query.job)
    rows = sent.read or ()
    values = {
        "job_now": job,
        "sent": sent,
        "rows": rows,
        "encodings": ENCODINGS,
        "max_preview": _MAX_PREVIEW,
    }
    data = {"encoding": sent.encoding, "files": rows}
    return ScreenAnswer("read_again.html.j2", values, data)


class StoreReadForm(msgspec.Struct, kw_only=True):
    """A job that read files again."""

    job: int


def store_read(service: ReviewService, visitor: Visitor, body: StoreReadForm) -> GoTo:
    """Store the texts that a job read, in the background if that takes long."""
    sent = service.sent_again.get(body.job)

    def work(progress: JobProgress) -> str:
        message = store_read_again(service.collection, sent, progress, by=visitor.name)
        service.sent_again.forget(body.job)
        return message

    job = service.jobs.run("storing", work, by=visitor.name)
    return GoTo("/exceptions", {"stored": job.number})


_N_SHOWN = 3


class CheckInQuery(msgspec.Struct, kw_only=True):
    """Key of a sent file; without a key, the page asks for a file. ``rejected``: the last file was rejected."""

    key: str | None = None
    is_rejected: bool = msgspec.field(default=False, name="rejected")


def check_in(service: ReviewService, query: CheckInQuery) -> ScreenAnswer:
    """Compare a sent file with the stored documents; store nothing."""
    if query.key is None:
        return ScreenAnswer("check_in.html.j2", {"found": None, "encodings": ENCODINGS}, {})
    sent = service.sent.get(query.key)
    with service.collection.opened.store.reading() as connection:
        state, n_characters = state_of_groups(connection), characters_to_check(connection, [sent.text])
    work = partial(_checked, text=sent.text)
    checked, comparisons = service.later.get(work, n_characters, state, key=("check-in", query.key))
    checked = replace(checked, missing=sent.document.missing, not_checked=sent.document.inside)
    warnings = (
        fact for fact in check_facts(checked, is_storing=False, is_empty=not sent.text.strip()) if fact.is_warning
    )
    values = {
        "sent": sent,
        "found": checked,
        "verdict": verdict_fact(checked, sent.name),
        "exact_text": exact_text,
        "facts": [*check_recall_facts(checked), *warnings],
        "comparisons": comparisons,
    }
    return ScreenAnswer("check_in.html.j2", values, {"name": sent.name, **checked.to_dict()})


def _checked(opened: OpenedCollection, text: str) -> tuple[Checked, list[Markup]]:
    """Return what is like a text, and the comparison with each of these documents; A is the stored text."""
    collection = Collection(opened)
    checked = collection.check(text, options=CheckOptions(limit=_N_SHOWN, with_passage=False))
    shown = list[Markup]()
    for document in checked.documents:
        stored = collection.text(document.document.doc_id, version=document.document.version)
        compared = compare_texts(stored, text, context_lines=2, with_moves=True)
        shown.append(Markup(comparison_fragment(compared, n_parts=len(checked.documents))))  # it escapes the texts
    return checked, shown


class FileForm(msgspec.Struct, kw_only=True):
    """Encoding of a text that is not valid UTF-8; the file is a separate field."""

    encoding: str = "utf-8"


def take_in(service: ReviewService, _: Visitor, body: FileForm, file: SentFile | None) -> GoTo:
    """Read a sent file."""
    if file is None:
        raise ParameterError("Choose a file first.")
    key = secrets.token_urlsafe(16)
    service.sent.keep(key, SentText(file.shown_name, file.document(body.encoding)))
    return GoTo("/check-in", {"key": key})


class StoreForm(msgspec.Struct, kw_only=True):
    """Key of a sent file, and the document of which it is a version, or its new id."""

    key: str
    version_of: str | None = None
    id: str | None = None


def store(service: ReviewService, visitor: Visitor, body: StoreForm) -> GoTo:
    """Store a sent file as a version of a document, or under a new id."""
    sent = service.sent.get(body.key)
    doc_id = body.version_of if body.version_of is not None else body.id
    if doc_id is None:
        raise ParameterError("Name the id under which the file is stored.")
    is_new, file = body.version_of is None, sent.document.file_under(doc_id)
    source = source_of_sent(sent.name, "check-in")
    under = CheckIn(doc_id=doc_id, source=source, id_is_new=is_new, file=file, by=visitor.name)
    service.collection.check(sent.text, store=under)
    service.sent.forget(body.key)
    return GoTo("/document", {"id": doc_id})


class RejectForm(msgspec.Struct, kw_only=True):
    """Key of a sent file."""

    key: str


def reject(service: ReviewService, _: Visitor, body: RejectForm) -> GoTo:
    """Forget a sent file; nothing is stored."""
    service.sent.forget(body.key)
    return GoTo("/check-in", {"rejected": True})


SCREENS = (
    Screen("/exceptions", ExceptionsQuery, exceptions, exceptions_table),
    Screen("/exceptions/read", ReadQuery, preview),
    Screen("/check-in", CheckInQuery, check_in),
)
FORMS = (
    ChangeForm("/exceptions/read", ReadForm, read, file=FileField("file", MAX_FILES)),
    ChangeForm("/exceptions/store", StoreReadForm, store_read),
    ChangeForm("/check-in/file", FileForm, take_in, file=FileField("file"), is_change=False),
    ChangeForm("/check-in/store", StoreForm, store),
    ChangeForm("/check-in/reject", RejectForm, reject, is_change=False),
)
