"""Main of an extraction worker: requests for files, answered with their nodes in order.

It is started by `pool`, speaks over one socket, and reads nothing but descriptors that come with requests.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from nearkin.stages.documents.extraction.nodes import ALIVE, END, HEAD, ExtractionRequest, as_message, restored
from nearkin.stages.documents.extraction.reading import Blob, LanguageData
from nearkin.stages.documents.extraction.sandbox import apply_sandbox
from nearkin.stages.documents.extraction.walking import FileWalk

_SILENT_S = 0.25
"""Seconds after the last message from which on the start of a step is announced: its time limit counts from there."""


def main(
    descriptor: int, memory_bytes: int, file_bytes: int, directory: str, languages: Mapping[str, str] | None
) -> None:
    """Confine this process, then answer requests until the socket is closed."""
    link = socket.socket(fileno=descriptor)
    os.chdir(directory)
    ocr = None if languages is None else LanguageData(**languages)
    libraries = [sys.prefix, sys.base_prefix, *(one for one in sys.path if one), *(ocr.paths if ocr else ())]
    sandbox = apply_sandbox(memory_bytes=memory_bytes, file_bytes=file_bytes, directory=directory, libraries=libraries)
    link.sendall(as_message(sandbox))
    while True:
        head, descriptors, _, _ = socket.recv_fds(link, HEAD.size, 1)
        if not head:
            return
        (n_bytes,) = HEAD.unpack(head)
        request = restored(ExtractionRequest, link.recv(n_bytes, socket.MSG_WAITALL))
        _FileReading(link, request, ocr).answer(Blob(descriptor=descriptors[0]))
        os.close(descriptors[0])


class _FileReading:
    """The answer to one request. The kernel ends this process if a step takes too long, even inside a library."""

    def __init__(self, link: socket.socket, request: ExtractionRequest, ocr: LanguageData | None) -> None:
        self._link = link
        self._limits = request.limits
        self._walk = FileWalk(request, self._timed, self._begin, ocr)
        self._sent_at = time.monotonic()
        self._end_s = 0

    def answer(self, blob: Blob) -> None:
        """Send the nodes, and the end."""
        node = None
        for node in self._walk.nodes(blob):
            message = as_message(node)
            self._link.sendall(message + END if node.is_whole_file else message)
            self._sent_at = time.monotonic()
        if node is None or not node.is_whole_file:
            self._link.sendall(END)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        self._begin()
        try:
            yield
        finally:  # also after a damaged file: an idle worker has no time limit
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _begin(self) -> None:
        """Begin the time of a step; say so if nothing was sent for a while: many steps may pass without a node."""
        if time.monotonic() - self._sent_at > _SILENT_S:
            self._link.sendall(ALIVE)
            self._sent_at = time.monotonic()
        end_s = int(time.process_time()) + 1 + self._limits.cpu_s
        if end_s != self._end_s:  # once a second is enough
            self._end_s = end_s
            resource.setrlimit(resource.RLIMIT_CPU, (end_s, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        signal.setitimer(signal.ITIMER_REAL, self._limits.wall_s)
