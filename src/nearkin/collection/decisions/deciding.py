"""Decisions on documents and groups: tags, pairs, principals and notes, and their undo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, func, select

from nearkin.collection.decisions import log
from nearkin.collection.decisions.coding import refuse_releasing
from nearkin.collection.decisions.contradictions import refuse_contradicting
from nearkin.collection.decisions.fields import checked_field, checked_value
from nearkin.collection.decisions.principals import chosen_principals
from nearkin.collection.decisions.second_values import judged, refuse_held, undoing
from nearkin.collection.results import columns
from nearkin.collection.stored.documents import checked_ids, current_ids, current_rows, document, refuse_unknown
from nearkin.collection.stored.group_state import NO_GROUP, GroupState, no_groups_text, stored_tolerances
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError, UnknownDocumentError
from nearkin.store import schema
from nearkin.store.bulk import in_slices, is_storable
from nearkin.store.store import Store
from nearkin.tabular import AnswerRecord

_MAX_OF_A_NOTE = 2_000


def decide(
    store: Store, given: Mapping[str, Any], tolerance: Tolerance, options: log.ChangeRequest
) -> log.ActivityResult:
    """Store the one decision or note that is ``given`` by its kind; see `Collection.decide`."""
    kinds = [kind for kind, value in given.items() if value is not None]
    if len(kinds) != 1:
        *others, last = (kind.replace("-", "_") for kind in given)
        raise ParameterError(f"Give one decision: {', '.join(others)} or {last}.")
    kind, value, data = kinds[0], given[kinds[0]], dict[str, object]()
    with options.opened(store) as connection:
        if kind == log.PRINCIPAL:
            wanted = _of_principal(connection, document(connection, value).doc_id)
        elif kind == log.NOTE:
            _check_pair(kind, value, "an id and a text")
            document(connection, value[0])
            wanted = log.SettingChange(kind, value[0], "", None, _checked_note(value[1]))
        elif kind == log.GROUP_NOTE:
            _check_pair(kind, value, "a group and a text")
            members_of(connection, value[0], str(tolerance))
            wanted = log.SettingChange(kind, str(tolerance), str(value[0]), None, _checked_note(value[1]))
        else:
            wanted = _of_pair(connection, kind, value)
            if kind != log.SPLIT_OFF and value[0] != wanted.subject:
                data[log.FIRST] = value[0]  # ids are stored in their order, and told as they were given
        was = log.values_of(connection, [wanted.key]).get(wanted.key)
        changes = (log.SettingChange(*wanted.key, was, wanted.now),) if was != wanted.now else ()
        if options.seen is not None and changes:
            of_groups = (log.NEVER_GROUP, log.SAME_GROUP, log.PRINCIPAL)
            replaced = of_groups if wanted.kind in of_groups else (wanted.kind,)
            log.refuse_later(connection, options.seen, replaced, sorted(_concerned(connection, wanted)))
        refuse_contradicting(connection, changes)
        return log.made(connection, kind, changes, options, data=data, n_unchanged=1 - len(changes))


def _concerned(connection: Connection, wanted: log.SettingChange) -> set[str]:
    """Return the documents whose decisions a decision may replace: of a principal, all members of its groups."""
    if wanted.kind != log.PRINCIPAL:
        is_split_off = wanted.kind == log.NEVER_GROUP and wanted.now
        return {str(wanted.now)} if is_split_off else {wanted.subject, wanted.other} - {""}
    concerned, content = {wanted.subject}, np.array([document(connection, wanted.subject).content])
    for tolerance in stored_tolerances(connection):
        state = GroupState.known(connection, tolerance)
        number = int(state.membership.group_of(content)[0])
        if number != NO_GROUP:
            rows = current_rows(connection, schema.documents.c.content, state.contents_of(number))
            concerned |= {row.doc_id for row in rows}
    return concerned


def _of_principal(connection: Connection, doc_id: str) -> log.SettingChange:
    """Return the choice of a principal. Its value is a number: of two principals in one group, the higher counts."""
    chosen = chosen_principals(connection)
    highest = max(chosen.values(), default=0)
    value = highest if doc_id in chosen and chosen[doc_id] == highest else log.next_number(connection)
    return log.SettingChange(log.PRINCIPAL, doc_id, "", None, str(value))


def _of_pair(connection: Connection, kind: str, pair: object) -> log.SettingChange:
    if not isinstance(pair, tuple | list) or len(pair) != 2 or pair[0] == pair[1]:
        raise ParameterError.of(kind.replace("-", "_"), "two different ids", pair)
    first, second = sorted(document(connection, doc_id).doc_id for doc_id in pair)
    if kind == log.SPLIT_OFF:
        return log.SettingChange(log.NEVER_GROUP, first, second, None, pair[0])
    return log.SettingChange(kind, first, second, None, "")


def _check_pair(kind: str, value: object, rule: str) -> None:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise ParameterError.of(kind.replace("-", "_"), rule, value)


def _checked_note(text: object) -> str | None:
    """Return a note; None for an empty one, which removes the current note."""
    if not isinstance(text, str) or not is_storable(text) or len(text) > _MAX_OF_A_NOTE:
        raise ParameterError.of("note", f"a text of at most {_MAX_OF_A_NOTE:,} characters", text)
    return text.strip() or None


_NOT_UNDONE = {
    log.PURGE: "erased texts. It cannot be undone",
    log.REMOVE: "removed documents. It cannot be undone. To print a text: nearkin show --version N --text-only",
    log.STORE: "stored documents. It cannot be undone. Remove them with nearkin remove",
}


def undo(store: Store, number: int, options: log.ChangeRequest) -> log.ActivityResult:
    """Undo an activity; see `Collection.undo`."""
    table = schema.activity
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 2**63:
        raise ParameterError.of("number", "the number of an activity", number)
    with options.opened(store) as connection:
        row = connection.execute(select(table).where(table.c.number == number)).first()
        if row is None:
            last = connection.execute(select(func.max(table.c.number))).scalar() or 0
            raise ParameterError(
                f"There is no activity {number}; the last one is {last}. List them: nearkin log COLLECTION"
            )
        kind = row.kind
        if kind in _NOT_UNDONE:
            raise ParameterError(f"Activity {number} {_NOT_UNDONE[kind]}.")
        made = log.changes_of(connection, [number])[number]
        _refuse_changed(connection, number, made)
        if not options.may_resolve:
            refuse_held(connection, [change.subject for change in made if change.kind == log.TAG], str(options.by))
        changes = undoing(connection, made)
        refuse_contradicting(connection, changes)
        data: dict[str, object] = {"activity": number, "kind": kind}
        return log.made(connection, "undo", changes, options, data=data, undoes=number)


def _refuse_changed(connection: Connection, number: int, made: Sequence[log.SettingChange]) -> None:
    """Refuse to undo an activity if a later one, which is not undone itself, changed the same value."""
    table, keys, undoes = schema.changes.c, {change.key for change in made}, _undos(connection)
    by = log.undone(undoes)
    for block in in_slices(sorted({change.subject for change in made})):
        is_later = table.subject.in_(block) & (table.activity > number)
        for later, *key, _, _ in connection.execute(log.made_changes().where(is_later)):
            if tuple(key) not in keys or later in by or undoes.get(later, 0) > number:
                continue
            if undoes.get(later) == number:
                raise ParameterError(
                    f"Activity {number} was undone by activity {later}. To do it again: nearkin undo COLLECTION {later}"
                )
            raise ParameterError(
                f"Activity {number} cannot be undone: activity {later} changed {key[1]!r} afterwards. Undo activity "
                f"{later} first."
            )


def _undos(connection: Connection) -> dict[int, int]:
    table = schema.activity
    query = select(table.c.number, table.c.undoes).where(table.c.undoes.is_not(None))
    return dict(connection.execute(query).all())


_MAX_NAMED = 10
TAGS_SCHEMA = pa.schema(columns("doc_id field value activity at by", nullable=False))
"""Columns of tags: an empty value is a bare tag; ``activity`` set it, ``at`` a time in UTC."""


@dataclass(frozen=True, slots=True)
class TagCount:
    """Number of current documents with a tag.

    Parameters
    ----------
    value
        Empty for a bare tag.
    n_removed
        Number of removed documents with it; adding them again brings the tag back.
    """

    field: str
    value: str
    n_documents: int
    n_removed: int


@dataclass(frozen=True, slots=True)
class Tags(AnswerRecord):
    """Current tags of a collection.

    Parameters
    ----------
    counts
        In order of fields and values.
    documents : Table
        Table with `TAGS_SCHEMA`: each tag of each current document.
    """

    hidden = ("counts",)
    computed = ("tags=counts",)

    counts: tuple[TagCount, ...]
    documents: pa.Table


def tag(
    store: Store,
    doc_ids: Sequence[str],
    field: str,
    value: str | None,
    *,
    group: int | None,
    tolerance: Tolerance,
    options: log.ChangeRequest,
) -> log.ActivityResult:
    """Set a field of documents to a value, or remove it if the value is None; see `Collection.tag`."""
    field = checked_field(field)
    value = None if value is None else checked_value(value)
    kind = "untag" if value is None else "tag"
    wanted = checked_ids(doc_ids)
    if bool(wanted) == (group is not None):
        raise ParameterError(f"Give either a list of documents to {kind} or a group.")
    data: dict[str, object] = {"field": field}
    if value is not None:
        data["value"] = value
    with options.opened(store) as connection:
        if group is not None:
            refuse_releasing(connection, field, value)
            data |= {"group": group, "tolerance": str(tolerance)}
            wanted = members_of(connection, group, str(tolerance))
        else:
            known = current_ids(connection, wanted)
            if value is None:  # a removed document may have it, too
                known |= {
                    doc_id
                    for _, doc_id, _ in log.values_of(connection, [(log.TAG, subject, field) for subject in wanted])
                }
            refuse_unknown(connection, wanted, known)
        return _set(connection, kind, dict.fromkeys(wanted, value), data, options)


def tag_values(store: Store, values: Mapping[str, str], field: str, options: log.ChangeRequest) -> log.ActivityResult:
    """Set a field to a different value for each document; see `Collection.tag_values`."""
    field = checked_field(field)
    if not isinstance(values, Mapping) or not values:
        raise ParameterError.of("values", "a mapping of ids of documents to values, not empty", values)
    checked: dict[str, str | None] = {doc_id: checked_value(value) for doc_id, value in values.items()}
    wanted = checked_ids(list(checked))
    data: dict[str, object] = {"field": field, "n_values": len(set(checked.values()))}
    with options.opened(store) as connection:
        refuse_unknown(connection, wanted, current_ids(connection, wanted))
        return _set(connection, "tag", checked, data, options)


def _set(
    connection: Connection,
    kind: str,
    values: Mapping[str, str | None],
    data: Mapping[str, object],
    options: log.ChangeRequest,
) -> log.ActivityResult:
    field = str(data["field"])
    wanted = {(doc_id, field): value for doc_id, value in values.items()}
    changes, agreements = judged(connection, wanted, options, chooses=True)
    n_unchanged = len(values) - len({change.subject for change in changes})
    return log.made(connection, kind, changes, options, data=data, n_unchanged=n_unchanged, agreements=agreements)


def tags(store: Store) -> Tags:
    """Count the tags, and list those of current documents; see `Collection.tags`."""
    with store.reading() as connection:
        rows = list(log.current_tags(connection))
        current = current_ids(connection, [doc_id for doc_id, _, _, _ in rows])
        table = schema.activity
        acted = {row[0]: row for row in connection.execute(select(table))}
    here, removed = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for doc_id, field, value, _ in rows:
        (here if doc_id in current else removed)[field, value] += 1
    counts = [TagCount(*tag_field, here[tag_field], removed[tag_field]) for tag_field in sorted({*here, *removed})]
    listed = [(*row, acted[row[3]][1], acted[row[3]][2]) for row in rows if row[0] in current]
    columns = list(zip(*listed, strict=True)) or [()] * len(TAGS_SCHEMA)
    arrays = [pa.array(column, tag_field.type) for column, tag_field in zip(columns, TAGS_SCHEMA)]
    return Tags(tuple(counts), pa.Table.from_arrays(arrays, schema=TAGS_SCHEMA))


def tags_as_labels(connection: Connection, field: str) -> list[tuple[str, str]]:
    """Return the ids of current documents with a field, and its values, in order of values and ids."""
    rows = list(log.current_tags(connection, schema.tags.c.field == checked_field(field)))
    current = current_ids(connection, [doc_id for doc_id, _, _, _ in rows])
    return [(doc_id, value) for doc_id, _, value, _ in rows if doc_id in current]


def tags_of(connection: Connection, doc_ids: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the values of tags by id and field; ids without tags are omitted."""
    by_doc_id = dict[str, dict[str, str]]()
    for block in in_slices([doc_id for doc_id in doc_ids if is_storable(doc_id)]):
        for doc_id, field, value, _ in log.current_tags(connection, schema.tags.c.doc_id.in_(block)):
            by_doc_id.setdefault(doc_id, {})[field] = value
    return by_doc_id


def members_of(connection: Connection, group: int, tolerance: str) -> list[str]:
    """Return the ids of the current documents of a stored group, in order of rows."""
    if not isinstance(group, int) or isinstance(group, bool) or not 0 < group < 2**63:
        raise ParameterError.of("group", "the number of a group", group)
    state = GroupState.known(connection, tolerance)
    rows = current_rows(connection, schema.documents.c.content, state.contents_of(group))
    if not rows:
        nothing = no_groups_text(connection, tolerance) if state.number is None else ""
        raise UnknownDocumentError(nothing or f"There is no group {group} at {tolerance}.")
    return [row.doc_id for row in rows]
