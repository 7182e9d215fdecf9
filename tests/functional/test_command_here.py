"""A command in the process of a test: it prints what a process prints, and the test's own state is as before."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import warnings
from contextvars import ContextVar
from functools import partial

import pytest

from command_here import call_here
from functional.conftest import nearkin, nearkin_here, write_jsonl

called = partial(call_here, arguments=["nearkin"])
CHANGED: ContextVar[str] = ContextVar("changed", default="no")


def test_what_a_process_prints(tmp_path):
    """Also a usage error, with the name of the program, and input through a pipe."""
    path = write_jsonl(tmp_path / "in.jsonl", [{"id": "é", "text": "A text of some words."}])
    given = path.read_bytes()
    for arguments, stdin in (
        (["index", "-", "--json"], given), (["index", path], b""), (["index", "-"], b""), (["dedup"], b""),
        (["check", tmp_path / "none", "-", "--jsonl"], given), (["show", "--help"], b""),
    ):  # fmt: skip
        assert nearkin_here(*arguments, stdin=stdin) == nearkin(*arguments, stdin=stdin)


def test_streams_and_exit_code():
    def work() -> None:
        assert not sys.stdin.isatty() | sys.stdout.isatty() | sys.stdin.seekable()
        sys.stdout.write(sys.stdin.read())
        sys.stdout.flush()
        sys.stdout.buffer.write(b"\xe2\x89\xa5\r\n")
        print("\udcff", file=sys.stderr)
        sys.exit(7)

    assert called(work, stdin="è\n".encode()) == (7, "è\n≥\r\n", "\\udcff\n")
    assert called(lambda: print(sys.argv, end="")) == (0, "['nearkin']", "")
    assert called(lambda: print("a", file=sys.stderr), is_err_to_out=True) == (0, "a\n", "")


def test_warnings_and_log_messages_are_printed_as_by_a_process():
    def work() -> None:
        for _ in range(2):
            warnings.warn("too old", DeprecationWarning, stacklevel=1)
        warnings.warn("not exact", RuntimeWarning, stacklevel=1)
        logging.getLogger("some.library").warning("be careful")

    for _ in range(2):
        printed = called(work)[2]
        assert printed.count("RuntimeWarning: not exact") == 1
        assert printed.endswith("be careful\n")
        assert "too old" not in printed


def test_nothing_of_it_is_left(tmp_path):
    def state() -> tuple[object, ...]:
        return (
            os.getcwd(), dict(os.environ), sys.stdin, sys.stdout, sys.stderr, sys.argv, warnings.filters[:],
            warnings.showwarning, threading.excepthook, logging.getLogger().handlers, CHANGED.get(),
            signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT),
        )  # fmt: skip

    def work() -> None:
        print(os.getcwd(), dict(os.environ))
        os.environ["MORE"] = "2"
        os.chdir("/")
        CHANGED.set("yes")
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        warnings.simplefilter("error")
        logging.basicConfig()

    before = state()
    printed = called(work, folder=tmp_path, environment={"ONE": "1"})[1]
    assert printed == f"{tmp_path} {{'ONE': '1'}}\n"
    assert state() == before


def test_an_exception_and_a_thread_that_fails_are_failures():
    with pytest.raises(ZeroDivisionError):
        called(lambda: 1 / 0)

    def work() -> None:
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()

    with pytest.raises(AssertionError, match="a thread of the command failed"):
        called(work)
    with pytest.raises(AssertionError, match="'broken'"):
        called(partial(sys.exit, "broken"))
