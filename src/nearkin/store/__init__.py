"""Storage of a collection: one SQL schema, in SQLite or PostgreSQL."""

from __future__ import annotations

from importlib.util import find_spec

from nearkin.errors import MissingExtraError

if find_spec("sqlalchemy") is None:
    raise MissingExtraError.of("A collection", "collection")
