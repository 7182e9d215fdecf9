"""Comparison of rows with their checksums and tables with their seals; see `mending` for what can be repaired."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    PrimaryKeyConstraint,
    Select,
    Table,
    UniqueConstraint,
    exists,
    func,
    or_,
    select,
)

from nearkin.nouns import agreeing, counted
from nearkin.store import schema
from nearkin.store.checksums import CHECKED, JudgedRow, checksum, covered, judged, key_bits, key_place, wrapped
from nearkin.store.damage import damaged_collection
from nearkin.store.load_waves import waves_by_seals
from nearkin.store.seals import PARTS, Part, Seal, difference_in_number, documents_of, read_seals

MAX_NAMED = 20
"""Maximum number of rows of a table that are listed, and recovered from their checksums."""
_IDENTITY: dict[str, tuple[str, ...]] = {
    "facts": ("name",),
    "waves": ("wave",),
    "loads": ("load",),
    "documents": ("row",),
    "problems": ("load", "number"),
    "seals": ("part",),
    "activity": ("number",),
    "changes": ("activity", "number"),
    "tags": ("doc_id", "field"),
    "decisions": ("activity", "number"),
    "purges": ("content",),
    "origins": ("number",),
}
_NAMES = {
    "facts": "the setting {name!r} of the collection",
    "seals": "the seal of the {part}",
    "waves": "the row of wave {name!r}",
    "loads": "the row of load {load}",
    "documents": "the row of document {doc_id!r} (version {version})",
    "problems": "the row of problem {number} of load {load}",
    "activity": "the row of activity {number}",
    "changes": "the row of change {number} of activity {activity}",
    "tags": "the tag {field!r} of document {doc_id!r}",
    "decisions": "the row of decision {number} of activity {activity}",
    "purges": "the row of the purge of text {content}",
    "origins": "the row of the origin of document {doc_id!r} (number {number})",
}
_AT_A_TIME = 1 << 14
_LOAD = covered(schema.documents).index("load")
_LONG = (schema.documents, schema.origins)
"""Tables that are read in parts, by their first column."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A row that can be repaired.

    Parameters
    ----------
    table : Table
    identity : dict
        Current key of the row, by columns.
    stored : int or None
        Its current checksum.
    right : dict
        Correct values, by columns.
    name : str
        Name of the row in a sentence.
    """

    table: Table
    identity: dict[str, object]
    stored: int | None
    right: dict[str, object]
    name: str


@dataclass(slots=True)
class Findings:
    """Damage found in the rows of a store.

    Parameters
    ----------
    fixes : list of Fix
    faults : list of str
        Damage that cannot be repaired.
    is_current : dict of int to str
        Rows of documents with a wrong ``is_current``, and their ids.
    """

    fixes: list[Fix] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    is_current: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Doubtful:
    """Documents whose rows are not proven: a row may have been changed, or may be missing."""

    ids: set[object] = field(default_factory=set)
    keys: set[int] = field(default_factory=set)
    are_all: bool = False

    def take(self, doc_id: object, stored: int | None) -> None:
        """Add a row that was changed."""
        self.ids.add(doc_id)
        if isinstance(stored, int):
            self.keys.add(stored >> 48)

    def has(self, doc_id: str) -> bool:
        """Whether a document is one of them."""
        return self.are_all or doc_id in self.ids or key_bits(doc_id) in self.keys


def check(connection: Connection, without: Collection[Table] = ()) -> Findings:
    """Compare every row with its checksum and every part with its seal, in one snapshot; omit some tables."""
    checked = [table for table in CHECKED if table not in without]
    found, parts = Findings(), {table.name: Part() for table in checked if table is not schema.documents}
    waves, wave_of, doubtful = dict[int, str](), dict[int, int](), _Doubtful()
    of_waves, of_changed = dict[int, Part](), dict[int, Part]()
    with any_bytes(connection):
        for table in checked:
            for values, own in _rows(connection, table, found, doubtful):
                if table is schema.documents:
                    load = values[_LOAD]  # loads were read before; a row without one is reported below
                    if load in of_changed:
                        of_changed[load].take(own)
                    elif load in wave_of:
                        of_waves.setdefault(wave_of[load], Part()).take(own)
                    continue
                parts[table.name].take(own)
                if table is schema.waves:
                    waves[values[0]] = values[1]
                elif table is schema.loads:
                    wave_of[values[0]] = values[1]
                    if checksum(values, values[0]) != own:
                        of_changed[values[0]] = Part()
        wave_of |= waves_by_seals(of_changed, of_waves, waves, read_seals(connection) if of_changed else {})
        for load, part in of_changed.items():
            of_waves.setdefault(wave_of[load], Part()).add(part)
        parts |= {documents_of(wave): part for wave, part in of_waves.items()}
        omitted = {table.name for table in without}
        unlike = list(_unlike_their_seals(connection, parts, waves, found, omitted))
        found.faults += [fault for _, fault in unlike]
        doubtful.are_all = any(part not in PARTS for part, _ in unlike)
        wrong: dict[int, str] = dict(connection.execute(wrong_current()).all())
        taken = [fix for fix in found.fixes if _is_place_taken(connection, fix)]
    found.fixes = [fix for fix in found.fixes if fix not in taken]
    found.faults += [place_taken(fix.name) for fix in taken]
    found.is_current = {row: doc_id for row, doc_id in wrong.items() if not doubtful.has(doc_id)}
    left = {doc_id for doc_id in wrong.values() if doubtful.has(doc_id)} - doubtful.ids  # already reported
    unknown = sorted(left, key=repr)[:MAX_NAMED]
    found.faults += [f"unknown whether document {doc_id!r} is current" for doc_id in unknown]
    return found


def refuse_changed(connection: Connection, *tables: Table) -> None:
    """Refuse to read small tables if a row was changed, or is missing.

    Raises
    ------
    CollectionError
    """
    parts = dict[str, Part]()
    for table in tables:
        names, place = covered(table), key_place(table)
        with any_bytes(connection):
            rows = list(_read(connection, table))
        part = parts[table.name] = Part()
        for *values, stored in rows:
            if checksum(values, values[place]) != stored:
                raise damaged_collection(f"{_name_of(table, dict(zip(names, values)))} was changed")
            part.take(stored)
    refuse_unlike_seals(connection, parts, {})


def refuse_missing_rows(connection: Connection, *tables: Table) -> None:
    """Refuse to use tables with fewer rows, or more, than were stored; the rows are counted and not compared.

    Raises
    ------
    CollectionError
    """
    seals = read_seals(connection, [table.name for table in tables])
    for table in tables:
        n_rows = connection.execute(select(func.count()).select_from(table)).scalar_one()
        fault = difference_in_number(table.name, n_rows, seals.get(table.name))
        if fault is not None:
            raise damaged_collection(fault)


def refuse_unlike_seals(connection: Connection, parts: Mapping[str, Part], names: Mapping[str, str]) -> None:
    """Refuse to read parts whose rows do not match their seals; ``names`` are theirs in sentences, if not their own.

    Raises
    ------
    CollectionError
    """
    seals = read_seals(connection, parts)
    for part, here in parts.items():
        fault = _difference(names.get(part, part), here, seals.get(part))
        if fault is not None:
            raise damaged_collection(fault)


def fault_of(connection: Connection, part: str, here: Part) -> str | None:
    """Return how the rows of a part differ from its seal, or None."""
    return _difference(part, here, read_seals(connection, [part]).get(part))


def number_after_last(connection: Connection, column: Column[int]) -> int:
    """Return one more than the highest number in a column; 0 if the table is empty.

    Raises
    ------
    CollectionError
        It is no number: SQLite stores any type in any column.
    """
    last = connection.execute(select(func.max(column))).scalar()
    if last is not None and not isinstance(last, int):
        raise damaged_collection(f"{column.table.name}: a row with {last!r} as its {column.name}")
    return 0 if last is None else last + 1


def wrong_current() -> Select[Any]:
    """Select rows and ids of documents with a wrong ``is_current``: only the newest, unless removed, is current."""
    documents, others = schema.documents, schema.documents.alias("others")
    newest = select(func.max(others.c.version)).where(others.c.doc_id == documents.c.doc_id).scalar_subquery()
    should = documents.c.removed_at.is_(None) & (documents.c.version == newest)
    return select(documents.c.row, documents.c.doc_id).where(should != documents.c.is_current)


@contextlib.contextmanager
def any_bytes(connection: Connection) -> Iterator[None]:
    """Read SQLite texts that are no longer UTF-8, instead of failing for all rows."""
    driver: Any = connection.connection.driver_connection
    if connection.dialect.name != "sqlite" or driver is None:
        yield
        return
    driver.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    try:
        yield
    finally:
        driver.text_factory = str


def _rows(
    connection: Connection, table: Table, found: Findings, doubtful: _Doubtful
) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Yield the rows of a table and their checksums, corrected; differences are added to ``found``."""
    names, place, n_unknown = covered(table), key_place(table), 0
    for *values, stored in _read(connection, table):
        if n_unknown < MAX_NAMED:
            row = judged(values, place, stored)
        else:  # too many rows were changed to correct each
            own = checksum(values, values[place])
            row = JudgedRow(tuple(values), own, own == stored, own == stored)
        if row.is_known and not row.is_as_stored:
            now, right = dict(zip(names, values)), dict(zip(names, row.values))
            found.fixes.append(fix_of(table, now, stored, right, row.checksum))
        elif not row.is_known:
            n_unknown += 1
            if n_unknown <= MAX_NAMED:
                why = "was not written by Nearkin" if stored is None else "was changed"
                found.faults.append(f"{_name_of(table, dict(zip(names, values)))} {why}")
        if table is schema.documents and not row.is_as_stored:
            doubtful.take(values[place], stored)
        # the seal covers the checksums that were stored
        yield row.values, row.checksum if row.is_known else stored if isinstance(stored, int) else 0
    if n_unknown > MAX_NAMED:
        found.faults.append(f"{counted(n_unknown - MAX_NAMED, 'more row')} of {table.name} changed")


