"""Pool of extraction workers: the nodes of many files, in the order of the files, however many workers there are.

A worker that dies, hangs or exceeds a limit costs the document that it was at: another worker continues after it.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from nearkin.stages.documents.extraction.answers import HELD_BYTES, FileToExtract, WorkerAnswer
from nearkin.stages.documents.extraction.language_data import language_data
from nearkin.stages.documents.extraction.limits import ExtractionLimits
from nearkin.stages.documents.extraction.nodes import MAX_FILES, ExtractedNode
from nearkin.stages.documents.kept_memory import keep_memory

if TYPE_CHECKING:
    from nearkin.stages.documents.extraction.sandbox import Sandbox
    from nearkin.stages.documents.extraction.serving import WorkerService
    from nearkin.stages.documents.extraction.worker_process import Worker

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
                from nearkin.stages.documents.extraction.serving import WorkerService  # a pool may start no worker

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
