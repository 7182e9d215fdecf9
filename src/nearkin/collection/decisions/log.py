"""Log of what people decide: activities and the values that they changed, appended, read, and current."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Select, func, select

from nearkin.errors import ChangedMeanwhileError, ParameterError, check_int, is_int
from nearkin.nouns import counted
from nearkin.store import schema
from nearkin.store.bulk import by_bytes, in_slices, insert_rows, is_storable, number_after_last
from nearkin.store.environment import system_user
from nearkin.store.schema import activity, loads
from nearkin.store.store import Store
from nearkin.tabular import AnswerRecord

_MAX_OF_A_NAME = 200
_NOBODY = "unknown"
Row = tuple[Any, ...]


def checked_by(by: object) -> str:
    """Return the name of the person who decides: by default the user of the system."""
    if by is None:
        by = system_user() or _NOBODY
    if not isinstance(by, str) or not by.strip() or len(by) > _MAX_OF_A_NAME or not is_storable(by):
        raise ParameterError.of("by", f"a name of 1 to {_MAX_OF_A_NAME} characters, not blank", by)
    return by.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRequest:
    """Who makes a change, and when nothing is stored.

    Parameters
    ----------
    agreed
        Digest of the changes that a preview showed: others are not stored.
    may_resolve
        Whether values of other people are replaced; otherwise a different value is kept beside them.
    """

    by: str | None = None
    dry_run: bool = False
    max_changes: int | None = None
    seen: int | None = None
    agreed: str | None = None
    may_resolve: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", checked_by(self.by))
        if self.max_changes is not None and not (is_int(self.max_changes) and self.max_changes >= 0):
            raise ParameterError.of("max_changes", "an int >= 0, or None", self.max_changes)

    @contextmanager
    def opened(self, store: Store) -> Iterator[Connection]:
        """Open a transaction that writes unless this is a dry run."""
        with store.reading() if self.dry_run else store.writing() as connection:
            yield connection

    def stores(self, changes: Sequence[SettingChange]) -> bool:
        """Whether changes are to be stored."""
        is_few = self.max_changes is None or len(changes) <= self.max_changes
        return not self.dry_run and is_few and (self.agreed is None or self.agreed == digest_of(changes))


def record(
    connection: Connection,
    kind: str,
    changes: Sequence[SettingChange],
    *,
    by: str | None,
    data: Mapping[str, object],
    undoes: int | None = None,
) -> int:
    """Store an activity and the current values after it, in a write transaction; return its number."""
    number, table = next_number(connection), schema.changes
    at = datetime.now(UTC).isoformat(timespec="seconds")
    insert_rows(connection, activity, [[entry] for entry in (number, at, by, kind, _json(data), undoes)])
    by_key = sorted((change for change in changes if change.kind not in OF_DOCUMENTS), key=_kind_and_other)
    for (changed, other), group in groupby(by_key, key=_kind_and_other):
        for part in in_slices([change.subject for change in group]):
            is_former = table.c.is_current & (table.c.kind == changed) & (table.c.other == other)
            connection.execute(table.update().where(is_former, table.c.subject.in_(part)).values(is_current=False))
    rows = [
        (number, i, *entry.key, entry.was, entry.now, entry.now is not None and entry.kind not in OF_DOCUMENTS)
        for i, entry in enumerate(changes)
    ]
    insert_rows(connection, table, list(zip(*rows, strict=True)))
    return number


def _json(data: Mapping[str, object]) -> str:
    return json.dumps(dict(data), ensure_ascii=False)


def _kind_and_other(change: SettingChange) -> tuple[str, str]:
    return change.kind, change.other


def next_number(connection: Connection) -> int:
    """Return the number of the next activity."""
    return number_after_last(connection, schema.activity.c.number) or 1


# -- current values ----------------------------------------------------------------------------------------------------


def current_tags(connection: Connection, condition: Any = None) -> Iterator[Row]:
    """Yield rows of ``tags`` (id, field, value, activity) in order of fields, values and ids."""
    tags = schema.tags
    query = select(tags).order_by(
        *(by_bytes(connection, column) for column in (tags.c.field, tags.c.value, tags.c.doc_id))
    )
    yield from map(tuple, connection.execute(query if condition is None else query.where(condition)))


def current_decisions(connection: Connection, condition: Any) -> Iterator[tuple[SettingKey, str, int]]:
    """Yield the keys and values of current decisions, with the numbers of their activities, in this order."""
    columns = schema.changes.c
    query = select(columns.kind, columns.subject, columns.other, columns.now, columns.activity)
    query = query.where(columns.is_current & condition).order_by(columns.activity, columns.number)
    for *key, value, number in connection.execute(query):
        yield (key[0], key[1], key[2]), value, number


def values_of(connection: Connection, keys: Sequence[SettingKey]) -> dict[SettingKey, str]:
    """Return the current values of some keys; keys that are not set are omitted."""
    columns, values = schema.changes.c, dict[SettingKey, str]()
    subjects = dict[tuple[str, str], list[str]]()
    for kind, subject, other in keys:
        subjects.setdefault((kind, other), []).append(subject)
    for (kind, other), group in subjects.items():
        for part in in_slices([subject for subject in group if is_storable(subject)]):
            is_it = (columns.kind == kind) & (columns.other == other) & columns.subject.in_(part)
            values |= {key: value for key, value, _ in current_decisions(connection, is_it)}
    return values


def batch_names(connection: Connection) -> set[str]:
    """Return the names of all batches, which are fields of tags that say nothing about a document."""
    is_batch = schema.changes.c.kind == BATCH
    return {LOOKS} | {batch.rpartition("=")[0] for (_, batch, _), _, _ in current_decisions(connection, is_batch)}


@dataclass(frozen=True, slots=True)
class StoredState:
    """Two numbers; at least one of them changes whenever documents are added, replaced, removed or erased."""

    last_load: int
    last_removal: int

    @classmethod
    def now(cls, connection: Connection) -> StoredState:
        """Return the state of the documents."""
        removal = select(func.max(activity.c.number)).where(activity.c.kind.in_(OF_DOCUMENTS))
        return cls(
            int(connection.execute(select(func.max(loads.c.load))).scalar_one() or 0),
            int(connection.execute(removal).scalar_one() or 0),
        )


TAG = "tag"
SECOND = "second"
"""Kind of what another person called for a tag, the same or another value: all stay until somebody resolves them."""
VALUES = (TAG, SECOND)
TAKEN_AWAY = " "
"""Value of another person who took the value away; no tag has it."""
NEVER_GROUP, SAME_GROUP, PRINCIPAL, NOTE, GROUP_NOTE = "never-group", "same-group", "principal", "note", "group-note"
CODE = "code"
"""Kind of an activity that sets several tags at once, those of the coding panel."""
CODING = "coding"
"""Kind of the layout of the coding panel, and of the activity that sets it."""
BATCH, SECOND_LOOK = "batch", "second-look"
"""Kinds of the holder of a batch, and of a document that was coded again."""
LOOKS = "second look"
"""Name of the batches that are coded again, and of their tag."""
SPLIT_OFF = "split-off"
"""Kind of an activity, which changes the same setting of two documents as `NEVER_GROUP`."""
SEARCH = "search"
"""Kind of a saved search, and of the activity that saves or forgets it."""
OF_PAIRS = (NEVER_GROUP, SPLIT_OFF, SAME_GROUP, "undo")
"""Activities that can change decisions on two documents: few, while tags may have millions of changes."""
FIRST = "first"
"""Key, in the data of a decision on two documents, of the document that was named first, if it is not the subject."""
PURGE, REMOVE, STORE = "purge", "remove", "store"
OF_DOCUMENTS = (PURGE, REMOVE, STORE)
"""Kinds of changes that store or remove documents; they set no value, and cannot be undone."""
NO_VERSION = "no text"
"""Value of a removed or purged file without text, which has no version."""
SettingKey = tuple[str, str, str]
"""Kind, subject and other, as in `SettingChange`."""


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A value before and after an activity.

    Parameters
    ----------
    subject
        Id of the document; for a note on a group, the tolerance of the group; for a batch, its tag; empty for the
        coding panel and a saved search.
    other
        Field of a tag; FIELD=PERSON of what another person called for it; id of the other document; number of the
        group of a note; number of the second look; name of a saved search; SHA-256 of a purged text. Empty for a
        batch, a stored or removed document, and a file without text.
    was, now
        Values before and after; None if not set. Empty for a tag without a value, and for a decision on two documents;
        if one of these was split off, its id. A blank: another person took the value away.
    """

    kind: str
    subject: str
    other: str
    was: str | None
    now: str | None

    @property
    def key(self) -> SettingKey:
        """Kind, subject and other: the key to which the value belongs."""
        return self.kind, self.subject, self.other