def _read(connection: Connection, table: Table) -> Iterator[Sequence[Any]]:
    if table not in _LONG:
        yield from connection.execute(_reading(table)).all()
        return
    last, key = None, table.c[covered(table)[0]]
    while rows := connection.execute(_following(_reading(table), key, last)).all():
        yield from rows
        last = rows[-1][0]


@cache  # it takes longer to make than to run
def _reading(table: Table) -> Select[Any]:
    return select(*(table.c[name] for name in covered(table)), table.c.checksum)


def _following(query: Select[Any], row: Any, last: int | None) -> Select[Any]:
    return (query if last is None else query.where(row > last)).order_by(row).limit(_AT_A_TIME)


def fix_of(table: Table, now: Mapping[str, object], stored: int | None, right: Mapping[str, object], own: int) -> Fix:
    """Return what repairs a row: its current values and checksum, and the right ones."""
    identity = {name: now[name] for name in _IDENTITY[table.name]}
    return Fix(table, identity, stored, {**right, "checksum": own}, _name_of(table, right))


def place_taken(name: str) -> str:
    """Return the fault of a row that cannot be repaired because another one has its key."""
    return f"{name} was changed, and its place is taken"


def _is_place_taken(connection: Connection, fix: Fix) -> bool:
    """Whether another row has a key of the row as it was: the document was added again, for example."""
    columns = fix.table.c
    other = or_(*(columns[name] != value for name, value in fix.identity.items()))
    for key in fix.table.constraints:
        if isinstance(key, PrimaryKeyConstraint | UniqueConstraint):
            is_right = [column == fix.right[column.name] for column in key.columns]
            if connection.execute(select(func.count()).select_from(fix.table).where(*is_right, other)).scalar_one():
                return True
    return False


