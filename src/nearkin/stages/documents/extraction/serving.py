"""Service of a worker: files go to it several at a time, and another worker goes on where one dies.

Short files go together, since a message costs more than many of them. If the worker dies at such a batch, its files are
read again one by one, so that it costs the document that killed it and no other.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from nearkin.errors import RunError
from nearkin.stages.documents.extraction.answers import HELD_BYTES, Dropped, WorkerAnswer
from nearkin.stages.documents.extraction.limits import ExtractionLimits
from nearkin.stages.documents.extraction.nodes import MAX_FILES, ExtractedNode, ExtractionRequest
from nearkin.stages.documents.extraction.worker_process import Worker, WorkerDeath

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
    """Files of one message that are not read yet.

    Parameters
    ----------
    files : deque of (WorkerAnswer, ExtractionRequest)
    n_files : int
        With those that are read.
    """

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
        """Pass on the nodes of one file; the last one together with the end, for one change of threads instead of two.

        Raises
        ------
        WorkerDeath
            The worker died; the request says from where on another one reads.
        Dropped
        """
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