def digest_of(changes: Sequence[SettingChange]) -> str:
    """Return a digest of changes, the same for the same documents with the same values before and after.

    Examples
    --------
    >>> change = SettingChange("tag", "lease", "seen", None, "")
    >>> digest_of([change]) == digest_of([change]), digest_of([change]) == digest_of([])
    (True, False)
    """
    lines = sorted(json.dumps(asdict(change)) for change in changes)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity(AnswerRecord):
    """An entry of the activity log.

    Parameters
    ----------
    number
        From 1.
    at
        UTC, ISO 8601.
    kind
        "tag", "untag", "code", "coding", "search", "batch", "never-group", "split-off", "same-group", "principal",
        "note", "group-note", "undo", "purge", "remove" or "store".
    data
        Details by kind. Tag: field and value, or the number of values, n_values, if there are several; the group and
        its tolerance, if a group was named. Code: the values by field; second_look, its number; n_left, the number of
        other documents in which "no" was not set, as nobody read them. Batch: name, number of
        the first, n_batches and n_documents of new ones; of a second look also of, seed and n_calls. Store: the wave.
        Remove: the wave, if a wave was named; gone_in, the wave whose files no longer contain the documents. Undo:
        number and kind of the undone activity. Purge: number of erased texts. Otherwise empty.
    undoes
        Number of the activity that this one undid.
    undone_by
        Number of the activity that undid this one, unless that was undone itself.
    """

    number: int
    at: str
    by: str
    kind: str
    data: Mapping[str, object]
    undoes: int | None
    changes: tuple[SettingChange, ...]
    undone_by: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityResult(AnswerRecord):
    """Result of a decision, or of its dry run.

    Parameters
    ----------
    n_unchanged
        Number of named documents that already had the value, also if the log has a new call of it.
    agreements
        What the log has besides the changes: calls of a value that another person set, which change no value.
    """

    computed = ("n_changed",)
    hidden = ("agreements",)

    number: int | None
    kind: str
    changes: tuple[SettingChange, ...]
    n_unchanged: int = 0
    is_dry_run: bool = False
    data: Mapping[str, object] = field(default_factory=dict)
    agreements: tuple[SettingChange, ...] = ()

    @property
    def n_changed(self) -> int:
        """Number of changes."""
        return len(self.changes)

    @property
    def digest(self) -> str:
        """Digest of the changes; see `digest_of`."""
        return digest_of(self.changes)


