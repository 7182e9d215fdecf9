"""Location of a collection: a directory, or a PostgreSQL URL."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote

from sqlalchemy import URL
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from nearkin.errors import ParameterError
from nearkin.paths import DATABASE, is_like_a_server, not_supported, without_password

FILE = DATABASE
_RULE = "a directory, or postgresql://USER:PASSWORD@HOST:PORT/DATABASE[?schema=NAME]"
_DRIVER = "postgresql+psycopg"
_DRIVERS = ("postgresql", "postgres", _DRIVER, "postgres+psycopg")
_TAKES_AS_IT_IS = make_url("postgresql://h/%26").database == "%26"
"""Whether SQLAlchemy neither unquotes nor quotes the name of a database: 2.0 does not, 2.1 does."""
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class Place:
    """A directory with an SQLite file, or a schema of a PostgreSQL database.

    Parameters
    ----------
    schema
        PostgreSQL only.

    Examples
    --------
    >>> place = Place.parse("postgresql://ada:secret@localhost/matters?schema=smith_jones")
    >>> place.schema, str(place)
    ('smith_jones', 'postgresql://ada:***@localhost/matters?schema=smith_jones')
    >>> Place.parse("smith-jones").directory.name
    'smith-jones'
    """

    directory: Path | None
    url: URL
    schema: str | None

    @classmethod
    def parse(cls, path_or_url: str | Path) -> Place:
        """Parse a path or a URL, which must be PostgreSQL's, with a schema name that needs no quoting."""
        if not isinstance(path_or_url, str | Path):
            raise ParameterError.of("path_or_url", _RULE, path_or_url)
        if isinstance(path_or_url, Path) or "://" not in path_or_url:
            directory = Path(path_or_url)
            if is_like_a_server(str(path_or_url)):  # a directory would be made, with the password in its name
                raise ParameterError.of("collection", _RULE, without_password(str(path_or_url)))
            if "\0" in str(path_or_url):
                rule = "a path, which cannot contain the character U+0000"
                raise ParameterError.of("collection", rule, str(path_or_url))
            return cls(directory, URL.create("sqlite", database=str(directory / FILE)), None)
        shown = without_password(path_or_url)
        try:
            url = make_url(path_or_url)
        except (ArgumentError, ValueError) as error:
            raise ParameterError.of("collection", _RULE, shown) from error
        if url.get_backend_name() not in ("postgresql", "postgres"):
            raise ParameterError(f"{not_supported(path_or_url)} A collection is {_RULE}.")
        _check_as_written(path_or_url, url)
        schema = url.query.get("schema", "nearkin")
        check_schema(schema)
        settings = {name: value for name, value in url.query.items() if name != "schema"}
        return cls(None, url.set(drivername=_DRIVER, query=settings, database=_database_in(path_or_url)), str(schema))

    @property
    def address(self) -> str:
        """The location in the form `parse` reads, with the password: for programs only."""
        if self.directory is not None:
            return str(self.directory)
        return self._as_written().render_as_string(hide_password=False)

    def name_outside(self, collection: str) -> str:
        """Return a name for what belongs to a collection and lies elsewhere: a restored copy has another address."""
        return f"{collection}-{hashlib.sha256(str(self).encode()).hexdigest()[:12]}"

    def __str__(self) -> str:
        """Return the location without a password, for messages."""
        if self.directory is not None:
            return str(self.directory)
        return self._as_written().render_as_string(hide_password=True)

    def _as_written(self) -> URL:
        query = {"schema": self.schema or "", **self.url.query}
        database = self.url.database and quote(self.url.database, safe="") if _TAKES_AS_IT_IS else self.url.database
        return self.url.set(drivername="postgresql", query=query, database=database)


def _database_in(written: str) -> str | None:
    address = written.partition("://")[2].rpartition("@")[2].partition("?")[0]
    return unquote(address.partition("/")[2]) or None


def _check_as_written(written: str, url: URL) -> None:
    """Refuse a URL that would connect to another database, schema or server than it seems to name."""
    shown, rest = without_password(written), written.partition("://")[2]
    if rest.count("@") > 1:  # messages would show the rest of the password as the host
        escaped = f"{_RULE}; write @ in a password as %40 and / as %2F"
        raise ParameterError.of("collection", escaped, shown)
    if url.drivername not in _DRIVERS:
        rule = f"{_RULE}, without the name of a driver: Nearkin connects with its own"
        raise ParameterError.of("collection", rule, shown)
    settings = parse_qsl(rest.partition("?")[2], keep_blank_values=True)
    names = [name for name, _ in settings]
    if any("password" in name for name in names):  # messages would show it
        raise ParameterError.of("collection", f"{_RULE}; a password is written before @", shown)
    if len(names) > len(set(names)) or ("schema", "") in settings:
        rule = f"{_RULE}, with each setting once, and a name for the schema"
        raise ParameterError.of("collection", rule, shown)


def check_schema(schema: object) -> None:
    """Refuse a schema name that would need quoting."""
    if not isinstance(schema, str) or not _SCHEMA.fullmatch(schema):
        rule = "lower-case letters, digits and _, not beginning with a digit"
        raise ParameterError.of("schema", rule, schema)
