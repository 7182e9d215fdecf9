"""Coding: the fields that reviewers set for every document, the calls themselves, and how much of a queue is done."""

from __future__ import annotations

import hashlib
import string
import tomllib
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain, repeat, takewhile
from typing import Literal

import msgspec
from sqlalchemy import Connection, func, select

from nearkin.collection.decisions import log
from nearkin.collection.decisions.fields import BETWEEN_VALUES, checked_field, checked_value
from nearkin.collection.decisions.second_values import judged
from nearkin.collection.stored.documents import checked_ids, current_ids, refuse_unknown
from nearkin.errors import ParameterError
from nearkin.store import schema
from nearkin.store.bulk import in_slices
from nearkin.store.store import Store

FieldKind = Literal["one", "several", "yes-no", "text"]
Colour = Literal["grey", "green", "red", "blue"]
SENSITIVE = frozenset(("privileged", "privilege"))
"""Fields of tags whose conflicts people resolve document by document, besides those of a layout."""
NOT_PRIVILEGED = "no"
"""Value of a sensitive field that withholds nothing."""
MAX_FIELDS, _MAX_VALUES = 20, 30
_LAYOUT_KEY = (log.CODING, "", "")
_FREE_KEYS = "".join(one for one in string.digits[1:] + "0" + string.ascii_lowercase if one not in "gjk")
"""Keys that a layout can use; the screen moves by the others. Values without a key get the first free digit."""


