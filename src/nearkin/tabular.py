"""Results as data frames and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from functools import cache
from typing import Any, ClassVar

import msgspec
import pyarrow as pa

from nearkin.errors import MissingExtraError, ParameterError


class Tabular:
    """Tables of a result as data frames."""

    __slots__ = ()

    def to_pandas(self, table: str | None = None) -> Any:
        """Return a table as a pandas DataFrame; integers that may be missing are ``Int64``.

        Parameters
        ----------
        table
            Name of a table of this result; by default its first table.

        Raises
        ------
        MissingExtraError
            pandas is not installed.
        """
        chosen = self._chosen(table)
        try:
            import pandas  # noqa: F401  # Arrow needs it
        except ImportError as error:
            raise _not_installed("pandas") from error
        return chosen.to_pandas()

    def to_polars(self, table: str | None = None) -> Any:
        """Return a table as a polars DataFrame; otherwise as `to_pandas`."""
        chosen = self._chosen(table)
        try:
            import polars
        except ImportError as error:
            raise _not_installed("polars") from error
        return polars.from_arrow(chosen)

    def _chosen(self, table: str | None) -> pa.Table:
        names = [name for name in table_names(type(self)) if getattr(self, name) is not None]
        name = names[0] if table is None else table
        if name not in names:
            raise ParameterError.of("table", f"one of {', '.join(names)}", table)
        return getattr(self, name)


def table_names(result: Any) -> list[str]:
    """Return the tables of a type of results: its fields, or the property ``table``."""
    return [field.name for field in fields(result) if "pa.Table" in str(field.type)] or ["table"]


class AnswerRecord:
    """Record of an answer, which pages, the API, the terminal and tables share.

    Attributes
    ----------
    hidden, computed
        Fields that JSON does not have, and properties that it has; ``principal=principal.document.doc_id`` gives a
        property, also one of a field, another name.
    """

    __slots__ = ()
    hidden: ClassVar[tuple[str, ...]] = ()
    computed: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types, those of a document and of a tolerance among them."""
        return _of_record(self)


FLAT = ("document", "tolerance", "similar", "estimate")
"""Fields of an answer whose fields stand among its own in JSON."""


@cache
def json_names(answer: Any) -> dict[str, str]:
    """Return the names that a type of records has in JSON, in order, and the attributes of their values."""
    hidden, computed = getattr(answer, "hidden", ()), getattr(answer, "computed", ())
    own = [field.name for field in fields(answer) if field.type != "pa.Table" and field.name not in hidden]
    return {name: path or name for name, _, path in (entry.partition("=") for entry in (*own, *computed))}


def as_json(value: Any) -> Any:
    """Return a value as JSON types: records by their fields, without those that are ``msgspec.UNSET``."""
    if isinstance(value, AnswerRecord):
        return value.to_dict()
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    if is_dataclass(value) and not isinstance(value, type):
        return value.to_json() if hasattr(value, "to_json") else _of_record(value)
    if isinstance(value, Mapping):
        return {name: as_json(member) for name, member in value.items()}
    if isinstance(value, tuple | list):
        return [as_json(member) for member in value]
    return value.isoformat() if isinstance(value, date) else value


def _of_record(record: Any) -> dict[str, object]:
    values = dict[str, object]()
    for name, path in json_names(type(record)).items():  # type: ignore[arg-type]  # mypy: a class is hashable
        value: Any = record
        for step in path.split("."):
            value = None if value is None else getattr(value, step)
        if value is not msgspec.UNSET:
            is_flat = name in FLAT and path == name and is_dataclass(value)
            values |= as_json(value) if is_flat else {name: as_json(value)}
    return values


def _not_installed(package: str) -> MissingExtraError:
    return MissingExtraError(f"to_{package} needs {package}: pip install {package}")
