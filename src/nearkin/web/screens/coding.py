"""Coding: the documents of a queue one after another, each beside the fields that a reviewer sets."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import msgspec
from sqlalchemy import Connection

from nearkin.collection.decisions.batches import batch_ids, code_again, holder_of
from nearkin.collection.decisions.coding import (
    MAX_FIELDS,
    CodingLayout,
    Queue,
    code,
    layout_of,
    layout_text,
    n_coded_lately,
    set_layout,
)
from nearkin.collection.decisions.deciding import members_of
from nearkin.collection.decisions.log import LOOKS, ActivityResult, ChangeRequest
from nearkin.collection.decisions.second_values import two_values
from nearkin.collection.listing.details import DocumentDetails, details, family_of
from nearkin.collection.listing.lists import listed_ids
from nearkin.collection.stored.contents import texts_of
from nearkin.collection.stored.documents import current_rows
from nearkin.collection.stored.passages import passages_of
from nearkin.collection.word_search.marking import marked
from nearkin.collection.word_search.searching import found_ids
from nearkin.errors import ParameterError, RefusedError, UnknownDocumentError
from nearkin.nouns import counted
from nearkin.reports.facts.activities import in_words
from nearkin.reports.facts.stored import origin_facts
from nearkin.store.schema import documents
from nearkin.web.queries import parameters_in
from nearkin.web.queries import parsed as parsed_query
from nearkin.web.screen import ChangeForm, NoQuery, Screen
from nearkin.web.screens.decisions import back_to
from nearkin.web.screens.lists import ListQuery
from nearkin.web.service import MAX_TEXT, GoTo, ReviewService, ScreenAnswer
from nearkin.web.sign_in import Visitor, own_address

_MAX_OF_A_THREAD = 10_000
_ROWS_BEFORE, _ROWS_AFTER = 5, 30
_MAX_TITLE = 90
_MAX_FIRST_LINES = 50_000
"""Characters of the longest text whose first line is shown in the queue."""
EXAMPLE = """\
[[fields]]
name = "responsive"
kind = "yes-no"
required = true
colours = ["green", "grey"]

[[fields]]
name = "privileged"
values = ["no", "attorney-client", "work product"]
colours = ["grey", "red", "red"]
sensitive = true

[[fields]]
name = "issues"
kind = "several"
values = ["price", "delivery"]

