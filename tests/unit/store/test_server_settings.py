"""What a URL does not say comes from the files and variables of PostgreSQL's own programs."""

from __future__ import annotations

import getpass
import ssl
from pathlib import Path

import pytest

from nearkin.collection.decisions.activity import checked_by
from nearkin.errors import CollectionError, ParameterError
from nearkin.store.place import Place
from nearkin.store.server_settings import settings_of

URL = {"host": "db", "dbname": "matters", "user": "ada"}


def passwords(home: Path, text: str, mode: int = 0o600) -> Path:
    path = home / ".pgpass"
    path.write_text(text)
    path.chmod(mode)
    return path


def services(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("line", "password"),
    [
        ("db:5432:matters:ada:s3cret", "s3cret"),
        ("*:*:*:*:s3cret", "s3cret"),
        ("db:5433:matters:ada:s3cret", None),
        ("other:*:*:*:s3cret", None),
        ("#db:5432:matters:ada:s3cret", None),
        ("*:*:*:ada:s3\\:cr\\\\et", "s3:cr\\et"),
        ("*:*:*:\\*:s3cret", None),
        ("*:*:*:*:first\n*:*:*:*:second", "first"),
        ("*:*:*:bob:first\n*:*:*:ada:second", "second"),
        ("*:*:*:*:s3cret:and more", "s3cret"),
        ("*:*:*:*", None),
        ("\n\n*:*:*:*:s3cret\n", "s3cret"),
    ],
)
def test_the_first_line_of_the_password_file_that_fits(tmp_path, line, password):
    passwords(tmp_path, line)
    found = settings_of(URL, {}, tmp_path)
    assert (found.password, found.notes) == (password, ())
    assert "s3cret" not in repr(found)


def test_a_password_file_that_others_can_read_is_not_used(tmp_path):
    path = passwords(tmp_path, "*:*:*:*:s3cret", 0o640)
    found = settings_of(URL, {}, tmp_path)
    assert found.password is None
    assert f"chmod 0600 {path}" in found.notes[0]
    path.unlink()
    path.mkdir()
    assert "not a plain file" in settings_of(URL, {}, tmp_path).notes[0]


def test_a_password_is_taken_from_the_url_then_the_service_then_the_environment_then_a_file(tmp_path):
    other = tmp_path / "passwords"
    passwords(tmp_path, "*:*:*:*:of the home").rename(other)
    service = services(tmp_path / "services", "[prod]\npassword=of the service\n[bare]\nport=7\n")
    files = {"PGPASSFILE": str(other), "PGSERVICEFILE": str(service)}
    everything = files | {"PGPASSWORD": "of the environment"}
    assert settings_of(URL | {"password": "own", "service": "prod"}, everything, tmp_path).password == "own"
    assert settings_of(URL | {"service": "prod"}, everything, tmp_path).password == "of the service"
    assert settings_of(URL | {"service": "bare"}, everything, tmp_path).password == "of the environment"
    assert settings_of(URL, files, tmp_path).password == "of the home"
    assert settings_of(URL, {}, tmp_path).password is None


def test_a_service(tmp_path):
    services(
        tmp_path / ".pg_service.conf", "# servers\n\n[prod]\n  host=db.example\nport=6432\ndbname=m\n[prod]\nport=1\n"
    )
    system = tmp_path / "etc"
    system.mkdir()
    services(system / "pg_service.conf", "[shared]\nuser=eve\nsslmode=verify-full\n[prod]\nport=2")
    environment = {"PGSYSCONFDIR": str(system), "PGUSER": "ada", "PGPORT": "9"}
    found = settings_of({"service": "prod"}, environment, tmp_path)
    assert (found.host, found.port, found.database, found.user) == ("db.example", 6432, "m", "ada")
    found = settings_of({"dbname": "x"}, environment | {"PGSERVICE": "shared"}, tmp_path)
    assert (found.user, found.sslmode, found.port) == ("eve", "verify-full", 9)
    assert found.sslrootcert == str(tmp_path / ".postgresql" / "root.crt")
    with pytest.raises(CollectionError, match="'test' is not defined in"):
        settings_of({"service": "test"}, environment, tmp_path)
    services(system / "pg_service.conf", "[shared]\noptions=-c x=y")
    with pytest.raises(CollectionError, match="Got 'options' instead"):
        settings_of({"service": "shared"}, environment, tmp_path)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"PGPORT": "many"}, "port"),
        ({"PGPORT": "70000"}, "port"),
        ({"PGSSLMODE": "on"}, "sslmode"),
        ({"PGCONNECT_TIMEOUT": "soon"}, "connect_timeout must be a whole number of seconds"),
        ({"PGCONNECT_TIMEOUT": "9" * 99}, "connect_timeout"),
    ],
)
def test_values_that_break_a_rule(tmp_path, environment, said):
    with pytest.raises(ParameterError, match=said):
        settings_of(URL, environment, tmp_path)


