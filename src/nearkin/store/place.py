"""Where a collection is: a directory, or a URL of PostgreSQL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from nearkin.errors import ParameterError
from nearkin.paths import not_supported, without_password

FILE = "nearkin.sqlite"
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class Place:
    """A directory with SQLite inside, or a schema of a PostgreSQL database.

    Parameters
    ----------
    directory : Path or None
    url : sqlalchemy.URL
    schema : str or None
        Of PostgreSQL.

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
        """What a user wrote.

        Raises
        ------
        ParameterError
            A URL that is not one, or not of PostgreSQL; a schema with a name that would need quoting.
        """
        if isinstance(path_or_url, Path) or "://" not in path_or_url:
            directory = Path(path_or_url)
            return cls(directory, URL.create("sqlite", database=str(directory / FILE)), None)
        rule = "a directory, or postgresql://USER:PASSWORD@HOST:PORT/DATABASE[?schema=NAME]"
        try:
            url = make_url(path_or_url)
        except (ArgumentError, ValueError) as error:
            raise ParameterError.of("collection", "nearkin", rule, without_password(path_or_url)) from error
        if url.get_backend_name() not in ("postgresql", "postgres"):
            raise ParameterError(f"{not_supported(path_or_url)} A collection is {rule}.")
        if not url.database:
            raise ParameterError.of("collection", "nearkin", rule, without_password(path_or_url))
        if "@" in (url.host or ""):  # of the password, which would be told as a part of the host
            raise ParameterError.of(
                "collection", "nearkin", f"{rule}; @ in a password is %40", without_password(path_or_url)
            )
        schema = url.query.get("schema", "nearkin")
        check_schema(schema, "the collection's URL")
        if unknown := set(url.query) - {"schema"}:
            raise ParameterError.of("collection", "nearkin", f"{rule}; 'schema' is all that may follow ?", unknown)
        return cls(None, url.set(drivername="postgresql+pg8000", query={}), str(schema))

    @property
    def address(self) -> str:
        """What `parse` reads as the same place: with the password, for programs only."""
        if self.directory is not None:
            return str(self.directory)
        url = self.url.set(drivername="postgresql", query={"schema": self.schema or ""})
        return url.render_as_string(hide_password=False)

    def __str__(self) -> str:
        """As messages name it: without a password."""
        if self.directory is not None:
            return str(self.directory)
        return self.url.set(drivername="postgresql", query={"schema": self.schema or ""}).render_as_string(True)


def check_schema(schema: object, owner: str) -> None:
    """Refuse the name of a schema that would need quoting.

    Raises
    ------
    ParameterError
    """
    if not isinstance(schema, str) or not _SCHEMA.fullmatch(schema):
        rule = "lower-case letters, digits and _, not beginning with a digit"
        raise ParameterError.of("schema", owner, rule, schema)
