"""Pool of extraction workers: the nodes of many files, in the order of the files, however many workers there are.

A worker that dies, hangs or exceeds a limit costs the document that it was at: another worker continues after it.
"""

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
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from nearkin.errors import RunError
from nearkin.stages.documents.extraction.limits import ExtractionLimits
from nearkin.stages.documents.extraction.nodes import ExtractedNode, ExtractionRequest, WorkerFault
from nearkin.stages.documents.extraction.reading import too_much_memory
from nearkin.stages.documents.extraction.sandbox import Sandbox
from nearkin.stages.documents.origin import ExceptionKind

_BOOT = (
    "import json,sys\n"
    "told=json.loads(sys.argv[1])\n"
    "sys.path[:]=told['path']\n"
    "from nearkin.stages.documents.extraction.worker import main\n"
    "main(told['socket'],told['memory'],told['directory'])"
)
_HELD_BYTES = 32 << 20
"""Texts of a file that wait for the files before it; then its worker waits, too."""
_IN_FLIGHT = 2
"""Files that a worker has at a time: the one that it reads, and the next one."""
_KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(64 << 20)}
"""Settings of glibc (mallopt(3)): else libraries return their memory with each file, and get each page of it again by a
page fault, which takes a third of the time of a PDF."""
_GRACE_S = 10
_START_S = 60
_STDERR_BYTES = 4096


class _Dead(Exception):
    """A worker ended: why, for people."""

    def __init__(self, exception: ExceptionKind, sentence: str) -> None:
        super().__init__(sentence)
        self.exception: ExceptionKind = exception
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class FileToExtract:
    """A file, and how to read it.

    Parameters
    ----------
    path, name : str
    kind : str or None
        See `ExtractionRequest`.
    encoding : str
    """

    path: str
    name: str
    kind: str | None = None
    encoding: str = "utf-8"


class Worker:
    """A worker process.

    Attributes
    ----------
    sandbox : Sandbox
        What confines it.
    """

    def __init__(self, limits: ExtractionLimits) -> None:
        self._limits = limits
        self._directory = tempfile.mkdtemp(prefix="nearkin-extraction-")
        ours, theirs = socket.socketpair()
        told = {
            "path": [one for one in (os.path.abspath(place or ".") for place in sys.path) if os.path.exists(one)],
            "socket": theirs.fileno(), "memory": limits.memory_bytes, "directory": self._directory,
        }  # fmt: skip
        self._stderr = open(os.path.join(self._directory, "stderr"), "w+b")  # noqa: SIM115  (closed in `close`)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-B", "-X", "utf8", "-c", _BOOT, json.dumps(told)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                env={"HOME": self._directory, "TMPDIR": self._directory, "LANG": "C.UTF-8", **_KEEP_MEMORY},
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

    def ask(self, request: ExtractionRequest, descriptor: int) -> None:
        """Send a request; raise `_Dead` if the worker is gone."""
        try:
            line = request.as_line()
            n_sent = socket.send_fds(self._socket, [line], [descriptor])
            self._socket.sendall(line[n_sent:])
        except OSError as error:
            raise self._death() from error

    def next_node(self) -> ExtractedNode | None:
        """Return the next node, None behind the last; raise `_Dead` if the worker ended or hangs."""
        try:
            return ExtractedNode.read_from(self._stream)  # type: ignore[arg-type]  # a buffered reader is binary
        except (OSError, EOFError, WorkerFault) as error:
            raise self._death(error) from error

    def _death(self, error: Exception | None = None) -> _Dead:
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
            return _Dead("time-out", f"not read within the time limit ({self._limits.wall_s} s)")
        if "memory allocation of" in said or "MemoryError" in said or "out of memory" in said.lower():
            return _Dead("too big", too_much_memory(self._limits.memory_bytes))
        if isinstance(error, WorkerFault):
            return _Dead("crashed", f"the extraction worker failed: {error}")
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return _Dead("crashed", f"the extraction worker died while reading it ({how})")

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
        shutil.rmtree(self._directory, ignore_errors=True)


