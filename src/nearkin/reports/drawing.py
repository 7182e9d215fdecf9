"""Figures are drawn by a process of their own, which may end without taking the run with it."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from nearkin.errors import DrawingError, MissingExtraError

_PROGRAM = Path(__file__).with_name("drawing_process.py")
_ENDED_S = 5.0
LIMITS = "limits on memory or on open files may be too low (ulimit -v, ulimit -n)"


class _Drawer:
    """One process; started when the first figure is drawn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def draw(self, specification: object) -> str:
        """See `draw`."""
        with self._lock:
            try:
                reply = self._ask(specification)
            except (OSError, ValueError, MemoryError) as error:
                how = self._end()
                raise DrawingError(f"A figure cannot be drawn: {how or error}; {LIMITS}.") from error
            except BaseException:  # Ctrl-C: an answer may be on its way, and must not be taken for the next one
                self._end()
                raise
        if "svg" not in reply:
            why = " ".join(reply.get("error", "no reason was given").split())
            raise DrawingError(f"A figure cannot be drawn: {why}; {LIMITS}.")
        return reply["svg"]

    def _ask(self, specification: object) -> dict[str, str]:
        """The process's answer.

        Raises
        ------
        OSError
            It cannot be started, or is gone.
        ValueError
            It ended in the middle of an answer.
        """
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(_PROGRAM)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
            )  # fmt: skip
            self._send(json.dumps([str(Path(path).absolute()) for path in sys.path]))
        self._send(json.dumps(specification))
        return cast("dict[str, str]", json.loads(cast("IO[str]", self._process.stdout).readline()))

    def _send(self, line: str) -> None:
        to = cast("IO[str]", cast("subprocess.Popen[str]", self._process).stdin)
        to.write(line + "\n")
        to.flush()

    def _end(self) -> str:
        """Let the process go; how it ended, if it ended by itself."""
        process, self._process = self._process, None
        if process is None:
            return ""
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                cast("IO[str]", pipe).close()  # the end of its input is the end of it
        try:
            code = process.wait(_ENDED_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return "the process that draws did not answer"
        if code < 0:
            return f"the process that draws ended with {signal.Signals(-code).name}"
        return f"the process that draws ended with code {code}" if code else ""

    def close(self) -> None:
        """Let the process go, with its memory; the next figure starts another one."""
        with self._lock:
            self._end()


_drawer = _Drawer()
atexit.register(_drawer.close)


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """Draw figures inside the block; after it the process that drew them is gone."""
    try:
        yield
    finally:
        _drawer.close()


def draw(specification: object) -> str:
    """A Vega-Lite specification as SVG.

    Raises
    ------
    MissingExtraError
        The ``report`` extra is not installed.
    DrawingError
        The drawing library failed, or its process could not be started or was ended by the system.
    """
    if importlib.util.find_spec("vl_convert") is None:
        raise MissingExtraError.of("Drawing a figure", "report")
    return _drawer.draw(specification)
