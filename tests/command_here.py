"""A command in the process of the test, which prints what it would print as a process of its own, and leaves no trace.

It takes a fifth to a half of the processor time of a process forked for it, which copies every page that it touches. It
gets its own standard streams, folder, environment variables, signal handlers, warning filters, log handlers and context
variables. An exception that a process would print as a traceback fails the test.
"""

from __future__ import annotations

import contextlib
import contextvars
import io
import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO
from unittest import mock

_NOT_SHOWN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Warnings that Python hides by default and pytest shows."""


class _Sent(io.RawIOBase):
    """Bytes that come through a pipe: they can be read once, from the beginning to the end."""

    def __init__(self, data: bytes) -> None:
        self._rest = memoryview(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = min(len(buffer), len(self._rest))
        buffer[:n] = self._rest[:n]
        self._rest = self._rest[n:]
        return n


class _Printed:
    """A standard stream that is a file or a pipe: text and bytes in the order in which they are written."""

    def __init__(self, errors: str) -> None:
        self._bytes = io.BytesIO()
        self.stream = io.TextIOWrapper(self._bytes, encoding="utf-8", errors=errors, newline="\n")

    def text(self) -> str:
        self.stream.flush()
        return self._bytes.getvalue().decode()


def call_here(
    call: Callable[[], object],
    *,
    arguments: Sequence[str],
    stdin: bytes = b"",
    folder: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    is_err_to_out: bool = False,
) -> tuple[int, str, str]:
    """The exit code of a call, and what it printed on standard output and on standard error.

    Parameters
    ----------
    call : callable
        It may raise ``SystemExit``.
    arguments : sequence of str
        ``sys.argv``.
    stdin : bytes
        What it reads on standard input.
    folder : path, optional
        Working directory.
    environment : mapping, optional
        All environment variables.
    is_err_to_out : bool
        Whether both streams are one, as in a terminal.
    """
    out, err = _Printed("strict"), _Printed("backslashreplace")
    if is_err_to_out:
        err = out
    reading = io.TextIOWrapper(io.BufferedReader(_Sent(stdin)), encoding="utf-8")
    with (
        _process(reading, out.stream, err.stream, arguments),
        mock.patch.dict(os.environ, environment or {}, clear=environment is not None),
        contextlib.chdir(folder) if folder else contextlib.nullcontext(),
    ):
        code = contextvars.copy_context().run(_code_of, call)
    return code, out.text(), "" if is_err_to_out else err.text()


def _code_of(call: Callable[[], object]) -> int:
    try:
        call()
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise AssertionError(f"the exit code is {ended.code!r}") from ended
        return ended.code or 0
    return 0


@contextlib.contextmanager
def _process(stdin: TextIO, stdout: TextIO, stderr: TextIO, arguments: Sequence[str]) -> Iterator[None]:
    """The state of a process that is not its memory, and that a command may change."""
    failed: list[BaseException] = []

    def fail(thread: threading.ExceptHookArgs) -> None:
        if thread.exc_value is not None:
            failed.append(thread.exc_value)

    def show(message: Any, category: Any, file: str, line: int, _file: object = None, text: str | None = None) -> None:
        stderr.write(warnings.formatwarning(message, category, file, line, text))

    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with (
            mock.patch.multiple(sys, argv=list(arguments), stdin=stdin, stdout=stdout, stderr=stderr),
            mock.patch.object(sys.modules["__main__"], "__package__", None),  # else usage says python -m pytest
            mock.patch.object(threading, "excepthook", fail),
            mock.patch.object(logging.getLogger(), "handlers", []),
            warnings.catch_warnings(),
        ):
            warnings.showwarning = show
            for category in _NOT_SHOWN:
                warnings.simplefilter("ignore", category)
            yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if failed:
        raise AssertionError("a thread of the command failed") from failed[0]