@pytest.mark.parametrize(("written", "seconds"), [("10", 10), ("1", 2), ("0", None), ("-1", None), (" 7 ", 7)])
def test_seconds_to_wait_for_a_connection(tmp_path, written, seconds):
    """As libpq reads them."""
    assert settings_of(URL, {"PGCONNECT_TIMEOUT": written}, tmp_path).connect_timeout_s == seconds
    assert settings_of(URL | {"connect_timeout": written}, {}, tmp_path).connect_timeout_s == seconds


def test_a_service_names_its_connections(tmp_path):
    services(tmp_path / ".pg_service.conf", "[prod]\napplication_name=review\nconnect_timeout=9\nsslmode=allow\n")
    found = settings_of(URL | {"service": "prod"}, {"PGAPPNAME": "other"}, tmp_path)
    assert (found.application_name, found.connect_timeout_s, found.sslmode) == ("review", 9, "allow")
    assert settings_of(URL, {"PGAPPNAME": "other"}, tmp_path).application_name == "other"


def test_defaults(tmp_path, monkeypatch):
    monkeypatch.setattr("nearkin.store.server_settings._SOCKETS", (str(tmp_path),))
    found = settings_of({"dbname": "matters"}, {}, tmp_path)
    assert (found.host, found.port, found.user, found.socket) == ("localhost", 5432, getpass.getuser(), None)
    assert (found.connect_timeout_s, found.application_name) == (60, "nearkin")
    (tmp_path / ".s.PGSQL.5432").touch()
    passwords(tmp_path, "localhost:*:*:*:s3cret")
    found = settings_of({"dbname": "matters"}, {}, tmp_path)
    assert (found.host, found.socket) == (str(tmp_path), f"{tmp_path}/.s.PGSQL.5432")
    assert (found.password, found.tls()) == ("s3cret", None)


def test_a_system_without_a_name_for_its_user(tmp_path, monkeypatch):
    """As in many containers."""

    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setattr(getpass, "getuser", nameless)
    with pytest.raises(CollectionError, match="PGUSER"):
        settings_of({"dbname": "matters"}, {}, tmp_path)
    assert settings_of({"dbname": "matters"}, {"PGUSER": "ada"}, tmp_path).user == "ada"
    assert settings_of({"dbname": "matters", "user": "eve"}, {}, tmp_path).user == "eve"
    assert checked_by(None) == "unknown"


@pytest.mark.parametrize(
    ("mode", "verifies", "name"),
    [
        ("allow", False, False),
        ("prefer", False, False),
        ("require", False, False),
        ("verify-ca", True, False),
        ("verify-full", True, True),
    ],
)
def test_what_is_verified(tmp_path, mode, verifies, name):
    found = settings_of(URL | {"sslmode": mode} | ({"sslrootcert": "system"} if verifies else {}), {}, tmp_path)
    context = found.tls()
    assert (context.verify_mode == ssl.CERT_REQUIRED, context.check_hostname) == (verifies, name)
    assert settings_of(URL | {"sslmode": "disable"}, {}, tmp_path).tls() is None


def test_certificates_that_cannot_be_read(tmp_path):
    for root in (tmp_path / "missing.crt", services(tmp_path / "empty.crt", "")):
        found = settings_of(URL | {"sslmode": "verify-full", "sslrootcert": str(root)}, {}, tmp_path)
        with pytest.raises(CollectionError, match="sslrootcert=FILE"):
            found.tls()
    with pytest.raises(CollectionError, match=r"root\.crt cannot be read"):
        settings_of(URL | {"sslmode": "verify-ca"}, {}, tmp_path).tls()


def test_the_url_of_a_place(monkeypatch, tmp_path):
    for name in ("PGUSER", "PGHOST", "PGPASSWORD", "PGPORT", "PGSERVICE"):
        monkeypatch.delenv(name, raising=False)
    place = Place.parse(f"postgresql://ada:s3cret@/db?host={tmp_path}&sslmode=require&schema=x")
    folder = str(tmp_path).replace("/", "%2F")
    assert str(place) == f"postgresql://ada:***@/db?host={folder}&schema=x&sslmode=require"
    assert Place.parse(place.address) == place
    found = place.settings()
    assert (found.host, found.user, found.password, found.database) == (str(tmp_path), "ada", "s3cret", "db")
    place = Place.parse(f"postgresql:///db?host={tmp_path}&port=5433")
    assert str(place) == f"postgresql:///db?host={folder}&port=5433&schema=nearkin"
    assert place.settings().socket == f"{tmp_path}/.s.PGSQL.5433"
    assert Place.parse("postgresql://:5434/db?port=5433").settings().port == 5434
