"""Places for collections of the tests' own: a directory, or a schema of a PostgreSQL server."""

from __future__ import annotations

import itertools
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import postgresql

if TYPE_CHECKING:
    from nearkin.collection.collection import Collection

_NUMBERS = itertools.count()
on_one_database = pytest.mark.parametrize("place", ["sqlite"], indirect=True)
"""For tests of screens: what they ask the collection for is tested in both kinds, and so are the main screens."""
refused_before_any_database = pytest.mark.parametrize("place", ["sqlite"], indirect=True)
"""For a test of what is refused before a database is asked: one kind is enough."""


@dataclass(frozen=True)
class SomePlace:
    """Where a collection is, or may be made.

    Parameters
    ----------
    address : str
        For `Collection.open`.
    cache : Path
        For the index of one in PostgreSQL.
    server : Server or None
        None for a directory.
    """

    address: str
    cache: Path
    server: postgresql.Server | None = None

    @classmethod
    def new(cls, folder: Path, server: postgresql.Server | None) -> SomePlace:
        """One that nobody used, with all of its files in a folder."""
        name = f"matter_{os.getpid()}_{next(_NUMBERS)}"
        cache = folder / f"{name}-index"
        return cls(str(folder / name) if server is None else server.url(schema=name), cache, server)

    def another(self) -> SomePlace:
        """A new place of the same kind."""
        return SomePlace.new(self.cache.parent, self.server)

    def open(self, *, create: bool = True, **options: object) -> Collection:
        from nearkin.collection.collection import Collection  # not before a test needs it

        return Collection.open(self.address, create=create, cache=self.cache, **options)

    @property
    def kind(self) -> str:
        return "sqlite" if self.server is None else "postgresql"

    @property
    def schema(self) -> str:
        return self.address.rpartition("=")[2]

    @property
    def file(self) -> Path:
        """SQLite's."""
        return Path(self.address) / "nearkin.sqlite"

    @property
    def segments(self) -> Path:
        """The folder of the index."""
        if self.server is None:
            return Path(self.address) / "segments"
        from nearkin.store.place import Place  # not before a test needs it

        return self.cache / Place.parse(self.address).name_outside(self.fact("collection"))

    def sql(self, statement: str) -> str:
        """A statement, by the database's own means; the first column of the answer's rows, a line each."""
        if self.server is not None:
            return self.server.sql(f"SET search_path TO {self.schema}; {statement}").removeprefix("SET").strip()
        with closing(sqlite3.connect(self.file)) as connection, connection:
            return "\n".join(str(row[0]) for row in connection.execute(statement))

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        """The rows of a query that is given as it is, without Nearkin's help."""
        if self.server is None:
            with closing(sqlite3.connect(self.file)) as connection:
                return connection.execute(statement).fetchall()
        with closing(self.server.connection()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(statement)
            return [tuple(row) for row in cursor.fetchall()]

    def fact(self, name: str) -> str:
        return self.sql(f"SELECT value FROM facts WHERE name = '{name}'")

    def copy_store(self) -> Path:
        """A copy of the database, without the index."""
        copy = self.cache.parent / f"copy-{next(_NUMBERS)}"
        if self.server is None:
            with closing(sqlite3.connect(self.file)) as connection, closing(sqlite3.connect(copy)) as into:
                connection.backup(into)
        else:
            copy.write_bytes(self._run("pg_dump", "--schema", self.schema))
        return copy

    def put_back(self, copy: Path) -> None:
        """The database as it was copied; the index stays as it is."""
        if self.server is None:
            for name in ("-wal", "-shm"):
                self.file.with_name(self.file.name + name).unlink(missing_ok=True)
            shutil.copy(copy, self.file)
        else:
            self.server.sql(f"DROP SCHEMA {self.schema} CASCADE")
            self._run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", str(copy))

    def copy_of(self, original: SomePlace, dump: Path) -> None:
        """Make this new place the same as another one, of which `copy_store` made a dump."""
        if self.server is None:
            shutil.copytree(original.address, self.address)
            return
        own = self.cache.parent / f"copy-{next(_NUMBERS)}"
        own.write_bytes(dump.read_bytes().replace(original.schema.encode(), self.schema.encode()))
        self._run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-1", "-f", str(own))
        shutil.copytree(original.cache, self.cache)
        for folder in self.cache.glob(f"{self.fact('collection')}-*"):
            folder.rename(self.segments)  # as if it had been made there

    def _run(self, name: str, *arguments: str) -> bytes:
        program = postgresql.program(name)
        environment = os.environ | {"PGPASSWORD": "open-sesame"}
        command = [program, *arguments, "-h", "127.0.0.1", "-p", str(self.server.port), "-U", "nearkin", "postgres"]
        return subprocess.run(command, env=environment, check=True, capture_output=True).stdout
