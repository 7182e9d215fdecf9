"""Forms that decide: tags with a preview, decisions on groups, undo; and conflicts, groups with different tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pyarrow as pa

from nearkin.collection.conflicts.by_group import Conflict, Conflicts
from nearkin.collection.conflicts.by_group import conflicts as find_conflicts
from nearkin.collection.dates import DATE_TAG
from nearkin.collection.decisions.coding import SENSITIVE, layout_of
from nearkin.collection.decisions.deciding import members_of, tag, undo
from nearkin.collection.decisions.fields import parsed
from nearkin.collection.decisions.log import NEVER_GROUP, SAME_GROUP, ActivityResult, activity_of, batch_names
from nearkin.collection.decisions.second_values import families_that_differ, two_values
from nearkin.collection.groups.members import group_members
from nearkin.collection.stored.documents import current_contents
from nearkin.collection.stored.word_sets import lengths_of
from nearkin.collection.tolerance import ALL
from nearkin.errors import ParameterError, RefusedError, UnknownDocumentError
from nearkin.reports.facts.activities import in_words
from nearkin.reports.facts.queries import unlabelled_facts
from nearkin.tabular import AnswerRecord
from nearkin.web.later import state_of_groups
from nearkin.web.queries import GroupingQuery, ToleranceQuery
from nearkin.web.queries import parsed as parsed_query
from nearkin.web.screen import ChangeForm, Screen
from nearkin.web.screens.groups import begin_update
from nearkin.web.service import GoTo, ReviewService, ScreenAnswer, address
from nearkin.web.sign_in import Visitor, own_address
from nearkin.workflows.collection.labels import LabelsRead, labels_of_tag
from nearkin.workflows.collection.tables import table_of_conflicts
from nearkin.workflows.resources import Resources

_MAX_SHOWN, _MAX_PARAMETERS = 200, 1_000
_OF_A_CHANGE = ("done", "job", "unchanged")
"""Parameters of `DoneQuery`."""


class TagForm(ToleranceQuery, kw_only=True):
    """A tag, and the documents that get it: some ids, or all members of a group.

    ``expected`` is the number of changes that a preview showed, and ``agreed`` their digest; without the number, the
    form asks for a preview, unless it is about one document; with ``is_previewed`` also then. ``quick`` is the tag of
    the button that was pressed. ``seen`` is what `ReviewService.last_activity` returned for the page, in every form.
    """

    tag: str = ""
    quick: str = ""
    id: list[str] = msgspec.field(default_factory=list)
    group: int | None = None
    is_removed: bool = False
    is_previewed: bool = False
    expected: int | None = None
    agreed: str | None = None
    seen: int | None = None
    back: str = "/"


def set_tag(service: ReviewService, visitor: Visitor, body: TagForm) -> GoTo | ScreenAnswer:
    """Set or remove a tag, or show the changes that this would make."""
    if not (body.quick or body.tag).strip():
        raise ParameterError("Name a tag: FIELD or FIELD=VALUE.")
    field, value = parsed(body.quick or body.tag)
    group = body.group if not body.id else None
    needs_preview = body.expected is None and (body.is_previewed or len(body.id) != 1)
    options = visitor.change(dry_run=needs_preview, max_changes=body.expected, agreed=body.agreed, seen=body.seen)
    activity_result = tag(
        service.collection.opened.store, body.id, field, None if body.is_removed else value, group=group,
        tolerance=body.tolerance, options=options,
    )  # fmt: skip
    if activity_result.is_dry_run:  # or something else would be changed than the preview showed
        return _preview(activity_result, body)
    return back_to(body.back, activity_result)


def _preview(result: ActivityResult, body: TagForm) -> ScreenAnswer:
    values = {
        "found": result,
        "body": body,
        "value": body.tolerance.value,
        "what": in_words(result.kind, result.data, result.changes or result.agreements),
        "n_shown": _MAX_SHOWN,
        "is_other": body.expected is not None,
    }
    return ScreenAnswer("tag_preview.html.j2", values, result)


class GroupForm(GroupingQuery, kw_only=True):
    """A decision on the groups of a page."""

    seen: int | None = None
    back: str = "/groups"


class SplitForm(GroupForm, kw_only=True):
    """A principal ``a``, and the member that must never be in one group with it."""

    a: str
    split: str


class UniteForm(GroupForm, kw_only=True):
    """A principal ``a``, and the number of the group to unite with its group."""

    a: str
    other: int


class PrincipalForm(GroupForm, kw_only=True):
    """A document to make the principal of its group."""

    principal: str


def split(service: ReviewService, visitor: Visitor, body: SplitForm) -> GoTo:
    """Split a member off."""
    if body.split == body.a:
        raise ParameterError("A document cannot be split off from itself.")
    return _decide(service, visitor, body, split_off=(body.split, body.a))


def unite(service: ReviewService, visitor: Visitor, body: UniteForm) -> GoTo:
    """Unite two groups."""
    other = group_members(service.collection.opened, body.other, body.tolerance, limit=1).principal.document.doc_id
    if other == body.a:
        raise ParameterError("A group cannot be united with itself.")
    return _decide(service, visitor, body, same_group=(body.a, other))


def make_principal(service: ReviewService, visitor: Visitor, body: PrincipalForm) -> GoTo:
    """Change the principal of a group."""
    return _decide(service, visitor, body, principal=body.principal)


def _decide(service: ReviewService, visitor: Visitor, body: GroupForm, **decision: Any) -> GoTo:
    """Update the groups, so that the next page shows the effect of a decision, or the reason why it cannot."""
    activity_result = service.collection.decide(**decision, by=visitor.name, seen=body.seen)
    return _landing(service, body.back, activity_result, begin_update(service, body, by=visitor.name))


class UndoForm(msgspec.Struct, kw_only=True):
    """The number of an activity."""

    number: int
    back: str = "/log"


def undo_activity(service: ReviewService, visitor: Visitor, body: UndoForm) -> GoTo:
    """Undo an activity; if it was about groups, update the groups of the page from which the form came."""
    with service.collection.opened.store.reading() as connection:
        made = activity_of(connection, body.number) if 0 < body.number < 2**63 else None
    if made is not None and not visitor.may_undo(made.by):
        raise RefusedError(
            403, f"Activity {body.number} is not yours: reviewers undo their own activities, admins those of all."
        )
    activity_result, job = undo(service.collection.opened.store, body.number, visitor.change()), None
    if any(
        change.kind in (NEVER_GROUP, SAME_GROUP) for change in activity_result.changes
    ):  # those of an undone undo, too
        job = begin_update(service, _asked_by(body.back), by=visitor.name)
    return _landing(service, body.back, activity_result, job)


def _landing(service: ReviewService, place: str, result: ActivityResult, job: int | None) -> GoTo:
    going, place_query = back_to(place, result, job), _asked_by(place)
    if going.path == "/group" and place_query.number is not None:
        with service.collection.opened.store.reading() as connection:
            try:
                members_of(connection, place_query.number, str(place_query.tolerance))
            except UnknownDocumentError:
                return back_to(address("/groups", measure=place_query.measure, value=place_query.value), result, job)
    return going


class _PlaceQuery(GroupingQuery, kw_only=True):
    """Parameters of a page that is about groups."""

    number: int | None = None


def _asked_by(place: str) -> _PlaceQuery:
    try:
        place_query = parsed_query(_PlaceQuery, _parameters(place.partition("?")[2]))
        _ = place_query.tolerance  # a page of a document may have another measure, or a number of another meaning
    except ParameterError:
        return _PlaceQuery()
    return place_query


def back_to(place: str, result: ActivityResult, job: int | None = None) -> GoTo:
    """Return the address of the page from which a form came, with the number of the activity, and of a job if given.

    Only the path and the parameters of an own page count; anything else leads home.

    Examples
    --------
    >>> done = ActivityResult(number=7, kind="tag", changes=())
    >>> back_to("/document?id=a%2Fb&done=3", done)
    GoTo(path='/document', query={'id': 'a/b', 'done': 7})
    >>> back_to("//evil.example/document", done).path, back_to("https://evil.example/x", done).path
    ('/', '/')
    """
    parts = urlsplit(own_address(place))
    query: dict[str, object] = {name: value for name, value in _several(parts.query) if name not in _OF_A_CHANGE}
    parameters = dict(zip(_OF_A_CHANGE, (result.number, job, True if result.number is None else None), strict=True))
    return GoTo(parts.path, query | {name: value for name, value in parameters.items() if value is not None})


def _several(query: str) -> list[tuple[str, str | Sequence[str]]]:
    values_of = dict[str, list[str]]()
    for name, value in _parameters(query):
        values_of.setdefault(name, []).append(value)
    return [(name, values[0] if len(values) == 1 else values) for name, values in values_of.items()]


def _parameters(query: str) -> list[tuple[str, str]]:
    """Return the parameters of a query string; none if there are more than any page of the service has."""
    try:
        return parse_qsl(query, max_num_fields=_MAX_PARAMETERS)
    except ValueError:
        return []


_MAX_FOUND, _MAX_FAMILIES = 300, 100
_MAX_ROWS, _MAX_IDS = 35, 500
"""Conflicts, fields with two values, families, and ids of buttons of a page: these make fewer than 3,000 elements."""


class ConflictsQuery(GroupingQuery, kw_only=True):
    """Field of the tags that may contradict one another; by default the field with the most documents.

    Of fields with two values, those after the first ``skip`` are shown.
    """

    field: str | None = None
    skip: Annotated[int, msgspec.Meta(ge=0)] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupConflict(AnswerRecord):
    """Contradicting tags of one group.

    Parameters
    ----------
    conflicts
        At least one; the most similar texts first.
    labels
        Each with the number of documents that have it, that of most first.
    """

    hidden = ("conflicts",)
    computed = ("group=worst.group", "majority_label=worst.majority_label", "odd_ids")

    conflicts: tuple[Conflict, ...]
    labels: tuple[Mapping[str, object], ...]

    @property
    def worst(self) -> Conflict:
        """The most similar documents with different labels."""
        return self.conflicts[0]

    @property
    def odd_ids(self) -> list[str]:
        """Documents that do not have the majority's label, also those whose conflicts are not among ``conflicts``."""
        return list(dict.fromkeys(doc_id for doc_id, _ in self.worst.odd))


