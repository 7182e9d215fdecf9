"""Calls of several people for one field of a document: all stay, and values that differ until somebody chooses one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, select

from nearkin.collection.decisions import log
from nearkin.errors import ParameterError, RefusedError
from nearkin.store import schema
from nearkin.store.bulk import by_bytes, in_slices
from nearkin.store.schema import documents, origins
from nearkin.tabular import AnswerRecord

_changes, _acts = schema.changes.c, schema.activity.c


@dataclass(frozen=True, slots=True, kw_only=True)
class SetValue(AnswerRecord):
    """A value of a field, and who set it when (UTC, ISO 8601); empty: the person took the value away."""

    value: str
    by: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoValues(AnswerRecord):
    """A field of a document that two people set to different values; the first one counts until one is chosen.

    The value of a bare tag is the name of its field.
    """

    doc_id: str
    field: str
    first: SetValue | None
    second: SetValue


def set_values(
    connection: Connection, doc_ids: Sequence[str], fields: Collection[str]
) -> dict[tuple[str, str], SetValue]:
    """Return the values of tags by document and field."""
    values = dict[tuple[str, str], SetValue]()
    is_own = _changes.is_current & (_changes.kind == log.TAG) & _changes.other.in_(fields)
    for block in in_slices(doc_ids):
        for row in connection.execute(_settings(is_own & _changes.subject.in_(block))):
            values[row.subject, row.other] = SetValue(value=row.now, by=row.done_by, at=row.done_at)
    return values


def _second_values(connection: Connection, doc_ids: Sequence[str]) -> dict[tuple[str, str], dict[str, str]]:
    """Return what others called beside the first values, by document and field and by person, in the order of calls."""
    values = dict[tuple[str, str], dict[str, str]]()
    query = select(_changes.subject, _changes.other, _changes.now).where(_changes.is_current)
    query = query.where(_changes.kind == log.SECOND).order_by(_changes.activity, _changes.number)
    for block in in_slices(doc_ids):
        for doc_id, other, value in connection.execute(query.where(_changes.subject.in_(block))):
            field, _, person = other.partition("=")
            values.setdefault((doc_id, field), {})[person] = value
    return values


def undoing(connection: Connection, made: Sequence[log.SettingChange]) -> list[log.SettingChange]:
    """Return the changes that undo others; where no value is left, that of a second person becomes the value."""
    own = {change.key for change in made}
    emptied = [change.subject for change in made if change.kind == log.TAG and change.was is None]
    seconds, changes = _second_values(connection, emptied), list[log.SettingChange]()
    for change in made:
        calls = seconds.get((change.subject, change.other), {}) if change.kind == log.TAG and change.was is None else {}
        keys = {(log.SECOND, change.subject, f"{change.other}={person}"): value for person, value in calls.items()}
        left = [(key, value) for key, value in keys.items() if key not in own and value != log.TAKEN_AWAY]
        changes.append(log.SettingChange(*change.key, change.now, left[0][1] if left else change.was))
        changes += [log.SettingChange(*key, value, None) for key, value in left[:1]]
    return changes


def _is_of_field(other: Any, field: Any) -> ColumnElement[bool]:
    """Whether the name of a second value is that of a field."""
    is_of_field: ColumnElement[bool] = func.substr(other, 1, func.length(field) + 1) == field + "="
    return is_of_field


def _settings(condition: ColumnElement[bool]) -> Select[Any]:
    """Return a query for values with their authors: a value that an undo restored belongs to who had set it."""
    earlier, its_activity, author = schema.changes.alias(), schema.activity.alias(), schema.activity.alias()
    ended = schema.changes.alias()  # the second value that an undo made the first one, in the next row: see `undoing`
    is_ended = and_(
        *(ended.c.activity == _changes.activity, ended.c.number == _changes.number + 1, _acts.kind == "undo"),
        *(_changes.kind == log.TAG, ended.c.kind == log.SECOND, ended.c.subject == _changes.subject),
        *(_is_of_field(ended.c.other, _changes.other), ended.c.now.is_(None)),
    )
    is_source = and_(
        *(earlier.c[name] == _changes[name] for name in ("subject", "now")),
        *(earlier.c[name] == func.coalesce(ended.c[name], _changes[name]) for name in ("kind", "other")),
        earlier.c.activity < func.coalesce(ended.c.activity, _acts.undoes),
        its_activity.c.kind != "undo",
    )
    source = select(func.max(earlier.c.activity)).where(its_activity.c.number == earlier.c.activity, is_source)
    of_undo = source.correlate(schema.changes, schema.activity, ended).scalar_subquery()
    set_in = case((_acts.kind == "undo", func.coalesce(of_undo, _acts.number)), else_=_acts.number)
    columns = _changes.subject, _changes.other, _changes.now, author.c.done_by, author.c.done_at
    joined = schema.changes.join(schema.activity).outerjoin(ended, is_ended)
    return select(*columns).select_from(joined.join(author, author.c.number == set_in)).where(condition)


def judged(
    connection: Connection,
    wanted: Mapping[tuple[str, str], str | None],
    options: log.ChangeRequest,
    *,
    is_blind: bool = False,
    chooses: bool = False,
) -> tuple[list[log.SettingChange], list[log.SettingChange]]:
    """Return the changes that the calls of a person make, and those that only agree with what counts already.

    The value of another person is replaced only with the right to; otherwise the call is kept beside it, also if it is
    the same, so that neither of both can take back what the other one called.

    Parameters
    ----------
    is_blind
        Whether the caller knows no values: none becomes the first one.
    chooses
        Whether somebody with the right also ends different values of others with a value that counts already.

    Raises
    ------
    ChangedMeanwhileError
        A value other than the wanted one was set after what the caller has seen.
    ParameterError
        A field is the name of batches, which no tag changes.
    RefusedError
        Somebody else has checked out a document.
    """
    doc_ids, fields = list(dict.fromkeys(item for item, _ in wanted)), {field for _, field in wanted}
    by = str(options.by)
    if reserved := fields & log.batch_names(connection):
        raise ParameterError.of("field", "no name of batches", ", ".join(sorted(reserved)))
    if not (options.may_resolve or is_blind):
        refuse_held(connection, doc_ids, by)
    firsts, seconds = set_values(connection, doc_ids, fields), _second_values(connection, doc_ids)
    changes, agreements = list[log.SettingChange](), list[log.SettingChange]()
    for (doc_id, field), now in wanted.items():
        first, calls = firsts.get((doc_id, field)), seconds.get((doc_id, field), {})
        was, may_replace = None if first is None else first.value, options.may_resolve and not is_blind
        is_own = first.by == by if first else not is_blind
        if was != now and (is_own or may_replace):
            changes.append(log.SettingChange(log.TAG, doc_id, field, was, now))
            is_own = True
        beside = log.TAKEN_AWAY if now is None and was is not None else now
        after = {person: value for person, value in calls.items() if person != by} | {by: None if is_own else beside}
        if may_replace and (was != now or chooses):
            after = {person: value if value == now else None for person, value in after.items()}
        for person, value in after.items():
            if calls.get(person) != value:
                change = log.SettingChange(log.SECOND, doc_id, f"{field}={person}", calls.get(person), value)
                (agreements if person == by and value in (None, was) else changes).append(change)
    replaced = sorted({change.subject for change in changes})
    names = {name for change in changes for name in (change.other, change.other.partition("=")[0])}
    log.refuse_later(connection, options.seen, log.VALUES, replaced, sorted(names))
    return changes, agreements


def refuse_held(connection: Connection, doc_ids: Sequence[str], by: str) -> None:
    """Refuse documents in a batch that somebody else holds, unless the person holds another one with them."""
    is_held = (schema.changes.c.kind == log.BATCH) & (schema.changes.c.now != "")
    holders = {key[1]: holder for key, holder, _ in log.current_decisions(connection, is_held)}
    names = {batch.rpartition("=")[0] for batch in holders} - {log.LOOKS}
    for block in in_slices(doc_ids if names else []):
        found = dict[str, dict[str, str]]()
        is_own = schema.tags.c.field.in_(names) & schema.tags.c.doc_id.in_(block)
        for doc_id, field, number, _ in log.current_tags(connection, is_own):
            if (batch := f"{field}={number}") in holders:
                found.setdefault(doc_id, {})[holders[batch]] = batch
        for doc_id, batch_of in found.items():
            if by not in batch_of:
                holder, batch = next(iter(batch_of.items()))
                raise RefusedError(409, f"{holder} has checked out the batch {batch}, in which {doc_id} is.")


def two_values(
    connection: Connection, limit: int | None = None, *, of: Collection[str] | None = None
) -> list[TwoValues]:
    """List the fields of current documents with different values, on request only of some, in order of ids."""
    first = schema.changes.alias("first")
    is_first = (first.c.kind == log.TAG) & first.c.is_current & (first.c.subject == _changes.subject)
    value = select(first.c.now).where(is_first, _is_of_field(_changes.other, first.c.other))
    value_that_counts = func.coalesce(value.correlate(schema.changes).scalar_subquery(), log.TAKEN_AWAY)
    is_here = _changes.subject.in_(select(documents.c.doc_id).where(documents.c.is_current) if of is None else of)
    is_own = _changes.is_current & (_changes.kind == log.SECOND) & is_here & (_changes.now != value_that_counts)
    query = _settings(is_own).order_by(by_bytes(connection, _changes.subject), by_bytes(connection, _changes.other))
    rows = connection.execute(query.limit(limit)).all()
    fields = {row.other.partition("=")[0] for row in rows}
    firsts, listed = set_values(connection, [row.subject for row in rows], fields), list[TwoValues]()
    for row in rows:
        field, _, person = row.other.partition("=")
        counts = firsts.get((row.subject, field))
        value_of_second = "" if row.now == log.TAKEN_AWAY else row.now or field
        listed.append(
            TwoValues(
                doc_id=row.subject,
                field=field,
                first=None if counts is None else replace(counts, value=counts.value or field),
                second=SetValue(value=value_of_second, by=person, at=row.done_at),
            )
        )
    return listed


def family_key() -> ColumnElement[str]:
    """Return what documents of a family share, of documents joined with their origins; their id if they have none."""
    parent = case((origins.c.extractor.is_(None), origins.c.parent))  # a record of a load file names its parent
    return func.coalesce(origins.c.family, parent, documents.c.doc_id)


def families_that_differ(connection: Connection, field: str, limit: int) -> dict[str, dict[str, str]]:
    """Return, by family, the values of a field by document, of families whose tagged parts differ."""
    joined = documents.outerjoin(origins, origins.c.row == documents.c.row)
    joined = joined.join(schema.tags, schema.tags.c.doc_id == documents.c.doc_id)
    key, is_own = family_key().label("family"), documents.c.is_current & (schema.tags.c.field == field)
    rows = select(key, documents.c.doc_id, schema.tags.c.value).select_from(joined).where(is_own).subquery()
    differ = select(rows.c.family).group_by(rows.c.family).having(func.count(rows.c.value.distinct()) > 1)
    chosen = differ.order_by(by_bytes(connection, rows.c.family)).limit(limit)
    values = dict[str, dict[str, str]]()
    ordered = (
        select(rows).where(rows.c.family.in_(chosen)).order_by(*(by_bytes(connection, column) for column in rows.c[:2]))
    )
    for family, doc_id, value in connection.execute(ordered):
        values.setdefault(family, {})[doc_id] = value
    return values