class WorkerAnswer:
    """Nodes of one file, on their way from a worker to the reader."""

    def __init__(self, file: FileToExtract) -> None:
        self.file = file
        self._nodes: deque[ExtractedNode] = deque()
        self._n_bytes = 0
        self._is_complete = False
        self._error: Exception | None = None
        self._changed = threading.Condition()
        self._is_dropped = False

    def put(self, node: ExtractedNode) -> None:
        """Add a node; wait while many are held. `_Dropped` if nobody reads any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._n_bytes < _HELD_BYTES or self._is_dropped)
            if self._is_dropped:
                raise _Dropped
            self._nodes.append(node)
            self._n_bytes += len(node.text or b"") + 500
            self._changed.notify_all()

    def complete(self, error: Exception | None = None) -> None:
        """End the nodes."""
        with self._changed:
            self._is_complete, self._error = True, error
            self._changed.notify_all()

    @property
    def is_dropped(self) -> bool:
        """Whether nobody reads the nodes any more."""
        return self._is_dropped

    def drop(self) -> None:
        """Let the worker go on without being read."""
        with self._changed:
            self._is_dropped = True
            self._changed.notify_all()

    def nodes(self) -> Iterator[ExtractedNode]:
        """Yield the nodes as they come."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._nodes or self._is_complete)
                if not self._nodes:
                    if self._error is not None:
                        raise self._error
                    return
                node = self._nodes.popleft()
                self._n_bytes -= len(node.text or b"") + 500
                self._changed.notify_all()
            yield node


class _Dropped(Exception):
    """Nobody reads the answers any more."""


class ExtractionPool:
    """Workers that extract files.

    Parameters
    ----------
    n_workers : int, optional
        By default one for each processor.
    limits : ExtractionLimits, optional
    """

    def __init__(self, n_workers: int | None = None, limits: ExtractionLimits | None = None) -> None:
        self.n_workers = n_workers or len(os.sched_getaffinity(0))
        self.limits = limits or ExtractionLimits()
        self._asked: deque[WorkerAnswer] = deque()
        self._taken: set[WorkerAnswer] = set()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._workers: set[Worker] = set()
        self._is_over = False

    def __enter__(self) -> ExtractionPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def look_ahead(self) -> int:
        """Files that are worth submitting before the first of them is read."""
        return 4 * self.n_workers

    @property
    def is_open(self) -> bool:
        """Whether files may still be submitted."""
        return not self._is_over

    @property
    def workers(self) -> tuple[Worker, ...]:
        """The workers that run now."""
        with self._changed:
            return tuple(self._workers)

    def submit(self, file: FileToExtract) -> WorkerAnswer:
        """Let a worker read a file; what is submitted first is begun first."""
        answer = WorkerAnswer(file)
        with self._changed:
            self._asked.append(answer)
            self._changed.notify()
            if len(self._threads) < min(self.n_workers, len(self._asked) + len(self._taken)):
                self._threads.append(threading.Thread(target=self._serve, name="extraction", daemon=True))
                self._threads[-1].start()
        return answer

    def extract(self, files: Iterable[FileToExtract]) -> Iterator[tuple[FileToExtract, Iterator[ExtractedNode]]]:
        """Yield each file with its nodes, in the order of the files; the nodes of one are read before the next.

        Raises
        ------
        OSError
            With the first node: a file cannot be opened.
        """
        coming, waiting = iter(files), deque[WorkerAnswer]()
        try:
            while True:
                while len(waiting) < self.look_ahead and (file := next(coming, None)) is not None:
                    waiting.append(self.submit(file))
                if not waiting:
                    return
                yield waiting[0].file, waiting[0].nodes()
                waiting.popleft().drop()
        finally:
            for answer in waiting:
                answer.drop()

    def close(self) -> None:
        """End all workers."""
        with self._changed:
            self._is_over = True
            self._asked.clear()
            self._changed.notify_all()
            for answer in self._taken:
                answer.drop()
            for worker in self._workers:
                worker.process.kill()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        """Read one file after another with a worker; it has the next request before it is done with the one before."""
        service = _Service(self)
        error: Exception | None = None
        try:
            while service.take():
                service.read_first()
        except Exception as broken:  # noqa: BLE001  (raised again where the nodes are read)
            error = broken
        finally:
            service.end(error)

    def next_asked(self, *, is_idle: bool) -> WorkerAnswer | None:
        """Return the next file to read; wait for one if there is nothing else to do, None if there is none."""
        with self._changed:
            if is_idle:
                self._changed.wait_for(lambda: self._asked or self._is_over)
            if self._is_over or not self._asked:
                return None
            answer = self._asked.popleft()
            self._taken.add(answer)
            return answer

    def finished(self, answer: WorkerAnswer, error: Exception | None = None) -> None:
        """Complete an answer."""
        answer.complete(error)
        with self._changed:
            self._taken.discard(answer)

    def started(self) -> Worker:
        """Start a worker."""
        worker = Worker(self.limits)
        with self._changed:
            self._workers.add(worker)
            if self._is_over:
                worker.process.kill()
        return worker

    def ended(self, worker: Worker) -> None:
        """End a worker."""
        with self._changed:
            self._workers.discard(worker)
        worker.close()


