"""Coding: the documents of a queue one after another, each beside the fields that a reviewer sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import msgspec
from sqlalchemy import Connection

from nearkin.collection.decisions.batches import SECOND_LOOK, batch_ids, code_again, holder_of
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
from nearkin.collection.decisions.log import ActivityResult, ChangeRequest
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

    A batch is named by its tag. Without ``at``, it is the first document that is not done.
    """

    q: str = ""
    thread: int | None = None
    batch: str | None = None
    at: str | None = None

    @property
    def look(self) -> str:
        """Number of the second look, whose queue shows no values; empty for other queues."""
        name, _, number = (self.batch or "").rpartition("=")
        return number if name == SECOND_LOOK else ""


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


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A document of a queue: its number from 1, its first line, and whether it is done."""

    doc_id: str
    number: int
    title: str
    is_done: bool


def coding(service: ReviewService, asked: CodeQuery) -> ScreenAnswer:
    """Show a document of the queue, with its fields."""
    with service.collection.opened.store.reading() as connection:
        layout = layout_of(connection)
        if not layout.fields:
            return ScreenAnswer("coding_layout.html.j2", {"layout": EXAMPLE, "is_stored": False}, {"fields": []})
        queue = _queue(service, connection, asked, layout)
        ids, done = queue.doc_ids, queue.done
        data = {"n_documents": len(ids), "n_done": len(done), **msgspec.to_builtins(layout)}
        at = asked.at or queue.following(connection, "") or next(iter(ids), None)
        if at is None:
            return ScreenAnswer("coding.html.j2", {"found": None, "queue": ids}, data)
        index = ids.index(at) if at in ids else None
        rows = list(_rows(connection, ids, index or 0, done))
        found = details(connection, at, None)
        passages = passages_of(connection, found.document).passages
        pieces = marked(connection, found, MAX_TEXT, asked.q, passages)
        holder = None if asked.batch is None else holder_of(connection, asked.batch)
        two = [] if asked.look else two_values(connection, of=at)
    if asked.look:  # blind: without what was set, and by whom
        found = replace(found, tags={}, note=None, last_activity=0)
    values = {
        "found": found,
        "queue": ids,
        "index": index,
        "rows": rows,
        "n_done": len(done),
        "n_lately": lambda name: _n_lately(service, name),
        "layout": layout,
        "holder": holder,
        "seconds": {one.field: one.second for one in two},
        "chosen": {one.name: one.chosen(found.tags.get(one.name)) for one in layout.fields},
        "pieces_of_text": pieces,
        "n_hidden": max(0, len(found.text) - MAX_TEXT),
        "title": _title(found),
        "facts": [] if found.origin is None else list(origin_facts(found.origin)),
        "alike": {} if asked.look else _alike(service, found),
        "before": ids[index - 1] if index else None,
        "after": ids[index + 1] if index is not None and index + 1 < len(ids) else None,
    }
    return ScreenAnswer(
        "coding.html.j2", values, data | {"at": at, "index": index, "holder": holder, "document": found.to_dict()}
    )


def _queue(service: ReviewService, connection: Connection, asked: CodeQuery, layout: CodingLayout) -> Queue:
    """Return a queue: made when somebody enters it, and kept, whatever is coded meanwhile, for who is at a document."""
    value = asked.tolerance.value if asked.group is not None else None
    given = msgspec.structs.replace(asked, at=None, page=1, which="current", value=value)
    key = msgspec.json.encode(given).decode()
    kept = None if asked.at is None else service.queues.find(key)
    queue = kept or Queue(tuple(dict.fromkeys(queue_ids(service, connection, given))), look=asked.look)
    queue = queue.now(connection, layout)
    service.queues.keep(key, queue)
    return queue


def queue_ids(service: ReviewService, connection: Connection, asked: CodeQuery) -> list[str]:
    """Return the documents of a queue, in order."""
    if asked.batch is not None:
        return batch_ids(connection, asked.batch)
    if asked.thread is not None:
        card = None if service.threads.found is None else service.threads.found.card(asked.thread, _MAX_OF_A_THREAD)
        if card is None:
            raise UnknownDocumentError(f"There is no thread {asked.thread}. The page Threads lists all of them.")
        return [one.name for one in card.rows if one.name is not None]
    if asked.q.strip():
        return found_ids(connection, asked.q, wave=asked.wave)
    return listed_ids(connection, asked.wanted(), asked.sort)


def _rows(connection: Connection, queue: Sequence[str], place: int, done: Set[str]) -> Iterator[QueueRow]:
    start = max(0, place - _ROWS_BEFORE)
    shown = queue[start : place + _ROWS_AFTER]
    contents = {one.doc_id: one.content for one in current_rows(connection, documents.c.doc_id, shown)}
    texts = texts_of(connection, sorted(set(contents.values())))
    for number, doc_id in enumerate(shown, start + 1):
        text = texts.get(contents.get(doc_id, -1), "")
        yield QueueRow(doc_id, number, _first_line(text), doc_id in done)


def _title(found: DocumentDetails) -> str:
    """Return the subject of a mail, else the first line of the text."""
    mail = found.origin.mail if found.origin is not None else None
    return (mail.subject if mail is not None and mail.subject else "") or _first_line(found.text)


def _first_line(text: str) -> str:
    line = next((line for line in text[:_MAX_FIRST_LINES].splitlines() if line.strip()), "").strip()
    return line if len(line) <= _MAX_TITLE else f"{line[:_MAX_TITLE].rstrip()}…"


def _n_lately(service: ReviewService, name: str) -> int:
    with service.collection.opened.store.reading() as connection:
        return n_coded_lately(connection, name)


def _alike(service: ReviewService, found: DocumentDetails) -> dict[str, str]:
    """Return the documents that can get the same values, in words by the values of `CodeForm.alike`."""
    told = {"": "this document only"}
    if found.n_copies:
        told["copies"] = f"and {counted(found.n_copies, 'document')} with the same text"
    with service.collection.opened.store.reading() as connection:
        family = family_of(connection, found)
    n_family = sum(one.is_stored for one in family.members)
    if n_family and not family.is_truncated:
        told["family"] = f"and {counted(n_family, 'document')} of its family"
    for group in found.groups:
        if group.n_documents > 1:
            n_others = counted(group.n_documents - 1, "document")
            told[f"{group.number} {group.tolerance}"] = f"and {n_others} of group {group.number} ({group.tolerance})"
    return told


def _ids_alike(service: ReviewService, doc_id: str, alike: str) -> list[str]:
    found = service.collection.details(doc_id)
    with service.collection.opened.store.reading() as connection:
        if alike == "copies":
            return [one.doc_id for one in current_rows(connection, documents.c.content, [found.document.content])]
        if alike == "family":
            return [one.doc_id for one in family_of(connection, found).members if one.is_stored]
        number, _, tolerance = alike.partition(" ")
        if not number.isascii() or not number.isdecimal() or len(number) > 18:
            raise ParameterError.of("form.alike", "copies, family, or the number and the tolerance of a group", alike)
        return members_of(connection, int(number), tolerance)


def save(service: ReviewService, visitor: Visitor, body: CodeForm) -> GoTo | ScreenAnswer:
    """Store the values, and go to the next document that is not done; or show what this would change of others."""
    store, asked = service.collection.opened.store, _asked_by(body.back)
    with store.reading() as connection:
        layout = layout_of(connection)
        if asked.batch is not None and holder_of(connection, asked.batch) != visitor.name:
            raise RefusedError(409, f"You do not hold the batch {asked.batch}: nothing is stored. Check it out first.")
    if body.fields != layout.digest:
        raise RefusedError(409, "The fields were changed since the page was opened: nothing is stored. Open it again.")
    chosen = {one.name: getattr(body, f"v{i}") for i, one in enumerate(layout.fields)}
    if asked.look:
        found = code_again(store, body.id, chosen, asked.look, visitor.change())
        return _next(service, layout, body, found)
    others = [one for one in _ids_alike(service, body.id, body.alike) if one != body.id] if body.alike else []
    is_preview = bool(others) and body.expected is None
    options = visitor.change(dry_run=is_preview, max_changes=body.expected, agreed=body.agreed, seen=body.seen)
    found = code(store, [body.id, *others], chosen, alike=frozenset(others), options=options)
    if found.is_dry_run:
        return _preview(layout, body, found)
    return _next(service, layout, body, found)


def _preview(layout: CodingLayout, body: CodeForm, found: ActivityResult) -> ScreenAnswer:
    fields = [(f"v{i}", value) for i in range(len(layout.fields)) for value in getattr(body, f"v{i}")]
    values = {
        "found": found,
        "body": body,
        "fields": fields,
        "what": in_words(found.kind, found.data, found.changes),
        "is_other": body.expected is not None,
        "sensitive": sorted(layout.sensitive),
    }
    return ScreenAnswer("coding_preview.html.j2", values, found.to_dict())


def _next(service: ReviewService, layout: CodingLayout, body: CodeForm, found: ActivityResult) -> GoTo:
    asked = _asked_by(body.back)
    with service.collection.opened.store.reading() as connection:
        queue = _queue(service, connection, msgspec.structs.replace(asked, at=body.id), layout)
        following = queue.following(connection, body.id) or body.id
    return GoTo("/code", {**back_to(body.back, found).query, "at": following})


def _asked_by(place: str) -> CodeQuery:
    """Return the queue of the page from which a form came."""
    parts = urlsplit(own_address(place))
    return parsed_query(CodeQuery, parameters_in(parts.query)) if parts.path == "/code" else CodeQuery()


def store_layout(service: ReviewService, visitor: Visitor, body: LayoutForm) -> GoTo:
    """Store the layout."""
    text = body.layout.replace("\r\n", "\n")
    found = set_layout(service.collection.opened.store, text, ChangeRequest(by=visitor.name))
    return back_to("/code/layout", found)


def layout(service: ReviewService, _: NoQuery) -> ScreenAnswer:
    """Show the layout as TOML."""
    with service.collection.opened.store.reading() as connection:
        stored, fields = layout_text(connection), layout_of(connection)
    values = {"layout": stored or EXAMPLE, "is_stored": bool(stored)}
    return ScreenAnswer("coding_layout.html.j2", values, msgspec.to_builtins(fields))


SCREENS = (Screen("/code", CodeQuery, coding), Screen("/code/layout", NoQuery, layout))
FORMS = (ChangeForm("/code", CodedForm, save), ChangeForm("/code/layout", LayoutForm, store_layout))
