"""Pool of extraction workers, whatever their number: nodes in the order of the files.

A worker that dies, hangs or exceeds a limit costs the document that it was at: another one continues after it.
"""

from __future__ import annotations

import errno
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace

from nearkin.errors import RunError
from nearkin.stages.documents.extraction import messages
from nearkin.stages.documents.extraction.reading import is_out_of_memory
from nearkin.stages.documents.extraction.sandbox import Sandbox
from nearkin.stages.documents.members import Origin
from nearkin.stages.documents.rules import ExtractionLimits, LanguageData, RecordFault, language_data
from nearkin.stages.documents.streams import keep_memory

_HELD_BYTES = 64 << 20
"""Texts for each worker that wait for the files before them; then the workers wait, too."""
_GRACE_S = 10
_MOST_DEATHS = 8
"""Documents of a file that may kill a worker each, before any node comes that shows that the next worker got on."""


class ExtractionAnswer:
    """Nodes of one file, on their way from a worker to the reader; if it dies, the next one begins again."""

    def __init__(self, request: messages.ExtractionRequest, source: str | bytes, pool: ExtractionPool) -> None:
        self.request = replace(request, name=request.name.encode("utf-8", "replace").decode())
        self.error: OSError | None = None
        self.is_over = False
        self.waiting: deque[messages.ExtractedNode] = deque()
        self._source, self._pool = source, pool
        self._n_nodes = self._n_of_worker = 0
        self._parents = {0}

    def nodes(self) -> Iterator[messages.ExtractedNode]:
        """Yield the nodes as they come."""
        while True:
            self._pool.wait_for(self)
            if not self.waiting:
                break
            node = self.waiting.popleft()
            self._pool.n_held -= len(node.text or b"")
            yield node
        if self.error is not None:
            raise self.error

    def opened(self) -> int:
        """Return a descriptor of the bytes, for a worker."""
        self._n_of_worker = 0
        if isinstance(self._source, str):
            return os.open(self._source, os.O_RDONLY | os.O_CLOEXEC)
        descriptor = os.memfd_create("page")
        with open(descriptor, "wb", closefd=False) as file:
            file.write(self._source)
        return descriptor

    def add(self, node: messages.ExtractedNode) -> None:
        """Add the next node of a worker, unless another one sent it; `WorkerFault` if it cannot be the next one."""
        if not (node.parent in self._parents if self._n_of_worker else node.parent is None):
            raise messages.WorkerFault("the worker sent a document out of its place")
        self._n_of_worker += 1
        if self._n_of_worker > self._n_nodes:
            self._append(node)

    def _append(self, node: messages.ExtractedNode) -> None:
        if node.has_members:
            self._parents.add(self._n_nodes)
        self._n_nodes += 1
        self.waiting.append(node)
        self._pool.n_held += len(node.text or b"")

    def give_up(self, number: int, fault: RecordFault) -> None:
        """Ask for all but the document that killed a worker; if that did not help before, for nothing more."""
        number, given_up = max(number, self._n_nodes), self.request.given_up
        if number in given_up or sum(other >= self._n_nodes for other in given_up) >= _MOST_DEATHS:
            origin = Origin(
                sha256=None, size_bytes=None, kind="unknown", extractor="none", exception=fault.reason,
                sentence=fault.sentence, position=self._n_nodes or None,
            )  # fmt: skip
            self._append(messages.ExtractedNode(parent=0 if self._n_nodes else None, origin=origin))
            self.is_over = True
        self.request = replace(self.request, given_up={**given_up, number: (fault.reason, fault.sentence)})


