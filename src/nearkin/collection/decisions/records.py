"""Records of decisions: an activity, and what it changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

TAG = "tag"
NEVER_GROUP, SAME_GROUP, PRINCIPAL, NOTE, GROUP_NOTE = "never-group", "same-group", "principal", "note", "group-note"
SPLIT_OFF = "split-off"
"""Kind of an activity that is stored as `NEVER_GROUP`, since it changes the same setting of two documents."""
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
    kind : {"tag", "never-group", "same-group", "principal", "note", "group-note", "purge", "remove", "store"}
    subject : str
        Id of the document; for a note on a group, the tolerance of the group.
    other : str
        Field of a tag; id of the other document; number of the group of a note; SHA-256 of a purged text. Empty for a
        stored or removed document, and for a file without text.
    was, now : str or None
        Values before and after; None if not set. Empty for a tag without a value, and for a decision on two documents;
        if one of these was split off, its id.
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
    told = sorted(json.dumps(asdict(one)) for one in changes)
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


def kind_of(stored: str, changes: Sequence[SettingChange], *, undone: bool = False) -> str:
    """Return the kind of an activity from the stored kind and its changes, or from those of its undo.

    Examples
    --------
    >>> kind_of("never-group", [SettingChange("never-group", "a", "b", None, "b")])
    'split-off'
    >>> kind_of("never-group", [SettingChange("never-group", "a", "b", None, "")])
    'never-group'
    """
    is_split_off = stored == NEVER_GROUP and any(one.was if undone else one.now for one in changes)
    return SPLIT_OFF if is_split_off else stored


def data_of_undo(stored: Mapping[str, object], changes: Sequence[SettingChange]) -> dict[str, object]:
    """Return the data of an undo with the kind of what it undid, as `kind_of` has it."""
    return {**stored, "kind": kind_of(str(stored["kind"]), changes, undone=True)} if "kind" in stored else {**stored}


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """An entry of the activity log.

    Parameters
    ----------
    number : int
        From 1.
    at : str
        UTC, ISO 8601.
    by : str
    kind : str
        "tag", "untag", "never-group", "split-off", "same-group", "principal", "note", "group-note", "undo", "purge",
        "remove" or "store".
    data : mapping of str to object
        Details by kind. Tag: field and value, or the number of values, n_values, if there are several; the group and
        its tolerance, if a group was named. Store: the wave. Remove: the wave, if a wave was named; gone_in, the wave
        whose files no longer contain the documents. Principal: the former principals. Undo: number and kind of the
        undone activity. Purge: number of erased texts. Otherwise empty.
    undoes : int or None
        Number of the activity that this one undid.
    changes : tuple of SettingChange
    undone_by : int or None
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

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {
            "number": self.number,
            "at": self.at,
            "by": self.by,
            "kind": self.kind,
            "data": dict(self.data),
            "undoes": self.undoes,
            "undone_by": self.undone_by,
            "changes": [_as_json(one) for one in self.changes],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityResult:
    """Result of a decision, or of its dry run.

    Parameters
    ----------
    number : int or None
        Number of the activity; None if nothing was changed.
    kind : str
        As in `Activity`.
    changes : tuple of SettingChange
        Changes that were made, or would be made.
    n_unchanged : int
        Number of named documents that already had the value.
    is_dry_run : bool
        Whether nothing was stored.
    """

    number: int | None
    kind: str
    changes: tuple[SettingChange, ...]
    n_unchanged: int = 0
    is_dry_run: bool = False
    data: Mapping[str, object] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Digest of the changes; see `digest_of`."""
        return digest_of(self.changes)

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {
            "number": self.number,
            "kind": self.kind,
            "data": dict(self.data),
            "n_changed": len(self.changes),
            "n_unchanged": self.n_unchanged,
            "is_dry_run": self.is_dry_run,
            "changes": [_as_json(one) for one in self.changes],
        }


def _as_json(one: SettingChange) -> dict[str, object]:
    return {"kind": one.kind, "subject": one.subject, "other": one.other, "was": one.was, "now": one.now}