def conflicts(service: ReviewService, query: ConflictsQuery) -> ScreenAnswer:
    """List fields with values of two people, families whose parts differ, and groups with contradicting tags."""
    fields = tag_fields(service)
    field = query.field or next(iter(fields), None)
    if field is None:
        return ScreenAnswer("conflicts.html.j2", {"found": None}, {})
    read = labels_of_tag(service.collection, field)
    with service.collection.opened.store.reading() as connection:
        contents = current_contents(connection, [doc_id for doc_id, _ in read.pairs])
        n_characters, state = sum(lengths_of(connection, contents.values()).values()), state_of_groups(connection)
    listed = service.later.get(
        _work(query, read, _MAX_FOUND), n_characters, (state, read.pairs), key=("conflicts", field, query.tolerance)
    )
    with service.collection.opened.store.reading() as connection:
        is_sensitive = field.casefold() in SENSITIVE | layout_of(connection).sensitive
        two, families = two_values(connection), families_that_differ(connection, field, _MAX_FAMILIES)
    two.sort(key=lambda two_values_of: two_values_of.field != field)
    shown = replace(listed, conflicts=listed.conflicts[:_MAX_ROWS])
    values = {
        "field": field,
        "fields": fields if field in fields else [field, *fields],
        "found": shown,
        "rows": by_group(shown),
        "n_shown": _MAX_ROWS,
        "n_ids": _MAX_IDS,
        "two_values": two,
        "families": families,
        "facts": list(unlabelled_facts(listed, tag=field)),
        "is_bare": read.is_bare,
        "is_sensitive": is_sensitive,
        "n_tagged": sum(label != f"not {field}" for _, label in read.pairs) if read.is_bare else listed.n_labelled,
        "tag_of": lambda label: tag_of(field, label, is_bare=read.is_bare),
    }
    no_proposal: dict[str, object] = {"majority_label": None, "odd_ids": []} if is_sensitive else {}
    data = listed.to_dict() | {
        "field": field, "is_sensitive": is_sensitive, "families": families, "two_values": two,
        "groups": [row.to_dict() | no_proposal for row in by_group(listed)],
    }  # fmt: skip
    return ScreenAnswer("conflicts.html.j2", values, data)


