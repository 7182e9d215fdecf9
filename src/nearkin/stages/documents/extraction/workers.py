"""Pool of extraction workers: the nodes of many files, in the order of the files, however many workers there are.

A worker that dies, hangs or exceeds a limit costs the document that it was at: another worker continues after it.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from nearkin.errors import RunError
from nearkin.stages.documents.extraction.answers import HELD_BYTES, Dropped, FileToExtract, WorkerAnswer
from nearkin.stages.documents.extraction.language_data import language_data
from nearkin.stages.documents.extraction.limits import ExtractionLimits
from nearkin.stages.documents.extraction.nodes import MAX_FILES, ExtractedNode, ExtractionRequest
from nearkin.stages.documents.extraction.worker_process import Worker, WorkerDeath
from nearkin.stages.documents.kept_memory import keep_memory

if TYPE_CHECKING:
    from nearkin.stages.documents.extraction.sandbox import Sandbox


_BATCH_BYTES = 1 << 20
_NAME_BYTES = 64
"""Weight of a sign of a name in a batch, so that a message stays short, whatever the names."""
_HELD_FILES = 4
"""Files for each worker whose texts may be held as a whole."""


class ExtractionPool:
    """Workers that extract files.

    Parameters
    ----------
    n_workers : int, optional
        By default one for each processor.
    limits : ExtractionLimits, optional
    ocr : str, optional
        Languages for the recognition of text in images; see `language_data`, whose errors it raises.
    """

    def __init__(
        self, n_workers: int | None = None, limits: ExtractionLimits | None = None, ocr: str | None = None
    ) -> None:
        self.n_workers = n_workers or len(os.sched_getaffinity(0))
        self.limits = limits or ExtractionLimits()
        self._ocr = None if ocr is None else language_data(ocr)
        self._asked: deque[WorkerAnswer] = deque()
        self._taken: list[WorkerAnswer] = []
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._workers: set[Worker] = set()
        self._is_over = False
        self._n_waiting = 0
        keep_memory()

    def __enter__(self) -> ExtractionPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def look_ahead(self) -> int:
        """Files that are worth submitting before the first of them is read: those that workers have, and more."""
        return 4 * MAX_FILES * self.n_workers

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
        answer = WorkerAnswer(file, _weight(file), self._read)
        with self._changed:
            self._asked.append(answer)
            if self._n_waiting:
                self._changed.notify()
            if len(self._threads) < min(self.n_workers, len(self._asked) + len(self._taken)):
                given = (WorkerService(self),)
                self._threads.append(threading.Thread(target=self._serve, args=given, name="extraction", daemon=True))
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

    def _serve(self, service: WorkerService) -> None:
        """Read one file after another with a worker; it has the next request before it is done with the one before."""
        error: Exception | None = None
        try:
            while service.take():
                service.read_first()
        except Exception as broken:  # noqa: BLE001  (raised again where the nodes are read)
            error = broken
        finally:
            service.end(error)

    def next_asked(self, n_files: int, *, is_idle: bool) -> list[WorkerAnswer]:
        """Return the next files to read, no more than a fair share of all; none if there are none.

        Parameters
        ----------
        n_files : int
            Maximum number.
        is_idle : bool
            Wait for a file.
        """
        with self._changed:
            if is_idle:
                self._n_waiting += 1  # before the first look: who reads afterwards sees that somebody waits
                self._changed.wait_for(lambda: self._is_over or (self._asked and not self._is_full()))
                self._n_waiting -= 1
            if self._is_over or not self._asked or self._is_full():
                return []
            n_files = min(n_files, max(1, len(self._asked) // self.n_workers))
            found = [self._asked.popleft()]
            weight = found[0].weight
            while self._asked and len(found) < n_files and weight + self._asked[0].weight <= _BATCH_BYTES:
                found.append(self._asked.popleft())
                weight += found[-1].weight
            self._taken += found
            return found

    def _is_full(self) -> bool:
        """Whether texts wait for a reader who is slower than the workers.

        While anything is held, the reader waits for a file that is taken already: it never waits for one that is not.
        """
        self._taken = [one for one in self._taken if not one.is_over]
        return sum(one.held_bytes for one in self._taken) > _HELD_FILES * HELD_BYTES * self.n_workers

    def _read(self) -> None:
        """Let a service that waits look again whether there is room."""
        if self._n_waiting:
            with self._changed:
                self._changed.notify()

    def finished(self, answer: WorkerAnswer, error: Exception | None = None, last: ExtractedNode | None = None) -> None:
        """Complete an answer, after its last node."""
        answer.complete(error, last)

    def started(self) -> Worker:
        """Start a worker."""
        from nearkin.stages.documents.extraction.worker_process import Worker

        worker = Worker(self.limits, self._ocr)
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


def check_sandbox() -> Sandbox:
    """Start a worker and return what confines it."""
    from nearkin.stages.documents.extraction.worker_process import Worker

    worker = Worker(ExtractionLimits())
    try:
        return worker.sandbox
    finally:
        worker.close()


def _weight(file: FileToExtract) -> int:
    """Return the weight of a file in a batch; one that is not there is an error when it is read."""
    size = file.size_bytes
    if size is None:
        try:
            size = os.stat(file.path).st_size
        except OSError:
            size = 0
    return size + _NAME_BYTES * len(file.name)


__all__: Sequence[str] = ("ExtractionPool", "FileToExtract", "WorkerAnswer", "check_sandbox")


_IN_FLIGHT = 2
"""Batches that a worker has at a time: the one that it reads, and the next one."""
_BATCH_S = 0.05
"""Time that a batch takes, about: files that take longer go one by one, so that no other worker waits for them."""


class AskedFiles(Protocol):
    """Files that are to be read, as a service sees them."""

    @property
    def limits(self) -> ExtractionLimits:
        """Limits of each file."""

    @property
    def is_open(self) -> bool:
        """Whether files may still be submitted."""

    def next_asked(self, n_files: int, *, is_idle: bool) -> list[WorkerAnswer]:
        """Return up to so many files to read next; wait for one if there is nothing else to do."""

    def finished(self, answer: WorkerAnswer, error: Exception | None = None, last: ExtractedNode | None = None) -> None:
        """Complete an answer."""

    def started(self) -> Worker:
        """Start a worker."""

    def ended(self, worker: Worker) -> None:
        """End a worker."""


@dataclass(slots=True)
class _Batch:
    """Files of one message that are not read yet."""

    files: deque[tuple[WorkerAnswer, ExtractionRequest]]
    n_files: int = field(init=False)

    def __post_init__(self) -> None:
        self.n_files = len(self.files)
        for answer, _ in self.files:
            answer.room_bytes = HELD_BYTES // self.n_files

    @property
    def is_alone(self) -> bool:
        """Whether it is one file, whose nodes come as soon as they are there."""
        return self.n_files == 1


class WorkerService:
    """One worker after another, and the files that were given to it.

    Parameters
    ----------
    pool : AskedFiles
    """

    def __init__(self, pool: AskedFiles) -> None:
        self._pool = pool
        self._limits = pool.limits.as_request()
        self._worker: Worker | None = None
        self._given: deque[_Batch] = deque()
        self._file_s: float | None = None
        self._since = 0.0

    def take(self) -> bool:
        """Give the worker up to two batches; False at the end of the pool."""
        while len(self._given) < _IN_FLIGHT:
            n_files = 1 if self._file_s is None else max(1, min(MAX_FILES, int(_BATCH_S / max(self._file_s, 1e-6))))
            answers = self._pool.next_asked(n_files, is_idle=not self._given)
            if not answers:
                break
            self._give(_Batch(deque((answer, self._request(answer)) for answer in answers)))
        return bool(self._given) or self._pool.is_open

    def _request(self, answer: WorkerAnswer) -> ExtractionRequest:
        file = answer.file
        return ExtractionRequest(
            name=file.name, kind=file.kind, encoding=file.encoding, limits=self._limits, given_up={}
        )

    def read_first(self) -> None:
        """Pass on the nodes of the first batch; if the worker dies, the next one continues after the document."""
        if not self._given:
            return
        batch = self._given[0]
        try:
            while batch.files:
                self._read_file(batch)
        except WorkerDeath as death:
            self._file_s = None
            self._after(death)
            return
        except Dropped:
            self._forget()
            return
        self._given.popleft()
        now = time.monotonic()
        self._file_s = (now - self._since) / max(1, batch.n_files)
        self._since = now

    def _read_file(self, batch: _Batch) -> None:
        """Pass on the nodes of one file; the last one together with the end, for one change of threads."""
        answer, request = batch.files[0]
        last: ExtractedNode | None = None
        try:
            if self._worker is None:
                raise WorkerDeath("crashed", "the extraction worker did not start")
            while (node := self._worker.next_node(answer.order)) is not None:
                if last is not None:
                    answer.put(last)
                last = node
                if node.is_whole_file:
                    break
        except WorkerDeath:
            if last is not None:
                parents = frozenset(answer.order.parents)
                batch.files[0] = answer, replace(request, first=last.number + 1, parents=parents)
                answer.put(last)
            raise
        batch.files.popleft()
        self._pool.finished(answer, last=last)

    def end(self, error: Exception | None) -> None:
        """End the worker, and complete what is left."""
        if self._worker is not None:
            self._pool.ended(self._worker)
        for batch in self._given:
            for answer, _ in batch.files:
                self._pool.finished(answer, error)

    def _give(self, batch: _Batch) -> None:
        """Send a batch; a file that cannot be opened is an error of this file."""
        descriptors: list[int] = []
        try:
            for _ in range(len(batch.files)):
                answer, request = batch.files.popleft()
                if answer.is_dropped:
                    self._pool.finished(answer)
                    continue
                try:
                    descriptors.append(os.open(answer.file.path, os.O_RDONLY | os.O_CLOEXEC))
                except OSError as error:
                    self._pool.finished(answer, error)
                    continue
                batch.files.append((answer, request))
            if batch.files:
                self._send(batch, descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _send(self, batch: _Batch, descriptors: Sequence[int]) -> None:
        """Send the open files of a batch; if no worker starts, that is the error of each."""
        try:
            if self._worker is None:
                self._worker = self._pool.started()
        except (OSError, RunError) as error:
            for answer, _ in batch.files:
                self._pool.finished(answer, error)
            return
        if not self._given:
            self._since = time.monotonic()
        batch.n_files = len(batch.files)
        self._given.append(batch)
        with contextlib.suppress(WorkerDeath):  # noticed when its answer is read
            self._worker.ask([request for _, request in batch.files], descriptors)

    def _after(self, death: WorkerDeath) -> None:
        """Say of the document that killed the worker that it did, and give all files to another one.

        Which file of a batch it was is not known: nodes may have been lost with the worker.
        """
        batch = self._given.popleft()
        if not batch.is_alone:
            self._given.extendleft(reversed([_Batch(deque([one])) for one in batch.files]))
            self._forget()
            return
        answer, request = batch.files[0]
        if request.first in request.given_up:  # another worker died at the same place: at what comes after it
            self._pool.finished(answer, last=_rest_of(request.first, death))
        else:
            given_up = {request.first: (death.exception, death.sentence)}
            self._given.appendleft(_Batch(deque([(answer, replace(request, given_up=given_up))])))
        self._forget()

    def _forget(self) -> None:
        """End the worker, and give what it has not begun to another one."""
        if self._worker is not None:
            self._pool.ended(self._worker)
        self._worker = None
        again, self._given = self._given, deque()
        for batch in again:
            self._give(batch)


def _rest_of(number: int, death: WorkerDeath) -> ExtractedNode:
    """Return the node for the rest of a file that kills every worker."""
    parent = 0 if number else None
    return ExtractedNode(
        number=number, parent=parent, name=None, position=number, extractor="none", exception=death.exception,
        sentence=death.sentence,
    )  # fmt: skip
