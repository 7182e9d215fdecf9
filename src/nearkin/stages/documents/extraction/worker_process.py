"""Extraction worker as seen from Nearkin: a process with a socket, its requests, its nodes, and why it ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING

from nearkin.errors import RunError
from nearkin.nouns import counted
from nearkin.stages.documents.extraction.language_data import LanguageData
from nearkin.stages.documents.extraction.limits import USUAL_LIMITS, ExtractionLimits, raised_by
from nearkin.stages.documents.extraction.nodes import (
    ExtractedNode,
    WorkerFault,
    as_message,
    messages_in,
    node_of,
    restored,
)
from nearkin.stages.documents.extraction.reading import is_out_of_memory, too_much_memory
from nearkin.stages.documents.extraction.sandbox import Sandbox
from nearkin.stages.documents.origin import ExceptionKind

if TYPE_CHECKING:
    from nearkin.stages.documents.extraction.pool import ExtractionAnswer

_BOOT = (
    "import json,sys\n"
    "told=json.loads(sys.argv[1])\n"
    "sys.path[:]=told['path']\n"
    "from nearkin.stages.documents.extraction.worker import main\n"
    "main(told['socket'],told['memory'],told['disk'],told['directory'],told['ocr'])"
)
_KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(64 << 20)}
"""Settings of glibc (mallopt(3)): else libraries return their memory with each file, and get each page of it again by a
page fault, which takes a third of the time of a PDF."""
_GRACE_S = 10
_STDERR_BYTES = 4096
_PIECE_BYTES = 1 << 18


class WorkerProcess:
    """A worker process.

    Attributes
    ----------
    given : deque of ExtractionAnswer
        Of the files that it reads, in their order.
    sandbox : Sandbox or None
        What confines it; None until it says so.
    heard_at : float
        When it sent something.
    """

    def __init__(self, limits: ExtractionLimits, ocr: LanguageData | None = None) -> None:
        self.given: deque[ExtractionAnswer] = deque()
        self.sandbox: Sandbox | None = None
        self.heard_at = time.monotonic()
        self._limits = limits
        self._buffer = bytearray()
        self._directory = tempfile.mkdtemp(prefix="nearkin-worker-")
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  (closed in `close`)
        self._socket, theirs = socket.socketpair()
        place = self._directory
        told = {
            "path": [one for one in (os.path.abspath(place or ".") for place in sys.path) if os.path.exists(one)],
            "socket": theirs.fileno(), "memory": limits.memory_bytes, "disk": limits.disk_bytes,
            "directory": place, "ocr": None if ocr is None else ocr.as_message(),
        }  # fmt: skip
        with theirs:
            self.process = (
                _starter(os.getpid())
                .submit(
                    subprocess.Popen,
                    [sys.executable, "-I", "-B", "-X", "utf8", "-c", _BOOT, json.dumps(told)],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._stderr,
                    env={
                        "HOME": place,
                        "TMPDIR": place,
                        "LANG": "C.UTF-8",
                        "OPENBLAS_NUM_THREADS": "1",  # numpy would reserve memory for each
                        "TOKIO_WORKER_THREADS": "1",
                        **_KEEP_MEMORY,
                    },
                    cwd=place,
                    start_new_session=True,  # an interrupt of the terminal is Nearkin's to handle
                )
                .result()
            )

    def fileno(self) -> int:
        """Return the descriptor from which its messages are read."""
        return self._socket.fileno()

    def ask(self, answer: ExtractionAnswer, descriptor: int) -> None:
        """Send the request for a file; if the worker is gone, this is noticed when its answer is read."""
        self.given.append(answer)
        message = as_message(answer.request)
        try:
            n_sent = socket.send_fds(self._socket, [message], [descriptor])
            if n_sent < len(message):
                self._socket.sendall(message[n_sent:])
        except OSError:
            return

    def received(self) -> Iterator[ExtractedNode | None]:
        """Wait for messages, and yield the nodes that have come as a whole; None is the end of a file.

        Raises
        ------
        EOFError, OSError
            The process ended.
        WorkerFault
            It sent what is no message.
        """
        piece = self._socket.recv(_PIECE_BYTES)
        if not piece:
            raise EOFError
        self.heard_at = time.monotonic()
        self._buffer += piece
        for content, text in messages_in(self._buffer):
            if self.sandbox is None:
                self.sandbox = restored(Sandbox, content)
            else:
                yield node_of(content, text) if content else None

    def death(self, error: Exception) -> tuple[ExceptionKind, str]:
        """Return why the worker ended, for people; raise `RunError` if it did not even start."""
        if not isinstance(error, EOFError | OSError) or isinstance(error, TimeoutError):
            self.process.kill()
        try:
            code = self.process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        limit, said = self._limits.memory_bytes, self._stderr_end()
        if self.sandbox is None:
            raise RunError(f"An extraction worker did not start: {said or f'exit code {code}'}.")
        if isinstance(error, TimeoutError) or code in (-signal.SIGALRM, -signal.SIGXCPU):
            return "time-out", f"not read within the time limit ({self._limits.wall_s} s){raised_by('time')}"
        if is_out_of_memory(said):
            return "too big", too_much_memory(limit)
        if isinstance(error, WorkerFault):
            return "crashed", f"the extraction worker failed: {error}"
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        if code == -signal.SIGKILL:
            how += ", as when the memory of the machine is full"
        is_low = limit < USUAL_LIMITS.memory_bytes  # many libraries do not say why they abort
        hint = f"; the memory limit of {counted(limit, 'byte')} may be too low{raised_by('memory')}" if is_low else ""
        return "crashed", f"the extraction worker died while reading it ({how}){hint}"

    def _stderr_end(self) -> str:
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - _STDERR_BYTES))
        return self._stderr.read().decode("utf-8", "replace").strip()

    def close(self) -> None:
        """End the process, and remove its directory."""
        self._socket.close()
        self.process.kill()
        self.process.wait()
        self._stderr.close()
        shutil.rmtree(self._directory, ignore_errors=True)


@lru_cache(maxsize=1)
def _starter(process: int) -> ThreadPoolExecutor:
    """Return a thread of this process that starts workers: the kernel ends them with the thread that started them."""
    return ThreadPoolExecutor(1, "extraction")
