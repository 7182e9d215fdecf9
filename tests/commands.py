"""``nearkin`` as a command, forked from a server that has imported it: see `prefork`."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import gc
import importlib
import io
import os
import pkgutil
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import prefork

ROOT = Path(__file__).parents[1]
CLIENT = ROOT / "tests/prefork.py"
_NOT_IMPORTED = ("nearkin.engines.spark", "nearkin.spark", "nearkin.__main__")
"""Spark is imported by commands that use it: it takes long, and most do not."""
_READ_AT_THE_START = ("PYTHON", "LC_", "LANG", "NUMBA", "OMP_", "ARROW_", "MALLOC_", "LD_")
"""What variables begin with that Python or a library reads when it is started: for others a server does not do."""
_started: list[subprocess.Popen[bytes]] = []
"""The server, if this process started it; Python would warn of one that nobody remembers."""


def command(*arguments: str | Path) -> list[str]:
    """The command line as a program that takes a second to import what it needs."""
    return [sys.executable, "-m", "nearkin", *map(str, arguments)]


def quick_command(*arguments: str | Path) -> list[str]:
    """The same in a process forked from the server, which is started if it does not run."""
    return [sys.executable, "-I", "-S", str(CLIENT), _server(), *map(str, arguments)]


def quick_python(code: str, *arguments: str | Path) -> list[str]:
    """Python that runs code, such as code that watches a command, with everything of `nearkin` imported already."""
    return quick_command("-c", code, *arguments)


def is_read_at_the_start(variable: str) -> bool:
    """Whether a variable has to be set before the interpreter starts; that of the streams is read here as well."""
    return variable.startswith(_READ_AT_THE_START) and variable != "PYTHONIOENCODING"


def program(folder: Path) -> Path:
    """A folder with a program ``nearkin``, to stand first on a ``PATH``, that runs as a `quick_command`."""
    script = folder / "nearkin"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(quick_command())} "$@"\n')
    script.chmod(0o755)
    return folder


@functools.cache
def _server() -> str:
    """Where the server listens; the first worker that needs it starts it, for all workers of this run."""
    owner = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", os.getpid())
    folder = Path(tempfile.gettempdir(), f"nearkin-prefork-{run}")
    folder.mkdir(mode=0o700, exist_ok=True)
    place = folder / "socket"
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            _start_server(place, owner)
    return str(place)


def _start_server(place: Path, owner: int) -> None:
    server = subprocess.Popen(
        [sys.executable, "-c", f"import commands; commands.serve({str(place)!r}, {owner})"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    server.stdout.close()
    _started.append(server)


def serve(place: str, owner: int) -> None:
    """Import everything, work a little so that the kernels are loaded, and fork a process for each command.

    Until the process that started the tests ends: the worker that started this one may end before others.
    """
    owner_ends = os.pidfd_open(owner)
    import nearkin
    import statements
    from nearkin.cli.main import run

    for module in pkgutil.walk_packages(nearkin.__path__, "nearkin."):
        if not module.name.startswith(_NOT_IMPORTED) and "on_spark" not in module.name:
            importlib.import_module(module.name)
    statements.share_statements()
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder, "texts.txt")
        texts.write_text("".join(f"one of the lines number {i % 30} of a text\n" for i in range(300)))
        for work in (["dedup", str(texts), "--format", "lines", "--out", f"{folder}/out", "--no-report", "-q"],):
            with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                run(work)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL if number == signal.SIGTERM else signal.default_int_handler)
    gc.collect()
    gc.freeze()  # what is of the server is nothing that a command has to clean up
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(place)
    listening.listen(64)
    print("ready", flush=True)
    arguments = prefork.serve(listening, owner_ends)
    if arguments is None:
        shutil.rmtree(Path(place).parent)
        os._exit(0)
    sys.stdin = sys.__stdin__ = _stream(0, "r", "strict")
    sys.stdout = sys.__stdout__ = _stream(1, "w", "strict")
    sys.stderr = sys.__stderr__ = _stream(2, "w", "backslashreplace")
    try:
        if arguments[:1] == ["-c"]:
            _, code, *arguments = arguments
            sys.argv = ["-c", *arguments]
            exec(compile(code, "<code>", "exec"), {"__name__": "__main__"})
        else:
            sys.argv = ["nearkin", *arguments]
            run()
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        _end(ended.code or 0)
    _end(0)


def _end(code: int) -> None:
    """End this process as Python does, except that modules are not emptied.

    That writes to every page of the memory that it shares with the server, which takes longer than most commands.
    What the command itself no longer needs is cleaned up, so that whatever goes wrong there is printed.
    """
    gc.collect()
    # Both are what Python itself calls, and not documented. Without one, every test that forks a command fails, such as
    # test_terminal.py; then end with sys.exit, which is slower.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError):  # then Python says what could not be written
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _stream(number: int, mode: str, errors: str) -> io.TextIOWrapper:
    """A standard stream of this process, not of the server's, as Python opens it when it starts."""
    encoding, _, chosen = os.environ.get("PYTHONIOENCODING", "").partition(":")
    if number != 2 and (encoding or chosen):
        errors = chosen or "strict"
    is_line_by_line = number == 2 or os.isatty(number)
    opened = open(number, mode + "b", closefd=False)  # noqa: SIM115  (it lives as long as the process)
    return io.TextIOWrapper(opened, encoding=encoding or "utf-8", errors=errors, line_buffering=is_line_by_line)
