"""Conversion of records to JSON and back; missing or invalid optional values read as absent."""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


_ODD = object()


@dataclass(frozen=True, slots=True)
class Stored:
    """A record that JSON can hold: its fields are values, records, mappings from names, and tuples of these.

    Type ``int`` stands for a count, and ``float`` for a finite number.
    """

    left_out: ClassVar[frozenset[str]] = frozenset()
    """Fields that are omitted if they are None."""
    names: ClassVar[Mapping[str, str]] = {}
    """JSON names of fields whose names are reserved words in Python."""

    @classmethod
    def of(cls, stored: object) -> Self:
        """Restore a record from the result of `as_stored`.

        Raises
        ------
        TypeError
            A required field is missing or has a wrong type.
        """
        record: Self = _record(cls, stored)
        return record

    def as_stored(self) -> dict[str, object]:
        """Return the record as JSON types."""
        values = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {
            self.names.get(name, name): _plain(value)
            for name, value in values
            if value is not None or name not in self.left_out
        }


def _plain(value: Any) -> object:
    if isinstance(value, Stored):
        return value.as_stored()
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value


def _record(kind: type[DataclassInstance], stored: object) -> Any:
    entry = stored if isinstance(stored, Mapping) else {}
    written = kind.names if issubclass(kind, Stored) else {}
    found = {}
    for name, hint in _hints(kind).items():
        value = _value(hint, entry.get(written.get(name, name), _ODD))
        if value is not _ODD:
            found[name] = value
    return kind(**found)


@functools.cache
def _hints(kind: type[DataclassInstance]) -> Mapping[str, Any]:
    """Return the type of each field."""
    hints = get_type_hints(kind)
    return {one.name: hints[one.name] for one in fields(kind)}


def _value(kind: Any, stored: object) -> Any:
    """Return a stored value as the given type; _ODD if it does not fit."""
    origin, inner = get_origin(kind), get_args(kind)
    if stored is _ODD or kind in (object, Any):
        return stored
    if origin in (Union, types.UnionType):
        return next((value for one in inner if (value := _value(one, stored)) is not _ODD), _ODD)
    if origin is Literal:
        return stored if stored in inner else _ODD
    if origin is tuple:
        some = [_value(inner[0], one) for one in stored] if isinstance(stored, list | tuple) else [_ODD]
        return tuple(some) if _ODD not in some else _ODD
    if origin is Mapping and isinstance(stored, Mapping):
        entries = ((str(name), _value(inner[1], value)) for name, value in stored.items())
        return {name: value for name, value in entries if value is not _ODD}
    if isinstance(kind, type) and is_dataclass(kind) and isinstance(stored, Mapping):
        try:
            return _record(kind, stored)
        except (TypeError, ValueError):  # a required field is missing or invalid
            return _ODD
    return stored if isinstance(kind, type) and _is_of(kind, stored) else _ODD


def _is_of(kind: type, stored: object) -> bool:
    if kind is type(None):
        return stored is None
    if kind in (int, float) and isinstance(stored, bool):
        return False
    if kind is float:
        return isinstance(stored, int | float) and math.isfinite(stored)
    return isinstance(stored, kind) and not (kind is int and isinstance(stored, int) and stored < 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile(Stored):
    """A source that was read; fields that do not apply are None.

    ``sha256`` covers a file; of a collection the numbers of its documents; of a run its manifest.
    """

    left_out: ClassVar[frozenset[str]] = frozenset(("texts_sha256",))

    path: str = ""
    size_bytes: int | None = None
    sha256: str | None = None
    format: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    """Prefix of the names given to documents that have no id."""
    end_row: int | None = None
    """For a collection only: upper limit of the numbers of its documents in its store."""
    n_documents: int | None = None
    texts_sha256: str | None = None
    """For a load file only: SHA-256 of the texts in the files that it names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedFile(Stored):
    """File that was used only in part; ``line`` is None if the place of the damage is unknown."""

    left_out: ClassVar[frozenset[str]] = frozenset(("line",))

    path: str
    line: int | None = None
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotReadFiles(Stored):
    """Files or folders of the input that were not read for one reason; ``paths`` has the first of the ``n``."""

    place: str
    reason: str
    n: int
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HowRead(Stored):
    """Settings with which the files were read: needed to read them again, and the errors that were tolerated."""

    left_out: ClassVar[frozenset[str]] = frozenset(("text_root", "extraction_limits", "ocr"))

    format: str | None = None
    on_error: str | None = None
    max_unreadable: float | None = None
    max_document_bytes: int | None = None
    text_root: str | None = None
    extraction_limits: Mapping[str, int] | None = None
    """Those that differ from the defaults; see `ExtractionLimits.of`."""
    ocr: str | None = None
