"""Statements compiled once in a process: each collection has an engine of its own, which would compile them again."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.util import LRUCache

_Key = tuple[Any, ...]


class SharedStatements(LRUCache[Hashable, Any]):
    """What engines look compiled statements up in: those of one kind of database have the same ones."""

    def get(self, key: _Key, default: Any = None) -> Any:
        return super().get(_of_kind(key), default)

    def __setitem__(self, key: _Key, compiled: Any) -> None:
        super().__setitem__(_of_kind(key), compiled)


def share_statements() -> None:
    """Have all engines that connect from here on share what they compile."""
    shared = SharedStatements(4000)

    def share(connection: Connection) -> None:
        connection.engine._compiled_cache = shared

    event.listen(Engine, "engine_connect", share)


def _of_kind(key: _Key) -> _Key:
    """The key with what a dialect is in the place of the dialect of one engine."""
    dialect, *rest = key
    return dialect.name, dialect.driver, dialect.server_version_info, *rest