class CodingField(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field that reviewers set for every document; its values are tags.

    Parameters
    ----------
    name : str
        Field of the tag.
    kind : {"one", "several", "yes-no", "text"}
        Number of its values; "text" takes one line.
    values : tuple of str
        Values to choose from, in order; none for "yes-no" and "text".
    keys : tuple of str
        A digit or small letter for each value; of "text", one that moves to the field. By default the digits from 1
        on, in the order of all values.
    colours : tuple of {"grey", "green", "red", "blue"}
        A colour for each value, or none.
    required : bool
        Whether a document without a value is not done.
    sensitive : bool
        Whether copies, a family or a group keep their values and never get "no", and a conflict gets no proposal.
    """

    name: str
    kind: FieldKind = "one"
    values: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    colours: tuple[Colour, ...] = ()
    required: bool = False
    sensitive: bool = False

    def choices(self, tag: str | None = None) -> list[tuple[str, str, str]]:
        """Return the values, those of a tag that the layout does not have behind them, with key and colour, if any."""
        fixed = zip(self.values, chain(self.keys, repeat("")), chain(self.colours, repeat("")), strict=False)
        return [*fixed, *((value, "", "") for value in self.chosen(tag) if value not in self.values)]

    def in_value(self, chosen: Sequence[str], stored: Collection[str | None] = ()) -> str | None:
        """Return the value of the tag for what was chosen or written; None for nothing.

        Raises
        ------
        ParameterError
            Neither the field nor a ``stored`` tag has such a value, or it takes one and several were chosen.
        """
        chosen = [choice.strip() for choice in chosen if choice.strip()]
        if self.kind != "text":
            known = [*self.values, *dict.fromkeys(choice for tag in stored for choice in self.chosen(tag))]
            wrong = [choice for choice in chosen if choice not in known]
            if wrong or (len(chosen) > 1 and self.kind != "several"):
                number = "some" if self.kind == "several" else "one"
                raise ParameterError.of(self.name, f"{number} of {', '.join(self.values)}", (wrong or chosen)[0])
            chosen = list(dict.fromkeys(choice for choice in known if choice in chosen))
        return checked_value(BETWEEN_VALUES.join(chosen)) if chosen else None

    def chosen(self, tag: str | None) -> list[str]:
        """Return what was chosen, from the value of the tag."""
        parts = (tag or "").split(BETWEEN_VALUES) if self.kind == "several" else [tag or ""]
        return [part for part in parts if part]


class CodingLayout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fields of the coding panel, in order.

    Parameters
    ----------
    fields : tuple of CodingField
    """

    fields: tuple[CodingField, ...] = ()

    @property
    def digest(self) -> str:
        """Digest of the fields, by which a form knows whether they changed."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:16]

    @property
    def required(self) -> list[str]:
        """Names of the fields that make a document done; of a layout without required ones, of all."""
        return [field.name for field in self.fields if field.required] or [field.name for field in self.fields]

    @property
    def sensitive(self) -> frozenset[str]:
        """Names of the sensitive fields, in small letters."""
        return frozenset(field.name.casefold() for field in self.fields if field.sensitive)

    def tags_by_key(self) -> dict[str, str]:
        """Return the tag that each key sets, as ``FIELD=VALUE``, of fields that take one value."""
        of_one = [field for field in self.fields if field.kind in ("one", "yes-no")]
        return {
            key: f"{layout_field.name}={value}" for layout_field in of_one for value, key, _ in layout_field.choices()
        }


def read_layout(text: str) -> CodingLayout:
    """Read a layout from TOML: a table ``[[fields]]`` for each field.

    Raises
    ------
    ParameterError
        It is no TOML, or breaks a rule.
    """
    try:
        given = tomllib.loads(text)
        layout = msgspec.convert(given, CodingLayout)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ParameterError(
            f"must be TOML with a table [[fields]] for each field. {error}", parameter="layout"
        ) from None
    if not 0 < len(layout.fields) <= MAX_FIELDS:
        raise ParameterError.of("layout", f"1 to {MAX_FIELDS} fields", len(layout.fields))
    fields = [_checked(field) for field in layout.fields]
    _refuse_repeated("names of fields that differ", [field.name.casefold() for field in fields])
    used = [key for field in fields for key in field.keys]
    _refuse_repeated("keys that differ", used)
    free = [key for key in _FREE_KEYS if key not in used]
    return CodingLayout(tuple(_with_keys(field, free) for field in fields))


def _checked(given: CodingField) -> CodingField:
    values = ("yes", "no") if given.kind == "yes-no" else tuple(map(checked_value, given.values))
    field = msgspec.structs.replace(given, name=checked_field(given.name), values=values)
    where, has_values = f"field {field.name}", field.kind in ("one", "several")
    if given.values and not has_values:
        raise ParameterError(f"{where}: a field of kind {field.kind} has no values.", parameter="layout")
    if has_values and not 0 < len(values) <= _MAX_VALUES:
        raise ParameterError.of("layout", f"1 to {_MAX_VALUES} values for {where}", len(values))
    if any(not value or BETWEEN_VALUES.strip() in value for value in values):
        raise ParameterError.of("layout", f"values without ; for {where}", values)
    _refuse_repeated(f"different values for {where}", values)
    n_keys = 1 if field.kind == "text" else len(values)
    if field.keys and (len(field.keys) != n_keys or any(len(key) != 1 or key not in _FREE_KEYS for key in field.keys)):
        raise ParameterError.of("layout", f"{n_keys} of the keys {_FREE_KEYS} for {where}", field.keys)
    if field.colours and len(field.colours) != len(values):
        raise ParameterError.of("layout", f"a colour for each of the {len(values)} values of {where}", field.colours)
    return field


def _with_keys(field: CodingField, free: list[str]) -> CodingField:
    if field.keys or field.kind == "text":
        return field
    if len(free) < len(field.values):
        raise ParameterError(f"field {field.name}: no keys are left for its values.", parameter="layout")
    keys = tuple(free.pop(0) for _ in field.values)
    return msgspec.structs.replace(field, keys=keys)


def _refuse_repeated(rule: str, values: Sequence[str]) -> None:
    repeated = sorted({value for value in values if values.count(value) > 1})
    if repeated:
        raise ParameterError.of("layout", rule, ", ".join(repeated))


def layout_text(connection: Connection) -> str:
    """Return the TOML of the layout of a collection; empty if none was set."""
    return log.values_of(connection, [_LAYOUT_KEY]).get(_LAYOUT_KEY, "")


def layout_of(connection: Connection) -> CodingLayout:
    """Return the layout of a collection; one without fields if none was set."""
    stored = layout_text(connection)
    return read_layout(stored) if stored else CodingLayout()


def set_layout(store: Store, text: str, options: log.ChangeRequest) -> log.ActivityResult:
    """Store a layout; see `Collection.coding`."""
    read_layout(text)  # for its rules
    with options.opened(store) as connection:
        was = log.values_of(connection, [_LAYOUT_KEY]).get(_LAYOUT_KEY)
        changes = (log.SettingChange(*_LAYOUT_KEY, was, text),) if was != text else ()
        return log.made(connection, log.CODING, changes, options, n_unchanged=1 - len(changes))


def code(
    store: Store,
    doc_ids: Sequence[str],
    chosen: Mapping[str, Sequence[str]],
    *,
    alike: Set[str] = frozenset(),
    options: log.ChangeRequest,
) -> log.ActivityResult:
    """Set all fields of the layout for documents, in one activity; see `Collection.code`.

    Of ``alike``, documents that are only like the others, a sensitive field is set only where it has no value, and
    never to "no", which is for who reads them; one without a choice stays.
    """
    wanted = checked_ids(doc_ids)
    with options.opened(store) as connection:
        layout = layout_of(connection)
        refuse_unknown(connection, wanted, current_ids(connection, wanted))
        was = {field.name: _tags_before(connection, field.name, wanted) for field in layout.fields}
        values, given, left = chosen_values(layout, chosen, was), dict[tuple[str, str], str | None](), set[str]()
        for field, now in values.items():
            others = set[str]() if now is None else set(alike)
            if field.casefold() in layout.sensitive:
                others = {doc_id for doc_id in others if was[field][doc_id] is None}
                if now is not None and now.casefold() == NOT_PRIVILEGED:
                    left, others = left | others, set()
            given |= {(doc_id, field): now for doc_id in wanted if doc_id in others or doc_id not in alike}
        changes, agreements = judged(connection, given, options)
        data: dict[str, object] = {"values": {field: value for field, value in values.items() if value is not None}}
        data |= {"n_left": len(left)} if left else {}
        n_unchanged = len(wanted) - len({change.subject for change in changes})
        return log.made(
            connection, log.CODE, changes, options, data=data, n_unchanged=n_unchanged, agreements=agreements
        )


def refuse_releasing(connection: Connection, field: str, value: str | None) -> None:
    """Refuse to set a sensitive field of a whole group to "no", or to remove it: documents that nobody read have it."""
    is_released = value is None or value.casefold() == NOT_PRIVILEGED
    if is_released and field.casefold() in SENSITIVE | layout_of(connection).sensitive:
        raise ParameterError(
            f"{field} is sensitive: name the documents for which it is {value or 'removed'}, not a group."
        )


def _tags_before(connection: Connection, field: str, doc_ids: Sequence[str]) -> dict[str, str | None]:
    was = log.values_of(connection, [(log.TAG, doc_id, field) for doc_id in doc_ids])
    return {doc_id: was.get((log.TAG, doc_id, field)) for doc_id in doc_ids}


def chosen_values(
    layout: CodingLayout, chosen: Mapping[str, Sequence[str]], was: Mapping[str, Mapping[str, str | None]]
) -> dict[str, str | None]:
    """Return the value of each field; see `CodingField.in_value`."""
    if not layout.fields:
        raise ParameterError("The collection has no fields to code. Set them: nearkin coding COLLECTION LAYOUT")
    known = {field.name for field in layout.fields}
    for name in chosen:
        if name not in known:
            raise ParameterError.of("field", f"one of {', '.join(sorted(known))}", name)
    values = {
        field.name: field.in_value(chosen.get(field.name, ()), {*was.get(field.name, {}).values()})
        for field in layout.fields
    }
    missing = [field.name for field in layout.fields if field.required and values[field.name] is None]
    if missing:
        raise ParameterError(f"must have a value: {', '.join(missing)}.", parameter="values")
    return values


def tagged_since(connection: Connection, activity: int) -> set[str]:
    """Return the documents whose tags an activity after this one changed."""
    changes = schema.changes.c
    changed = select(changes.subject).where((changes.activity > activity) & (changes.kind == log.TAG))
    return set(connection.execute(changed).scalars())


def coded_among(connection: Connection, layout: CodingLayout, doc_ids: Sequence[str]) -> set[str]:
    """Return the documents in which the fields that make a document done have a value."""
    columns, coded = schema.tags.c, set[str]()
    done = select(columns.doc_id).where(columns.field.in_(layout.required)).group_by(columns.doc_id)
    if any(field.required for field in layout.fields):
        done = done.having(func.count() == len(layout.required))
    for block in in_slices(doc_ids):
        coded.update(connection.execute(done.where(columns.doc_id.in_(block))).scalars())
    return coded


def looked(connection: Connection, number: str) -> dict[str, str]:
    """Return the documents coded again in a second look, with the fields that got another value, joined."""
    changes = schema.changes.c
    is_own = changes.is_current & (changes.kind == log.SECOND_LOOK) & (changes.other == number)
    return dict(connection.execute(select(changes.subject, changes.now).where(is_own)).all())


@dataclass(frozen=True, slots=True)
class Queue:
    """Documents that are coded one after another, and those of them that are done.

    ``last_activity`` is the last one that ``done`` follows, and ``fields`` the digest of the layout that it is by.
    """

    doc_ids: tuple[str, ...]
    done: frozenset[str] = frozenset()
    last_activity: int = 0
    fields: str = ""
    look: str = ""

    def __len__(self) -> int:
        return len(self.doc_ids)

    def now(self, connection: Connection, layout: CodingLayout) -> Queue:
        """Return the same queue with what is done now: only documents whose tags changed are looked at."""
        last = log.next_number(connection) - 1
        if (self.last_activity, self.fields) == (last, layout.digest):
            return self
        if self.look:
            return replace(
                self, done=frozenset(looked(connection, self.look)), last_activity=last, fields=layout.digest
            )
        changed, done = set(self.doc_ids), frozenset[str]()
        if self.fields == layout.digest:
            changed, done = tagged_since(connection, self.last_activity).intersection(self.doc_ids), self.done
        done = done - changed | coded_among(connection, layout, sorted(changed))
        return Queue(self.doc_ids, done, last, layout.digest)

    def following(self, connection: Connection, doc_id: str) -> str | None:
        """Return the next document that is neither done nor removed, from the start again after the end."""
        start = self.doc_ids.index(doc_id) + 1 if doc_id in self.doc_ids else 0
        left = [candidate for candidate in (*self.doc_ids[start:], *self.doc_ids[:start]) if candidate not in self.done]
        for block in in_slices(left):
            current = current_ids(connection, block)
            for candidate in block:
                if candidate in current:
                    return str(candidate)
        return None


def n_coded_lately(connection: Connection, by: str) -> int:
    """Count the documents that a person coded within the last hour."""
    since = (datetime.now(UTC) - timedelta(hours=1)).isoformat(timespec="seconds")
    acts, changes = schema.activity.c, schema.changes.c
    latest = select(acts.number, acts.done_by, acts.done_at).where(acts.kind == log.CODE).order_by(acts.number.desc())
    with connection.execute(latest, execution_options={"yield_per": 200}) as rows:  # not all of a long log
        numbers = [row.number for row in takewhile(lambda row: row.done_at >= since, rows) if row.done_by == by]
    coded = set[str]()
    for block in in_slices(numbers):
        coded.update(connection.execute(select(changes.subject).where(changes.activity.in_(block))).scalars())
    return len(coded)
