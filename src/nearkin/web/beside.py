"""Another process with the same collection: what it computes delays no page, which this process makes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, TypeVar

from nearkin.collection.opened import OpenedCollection
from nearkin.errors import UnavailableCollectionError
from nearkin.kernels import choosing

Found = TypeVar("Found")
_BOOT = "import sys; sys.path[:] = {path}; from nearkin.web.beside import main; main({descriptor})"


class ProcessBeside:
    """A process that does one work at a time for one thread; it begins with the first, and again if it has died."""

    def __init__(self, opened: OpenedCollection) -> None:
        self._open = opened.__reduce__()
        self._process: subprocess.Popen[bytes] | None = None
        self._link: Connection
        self._is_closed = False

    def compute(self, work: Callable[[OpenedCollection], Found]) -> Found:
        """Return what a function that can be pickled returns there, or raise what it raises.

        Raises
        ------
        UnavailableCollectionError
            The process was killed, by whatever, and so was the next one, which began the work again.
        """
        for is_again in (False, True):
            if self._process is None or self._process.poll() is not None:
                self._start()
            try:
                self._link.send((self._open, work))
                found, error = self._link.recv()
                break
            except (EOFError, OSError):
                ended = self._end()
                if is_again or self._is_closed:
                    raise UnavailableCollectionError(
                        f"The process that compares long texts ended ({ended}), perhaps for lack of memory. Try again."
                    ) from None
        if error is not None:
            raise error
        result: Found = found
        return result

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        path = [os.path.abspath(folder) for folder in sys.path]
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _BOOT.format(path=path, descriptor=theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # an interrupt of the terminal is the service's to handle
            )
        self._link = Connection(ours.detach())
        if self._is_closed:  # meanwhile
            self._end()

    def _end(self) -> str:
        """Kill the process, if it is not dead, and return how it ended."""
        code = 0
        if self._process is not None:
            self._process.kill()
            code = self._process.wait()
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def close(self) -> None:
        """End the process, whatever it does: a transaction is stored whole or not at all."""
        self._is_closed = True
        self._end()


def main(descriptor: int) -> None:
    """Do each work that is sent, until the socket is closed: the service ended, by whatever signal."""
    link, sent = Connection(descriptor), SimpleQueue[Any]()

    def receive() -> None:
        with suppress(EOFError, OSError):
            while True:
                sent.put(link.recv())
        os._exit(0)

    threading.Thread(target=receive, daemon=True).start()
    choosing.ALWAYS = "compiled"  # as in the service
    opened: Any = None
    while True:
        try:
            (reopen, place), work = sent.get()
            opened = opened or reopen(*place)
            link.send((work(opened), None))
        except Exception as error:  # noqa: BLE001  # whoever asked for the result gets it
            link.send((None, error))
