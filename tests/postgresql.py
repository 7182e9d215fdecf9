"""A PostgreSQL server of the tests' own, on a free port, in a folder that goes away with it."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psycopg

_NEWEST_FIRST = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -int(path.parent.name))

_QUICK = {"fsync": "off", "full_page_writes": "off", "max_wal_size": "4GB", "jit": "off"}
"""What a server may leave out whose files nobody opens again, and whose queries are all short."""


@dataclass(frozen=True)
class Server:
    """Where it listens; ``pid`` is that of its first process."""

    port: int
    folder: Path
    pid: int

    def url(self, database: str = "postgres", **options: str) -> str:
        """For Nearkin; ``options`` come after the question mark."""
        query = "&".join(f"{name}={value}" for name, value in options.items())
        return f"postgresql://nearkin:open-sesame@127.0.0.1:{self.port}/{database}" + (f"?{query}" if query else "")

    def sql(self, statement: str, database: str = "postgres") -> str:
        """What psql answers, without ornaments."""
        command = [program("psql"), "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statement]
        address = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "nearkin", "-d", database]
        environment = os.environ | {"PGPASSWORD": "open-sesame"}
        return subprocess.run(
            [*command, *address], env=environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    def connection(self) -> psycopg.Connection:
        """To the database `postgres`, by the driver alone."""
        import psycopg  # not before a test needs it

        return psycopg.connect(self.url())


def program(name: str) -> str | None:
    """The path of one of PostgreSQL's programs, or None."""
    for folder in _NEWEST_FIRST:
        if (folder / name).exists():
            return str(folder / name)
    return shutil.which(name)


def is_there() -> bool:
    """Whether a server can be started: its programs, and, for root, the user whom Debian made for it."""
    if program("postgres") is None or program("initdb") is None or program("psql") is None:
        return False
    return os.geteuid() != 0 or any(user.pw_name == "postgres" for user in pwd.getpwall())


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """A server, started and stopped; PostgreSQL does not run as root, so root starts it as Debian's user for it."""
    folder = Path(tempfile.mkdtemp(prefix="nearkin-postgresql-"))
    user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    if user:
        postgres = pwd.getpwnam("postgres")
        os.chown(folder, postgres.pw_uid, postgres.pw_gid)
    password = folder / "password"
    password.write_text("open-sesame\n")
    if user:
        shutil.chown(password, "postgres")
    data, log = folder / "data", folder / "log"
    initdb = [program("initdb"), "-D", data, "-U", "nearkin", "-A", "scram-sha-256", "--pwfile", password, "-E", "UTF8"]
    done = subprocess.run([*initdb, "--locale", "C.UTF-8", "-N"], capture_output=True, text=True, cwd=folder, **user)
    if done.returncode:
        raise RuntimeError(f"initdb: {done.stdout}{done.stderr}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    chosen = {"listen_addresses": "127.0.0.1", "unix_socket_directories": folder, **_QUICK}
    settings = [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]
    with open(log, "wb") as file:
        command = [program("postgres"), "-D", str(data), "-p", str(port), *settings]
        process = subprocess.Popen(command, stdout=file, stderr=file, cwd=folder, **user)
    try:
        server = Server(port, folder, process.pid)
        _wait(server, process, log)
        yield server
    finally:
        process.send_signal(signal.SIGQUIT)  # at once: nobody opens these files again
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise RuntimeError(f"PostgreSQL ended: {log.read_text()}")
        with contextlib.suppress(subprocess.CalledProcessError):
            server.sql("SELECT 1")
            return
        time.sleep(0.1)
    raise RuntimeError(f"PostgreSQL does not answer: {log.read_text()}")