def conflicts_table(service: ReviewService, query: ConflictsQuery) -> pa.Table:
    """Return a row for each document whose tag is not the majority's in its group."""
    field = query.field or next(iter(tag_fields(service)), None)
    if field is None:
        raise ParameterError(
            "No document has a tag yet, dates aside: dates never conflict, because every version has its own."
        )
    work = _work(query, labels_of_tag(service.collection, field), ALL)
    return table_of_conflicts(work(service.collection.opened), field)


def _work(query: ConflictsQuery, read: LabelsRead, limit: int) -> partial[Conflicts]:
    n_threads = Resources().n_threads
    return partial(find_conflicts, labels=read.pairs, tolerance=query.tolerance, limit=limit, threads=n_threads)


def tag_fields(service: ReviewService) -> list[str]:
    """Return the fields of tags that are labels, the field with the most documents first."""
    n_documents = Counter[str]()
    for count in service.collection.tags().counts:
        n_documents[count.field] += count.n_documents
    with service.collection.opened.store.reading() as connection:
        names = batch_names(connection) | {DATE_TAG}
    return [field for field, n in n_documents.most_common() if n and field not in names]


def by_group(all_conflicts: Conflicts) -> list[GroupConflict]:
    """Gather conflicts by group; groups with the most similar contradicting texts come first."""

    def key(conflict: Conflict) -> tuple[int | None, int | None]:
        return conflict.group, None if conflict.group is not None else conflict.a.content

    rows = list[GroupConflict]()
    for _, of_group in groupby(all_conflicts.conflicts, key):
        members = tuple(of_group)
        odd = Counter(label for _, label in members[0].odd)
        labels = (members[0].majority_label, members[0].n_with_majority_label), *odd.most_common()
        counts = tuple({"label": label, "n_documents": n} for label, n in labels)
        rows.append(GroupConflict(conflicts=members, labels=counts))
    return rows[:-1] if all_conflicts.n_found > len(all_conflicts.conflicts) and len(rows) > 1 else rows


def tag_of(field: str, label: str, *, is_bare: bool) -> tuple[str, bool]:
    """Return the tag of a label, and whether to remove it instead of setting it.

    Examples
    --------
    >>> tag_of("responsive", "no", is_bare=False)
    ('responsive=no', False)
    >>> tag_of("privileged", "not privileged", is_bare=True)
    ('privileged', True)
    """
    if is_bare:
        return field, label != field
    return (field if label == field else f"{field}={label}"), False


FORMS = (
    ChangeForm("/tags", TagForm, set_tag),
    ChangeForm("/group/split", SplitForm, split),
    ChangeForm("/group/unite", UniteForm, unite),
    ChangeForm("/group/principal", PrincipalForm, make_principal),
    ChangeForm("/undo", UndoForm, undo_activity),
)
SCREENS = (Screen("/conflicts", ConflictsQuery, conflicts, conflicts_table),)
