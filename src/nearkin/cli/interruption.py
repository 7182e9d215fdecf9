"""Interruption of a command while a library calls Python back, or while an object is freed."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_AGAIN_S = 0.01


@contextmanager
def interrupts_repeated() -> Iterator[None]:
    """Send an interruption again that Python could only print: it cannot leave a function that C code calls.

    Without this, Ctrl-C is lost if it comes while numba compiles, and the command ends as if there had been none. The
    signal is SIGTERM, which does the same as Ctrl-C in a command and is never ignored.
    """
    printed_before, sent = sys.unraisablehook, list[threading.Timer]()

    def send_again(error: Any) -> None:
        if not issubclass(error.exc_type, KeyboardInterrupt):
            printed_before(error)
            return
        timer = threading.Timer(_AGAIN_S, os.kill, (os.getpid(), signal.SIGTERM))
        timer.daemon = True
        timer.start()
        sent.append(timer)

    sys.unraisablehook = send_again
    try:
        yield
    finally:
        sys.unraisablehook = printed_before
        for timer in sent:
            timer.cancel()