def made(
    connection: Connection,
    kind: str,
    changes: Sequence[SettingChange],
    options: ChangeRequest,
    *,
    data: Mapping[str, object] | None = None,
    n_unchanged: int = 0,
    undoes: int | None = None,
    agreements: Sequence[SettingChange] = (),
) -> ActivityResult:
    """Store an activity, with agreements that no limit counts, unless it is a dry run or has neither; return it."""
    is_made, number, data = options.stores(changes), None, {} if data is None else data
    if is_made and (logged := [*changes, *agreements]):
        number = record(connection, kind, logged, by=options.by, data=data, undoes=undoes)
    return ActivityResult(
        number=number,
        kind=kind,
        changes=tuple(changes),
        n_unchanged=n_unchanged,
        is_dry_run=not is_made,
        data=data,
        agreements=tuple(agreements),
    )


def activities(
    connection: Connection,
    *,
    since: str | None = None,
    of: str | None = None,
    by: str | None = None,
    kind: str | None = None,
) -> list[Activity]:
    """Return the activities in order, on request only those of a person or of a kind; see `Collection.log`."""
    table, start = schema.activity, "" if since is None else checked_since(since)
    rows = list(map(tuple, connection.execute(select(table).order_by(table.c.number))))
    wanted = [row for row in rows if row[1] >= start and by in (None, row[2]) and kind in (None, row[3])]
    if of is not None:
        if not isinstance(of, str):
            raise ParameterError.of("of", "the id of a document", of)
        acted = activities_of(connection, of) if is_storable(of) else set()
        wanted = [row for row in wanted if row[0] in acted]
    return _activities(connection, wanted, rows)


