"""Main of an extraction worker: requests for files, answered with their nodes in order.

It is started by `worker_process`, speaks over one socket, and reads nothing but descriptors that come with requests.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from nearkin.stages.documents.extraction.blobs import Blob
from nearkin.stages.documents.extraction.language_data import LanguageData
from nearkin.stages.documents.extraction.nodes import (
    ALIVE,
    END,
    LENGTH_BYTES,
    MAX_FILES,
    ExtractionRequest,
    requests_of,
)
from nearkin.stages.documents.extraction.sandbox import apply_sandbox
from nearkin.stages.documents.extraction.walking import FileWalk

_HELD_BYTES = 1 << 18
_HELD_S = 0.02
"""A node is held for no longer before the next file is begun: Nearkin ends a worker that says nothing for too long."""
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
    held = apply_sandbox(memory_bytes=memory_bytes, file_bytes=file_bytes, directory=directory, libraries=libraries)
    link.sendall(json.dumps(held.as_message()).encode() + b"\n")
    while True:
        message, descriptors = _received(link)
        if not message:
            return
        requests = requests_of(message)
        replies = _Replies(link, is_held=len(requests) > 1)
        for request, descriptor in zip(requests, descriptors, strict=True):
            begin = partial(_begin, request, replies)
            walk = FileWalk(request, partial(_TimedStep, begin), begin, ocr)
            is_over = False
            for node in walk.nodes(Blob(descriptor=descriptor)):
                replies.send(node.as_message())
                is_over = node.is_whole_file
            if not is_over:
                replies.send(END)
            os.close(descriptor)
        replies.flush()


class _Replies:
    """Nodes on their way to Nearkin, those of several short files at once."""

    def __init__(self, link: socket.socket, *, is_held: bool) -> None:
        self._link = link
        self._is_held = is_held
        self._held: list[bytes] = []
        self._n_bytes = 0
        self._sent_at = time.monotonic()

    def send(self, message: bytes) -> None:
        """Send a message, now or with later ones."""
        self._held.append(message)
        self._n_bytes += len(message)
        is_due = self._n_bytes >= _HELD_BYTES or time.monotonic() - self._sent_at > _HELD_S
        if is_due or not self._is_held:
            self.flush()

    def begin_step(self) -> None:
        """Send a sign of life, unless something was sent a moment ago: many steps may pass without a node."""
        if time.monotonic() - self._sent_at > _SILENT_S:
            self._held.append(ALIVE)
            self.flush()

    def flush(self) -> None:
        """Send all that is held."""
        self._link.sendall(b"".join(self._held))
        self._held.clear()
        self._n_bytes, self._sent_at = 0, time.monotonic()


def _received(link: socket.socket) -> tuple[bytes, list[int]]:
    """Return requests and the descriptors that come with them; nothing at the end."""
    length, descriptors, _, _ = socket.recv_fds(link, LENGTH_BYTES, MAX_FILES)
    length += _exactly(link, LENGTH_BYTES - len(length)) if length else b""
    return _exactly(link, int.from_bytes(length)), descriptors


def _exactly(link: socket.socket, n_bytes: int) -> bytes:
    """Return so many bytes; nothing at the end."""
    held = bytearray()
    while len(held) < n_bytes:
        piece = link.recv(min(n_bytes - len(held), 1 << 16))
        if not piece:
            return b""
        held += piece
    return bytes(held)


class _TimedStep:
    """Lets the kernel end this process if a step takes too long, even inside a library that never returns."""

    __slots__ = ("_begin",)

    def __init__(self, begin: Callable[[], None]) -> None:
        self._begin = begin

    def __enter__(self) -> None:
        self._begin()

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _begin(request: ExtractionRequest, replies: _Replies) -> None:
    """Begin the time of a step."""
    replies.begin_step()
    _limit_processor_time(int(time.process_time()) + 1 + request.limits["cpu_s"])
    signal.setitimer(signal.ITIMER_REAL, request.limits["wall_s"])


@lru_cache(maxsize=1)  # within a second the limit is the same, and short files come by the thousand
def _limit_processor_time(end_s: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (end_s, resource.getrlimit(resource.RLIMIT_CPU)[1]))
