"""Batches: making them, checking them out and in, progress; second looks; and the privilege log."""

from __future__ import annotations

import msgspec
import pyarrow as pa

from nearkin.collection.decisions.batches import Kept, batches, draw_second_look, hold, make_batches, table_of_batches
from nearkin.collection.decisions.log import LOOKS
from nearkin.reports.comparison import MEDIA_TYPE
from nearkin.web.screen import ChangeForm, Screen, ScreenFile
from nearkin.web.screens.coding import CodeQuery, queue_ids
from nearkin.web.screens.decisions import back_to
from nearkin.web.service import GoTo, ReviewService, ScreenAnswer
from nearkin.web.sign_in import Visitor
from nearkin.workflows.collection.privilege_log import as_word, privilege_log


def list_batches(service: ReviewService, query: CodeQuery) -> ScreenAnswer:
    """List the batches, and count the documents of which others can be made: those of a list, search or thread."""
    with service.collection.opened.store.reading() as connection:
        stored, n_documents = batches(connection), len(queue_ids(service, connection, query))
    values = {"batches": stored, "n_documents": n_documents, "second_look": LOOKS}
    return ScreenAnswer("batches.html.j2", values, {"batches": stored, "n_documents": n_documents})


def batches_table(service: ReviewService, _: CodeQuery) -> pa.Table:
    """Return a row for each batch."""
    with service.collection.opened.store.reading() as connection:
        return table_of_batches(batches(connection))


class MakeForm(CodeQuery, kw_only=True):
    """The documents of a queue, and the name and the size of the batches."""

    name: str
    size: int
    keep: list[Kept] = msgspec.field(default_factory=list)


def make(service: ReviewService, visitor: Visitor, body: MakeForm) -> GoTo:
    """Make batches."""
    store, options = service.collection.opened.store, visitor.change()
    with store.reading() as connection:
        doc_ids = queue_ids(service, connection, body)
    return back_to("/batches", make_batches(store, doc_ids, body.name, body.size, keep=body.keep, options=options))


class HoldForm(msgspec.Struct, kw_only=True):
    """A batch, and whether it is checked out or in."""

    batch: str
    is_out: bool = False


def hold_batch(service: ReviewService, visitor: Visitor, body: HoldForm) -> GoTo:
    """Check a batch out and open its queue, or check it in."""
    activity_result = hold(service.collection.opened.store, body.batch, is_out=body.is_out, options=visitor.change())
    return GoTo("/code", {"batch": body.batch}) if body.is_out else back_to("/batches", activity_result)


class SecondLookForm(msgspec.Struct, kw_only=True):
    """Whose calls are drawn, how many, and the seed."""

    of: str
    size: int = 100
    seed: int = 0


def draw(service: ReviewService, visitor: Visitor, body: SecondLookForm) -> GoTo:
    """Draw a second look."""
    store, options = service.collection.opened.store, visitor.change()
    return back_to("/batches", draw_second_look(store, body.of, body.size, body.seed, options))


class PrivilegeQuery(msgspec.Struct, kw_only=True):
    """Tag of the documents, and the fields of the reason and of the Bates number; see `privilege_log`."""

    tag: str | None = None
    reason: str | None = None
    bates: str | None = None


def privilege_table(service: ReviewService, query: PrivilegeQuery) -> pa.Table:
    """Return a row for each privileged document."""
    return privilege_log(service.collection, query.tag, query.reason, query.bates)


def show_privilege_log(service: ReviewService, query: PrivilegeQuery) -> ScreenAnswer:
    """Show the privilege log."""
    table = privilege_table(service, query)
    rows = table.slice(0, _MAX_SHOWN).to_pylist()
    return ScreenAnswer(
        "privilege_log.html.j2", {"rows": rows, "n_found": len(table)}, {"n_found": len(table), "documents": rows}
    )


def privilege_word(service: ReviewService, visitor: Visitor, query: PrivilegeQuery) -> bytes:
    """Return the privilege log as a Word document."""
    return as_word(privilege_table(service, query), visitor.name)


_MAX_SHOWN = 200
SCREENS = (
    Screen("/batches", CodeQuery, list_batches, batches_table),
    Screen(
        "/privilege-log",
        PrivilegeQuery,
        show_privilege_log,
        privilege_table,
        files=(ScreenFile(".docx", MEDIA_TYPE, privilege_word),),
    ),
)
FORMS = (
    ChangeForm("/batches/make", MakeForm, make),
    ChangeForm("/batches/hold", HoldForm, hold_batch),
    ChangeForm("/batches/second-look", SecondLookForm, draw),
)
