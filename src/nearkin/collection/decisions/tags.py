"""Tags of documents: set, removed and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa
from sqlalchemy import Connection, select

from nearkin.collection.decisions.log import (
    TAG,
    ActivityResult,
    SettingChange,
    checked_by,
    current_tags,
    digest_of,
    record,
    values_of,
)
from nearkin.collection.stored.documents import checked_ids, current_ids, current_rows, document
from nearkin.collection.stored.group_state import GroupState, no_group_text, no_groups_text
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError, UnknownDocumentError, quoted
from nearkin.nouns import counted, first_of
from nearkin.store import schema
from nearkin.store.bulk import in_slices, is_name, is_storable
from nearkin.store.store import Store

MAX_OF_A_VALUE = 1_000
_MAX_OF_A_FIELD = 100
_MAX_NAMED = 10
TAGS_SCHEMA = pa.schema(
    [
        pa.field("doc_id", pa.large_string(), nullable=False),
        pa.field("field", pa.large_string(), nullable=False),
        pa.field("value", pa.large_string(), nullable=False),  # empty: a bare tag
        pa.field("activity", pa.int64(), nullable=False),  # that set it
        pa.field("at", pa.large_string(), nullable=False),  # UTC, ISO 8601
        pa.field("by", pa.large_string(), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True)
class TagCount:
    """Number of current documents with a tag.

    Parameters
    ----------
    field : str
    value : str
        Empty for a bare tag.
    n_documents : int
    n_removed : int
        Number of removed documents with it; adding them again brings the tag back.
    """

    field: str
    value: str
    n_documents: int
    n_removed: int


@dataclass(frozen=True, slots=True)
class Tags:
    """Current tags of a collection.

    Parameters
    ----------
    counts : tuple of TagCount
        In order of fields and values.
    documents : Table
        Table with `TAGS_SCHEMA`: each tag of each current document.
    """

    counts: tuple[TagCount, ...]
    documents: pa.Table

    def to_dict(self) -> dict[str, object]:
        """Return the counts as JSON types."""
        return {"tags": [asdict(one) for one in self.counts]}


def tag(
    store: Store,
    doc_ids: Sequence[str],
    field: str,
    value: str | None,
    *,
    group: int | None,
    tolerance: Tolerance,
    by: str | None,
    dry_run: bool,
    max_changes: int | None,
    agreed: str | None = None,
) -> ActivityResult:
    """Set a field of documents to a value, or remove it if the value is None; see `Collection.tag`.

    ``agreed`` is the digest of the changes that a preview showed: others are only returned, as in a dry run.
    """
    field, who = checked_field(field), checked_by(by)
    value = None if value is None else _checked_value(value)
    kind = "untag" if value is None else "tag"
    wanted = checked_ids(doc_ids)
    if bool(wanted) == (group is not None):
        raise ParameterError(f"Give either a list of documents to {kind} or a group.")
    data: dict[str, object] = {"field": field}
    if value is not None:
        data["value"] = value
    with store.reading() if dry_run else store.writing() as connection:
        if group is not None:
            data |= {"group": group, "tolerance": str(tolerance)}
            wanted = members_of(connection, group, str(tolerance))
        else:
            _refuse_unknown(connection, wanted, field if value is None else None)
        values = dict.fromkeys(wanted, value)
        return _set(
            connection, kind, field, values, data=data, by=who, dry_run=dry_run, max_changes=max_changes, agreed=agreed
        )


def tag_values(
    store: Store, values: Mapping[str, str], field: str, *, by: str | None, dry_run: bool, max_changes: int | None
) -> ActivityResult:
    """Set a field to a different value for each document; see `Collection.tag_values`."""
    field, who = checked_field(field), checked_by(by)
    if not isinstance(values, Mapping) or not values:
        raise ParameterError.of("values", "a mapping of ids of documents to values, not empty", values)
    checked: dict[str, str | None] = {doc_id: _checked_value(value) for doc_id, value in values.items()}
    wanted = checked_ids(list(checked))
    data: dict[str, object] = {"field": field, "n_values": len(set(checked.values()))}
    with store.reading() if dry_run else store.writing() as connection:
        _refuse_unknown(connection, wanted, None)
        return _set(connection, "tag", field, checked, data=data, by=who, dry_run=dry_run, max_changes=max_changes)


def _set(
    connection: Connection,
    kind: str,
    field: str,
    values: Mapping[str, str | None],
    *,
    data: Mapping[str, object],
    by: str,
    dry_run: bool,
    max_changes: int | None,
    agreed: str | None = None,
) -> ActivityResult:
    was = values_of(connection, [(TAG, doc_id, field) for doc_id in values])
    changes = tuple(
        SettingChange(TAG, doc_id, field, before, value)
        for doc_id, value in values.items()
        if (before := was.get((TAG, doc_id, field))) != value
    )
    is_dry_run = dry_run or (max_changes is not None and len(changes) > max_changes)
    is_dry_run = is_dry_run or (agreed is not None and digest_of(changes) != agreed)
    number = record(connection, kind, changes, by=by, data=data) if changes and not is_dry_run else None
    return ActivityResult(
        number=number,
        kind=kind,
        changes=changes,
        n_unchanged=len(values) - len(changes),
        is_dry_run=is_dry_run,
        data=data,
    )


def tags(store: Store) -> Tags:
    """Count the tags, and list those of current documents; see `Collection.tags`."""
    with store.reading() as connection:
        rows = list(current_tags(connection))
        current = current_ids(connection, [doc_id for doc_id, _, _, _ in rows])
        table = schema.activity
        acted = {row[0]: row for row in connection.execute(select(table))}
    here, removed = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for doc_id, field, value, _ in rows:
        (here if doc_id in current else removed)[field, value] += 1
    counts = [TagCount(*one, here[one], removed[one]) for one in sorted({*here, *removed})]
    listed = [(*row, acted[row[3]][1], acted[row[3]][2]) for row in rows if row[0] in current]
    columns = list(zip(*listed, strict=True)) or [()] * len(TAGS_SCHEMA)
    arrays = [pa.array(column, one.type) for column, one in zip(columns, TAGS_SCHEMA)]
    return Tags(tuple(counts), pa.Table.from_arrays(arrays, schema=TAGS_SCHEMA))


def tags_as_labels(connection: Connection, field: str) -> list[tuple[str, str]]:
    """Return the ids of current documents with a field, and its values, in order of values and ids."""
    rows = list(current_tags(connection, schema.tags.c.field == checked_field(field)))
    current = current_ids(connection, [doc_id for doc_id, _, _, _ in rows])
    return [(doc_id, value) for doc_id, _, value, _ in rows if doc_id in current]


def tags_of(connection: Connection, doc_ids: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the values of tags by id and field; ids without tags are omitted."""
    found = dict[str, dict[str, str]]()
    for some in in_slices([doc_id for doc_id in doc_ids if is_storable(doc_id)]):
        for doc_id, field, value, _ in current_tags(connection, schema.tags.c.doc_id.in_(some)):
            found.setdefault(doc_id, {})[field] = value
    return found


