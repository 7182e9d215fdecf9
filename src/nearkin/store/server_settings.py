"""Server, user, password and encryption of a connection to PostgreSQL, from the same sources as for psql.

What a URL does not say comes from the service that it names, from environment variables, and then from defaults, in
this order; the password also from the password file. The files are those of libpq: PostgreSQL's documentation,
sections "The Password File", "The Connection Service File" and "SSL Support" of its chapter on libpq.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.errors import CollectionError, ParameterError
from nearkin.paths import why
from nearkin.store.system_user import system_user

if TYPE_CHECKING:
    import ssl

SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_PORT = 5432
_CONNECT_S = 60
_SOCKETS = ("/var/run/postgresql", "/tmp")
_SERVICES_OF_SYSTEM = "/etc/postgresql-common"
_FIELD = re.compile(r"((?:\\.|[^:\\])*)(:|$)")
_VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "dbname": "PGDATABASE",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "passfile": "PGPASSFILE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "connect_timeout": "PGCONNECT_TIMEOUT",
    "application_name": "PGAPPNAME",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Everything a connection needs.

    Parameters
    ----------
    host : str
        A name or an address; or the path of a directory with the server's Unix socket.
    port : int
    database, user : str
    password : str or None
    sslmode : {"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}
    sslrootcert : str or None
        File with the certificates of trusted authorities; "system" means those of the machine.
    connect_timeout_s : int or None
        Seconds to wait for a connection; None waits without a limit.
    application_name : str
        Name of the connection in ``pg_stat_activity``.
    notes : tuple of str
        What was not used, and why, for the message of a connection that fails.
    """

    host: str
    port: int
    database: str
    user: str
    password: str | None = field(repr=False)
    sslmode: str
    sslrootcert: str | None
    connect_timeout_s: int | None = _CONNECT_S
    application_name: str = "nearkin"
    notes: tuple[str, ...] = ()

    @property
    def socket(self) -> str | None:
        """Path of the Unix socket, if the server is reached by one."""
        return f"{self.host}/.s.PGSQL.{self.port}" if self.host.startswith("/") else None

    def tls(self) -> ssl.SSLContext | None:
        """Return the context for encryption with the verification that ``sslmode`` asks for; None: no encryption.

        Raises
        ------
        CollectionError
            The file of certificates cannot be read.
        """
        if self.sslmode == "disable" or self.socket is not None:
            return None
        import ssl  # OpenSSL, which a collection in SQLite does not need

        # not the driver's own context, which loads all certificates of the machine and uses none of them
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = self.sslmode == "verify-full"
        is_verified = self.sslmode.startswith("verify") or (self.sslmode == "require" and self.sslrootcert is not None)
        context.verify_mode = ssl.CERT_REQUIRED if is_verified else ssl.CERT_NONE
        if not is_verified:
            return context
        try:
            if self.sslrootcert == "system":
                context.load_default_certs()
            else:
                context.load_verify_locations(self.sslrootcert)
        except (OSError, ssl.SSLError, TypeError) as error:
            told = why(error) if isinstance(error, OSError) and error.errno else "it holds no certificate"
            raise CollectionError(
                f"sslmode={self.sslmode} needs the certificate of the server's authority, but {self.sslrootcert} "
                f"cannot be read: {told}. Name its file with sslrootcert=FILE."
            ) from error
        return context


def settings_here(given: Mapping[str, str]) -> ServerSettings:
    """Complete the settings of a URL on this machine; see `settings_of`."""
    return settings_of(given, os.environ, Path.home())


def service_token() -> str | None:
    """Return the token of a service that the environment variable NEARKIN_TOKEN has."""
    return os.environ.get("NEARKIN_TOKEN")


def settings_of(given: Mapping[str, str], environment: Mapping[str, str], home: Path) -> ServerSettings:
    """Complete the settings of a URL.

    Parameters
    ----------
    given : mapping of str to str
        What the URL says, under libpq's names: host, port, dbname, user, password, service, sslmode, sslrootcert,
        connect_timeout, application_name.
    environment : mapping of str to str
    home : Path
        Home directory of the user.

    Raises
    ------
    CollectionError
        A service is not defined, a file cannot be read, or the system has no name for the user.
    ParameterError
        The port, sslmode or connect_timeout breaks its rule.

    Examples
    --------
    >>> found = settings_of({"host": "db", "dbname": "matters", "user": "ada"}, {"PGPASSWORD": "secret"}, Path("/none"))
    >>> found.port, found.password, found.sslmode
    (5432, 'secret', 'prefer')
    """
    told = {name: value for name, value in given.items() if name != "service"}
    service = given.get("service") or environment.get("PGSERVICE")
    if service:
        told = _service(service, environment, home) | told
    told = {name: environment[key] for name, key in _VARIABLES.items() if environment.get(key)} | told
    port = told.get("port", str(_PORT))
    if not port.isascii() or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise ParameterError(f"The port of PostgreSQL must be a number from 1 to 65535. Got {port!r} instead.")
    mode = told.get("sslmode", "prefer")
    if mode not in SSL_MODES:
        raise ParameterError(f"sslmode must be one of {', '.join(SSL_MODES)}. Got {mode!r} instead.")
    host = told.get("host") or _socket_folder(port) or "localhost"
    user = told.get("user") or system_user()
    if user is None:
        raise CollectionError(
            "The user of PostgreSQL is not named, and the system has no name for the current user. Name the user in "
            "the URL, as in postgresql://USER@HOST/DATABASE, or in PGUSER."
        )
    database = told.get("dbname") or user
    password, notes = told.get("password"), list[str]()
    if password is None:
        path = Path(told.get("passfile") or home / ".pgpass")
        password, note = _password_in(path, host, port, database, user)
        notes += [note] if note else []
    own_root = home / ".postgresql" / "root.crt"
    root = told.get("sslrootcert") or (str(own_root) if mode.startswith("verify") or own_root.exists() else None)
    return ServerSettings(
        host=host,
        port=int(port),
        database=database,
        user=user,
        password=password,
        sslmode=mode,
        sslrootcert=root,
        connect_timeout_s=_connect_timeout(told.get("connect_timeout", str(_CONNECT_S))),
        application_name=told.get("application_name", "nearkin"),
        notes=tuple(notes),
    )


