"""Location of a collection: a directory, or a PostgreSQL URL."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from sqlalchemy import URL
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from nearkin.errors import ParameterError
from nearkin.paths import DATABASE, is_like_a_server, not_supported, without_password

if TYPE_CHECKING:
    from nearkin.store.server_settings import ServerSettings

FILE = DATABASE
_OPTIONS = ("service", "host", "port", "sslmode", "sslrootcert", "connect_timeout", "application_name")
_RULE = "a directory, or postgresql://USER:PASSWORD@HOST:PORT/DATABASE[?schema=NAME]"
_DRIVERS = ("postgresql", "postgres", "postgresql+pg8000", "postgres+pg8000")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class Place:
    """A directory with an SQLite file, or a schema of a PostgreSQL database.

    Parameters
    ----------
    directory : Path or None
    url : sqlalchemy.URL
    schema : str or None
        PostgreSQL only.
    options : tuple of (str, str)
        What else a PostgreSQL URL says after the question mark: service, host, port, sslmode, sslrootcert,
        connect_timeout, application_name.

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
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, path_or_url: str | Path) -> Place:
        """Parse a path or a URL.

        Raises
        ------
        ParameterError
            The URL is invalid or not PostgreSQL's, or the schema's name would need quoting.
        """
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
        from nearkin.store.server_settings import SSL_MODES  # a directory has no settings

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
        options = tuple((name, value) for name in _OPTIONS if isinstance(value := url.query.get(name), str))
        mode = dict(options).get("sslmode", "prefer")
        if mode not in SSL_MODES:
            raise ParameterError.of("sslmode", f"one of {', '.join(SSL_MODES)}", mode)
        return cls(None, url.set(drivername="postgresql+pg8000", query={}), str(schema), options)

    def settings(self) -> ServerSettings:
        """Return everything a connection to PostgreSQL needs, from the URL, the environment and files.

        Raises
        ------
        CollectionError, ParameterError
            See `server_settings.settings_of`.
        """
        from nearkin.store.server_settings import settings_here

        url = self.url
        said = {"host": url.host, "dbname": url.database, "user": url.username, "password": url.password}
        given = {name: str(value) for name, value in said.items() if value is not None and value != ""}
        if url.port is not None:
            given["port"] = str(url.port)
        return settings_here(dict(self.options) | given)

    @property
    def address(self) -> str:
        """The location in the form `parse` reads, with the password: for programs only."""
        if self.directory is not None:
            return str(self.directory)
        return self._as_written().render_as_string(hide_password=False)

    def name_outside(self, collection: str) -> str:
        """Return a name for what belongs to a collection in PostgreSQL but is not in its database.

        A copy of the database has the id of its original, so the name has the id and a digest of the address.
        """
        settings = self.settings()
        address = f"{settings.host}:{settings.port}/{settings.database}?schema={self.schema}"
        return f"{collection}-{hashlib.sha256(address.encode()).hexdigest()[:12]}"

    def __str__(self) -> str:
        """Return the location without a password, for messages."""
        if self.directory is not None:
            return str(self.directory)
        return self._as_written().render_as_string(hide_password=True)

    def _as_written(self) -> URL:
        return self.url.set(drivername="postgresql", query={"schema": self.schema or "", **dict(self.options)})


def _check_as_written(written: str, url: URL) -> None:
    """Refuse a URL that would connect to another database, schema or server than it seems to name."""
    shown, rest = without_password(written), written.partition("://")[2]
    if rest.count("@") > 1:  # messages would show the rest of the password as the host
        escaped = f"{_RULE}; write @ in a password as %40 and / as %2F"
        raise ParameterError.of("collection", escaped, shown)
    if url.drivername not in _DRIVERS:
        rule = f"{_RULE}, without the name of a driver: Nearkin connects with its own"
        raise ParameterError.of("collection", rule, shown)
    if url.username is not None:
        user, _, rest = rest.rpartition("@")
        if "/" in user or "?" in user.partition(":")[0]:  # rather an @ behind the host, in a setting
            escaped = f"{_RULE}; write @ in a setting as %40, and / and ? in a user or password as %2F and %3F"
            raise ParameterError.of("collection", escaped, shown)
    address, _, query = rest.partition("?")
    if "&" in address:
        rule = f"{_RULE}, with ? before the first setting and & between settings (a & in a name is written as %26)"
        raise ParameterError.of("collection", rule, shown)
    port = address.partition("/")[0].rpartition(":")[2]
    if url.port is not None and not port.isascii():  # digits of other scripts
        raise ParameterError(f"The port of PostgreSQL must be a number from 1 to 65535. Got {port!r} instead.")
    settings = parse_qsl(query, keep_blank_values=True)
    names = [name for name, _ in settings]
    if unknown := set(names) - {"schema", *_OPTIONS}:
        allowed = f"{_RULE}; only schema, {', '.join(_OPTIONS)} are allowed after ?"
        raise ParameterError.of("collection", allowed, unknown)
    if len(names) > len(set(names)) or ("schema", "") in settings:
        rule = f"{_RULE}, with each setting once, and a name for the schema"
        raise ParameterError.of("collection", rule, shown)


def check_schema(schema: object) -> None:
    """Refuse a schema name that would need quoting.

    Raises
    ------
    ParameterError
    """
    if not isinstance(schema, str) or not _SCHEMA.fullmatch(schema):
        rule = "lower-case letters, digits and _, not beginning with a digit"
        raise ParameterError.of("schema", rule, schema)