class ExtractionPool:
    """Workers that extract files, for one thread."""

    def __init__(
        self, n_workers: int | None = None, limits: ExtractionLimits | None = None, ocr: str | None = None
    ) -> None:
        self.n_workers = n_workers or len(os.sched_getaffinity(0))
        self.limits = limits or ExtractionLimits()
        self.workers: list[WorkerProcess] = []
        self.n_held = 0
        self._ocr = None if ocr is None else language_data(ocr)
        self._asked: deque[ExtractionAnswer] = deque()
        keep_memory()

    def __enter__(self) -> ExtractionPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, request: messages.ExtractionRequest, source: str | bytes) -> ExtractionAnswer:
        """Let a worker read a file, by its path, or a page, by its bytes; the first submitted is the first begun."""
        answer = ExtractionAnswer(request, source, self)
        self._asked.append(answer)
        self._give()
        return answer

    def wait_for(self, answer: ExtractionAnswer) -> None:
        """Take what workers send until a node of this answer has come, or its end."""
        while not (answer.waiting or answer.is_over):
            self._give()
            may_send = answer in self._asked or self.n_held < _HELD_BYTES * self.n_workers
            poll = select.poll()
            polled = {
                worker.fileno(): worker
                for worker in self.workers
                if worker.given and (may_send or answer in worker.given)
            }
            for descriptor in polled:
                poll.register(descriptor, select.POLLIN)
            ready = poll.poll(1000 * (self.limits.time + _GRACE_S))
            for descriptor, _ in ready:
                self._receive(polled[descriptor])
            for worker in () if ready else polled.values():  # none of them has ended itself in time
                self._end(worker, TimeoutError())

    def drop(self, answer: ExtractionAnswer) -> None:
        """End the reading of a file that nobody reads any more."""
        self.n_held -= sum(len(node.text or b"") for node in answer.waiting)
        answer.waiting.clear()
        if answer.is_over:
            return
        answer.is_over = True
        if answer in self._asked:
            self._asked.remove(answer)
        for worker in self.workers:
            if answer in worker.given:
                self._end(worker)
                break

    def close(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.close()
        self.workers.clear()

    def _give(self) -> None:
        while self._asked:
            worker = min(self.workers, key=lambda candidate: len(candidate.given), default=None)
            if worker is None or (worker.given and len(self.workers) < self.n_workers):
                worker = WorkerProcess(self.limits, self._ocr)
                self.workers.append(worker)
            if worker.given and not len(worker.given) < messages.REQUEST_FILES <= len(self._asked):
                return  # a busy worker gets a full request
            descriptors = dict[ExtractionAnswer, int]()
            for _ in range(min(messages.REQUEST_FILES, -(-len(self._asked) // self.n_workers))):
                answer = self._asked.popleft()
                try:
                    descriptors[answer] = answer.opened()
                except OSError as error:
                    answer.error, answer.is_over = error, True
            is_sent = worker.ask(descriptors)
            for descriptor in descriptors.values():
                os.close(descriptor)
            if not is_sent:
                self._asked.extendleft(reversed(descriptors))
                return

    def _receive(self, worker: WorkerProcess) -> None:
        try:
            for node in worker.received():
                if node is None:
                    worker.given.popleft().is_over = True
                else:
                    worker.given[0].add(node)
        except (OSError, EOFError, messages.WorkerFault, IndexError) as error:
            self._end(worker, error)

    def _end(self, worker: WorkerProcess, error: Exception | None = None) -> None:
        self.workers.remove(worker)
        try:
            fault = None if error is None else worker.death(error)
            if fault is not None and worker.given:
                answer, number = (worker.given[0], 0) if isinstance(error, messages.WorkerFault) else worker.at_death
                answer.give_up(number, fault)
        finally:
            worker.close()
        self._asked.extendleft(answer for answer in reversed(worker.given) if not answer.is_over)


def check_sandbox() -> Sandbox:
    """Start a worker and return what confines it."""
    worker = WorkerProcess(ExtractionLimits())
    try:
        return worker.started()
    except (EOFError, OSError) as error:
        raise RunError(worker.death(error).sentence) from error
    finally:
        worker.close()


_BOOT = (
    "import json,sys\n"
    "told=json.loads(sys.argv[1])\n"
    "sys.path[:]=told['path']\n"
    "from nearkin.stages.documents.extraction.worker import main\n"
    "main(*told['main'])"
)
_KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(64 << 20)}
"""Settings of glibc (mallopt(3)): else libraries return their memory with each file, and get each page of it again by a
page fault, which takes a third of the time of a PDF."""
_STDERR_BYTES = 4096


class WorkerProcess:
    """A worker process: ``given`` are the files that it reads, ``sandbox`` what confines it, once it says so."""

    def __init__(self, limits: ExtractionLimits, ocr: LanguageData | None = None) -> None:
        self.given: deque[ExtractionAnswer] = deque()
        self.sandbox: Sandbox | None = None
        self._n_given = 0
        self._limits = limits
        self._directory = tempfile.mkdtemp(prefix="nearkin-worker-")
        self._stderr, self._place = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115  (`close` closes)
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(limits.time + _GRACE_S)
        place, shared = self._directory, (theirs.fileno(), self._place.fileno())
        languages = None if ocr is None else asdict(ocr)
        settings = {
            "path": [
                folder for folder in (os.path.abspath(place or ".") for place in sys.path) if os.path.exists(folder)
            ],
            "main": [*shared, place, asdict(limits), languages],
        }
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-B", "-X", "utf8", "-c", _BOOT, json.dumps(settings)],
                pass_fds=shared,
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

    def fileno(self) -> int:
        """Return the descriptor from which its messages are read."""
        return self._socket.fileno()

    def ask(self, descriptors: Mapping[ExtractionAnswer, int]) -> bool:
        """Send a request for files; whether that was possible."""
        if not descriptors:
            return True
        message = messages.as_message([answer.request for answer in descriptors])
        try:
            n_sent = socket.send_fds(self._socket, [message], list(descriptors.values()))
            if n_sent < len(message):
                self._socket.sendall(message[n_sent:])
        except OSError as error:
            if error.errno == errno.ETOOMANYREFS and self.given:  # as many files as may be on their way
                return False
        self.given.extend(descriptors)
        self._n_given += len(descriptors)
        return True

    def started(self) -> Sandbox:
        """Return what confines the process, once it says so."""
        self.sandbox = self.sandbox or messages.received(self._socket, Sandbox)
        return self.sandbox

    def received(self) -> messages.Answer:
        """Return the next answer; EOFError or OSError if the process ended, else messages.WorkerFault."""
        is_new = self.sandbox is None
        self.started()
        return [] if is_new else messages.received(self._socket, messages.Answer)

    @property
    def at_death(self) -> tuple[ExtractionAnswer, int]:
        """The file that it was at, and the number of the document in it."""
        first = self._n_given - len(self.given) + 1
        n_files, number = messages.PLACE.unpack(
            os.pread(self._place.fileno(), messages.PLACE.size, 0).ljust(messages.PLACE.size, b"\0")
        )
        return self.given[min(max(n_files, first), self._n_given) - first], number

    def death(self, error: Exception) -> RecordFault:
        """Return why the worker ended, for people; raise `RunError` if it did not even start."""
        if not isinstance(error, EOFError | OSError) or isinstance(error, TimeoutError):
            self.process.kill()
        try:
            code = self.process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self._stderr.seek(max(0, os.fstat(self._stderr.fileno()).st_size - _STDERR_BYTES))
        message = self._stderr.read().decode("utf-8", "replace").strip()
        if self.sandbox is None:
            raise RunError(f"An extraction worker did not start: {message or f'exit code {code}'}.")
        if isinstance(error, TimeoutError) or code == -signal.SIGALRM:
            return self._limits.exceeded("time")
        if is_out_of_memory(message):
            return self._limits.exceeded("memory")
        if isinstance(error, messages.WorkerFault):
            return RecordFault("crashed", f"the extraction worker failed: {error}")
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        hint = self._limits.exceeded("memory").sentence  # many libraries do not say why they abort
        return RecordFault("crashed", f"the extraction worker died while reading it ({how}), perhaps for {hint}")

    def close(self) -> None:
        """End the process, and remove its directory."""
        self._socket.close()
        self.process.kill()
        self.process.wait()
        self._stderr.close()
        self._place.close()
        shutil.rmtree(self._directory, ignore_errors=True)