[[fields]]
name = "reason"
kind = "text"
keys = ["r"]
"""
"""Layout that the page offers where none is stored."""


class CodeQuery(ListQuery, kw_only=True):
    """A queue: the documents of a list, of a search, of a thread or of a batch; and the one that is coded.

    A batch is named by its tag. Without ``at``, it is the first document that is not done. ``whole`` shows all of a
    long text.
    """

    q: str = ""
    thread: int | None = None
    batch: str | None = None
    at: str | None = None
    is_whole: bool = msgspec.field(default=False, name="whole")

    @property
    def look(self) -> str:
        """Number of the second look, whose queue shows no values; empty for other queues."""
        name, _, number = (self.batch or "").rpartition("=")
        return number if name == LOOKS else ""


class CodeForm(msgspec.Struct, kw_only=True):
    """The document that gets the values of the fields, and those beside it.

    ``fields`` is the digest of the layout. ``alike`` names those beside it: "copies", "family", or the number and the
    tolerance of a group. ``expected`` and ``agreed`` are those of `TagForm`.
    """

    id: str
    fields: str
    alike: str = ""
    expected: int | None = None
    agreed: str | None = None
    seen: int | None = None
    back: str = "/code"


_NO_VALUES: Any = msgspec.field(default_factory=list)
CodedForm = msgspec.defstruct(
    "CodedForm", [(f"v{i}", list[str], _NO_VALUES) for i in range(MAX_FIELDS)], bases=(CodeForm,), kw_only=True
)
"""The form with the values of each field, in the order of the layout: radio buttons of one field share a name."""


class LayoutForm(msgspec.Struct, kw_only=True):
    """TOML of the layout."""

    layout: str


def coding(service: ReviewService, query: CodeQuery) -> ScreenAnswer:
    """Show a document of the queue, with its fields."""
    with service.collection.opened.store.reading() as connection:
        layout = layout_of(connection)
        if not layout.fields:
            return ScreenAnswer("coding_layout.html.j2", {"layout": EXAMPLE, "is_stored": False}, {"fields": []})
        queue = _queue(service, connection, query, layout)
        ids, done = queue.doc_ids, queue.done
        data = {"n_documents": len(ids), "n_done": len(done), **msgspec.to_builtins(layout)}
        at = query.at or queue.following(connection, "") or next(iter(ids), None)
        if at is None:
            return ScreenAnswer("coding.html.j2", {"found": None, "queue": ids}, data)
        index = ids.index(at) if at in ids else None
        rows = _rows(connection, ids, index or 0, done)
        document = details(connection, at, None)
        passages = passages_of(connection, document.document).passages
        n_shown = len(document.text) if query.is_whole else MAX_TEXT
        pieces = marked(connection, document, n_shown, query.q, passages)
        holder = None if query.batch is None else holder_of(connection, query.batch)
        two = [] if query.look else two_values(connection, of=[at])
    if query.look:  # blind: without what was set, and by whom
        document = replace(document, tags={}, note=None, last_activity=0)
    values = {
        "found": document,
        "queue": ids,
        "index": index,
        "rows": rows,
        "n_done": len(done),
        "n_lately": lambda name: _n_lately(service, name),
        "layout": layout,
        "holder": holder,
        "seconds": two,
        "chosen": {field.name: field.chosen(document.tags.get(field.name)) for field in layout.fields},
        "pieces_of_text": pieces,
        "n_hidden": max(0, len(document.text) - n_shown),
        "title": _title(document),
        "facts": [] if document.origin is None else list(origin_facts(document.origin)),
        "alike": {} if query.look else _alike(service, document),
        "before": ids[index - 1] if index else None,
        "after": ids[index + 1] if index is not None and index + 1 < len(ids) else None,
    }
    return ScreenAnswer(
        "coding.html.j2", values, data | {"at": at, "index": index, "holder": holder, "document": document}
    )


def _queue(service: ReviewService, connection: Connection, query: CodeQuery, layout: CodingLayout) -> Queue:
    """Return a queue: made when somebody enters it, and kept, whatever is coded meanwhile, for who is at a document."""
    value = query.tolerance.value if query.group is not None else None
    given = msgspec.structs.replace(query, at=None, is_whole=False, page=1, which="current", value=value)
    key = msgspec.json.encode(given).decode()
    kept = None if query.at is None else service.queues.find(key)
    queue = kept or Queue(tuple(dict.fromkeys(queue_ids(service, connection, given))), look=query.look)
    queue = queue.now(connection, layout)
    service.queues.keep(key, queue)
    return queue


def queue_ids(service: ReviewService, connection: Connection, query: CodeQuery) -> list[str]:
    """Return the documents of a queue, in order."""
    if query.batch is not None:
        return batch_ids(connection, query.batch)
    if query.thread is not None:
        card = None if service.threads.found is None else service.threads.found.card(query.thread, _MAX_OF_A_THREAD)
        if card is None:
            raise UnknownDocumentError(f"There is no thread {query.thread}. The page Threads lists all of them.")
        return [row.name for row in card.rows if row.name is not None]
    if query.q.strip():
        return found_ids(connection, query.q, wave=query.wave)
    return listed_ids(connection, query.wanted(), query.sort)


def _rows(connection: Connection, queue: Sequence[str], place: int, done: Set[str]) -> list[dict[str, object]]:
    """Return the documents around a place of a queue, each with its first line, and whether it is done."""
    shown = queue[max(0, place - _ROWS_BEFORE) : place + _ROWS_AFTER]
    contents = {row.doc_id: row.content for row in current_rows(connection, documents.c.doc_id, shown)}
    texts = texts_of(connection, sorted(set(contents.values())))
    titles = {doc_id: _first_line(texts.get(contents.get(doc_id, -1), "")) for doc_id in shown}
    return [{"doc_id": doc_id, "title": titles[doc_id], "is_done": doc_id in done} for doc_id in shown]


def _title(document_details: DocumentDetails) -> str:
    mail = document_details.origin.mail if document_details.origin is not None else None
    return (mail.subject if mail is not None and mail.subject else "") or _first_line(document_details.text)


def _first_line(text: str) -> str:
    line = next((line for line in text[:_MAX_FIRST_LINES].splitlines() if line.strip()), "").strip()
    return line if len(line) <= _MAX_TITLE else f"{line[:_MAX_TITLE].rstrip()}…"


def _n_lately(service: ReviewService, name: str) -> int:
    with service.collection.opened.store.reading() as connection:
        return n_coded_lately(connection, name)


def _alike(service: ReviewService, document_details: DocumentDetails) -> dict[str, str]:
    """Return the documents that can get the same values, in words by the values of `CodeForm.alike`."""
    choices = {"": "this document only"}
    if document_details.n_copies:
        choices["copies"] = f"and {counted(document_details.n_copies, 'document')} with the same text"
    with service.collection.opened.store.reading() as connection:
        family = family_of(connection, document_details)
    n_family = sum(member.is_stored for member in family.members)
    if n_family and not family.is_truncated:
        choices["family"] = f"and {counted(n_family, 'document')} of its family"
    for group in document_details.groups:
        if group.n_documents > 1:
            n_others = counted(group.n_documents - 1, "document")
            choices[f"{group.number} {group.tolerance}"] = f"and {n_others} of group {group.number} ({group.tolerance})"
    return choices


def _ids_alike(service: ReviewService, doc_id: str, alike: str) -> list[str]:
    document_details = service.collection.details(doc_id)
    with service.collection.opened.store.reading() as connection:
        if alike == "copies":
            return [
                row.doc_id for row in current_rows(connection, documents.c.content, [document_details.document.content])
            ]
        if alike == "family":
            return [member.doc_id for member in family_of(connection, document_details).members if member.is_stored]
        number, _, tolerance = alike.partition(" ")
        if not number.isascii() or not number.isdecimal() or len(number) > 18:
            raise ParameterError.of("form.alike", "copies, family, or the number and the tolerance of a group", alike)
        return members_of(connection, int(number), tolerance)


def save(service: ReviewService, visitor: Visitor, body: CodeForm) -> GoTo | ScreenAnswer:
    """Store the values, and go to the next document that is not done; or show what this would change of others."""
    store, code_query = service.collection.opened.store, _asked_by(body.back)
    with store.reading() as connection:
        layout = layout_of(connection)
        if code_query.batch is not None and holder_of(connection, code_query.batch) != visitor.name:
            raise RefusedError(
                409, f"You do not hold the batch {code_query.batch}: nothing is stored. Check it out first."
            )
    if body.fields != layout.digest:
        raise RefusedError(409, "The fields were changed since the page was opened: nothing is stored. Open it again.")
    chosen = {entry.name: getattr(body, f"v{i}") for i, entry in enumerate(layout.fields)}
    if code_query.look:
        activity_result = code_again(store, body.id, chosen, code_query.look, visitor.change())
        return _next(service, layout, body, activity_result)
    others = [entry for entry in _ids_alike(service, body.id, body.alike) if entry != body.id] if body.alike else []
    is_preview = bool(others) and body.expected is None
    options = visitor.change(dry_run=is_preview, max_changes=body.expected, agreed=body.agreed, seen=body.seen)
    activity_result = code(store, [body.id, *others], chosen, alike=frozenset(others), options=options)
    if activity_result.is_dry_run:
        return _preview(layout, body, activity_result)
    return _next(service, layout, body, activity_result)


def _preview(layout: CodingLayout, body: CodeForm, result: ActivityResult) -> ScreenAnswer:
    fields = [(f"v{i}", value) for i in range(len(layout.fields)) for value in getattr(body, f"v{i}")]
    values = {
        "found": result,
        "body": body,
        "fields": fields,
        "what": in_words(result.kind, result.data, result.changes or result.agreements),
        "is_other": body.expected is not None,
        "sensitive": sorted(layout.sensitive),
    }
    return ScreenAnswer("coding_preview.html.j2", values, result)


def _next(service: ReviewService, layout: CodingLayout, body: CodeForm, result: ActivityResult) -> GoTo:
    code_query = _asked_by(body.back)
    with service.collection.opened.store.reading() as connection:
        queue = _queue(service, connection, msgspec.structs.replace(code_query, at=body.id), layout)
        following = queue.following(connection, body.id) or body.id
    return GoTo("/code", {**back_to(body.back, result).query, "at": following})


def _asked_by(place: str) -> CodeQuery:
    parts = urlsplit(own_address(place))
    return parsed_query(CodeQuery, parameters_in(parts.query)) if parts.path == "/code" else CodeQuery()


def store_layout(service: ReviewService, visitor: Visitor, body: LayoutForm) -> GoTo:
    """Store the layout."""
    text = body.layout.replace("\r\n", "\n")
    activity_result = set_layout(service.collection.opened.store, text, ChangeRequest(by=visitor.name))
    return back_to("/code/layout", activity_result)


def layout(service: ReviewService, _: NoQuery) -> ScreenAnswer:
    """Show the layout as TOML."""
    with service.collection.opened.store.reading() as connection:
        stored, fields = layout_text(connection), layout_of(connection)
    values = {"layout": stored or EXAMPLE, "is_stored": bool(stored)}
    return ScreenAnswer("coding_layout.html.j2", values, fields)


SCREENS = (Screen("/code", CodeQuery, coding), Screen("/code/layout", NoQuery, layout))
FORMS = (ChangeForm("/code", CodedForm, save), ChangeForm("/code/layout", LayoutForm, store_layout))