def _connect_timeout(written: str) -> int | None:
    """Return the seconds of libpq's ``connect_timeout``, where 0 and less mean no limit, and 1 means 2."""
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", written.strip()):
        raise ParameterError(f"connect_timeout must be a whole number of seconds. Got {written!r} instead.")
    return max(2, int(written)) if int(written) > 0 else None


def _socket_folder(port: str) -> str | None:
    """Return the directory with the socket of a server on this machine."""
    return next((folder for folder in _SOCKETS if Path(folder, f".s.PGSQL.{port}").exists()), None)


def _service(name: str, environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return the settings of a service, from the user's file or else from that of the system."""
    own = Path(environment.get("PGSERVICEFILE") or home / ".pg_service.conf")
    files = [own, Path(environment.get("PGSYSCONFDIR") or _SERVICES_OF_SYSTEM) / "pg_service.conf"]
    for path in files:
        if path.is_file() and (found := _service_in(path, name)) is not None:
            return found
    raise CollectionError(f"The service {name!r} is not defined in {' or '.join(map(str, files))}.")


def _service_in(path: Path, name: str) -> dict[str, str] | None:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        told = why(error) if isinstance(error, OSError) else "it is not UTF-8"
        raise CollectionError(f"Cannot read {path}: {told}.") from error
    found: dict[str, str] | None = None
    for number, line in enumerate(map(str.strip, lines), 1):
        if line.startswith("["):
            if found is not None:
                return found  # the first section of a name counts
            found = {} if line == f"[{name}]" else None
        elif found is not None and line and not line.startswith("#"):
            key, equals, value = line.partition("=")
            if not equals or key not in _VARIABLES:
                raise CollectionError(
                    f"{path}:{number}: the service {name!r} may set {', '.join(_VARIABLES)}. Got {key[:50]!r} instead."
                )
            found.setdefault(key, value)
    return found


def _password_in(path: Path, host: str, port: str, database: str, user: str) -> tuple[str | None, str]:
    """Return the password of the first line that fits, or the reason why the file was not used."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            return None, f"{path} is not a plain file, and was not used"
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            return None, f"{path} can be read by others, and was not used: chmod 0600 {path}"
        lines = path.read_bytes().decode("utf-8", "surrogateescape").splitlines()
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, f"{path} was not used: {why(error)}"
    wanted = ["localhost" if host in _SOCKETS else host, port, database, user]
    for line in lines:
        if line.startswith("#"):
            continue
        *fitting, password = _fields(line) or [""]
        if len(fitting) == len(wanted) and all(
            raw == "*" or _unescaped(raw) == own for raw, own in zip(fitting, wanted, strict=True)
        ):
            return _unescaped(password), ""
    return None, ""


def _fields(line: str) -> list[str]:
    r"""Return the first five fields of a line of the password file, as written: ``\:`` is a colon in a field.

    >>> _fields("db:5432:*:ada:secret")
    ['db', '5432', '*', 'ada', 'secret']
    """
    found, place = list[str](), 0
    while len(found) < 5 and (field_ := _FIELD.match(line, place)):
        found.append(field_[1])
        if not field_[2]:
            break
        place = field_.end()
    return found


def _unescaped(raw: str) -> str:
    return re.sub(r"\\(.)", r"\1", raw)


def usual_cache() -> Path:
    """Return the directory for indexes of collections on servers: in ``XDG_CACHE_HOME``, if that is absolute."""
    return _own_directory("XDG_CACHE_HOME", ".cache")


def usual_configuration() -> Path:
    """Return the directory for configuration: in ``XDG_CONFIG_HOME``, if that is absolute."""
    return _own_directory("XDG_CONFIG_HOME", ".config")


def _own_directory(variable: str, default: str) -> Path:
    base = Path(os.environ.get(variable, ""))
    return (base if base.is_absolute() else Path.home() / default) / "nearkin"
