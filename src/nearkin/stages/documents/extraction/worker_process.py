"""Extraction worker as seen from Nearkin: a process with a socket, its requests, its nodes, and why it ended."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import lru_cache

from nearkin.errors import RunError
from nearkin.nouns import counted
from nearkin.stages.documents.extraction.language_data import LanguageData
from nearkin.stages.documents.extraction.limits import USUAL_LIMITS, ExtractionLimits, raised_by
from nearkin.stages.documents.extraction.nodes import (
    ExtractedNode,
    ExtractionRequest,
    NodeOrder,
    WorkerFault,
    as_message,
)
from nearkin.stages.documents.extraction.reading import is_out_of_memory, too_much_memory
from nearkin.stages.documents.extraction.sandbox import Sandbox
from nearkin.stages.documents.origin import ExceptionKind

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
_START_S = 60
_STDERR_BYTES = 4096


class WorkerDeath(Exception):
    """A worker ended: why, for people."""

    def __init__(self, exception: ExceptionKind, sentence: str) -> None:
        super().__init__(sentence)
        self.exception: ExceptionKind = exception
        self.sentence = sentence


class Worker:
    """A worker process.

    Attributes
    ----------
    sandbox : Sandbox
        What confines it.
    """

    def __init__(self, limits: ExtractionLimits, ocr: LanguageData | None = None) -> None:
        self._limits = limits
        remove_abandoned()
        self._private = PrivateDirectory()
        self._directory = self._private.path
        ours, theirs = socket.socketpair()
        told = {
            "path": [one for one in (os.path.abspath(place or ".") for place in sys.path) if os.path.exists(one)],
            "socket": theirs.fileno(), "memory": limits.memory_bytes, "disk": limits.disk_bytes,
            "directory": self._directory, "ocr": None if ocr is None else ocr.as_message(),
        }  # fmt: skip
        self._stderr = open(os.path.join(self._directory, "stderr"), "w+b")  # noqa: SIM115  (closed in `close`)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-B", "-X", "utf8", "-c", _BOOT, json.dumps(told)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                env={
                    "HOME": self._directory,
                    "TMPDIR": self._directory,
                    "LANG": "C.UTF-8",
                    "OPENBLAS_NUM_THREADS": "1",  # numpy would reserve memory for each
                    "TOKIO_WORKER_THREADS": "1",
                    **_KEEP_MEMORY,
                },
                cwd=self._directory,
                start_new_session=True,  # an interrupt of the terminal is Nearkin's to handle
            )
        self._socket = ours
        self._stream = ours.makefile("rb", 1 << 20)
        ours.settimeout(_START_S)
        try:
            self.sandbox = Sandbox(**json.loads(self._stream.readline(1 << 12)))
        except (OSError, ValueError, TypeError) as error:
            ended = self._stderr_end()
            self.close()
            raise RunError(f"An extraction worker did not start: {ended or error}.") from error
        ours.settimeout(limits.wall_s + _GRACE_S)

    def ask(self, requests: Sequence[ExtractionRequest], descriptors: Sequence[int]) -> None:
        """Send requests that are answered one after another; raise `WorkerDeath` if the worker is gone."""
        try:
            message = as_message(requests)
            n_sent = socket.send_fds(self._socket, [message], descriptors)
            if n_sent < len(message):
                self._socket.sendall(message[n_sent:])
        except OSError as error:
            raise self._death() from error

    def next_node(self, order: NodeOrder) -> ExtractedNode | None:
        """Return the next node, None behind the last; raise `WorkerDeath` if the worker ended, hangs or sends none."""
        try:
            node = ExtractedNode.read_from(self._stream)  # type: ignore[arg-type]  # a buffered reader is binary
            if node is not None:
                order.add(node)
            return node
        except (OSError, EOFError, WorkerFault) as error:
            raise self._death(error) from error

    def _death(self, error: Exception | None = None) -> WorkerDeath:
        """Return why the worker ended."""
        if isinstance(error, TimeoutError | WorkerFault):
            self.process.kill()
        try:
            code = self.process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        said = self._stderr_end()
        if isinstance(error, TimeoutError) or code in (-signal.SIGALRM, -signal.SIGXCPU):
            return WorkerDeath(
                "time-out", f"not read within the time limit ({self._limits.wall_s} s){raised_by('time')}"
            )
        if is_out_of_memory(said):
            return WorkerDeath("too big", too_much_memory(self._limits.memory_bytes))
        if isinstance(error, WorkerFault):
            return WorkerDeath("crashed", f"the extraction worker failed: {error}")
        return WorkerDeath("crashed", self._how_it_died(code))

    def _how_it_died(self, code: int) -> str:
        """Say how the process ended, and whether memory may be the reason: many libraries do not say why they abort."""
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        if code == -signal.SIGKILL:
            how += ", as when the memory of the machine is full"
        limit = self._limits.memory_bytes
        is_low = limit < USUAL_LIMITS.memory_bytes
        hint = f"; the memory limit of {counted(limit, 'byte')} may be too low{raised_by('memory')}" if is_low else ""
        return f"the extraction worker died while reading it ({how}){hint}"

    def _stderr_end(self) -> str:
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - _STDERR_BYTES))
        return self._stderr.read().decode("utf-8", "replace").strip()

    def close(self) -> None:
        """End the process, and remove its directory."""
        with contextlib.suppress(AttributeError):
            self._stream.close()
        self._socket.close()
        self.process.kill()
        self.process.wait()
        self._stderr.close()
        self._private.remove()


_PREFIX = "nearkin-worker-"


class PrivateDirectory:
    """A new, empty directory of this user and this process.

    Attributes
    ----------
    path : str
    """

    def __init__(self) -> None:
        while True:
            self.path = tempfile.mkdtemp(prefix=_PREFIX)
            try:
                self._descriptor = _locked(self.path, waits=True)
            except FileNotFoundError:
                continue
            if os.path.exists(self.path):
                return
            os.close(self._descriptor)  # another process took it for abandoned before it was locked

    def remove(self) -> None:
        """Remove the directory and everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._descriptor)


@lru_cache(maxsize=1)  # once in a process
def remove_abandoned() -> None:
    """Remove the directories of this user whose processes were killed."""
    place, names = tempfile.gettempdir(), list[str]()
    with contextlib.suppress(OSError):  # it may be written, but not listed
        names = [one for one in os.listdir(place) if one.startswith(_PREFIX)]
    for path in (os.path.join(place, one) for one in names):
        try:
            descriptor = _locked(path, waits=False)
        except OSError:  # in use, a link, of another user, or removed by now
            continue
        if os.fstat(descriptor).st_uid == os.geteuid():
            shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


def _locked(path: str, *, waits: bool) -> int:
    """Lock a directory and return its descriptor. Raises OSError at once if another process holds the lock."""
    import fcntl  # Windows has none, and its tables are read without workers

    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
