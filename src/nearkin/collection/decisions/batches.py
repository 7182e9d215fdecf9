"""Batches: documents that one reviewer takes and codes; and second looks, calls that are coded again blind."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, and_, literal, select

from nearkin.collection.decisions import log
from nearkin.collection.decisions.coding import NOT_PRIVILEGED, CodingLayout, chosen_values, layout_of, looked
from nearkin.collection.decisions.fields import checked_field
from nearkin.collection.decisions.second_values import family_key, judged, set_values
from nearkin.collection.matching.constraints import Forest
from nearkin.collection.results import columns, table_of
from nearkin.collection.stored.documents import checked_ids, current_contents, refuse_unknown
from nearkin.collection.stored.group_state import NO_GROUP, GroupState, no_groups_text
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError, RefusedError, UnknownDocumentError, check_int
from nearkin.planning.audit import CONFIDENCE, interval_of
from nearkin.store import schema
from nearkin.store.bulk import in_slices
from nearkin.store.schema import documents, origins
from nearkin.store.store import Store
from nearkin.tabular import AnswerRecord

Kept = Literal["families", "groups"]
MAX_SIZE = 100_000
_changes, _tags, _acts = schema.changes.c, schema.tags.c, schema.activity.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(AnswerRecord):
    """Documents that one person at a time codes. They have the tag NAME=NUMBER."""

    computed = ("n_left",)

    name: str
    number: int
    holder: str
    n_documents: int
    n_done: int
    done_by: Mapping[str, int]

    @property
    def n_left(self) -> int:
        """Documents that are not done."""
        return self.n_documents - self.n_done

    @property
    def tag(self) -> str:
        """The tag of its documents, by which its queue is found."""
        return f"{self.name}={self.number}"


def make_batches(
    store: Store,
    doc_ids: Sequence[str],
    name: str,
    size: int,
    *,
    keep: Sequence[Kept] = (),
    tolerance: Tolerance | None = None,
    options: log.ChangeRequest,
) -> log.ActivityResult:
    """Put documents into batches, in their order; those that are in a batch of this name stay there.

    Parameters
    ----------
    keep
        What is never divided: families, groups and identical texts, or both, as far as they are among the documents.
    """
    name, wanted = checked_field(name), checked_ids(doc_ids)
    check_int("size", size, 1, MAX_SIZE)
    with options.opened(store) as connection:
        names = {field.name for field in layout_of(connection).fields} | {log.LOOKS}
        if name in names:
            raise ParameterError.of("name", f"none of {', '.join(sorted(names))}", name)
        contents = current_contents(connection, wanted)
        refuse_unknown(connection, wanted, contents)
        here = set_values(connection, wanted, [name])
        new = [doc_id for doc_id in wanted if (doc_id, name) not in here]
        parts = list(_filled(_units(connection, new, contents, keep, tolerance or Tolerance.of()), size))
        return _stored(connection, name, parts, {}, len(wanted) - len(new), options)


def _stored(
    connection: Connection,
    name: str,
    parts: Sequence[Sequence[str]],
    more: Mapping[str, object],
    n_unchanged: int,
    options: log.ChangeRequest,
) -> log.ActivityResult:
    holders = _holders(connection, name)
    if not holders and connection.execute(select(literal(1)).where(_tags.field == name).limit(1)).first():
        raise ParameterError.of("name", "the name of batches, or of no tag in use", name)
    first = max((number for _, number in holders), default=0) + 1
    numbers = range(first, first + len(parts))
    changes = [
        log.SettingChange(log.TAG, doc_id, name, None, str(number))
        for number, part in zip(numbers, parts, strict=True)
        for doc_id in part
    ]
    data = {"name": name, "number": first, "n_batches": len(parts), "n_documents": len(changes), **more}
    changes += [log.SettingChange(log.BATCH, f"{name}={number}", "", None, "") for number in numbers]
    return log.made(connection, log.BATCH, changes, options, data=data, n_unchanged=n_unchanged)


def _units(
    connection: Connection, doc_ids: Sequence[str], contents: Mapping[str, int], keep: Sequence[Kept], at: Tolerance
) -> list[list[str]]:
    """Return the documents that stay together, in the order of the first of each."""
    keys: list[list[tuple[str, str | int]]] = [[("document", doc_id)] for doc_id in doc_ids]
    if "families" in keep:
        families = dict[str, str]()
        joined = documents.outerjoin(origins, origins.c.row == documents.c.row)
        query = select(documents.c.doc_id, family_key()).select_from(joined).where(documents.c.is_current)
        for block in in_slices(doc_ids):
            families |= dict(connection.execute(query.where(documents.c.doc_id.in_(block))).all())
        for unit_keys, member_id in zip(keys, doc_ids, strict=True):
            unit_keys.append(("family", families[member_id]))
    if "groups" in keep:
        state = GroupState.known(connection, str(at))
        if state.number is None:
            raise ParameterError(no_groups_text(connection, str(at)))
        texts = [contents[doc_id] for doc_id in doc_ids]
        groups = state.membership.group_of(np.array(texts, np.int64)).tolist()
        for unit_keys, text, group in zip(keys, texts, groups, strict=True):
            unit_keys.append(("text", text) if group == NO_GROUP else ("group", group))
    numbers = {key: i for i, key in enumerate(dict.fromkeys(key for unit_keys in keys for key in unit_keys))}
    edges = np.array(
        [(numbers[unit_keys[0]], numbers[key]) for unit_keys in keys for key in unit_keys], np.int64
    ).reshape(-1, 2)
    forest, units = Forest(len(numbers)), dict[int, list[str]]()
    forest.connect(*edges.T)
    nodes = np.array([numbers[key[0]] for key in keys], np.int64)
    for root, doc_id in zip(forest.roots(nodes).tolist(), doc_ids, strict=True):
        units.setdefault(root, []).append(doc_id)
    return list(units.values())


def _filled(units: Sequence[Sequence[str]], size: int) -> Iterator[list[str]]:
    part = list[str]()
    for unit in units:
        if part and len(part) + len(unit) > size:
            yield part
            part = []
        part += unit
    if part:
        yield part


def _holders(connection: Connection, name: str | None = None) -> dict[tuple[str, int], str]:
    holders = dict[tuple[str, int], str]()
    for (_, batch, _), holder, _ in log.current_decisions(connection, _changes.kind == log.BATCH):
        batch_name, _, number = batch.rpartition("=")
        if name in (None, batch_name):
            holders[batch_name, int(number)] = holder
    return dict(sorted(holders.items()))


def holder_of(connection: Connection, batch: str) -> str:
    """Return who holds a batch, which is named by its tag; empty: nobody.

    Raises
    ------
    UnknownDocumentError
        There is no such batch.
    """
    key = log.BATCH, batch, ""
    holder = log.values_of(connection, [key]).get(key)
    if holder is None:
        raise UnknownDocumentError(f"There is no batch {batch}. List them: nearkin batches COLLECTION")
    return holder


def hold(store: Store, batch: str, *, is_out: bool, options: log.ChangeRequest) -> log.ActivityResult:
    """Check a batch, which is named by its tag, out to a person, or in again; who may resolve, also that of others.

    Raises
    ------
    RefusedError
        Somebody else holds the batch, or it has calls of the person to code again.
    UnknownDocumentError
    """
    key = log.BATCH, batch, ""
    with options.opened(store) as connection:
        was, now = holder_of(connection, batch), str(options.by) if is_out else ""
        if was not in ("", options.by) and (is_out or not options.may_resolve):
            raise RefusedError(409, f"{was} has checked out the batch {batch}.")
        if now in {look.of for look in second_looks(connection) if batch == f"{log.LOOKS}={look.number}"}:
            raise RefusedError(409, f"{batch} has calls of {now}: somebody else has to code them again.")
        changes = (log.SettingChange(*key, was, now),) if was != now else ()
        return log.made(connection, log.BATCH, changes, options, n_unchanged=1 - len(changes))


def batch_ids(connection: Connection, batch: str) -> list[str]:
    """Return the current documents of a batch, in the order in which they were put into it."""
    name, _, number = batch.rpartition("=")
    is_own = _changes.is_current & (_changes.kind == log.TAG) & (_changes.other == name) & (_changes.now == number)
    ordered = select(_changes.subject).where(is_own).order_by(_changes.activity, _changes.number)
    doc_ids = list(connection.execute(ordered).scalars())
    current = current_contents(connection, doc_ids)
    return [doc_id for doc_id in doc_ids if doc_id in current]


def batches(connection: Connection, name: str | None = None) -> list[Batch]:
    """List the batches with their progress, on request only those of a name."""
    holders, layout = _holders(connection, name), layout_of(connection)
    names = {batch_name for batch_name, _ in holders}
    n_required = len(layout.required) if any(field.required for field in layout.fields) else 1
    calls = schema.changes.alias("calls")
    is_code = (calls.c.kind == log.TAG) & calls.c.other.in_(layout.required) & (_tags.field != log.LOOKS)
    is_look = (calls.c.kind == log.SECOND_LOOK) & (_tags.field == log.LOOKS) & (calls.c.other == _tags.value)
    is_call = (calls.c.subject == _tags.doc_id) & calls.c.is_current & (is_code | is_look)
    joined = schema.tags.join(documents, and_(documents.c.doc_id == _tags.doc_id, documents.c.is_current))
    joined = joined.outerjoin(calls, is_call).outerjoin(schema.activity, _acts.number == calls.c.activity)
    columns = _tags.field, _tags.value, _tags.doc_id, calls.c.activity, _acts.done_by
    rows = connection.execute(
        select(*columns).select_from(joined).where(_tags.field.in_(names)).order_by(*columns[:3], calls.c.activity)
    )
    sizes, done = Counter[tuple[str, str]](), dict[tuple[str, str], Counter[str]]()
    for key, group in groupby(rows, lambda row: tuple(row[:3])):
        coders = [row.done_by for row in group if row.done_by is not None]
        sizes[key[:2]] += 1
        if len(coders) >= (1 if key[0] == log.LOOKS else n_required):
            done.setdefault(key[:2], Counter())[coders[-1]] += 1
    listed = list[Batch]()
    for (batch_name, number), holder in holders.items():
        done_by = done.get((batch_name, str(number)), Counter())
        listed.append(
            Batch(
                name=batch_name,
                number=number,
                holder=holder,
                n_documents=sizes[batch_name, str(number)],
                n_done=done_by.total(),
                done_by=dict(sorted(done_by.items())),
            )
        )
    return listed


def table_of_batches(listed: Sequence[Batch]) -> pa.Table:
    """Return a row for each batch."""
    rows = [
        batch.to_dict() | {"done_by": "; ".join(f"{by}: {n}" for by, n in batch.done_by.items())} for batch in listed
    ]
    return table_of(rows, *columns("name number holder n_documents n_done n_left done_by"))


# -- second looks ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondLook(AnswerRecord):
    """A random sample of the calls of a person that others code again without seeing them.

    Parameters
    ----------
    n_calls
        Number of documents that the person had coded, and that were in no second look, when the sample was drawn.
    n_coded, n_overturned
        Documents of the sample that were coded again, and those that got another value in a field that is no text.
    """

    number: int
    of: str
    at: str
    seed: int
    n_calls: int
    n_documents: int
    n_coded: int
    n_overturned: int
    by_field: Mapping[str, int]
    rate: float | None
    low: float | None
    high: float | None
    confidence: float = CONFIDENCE


def draw_second_look(store: Store, of: str, size: int, seed: int, options: log.ChangeRequest) -> log.ActivityResult:
    """Draw a random sample of the documents that a person coded, as a batch to code again."""
    check_int("size", size, 1, MAX_SIZE)
    of = log.checked_by(of)
    with options.opened(store) as connection:
        fields = [field.name for field in layout_of(connection).fields]
        is_call = _tags.field.in_(fields) & _acts.kind.in_((log.CODE, log.TAG)) & (_acts.done_by == of)
        calls = select(_tags.doc_id).distinct().join_from(schema.tags, schema.activity, _acts.number == _tags.activity)
        doc_ids = sorted(connection.execute(calls.where(is_call)).scalars())
        current = current_contents(connection, doc_ids)
        drawn = set_values(connection, doc_ids, [log.LOOKS])
        left = [doc_id for doc_id in doc_ids if doc_id in current and (doc_id, log.LOOKS) not in drawn]
        if not left:
            raise ParameterError.of("of", "a person who coded documents that are in no second look", of)
        sample = random.Random(seed).sample(left, min(size, len(left)))
        return _stored(connection, log.LOOKS, [sample], {"of": of, "seed": seed, "n_calls": len(left)}, 0, options)


def code_again(
    store: Store, doc_id: str, chosen: Mapping[str, Sequence[str]], number: str, options: log.ChangeRequest
) -> log.ActivityResult:
    """Store a blind call: where it differs, the first value stays, and the field has two until one is chosen."""
    with options.opened(store) as connection:
        if doc_id not in batch_ids(connection, f"{log.LOOKS}={number}"):
            raise ParameterError.of("id", f"a document of the second look {number}", doc_id)
        stored = layout_of(connection).fields
        layout = CodingLayout(tuple(field for field in stored if field.kind != "text"))
        firsts = set_values(connection, [doc_id], [field.name for field in stored])
        if options.by in {first.by for first in firsts.values()}:
            raise RefusedError(409, f"{doc_id} has calls of your own: somebody else has to code it again.")
        texts = {field.name for field in stored if field.kind == "text"}
        values = chosen_values(layout, {field: given for field, given in chosen.items() if field not in texts}, {})
        was = {field: firsts[doc_id, field].value if (doc_id, field) in firsts else None for field in values}
        blank = {field: NOT_PRIVILEGED for field in values if field.casefold() in layout.sensitive}  # see `code`
        pairs = {field: (value or blank.get(field), was[field] or blank.get(field)) for field, value in values.items()}
        overturned = "; ".join(field for field, (again, first) in pairs.items() if again != first)
        wanted = {(doc_id, field): value for field, value in values.items()}
        changes, agreements = judged(connection, wanted, options, is_blind=True)
        before = looked(connection, number).get(doc_id)
        if before != overturned:
            changes.append(log.SettingChange(log.SECOND_LOOK, doc_id, number, before, overturned))
        given = {field: value for field, value in values.items() if value is not None}
        data: Mapping[str, Any] = {"values": given, "second_look": int(number)}
        n_unchanged = int(not changes)
        return log.made(
            connection, log.CODE, changes, options, data=data, n_unchanged=n_unchanged, agreements=agreements
        )


def second_looks(connection: Connection) -> list[SecondLook]:
    """Return the rate of overturned calls of each second look."""
    looks, kept = dict[int, SecondLook](), _holders(connection, log.LOOKS)
    made = select(_acts.done_at, _acts.data).where(_acts.kind == log.BATCH).order_by(_acts.number)
    for at, data in connection.execute(made):
        draw: Mapping[str, Any] = json.loads(data)
        if (number := draw.get("number")) is None or (draw["name"], number) not in kept:
            continue
        again = looked(connection, str(number))
        overturned = [value for value in again.values() if value]
        rate, low, high = _rate(len(overturned), len(again), draw["n_calls"])
        looks[number] = SecondLook(  # a number that was undone is used again
            number=number,
            of=draw["of"],
            at=at,
            seed=draw["seed"],
            n_calls=draw["n_calls"],
            n_documents=draw["n_documents"],
            n_coded=len(again),
            n_overturned=len(overturned),
            by_field=dict(sorted(Counter(field for value in overturned for field in value.split("; ")).items())),
            rate=rate,
            low=low,
            high=high,
        )
    return list(looks.values())


def _rate(n_overturned: int, n_coded: int, n_calls: int) -> tuple[float | None, float | None, float | None]:
    if not n_coded:
        return None, None, None
    rate = n_overturned / n_coded
    return (rate, rate, rate) if n_coded == n_calls else (rate, *interval_of(rate, n_coded))