def refuse_later(
    connection: Connection,
    seen: int | None,
    kinds: Sequence[str],
    subjects: Sequence[str],
    fields: Sequence[str] | None = None,
) -> None:
    """Refuse a decision if values that it is about were changed after an activity; see `Collection.tag`.

    Parameters
    ----------
    seen
        Number of the activity, 0 before the first; None refuses nothing.
    fields
        Fields of tags; without them, the documents may also be the second of a decision on two.
    """
    if seen is None:
        return
    check_int("seen", seen, 0, 2**63 - 1)
    table, number, later = schema.changes.c, schema.activity.c.number, dict[int, dict[SettingChange, None]]()
    for block in in_slices(subjects):
        is_about = table.subject.in_(block) & table.other.in_(fields or ())
        if fields is None:
            is_about = table.subject.in_(block) | table.other.in_(block)
        query = made_changes().where(table.activity > seen, table.kind.in_(kinds), is_about)
        for activity_number, *values in connection.execute(query):
            later.setdefault(activity_number, {})[SettingChange(*values)] = None
    rows = [connection.execute(select(activity).where(number == entry)).one() for entry in sorted(later)]
    newer = tuple(_activity(row, later[row[0]]) for row in rows)
    if newer:
        whose = ", ".join(dict.fromkeys(entry.by for entry in newer))
        raise ChangedMeanwhileError(
            f"{counted(len(newer), 'later activity', 'later activities')} of {whose} changed what this would replace, "
            f"the last one at {newer[-1].at}. Look again; then send {newer[-1].number} as the last activity seen.",
            newer,
        )


def _activities(connection: Connection, wanted: Sequence[Row], rows: Sequence[Row]) -> list[Activity]:
    """Return activities with their changes; ``rows`` has at least all undos."""
    undone_by = undone({number: undoes for number, *_, undoes in rows if undoes is not None})
    of_activity = changes_of(connection, [row[0] for row in wanted])
    return [_activity(row, of_activity.get(row[0], ()), undone_by.get(row[0])) for row in wanted]


def _activity(row: Sequence[Any], changes: Iterable[SettingChange], undone_by: int | None = None) -> Activity:
    number, at, by, kind, data, undoes = row
    return Activity(
        number=number,
        at=at,
        by=by,
        kind=kind,
        data=json.loads(data),
        undoes=undoes,
        changes=tuple(changes),
        undone_by=undone_by,
    )


def activity_of(connection: Connection, number: int) -> Activity | None:
    """Return an activity by its number; None if there is none."""
    table = schema.activity
    is_told = (table.c.number == number) | table.c.undoes.is_not(None)
    rows = list(map(tuple, connection.execute(select(table).where(is_told))))
    own_rows = [row for row in rows if row[0] == number]
    return next(iter(_activities(connection, own_rows, rows)), None)


def activities_of(connection: Connection, doc_id: str) -> set[int]:
    """Return the activities that changed a value of a document, alone or in a pair."""
    changes = schema.changes.c
    pairs = select(activity.c.number).where(activity.c.kind.in_(OF_PAIRS))
    is_other = changes.activity.in_(pairs) & changes.kind.in_((NEVER_GROUP, SAME_GROUP)) & (changes.other == doc_id)
    numbers = connection.execute(select(changes.activity).where(changes.subject == doc_id)).scalars()
    return {*numbers, *connection.execute(select(changes.activity).where(is_other)).scalars()}


def undone(undoes: Mapping[int, int]) -> dict[int, int]:
    """Return the activities that are undone, each with the undo that is in force.

    Examples
    --------
    The undo of 1, by 2, was undone by 3:

    >>> undone({2: 1, 3: 2})
    {2: 3}
    """
    by = dict[int, int]()
    for number in sorted(undoes, reverse=True):
        if number not in by:
            by[undoes[number]] = number
    return by


def made_changes() -> Select[Any]:
    """Return a query for activities and the values of `SettingChange` that they changed, in order."""
    columns = schema.changes.c
    query = select(columns.activity, columns.kind, columns.subject, columns.other, columns.was, columns.now)
    return query.order_by(columns.activity, columns.number)


def changes_of(connection: Connection, numbers: Sequence[int]) -> dict[int, list[SettingChange]]:
    """Return the changes of some activities, in order."""
    by_number = dict[int, list[SettingChange]]()
    for block in in_slices(numbers):
        for number, *values in connection.execute(made_changes().where(schema.changes.c.activity.in_(block))):
            by_number.setdefault(number, []).append(SettingChange(*values))
    return by_number


def checked_since(since: str, name: str = "since") -> str:
    """Return a time in UTC, as the tables have it; see `nearkin.store.schema`."""
    try:
        moment = datetime.fromisoformat(since)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:  # in UTC it may be before the year 1
        rule = "a date or a time in ISO 8601, such as 2026-11-23 or 2026-11-23T10:00"
        raise ParameterError.of(name, rule, since) from error
    return moment.isoformat(timespec="seconds")
