"""Check-in: a file is compared with all stored documents; then it is stored as new or as a version, or rejected."""

from __future__ import annotations

import secrets
from dataclasses import replace

import msgspec
from markupsafe import Markup

from nearkin.collection.check_in.results import Checked, CheckIn, CheckOptions
from nearkin.errors import ParameterError
from nearkin.reports.comparison.page import comparison_fragment
from nearkin.reports.facts.queries import check_facts, check_recall_facts, copy_in_words, verdict_fact
from nearkin.stages.differences.comparing import compare_texts
from nearkin.web.screen import ChangeForm, FileField, Screen
from nearkin.web.sent_files import ENCODINGS, SentFile, SentText, source_of_sent
from nearkin.web.service import GoTo, ReviewService, ScreenAnswer
from nearkin.web.sign_in import Visitor

_N_SHOWN = 3


class CheckInQuery(msgspec.Struct, kw_only=True):
    """Key of a sent file; without a key, the page asks for a file. ``rejected``: the last file was rejected."""

    key: str | None = None
    is_rejected: bool = msgspec.field(default=False, name="rejected")


def check_in(service: ReviewService, asked: CheckInQuery) -> ScreenAnswer:
    """Compare a sent file with the stored documents; store nothing."""
    if asked.key is None:
        return ScreenAnswer("check_in.html.j2", {"found": None, "encodings": ENCODINGS}, {})
    sent = service.sent.get(asked.key)
    options = CheckOptions(limit=_N_SHOWN, with_passage=False)
    found = service.collection.check(sent.text, options=options)
    found = replace(found, missing=sent.document.missing, not_checked=sent.document.inside)
    warnings = (one for one in check_facts(found, is_storing=False, is_empty=not sent.text.strip()) if one.is_warning)
    values = {
        "sent": sent,
        "found": found,
        "verdict": verdict_fact(found, sent.name),
        "copy_in_words": copy_in_words,
        "facts": [*check_recall_facts(found), *warnings],
        "comparisons": _comparisons(service, sent, found),
    }
    return ScreenAnswer("check_in.html.j2", values, {"name": sent.name, **found.to_dict()})


def _comparisons(service: ReviewService, sent: SentText, found: Checked) -> list[Markup]:
    """Return the comparison with each found document; A is the stored text."""
    shown = list[Markup]()
    for one in found.documents:
        stored = service.collection.text(one.document.doc_id, version=one.document.version)
        compared = compare_texts(stored, sent.text, context_lines=2, with_moves=True)
        shown.append(Markup(comparison_fragment(compared)))  # it escapes the texts
    return shown


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


SCREENS = (Screen("/check-in", CheckInQuery, check_in),)
FORMS = (
    ChangeForm("/check-in/file", FileForm, take_in, file=FileField("file"), is_change=False),
    ChangeForm("/check-in/store", StoreForm, store),
    ChangeForm("/check-in/reject", RejectForm, reject, is_change=False),
)