def parsed(text: str) -> tuple[str, str]:
    """Split ``FIELD=VALUE``; a bare tag has no value.

    Examples
    --------
    >>> parsed("responsive=yes"), parsed("privileged")
    (('responsive', 'yes'), ('privileged', ''))
    """
    field, equals, value = text.partition("=")
    if not field.strip():
        raise ParameterError(f"{text!r} names no tag. Write FIELD or FIELD=VALUE.")
    if equals and not value.strip():
        raise ParameterError(f"The tag {text!r} has no value after =. Write {field!r} for a bare tag.")
    return checked_field(field), _checked_value(value)


def checked_field(field: object) -> str:
    """Return the name of a field without surrounding white space.

    Raises
    ------
    ParameterError
    """
    is_field = isinstance(field, str) and is_storable(field) and field.strip().isprintable() and "=" not in field
    if not isinstance(field, str) or not is_field or not 0 < len(field.strip()) <= _MAX_OF_A_FIELD:
        rule = f"a name of 1 to {_MAX_OF_A_FIELD} printable characters without ="
        raise ParameterError.of("field", rule, field)
    return field.strip()


def _checked_value(value: object) -> str:
    is_text = isinstance(value, str) and is_name(value.strip()) and len(value) <= MAX_OF_A_VALUE
    if not isinstance(value, str) or not is_text or (value and not value.strip()):
        rule = f"a str of at most {MAX_OF_A_VALUE:,} characters in one line, not blank; empty for a bare tag"
        raise ParameterError.of("value", rule, value)
    return value.strip()


def members_of(connection: Connection, group: int, tolerance: str) -> list[str]:
    """Return the ids of the current documents of a stored group, in order of rows.

    Raises
    ------
    UnknownDocumentError
        There is no such group at this tolerance.
    ParameterError
        It is not the number of a group.
    """
    if not isinstance(group, int) or isinstance(group, bool) or not 0 < group < 2**63:
        raise ParameterError.of("group", "the number of a group", group)
    state = GroupState.known(connection, tolerance)
    found = current_rows(connection, schema.documents.c.content, state.contents_of(group))
    if not found:
        is_at_all = state.number is not None
        raise UnknownDocumentError(
            no_group_text(tolerance, group) if is_at_all else no_groups_text(connection, tolerance)
        )
    return [one.doc_id for one in found]


def _refuse_unknown(connection: Connection, doc_ids: Sequence[str], tagged: str | None) -> None:
    """Refuse ids without a current document; a removed document is accepted if it has the field ``tagged``."""
    known = current_ids(connection, doc_ids)
    if tagged is not None:
        known |= {key[1] for key in values_of(connection, [(TAG, doc_id, tagged) for doc_id in doc_ids])}
    unknown = [doc_id for doc_id in doc_ids if doc_id not in known]
    if len(unknown) == 1:
        try:
            document(connection, unknown[0])
        except UnknownDocumentError as error:  # it says why the document is missing
            omit = " Omit this id." if len(doc_ids) > 1 else ""
            raise UnknownDocumentError(f"{error} Nothing was changed.{omit}") from None
    if unknown:
        raise UnknownDocumentError(
            f"Not in the collection: {len(unknown):,} of {counted(len(doc_ids), 'document')}: "
            f"{first_of(list(map(quoted, unknown[:_MAX_NAMED])), _MAX_NAMED, len(unknown))}. Nothing "
            "was changed. Omit these ids. If a document is new or was removed, add it with nearkin add."
        )
