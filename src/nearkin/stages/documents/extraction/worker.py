"""Main of an extraction worker: requests for files, answered with their nodes in order.

It is started by `pool`, speaks over one socket, and reads nothing but descriptors that come with requests. It writes
into a file that it shares with the pool where it is: so the document that kills it is known.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Mapping

from nearkin.stages.documents.extraction.limits import ExtractionLimits
from nearkin.stages.documents.extraction.nodes import (
    HEAD,
    PLACE,
    AnswerPart,
    ExtractedNode,
    ExtractionRequest,
    as_message,
    restored,
)
from nearkin.stages.documents.extraction.reading import Blob, LanguageData
from nearkin.stages.documents.extraction.sandbox import apply_sandbox
from nearkin.stages.documents.extraction.walking import FileWalk

MAX_FILES = 64
"""Files of one request at most."""
_ANSWER_BYTES, _ANSWER_S = 1 << 18, 0.25
"""Texts and seconds after which an answer is sent, even if the files of the request are not done."""


def main(link: int, place: int, directory: str, limits: Mapping[str, int], languages: Mapping[str, str] | None) -> None:
    """Confine this process, then answer requests until the socket is closed."""
    os.chdir(directory)
    allowed = ExtractionLimits(**limits)
    ocr = None if languages is None else LanguageData(**languages)
    libraries = [sys.prefix, sys.base_prefix, *(one for one in sys.path if one), *(ocr.paths if ocr else ())]
    sandbox = apply_sandbox(
        memory_bytes=allowed.memory_bytes, file_bytes=allowed.disk_bytes, directory=directory, libraries=libraries
    )
    with socket.socket(fileno=link) as opened:
        opened.sendall(as_message(sandbox))
        _Worker(opened, place, allowed, ocr).serve()


class _Worker:
    """The answers to all requests. The kernel ends this process if a step takes too long, even inside a library."""

    def __init__(self, link: socket.socket, place: int, limits: ExtractionLimits, ocr: LanguageData | None) -> None:
        self._link, self._place, self._limits, self._ocr = link, place, limits, ocr
        self._n_files = self._n_steps = self._end_s = 0
        self._sent_at = time.monotonic()
        self._parts: list[AnswerPart] = []
        self._n_bytes = 0

    def serve(self) -> None:
        """Answer requests, each for some files, in one message or more."""
        while True:
            head, descriptors, _, _ = socket.recv_fds(self._link, HEAD.size, MAX_FILES)
            if not head:
                return
            content = self._link.recv(HEAD.unpack(head)[0], socket.MSG_WAITALL)
            self._sent_at = time.monotonic()
            requests = restored(list[ExtractionRequest], content)
            for request, descriptor in zip(requests, descriptors, strict=True):
                self._n_files += 1
                self._parts.append(AnswerPart([]))
                for node in FileWalk(request, self._limits, self._begin, self._ocr).nodes(Blob(descriptor=descriptor)):
                    self._add(node)
                self._parts[-1].is_over = True
                os.close(descriptor)
            self._send()

    def _add(self, node: ExtractedNode) -> None:
        self._parts[-1].nodes.append(node)
        self._n_bytes += len(node.text or b"")
        if self._n_bytes >= _ANSWER_BYTES:
            self._send(AnswerPart([]))

    def _send(self, *begun: AnswerPart) -> None:
        """Send what has been read; an idle worker, or one that waits for its reader, has no time limit."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._link.sendall(as_message(self._parts))
        self._parts, self._n_bytes, self._sent_at = list(begun), 0, time.monotonic()

    def _begin(self, number: int) -> None:
        """Begin the time of a step, at the document with this number."""
        if time.monotonic() - self._sent_at > _ANSWER_S:
            self._send(AnswerPart([]))
        self._n_steps += 1
        os.pwrite(self._place, PLACE.pack(self._n_files, number, self._n_steps), 0)
        end_s = int(time.process_time()) + 1 + self._limits.cpu_s
        if end_s != self._end_s:  # once a second is enough
            self._end_s = end_s
            resource.setrlimit(resource.RLIMIT_CPU, (end_s, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        signal.setitimer(signal.ITIMER_REAL, self._limits.wall_s)