class _Service:
    """One worker after another, and the files that were given to it.

    Parameters
    ----------
    pool : ExtractionPool
    """

    def __init__(self, pool: ExtractionPool) -> None:
        self._pool = pool
        self._limits = pool.limits.as_request()
        self._worker: Worker | None = None
        self._given: deque[tuple[WorkerAnswer, ExtractionRequest]] = deque()

    def take(self) -> bool:
        """Give the worker up to two files; False at the end of the pool."""
        while len(self._given) < _IN_FLIGHT:
            answer = self._pool.next_asked(is_idle=not self._given)
            if answer is None:
                break
            file = answer.file
            request = ExtractionRequest(
                name=file.name, kind=file.kind, encoding=file.encoding, limits=self._limits, given_up={}
            )
            try:
                self._give(answer, request)
            except OSError as error:
                self._pool.finished(answer, error)
            except RunError as error:
                self._pool.finished(answer, error)
        return bool(self._given) or self._pool.is_open

    def read_first(self) -> None:
        """Pass on the nodes of the first file; if the worker dies, the next one continues after the document."""
        if not self._given:
            return
        answer, request = self._given[0]
        worker, first = self._worker, request.first
        try:
            if worker is None:
                raise _Dead("crashed", "the extraction worker did not start")
            while (node := worker.next_node()) is not None:
                first = node.number + 1
                answer.put(node)
        except _Dead as death:
            self._given[0] = answer, replace(request, first=first)
            self._after(death)
            return
        except _Dropped:
            self._forget()
            return
        self._given.popleft()
        self._pool.finished(answer)

    def end(self, error: Exception | None) -> None:
        """End the worker, and complete what is left."""
        if self._worker is not None:
            self._pool.ended(self._worker)
        for answer, _ in self._given:
            self._pool.finished(answer, error)

    def _give(self, answer: WorkerAnswer, request: ExtractionRequest) -> None:
        """Send a request; OSError if the file cannot be opened."""
        descriptor = os.open(answer.file.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if self._worker is None:
                self._worker = self._pool.started()
            self._given.append((answer, request))
            with contextlib.suppress(_Dead):  # noticed when its answer is read
                self._worker.ask(request, descriptor)
        finally:
            os.close(descriptor)

    def _after(self, death: _Dead) -> None:
        """Say of the document that killed the worker that it did, and give all files to another one."""
        answer, request = self._given.popleft()
        if request.first in request.given_up:  # another worker died at the same place: at what comes after it
            with contextlib.suppress(_Dropped):
                answer.put(_rest_of(request.first, death))
            self._pool.finished(answer)
        else:
            request = replace(request, given_up={request.first: (death.exception, death.sentence)})
            self._given.appendleft((answer, request))
        self._forget()

    def _forget(self) -> None:
        """End the worker, and give what it has not begun to another one."""
        if self._worker is not None:
            self._pool.ended(self._worker)
        self._worker = None
        again, self._given = self._given, deque()
        for answer, request in again:
            if answer.is_dropped:
                self._pool.finished(answer)
                continue
            try:
                self._give(answer, request)
            except (OSError, RunError) as error:
                self._pool.finished(answer, error)


def _rest_of(number: int, death: _Dead) -> ExtractedNode:
    """Return the node for the rest of a file that kills every worker."""
    parent = 0 if number else None
    return ExtractedNode(
        number=number, parent=parent, name=None, position=number, extractor="none", exception=death.exception,
        sentence=death.sentence,
    )  # fmt: skip


def check_sandbox() -> Sandbox:
    """Start a worker and return what confines it."""
    worker = Worker(ExtractionLimits())
    try:
        return worker.sandbox
    finally:
        worker.close()


__all__: Sequence[str] = ("ExtractionPool", "FileToExtract", "Worker", "check_sandbox")