def _name_of(table: Table, row: Mapping[str, Any]) -> str:
    return _NAMES[table.name].format(**row)


def _unlike_their_seals(
    connection: Connection, parts: Mapping[str, Part], waves: Mapping[int, str], found: Findings, omitted: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield the parts whose rows do not match their seals, and the difference."""
    names = {documents_of(wave): documents_name(name) for wave, name in waves.items()}
    seals = dict[str, Seal]()
    for *values, stored in connection.execute(select(schema.seals)).all():
        row = judged(values, 0, stored)
        part, n_rows, total = row.values
        if part in omitted:
            continue
        if not row.is_as_stored and row.is_known:
            now = dict(zip(("part", "n_rows", "total"), values))
            right = dict(zip(("part", "n_rows", "total"), row.values))
            found.fixes.append(fix_of(schema.seals, now, stored, right, row.checksum))
        if part != schema.groupings.name:  # `nearkin.collection.stored.group_state` knows more about it
            seals[part] = Seal(n_rows, total, row.is_known)
    for part in sorted({*parts, *seals, *names}):
        name, here, seal = names.get(part, part), parts.get(part, Part()), seals.get(part)
        fault = _difference(name, here, seal)
        if fault is not None:
            yield part, fault


def documents_name(wave: str) -> str:
    """Return the name, in a sentence, of the part with the documents of a wave."""
    return f"documents of wave {wave!r}"


def _difference(name: str, here: Part, seal: Seal | None) -> str | None:
    """Return how the rows of a part differ from its seal, or None."""
    of_number = difference_in_number(name, here.n_rows, seal)
    if of_number is not None or seal is None or wrapped(here.total) == seal.total:
        return of_number
    return f"{name}: rows differ from those stored"


_IN_WORDS = {
    "waves": ("wave", "waves"),
    "loads": ("load", "loads"),
    "contents": ("text", "texts"),
    "documents": ("document", "documents"),
    "problems": ("document that was not stored", "documents that were not stored"),
    "activity": ("activity", "activities"),
    "changes": ("change", "changes"),
    "tags": ("tag", "tags"),
    "decisions": ("decision", "decisions"),
    "purges": ("entry about the erasure", "entries about the erasures"),
    "origins": ("entry about the file", "entries about the files"),
}
"""Names, in words, of a row and of several rows of each table."""


def dangling(connection: Connection, without: Collection[Table] = ()) -> Iterator[str]:
    """Yield the references to missing rows, in tables that cannot be rebuilt; omit some tables."""
    for table in CHECKED:
        for key in () if table in without else table.foreign_keys:
            is_missing, counting = _missing(key)
            n_rows = connection.execute(counting).scalar_one()
            if key.parent is schema.documents.c.content:
                yield from _without_text(connection, is_missing)
                n_rows = max(0, n_rows - MAX_NAMED)
            if n_rows:
                own, (one, several) = _IN_WORDS[table.name], _IN_WORDS[key.column.table.name]
                of = agreeing(n_rows, f"of {'an' if one[0] == 'a' else 'a'} {one} that is", f"of {several} that are")
                yield f"{table.name}: {counted(n_rows, *own)} {of} missing"


@cache  # it takes longer to make than to run
def _missing(key: ForeignKey) -> tuple[ColumnElement[bool], Select[Any]]:
    """Return the condition that the row of a reference is missing, and the query that counts such references."""
    other = key.column.table.alias("referred")
    is_missing = ~(exists().where(other.c[key.column.name] == key.parent) | key.parent.is_(None))
    return is_missing, select(func.count()).select_from(key.parent.table).where(is_missing)


def _without_text(connection: Connection, condition: ColumnElement[bool]) -> Iterator[str]:
    """Yield the first documents whose text is missing."""
    columns = schema.documents.c
    first = select(columns.doc_id, columns.version).where(condition).order_by(columns.row).limit(MAX_NAMED)
    with any_bytes(connection):
        for doc_id, version in connection.execute(first).all():
            yield f"the text of document {doc_id!r} (version {version}) is missing"
