"""Values of two people for one field of a document: both stay until somebody with the right chooses one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, case, func, select

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
    """A field of a document that two people set to different values; the first one counts until one is chosen."""

    doc_id: str
    field: str
    first: SetValue | None
    second: SetValue


def set_values(
    connection: Connection, kind: str, doc_ids: Sequence[str], fields: Collection[str]
) -> dict[tuple[str, str], SetValue]:
    """Return the current values of a kind by document and field."""
    values = dict[tuple[str, str], SetValue]()
    is_own = _changes.is_current & (_changes.kind == kind) & _changes.other.in_(fields)
    for block in in_slices(doc_ids):
        for row in connection.execute(_settings(is_own & _changes.subject.in_(block))):
            values[row.subject, row.other] = _value(row)
    return values


def _settings(condition: ColumnElement[bool]) -> Select[Any]:
    """Return a query for values with their authors: a value that an undo restored belongs to who had set it."""
    earlier, its_activity, author = schema.changes.alias(), schema.activity.alias(), schema.activity.alias()
    is_of_kind = earlier.c.kind == _changes.kind
    is_source = and_(
        *(earlier.c[name] == _changes[name] for name in ("subject", "other", "now")),
        earlier.c.kind.in_(log.VALUES),
        its_activity.c.kind != "undo",
        # a second value that became the first one was set after what was undone
        earlier.c.activity < case((is_of_kind, _acts.undoes), else_=_acts.number),
    )
    of_kind, of_other = func.max(case((is_of_kind, earlier.c.activity))), func.max(earlier.c.activity)
    source = select(func.coalesce(of_kind, of_other)).where(its_activity.c.number == earlier.c.activity, is_source)
    of_undo = source.correlate(schema.changes, schema.activity).scalar_subquery()
    set_in = case((_acts.kind == "undo", func.coalesce(of_undo, _acts.number)), else_=_acts.number)
    columns = _changes.subject, _changes.other, _changes.now, author.c.done_by, author.c.done_at
    joined = schema.changes.join(schema.activity).join(author, author.c.number == set_in)
    return select(*columns).select_from(joined).where(condition)


def _value(row: Row[Any]) -> SetValue:
    return SetValue(value=row.now, by=row.done_by, at=row.done_at)


def judged(
    connection: Connection,
    wanted: Mapping[tuple[str, str], str | None],
    options: log.ChangeRequest,
    *,
    is_blind: bool = False,
) -> list[log.SettingChange]:
    """Return the changes that set tags, in which no value of another person is replaced without the right to.

    A different value is then kept as a second one.

    Parameters
    ----------
    wanted
        Values by document and field.
    is_blind
        Whether the caller knows no values: a third one is left out, not refused.

    Raises
    ------
    ParameterError
        A field is the name of batches, which no tag changes.
    RefusedError
        Two other people set different values, or somebody else has checked out a document.
    """
    doc_ids, fields = list(dict.fromkeys(item for item, _ in wanted)), {field for _, field in wanted}
    if reserved := fields & log.batch_names(connection):
        raise ParameterError.of("field", "no name of batches", ", ".join(sorted(reserved)))
    if not (options.may_resolve or is_blind):
        refuse_held(connection, doc_ids, str(options.by))
    firsts = set_values(connection, log.TAG, doc_ids, fields)
    seconds = set_values(connection, log.SECOND, doc_ids, fields)
    changes = list[log.SettingChange]()
    for key, now in wanted.items():
        first, second = firsts.get(key), seconds.get(key)
        was, other = (None if item is None else item.value for item in (first, second))
        may_replace = options.may_resolve and not is_blind
        if may_replace or (first is None and not is_blind) or (first and first.by == options.by):
            if was != now:
                changes.append(log.SettingChange(log.TAG, *key, was, now))
            is_own = second is not None and second.by == options.by
            after = None if may_replace or is_own or other == (now or "") else other
        elif was == now:
            after = None if second and second.by == options.by else other
        else:
            after = other if second and second.by != options.by else now or ""
            if after != (now or "") and not is_blind and first and second:
                raise RefusedError(
                    409,
                    f"{key[1]} of {key[0]} has two values: {was or 'none'} of {first.by}, {other or 'none'} of "
                    f"{second.by}. An admin chooses one on the page Conflicts.",
                )
        if after != other:
            changes.append(log.SettingChange(log.SECOND, *key, other, after))
    return changes


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


def two_values(connection: Connection, limit: int | None = None, *, of: str | None = None) -> list[TwoValues]:
    """List the fields of current documents with two values, on request only of one, in order of ids."""
    is_here = select(documents.c.doc_id).where(documents.c.is_current)
    is_own = _changes.is_current & (_changes.kind == log.SECOND) & _changes.subject.in_(is_here)
    if of is not None:
        is_own &= _changes.subject == of
    query = _settings(is_own).order_by(by_bytes(connection, _changes.subject), by_bytes(connection, _changes.other))
    rows = connection.execute(query.limit(limit)).all()
    firsts = set_values(connection, log.TAG, [row.subject for row in rows], {row.other for row in rows})
    return [
        TwoValues(doc_id=row.subject, field=row.other, first=firsts.get((row.subject, row.other)), second=_value(row))
        for row in rows
    ]


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
