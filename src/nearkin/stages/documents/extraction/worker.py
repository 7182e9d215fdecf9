"""Main of an extraction worker: a request a file, answered with its nodes in order.

It is started by `workers`, speaks over one socket, and reads nothing but descriptors that come with requests.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Iterator
from functools import lru_cache

from nearkin.stages.documents.extraction.blobs import Blob
from nearkin.stages.documents.extraction.nodes import END, ExtractionRequest
from nearkin.stages.documents.extraction.sandbox import apply_sandbox
from nearkin.stages.documents.extraction.walking import FileWalk


def main(descriptor: int, memory_bytes: int, directory: str) -> None:
    """Confine this process, then answer requests until the socket is closed."""
    import asyncio

    link = socket.socket(fileno=descriptor)
    asyncio.set_event_loop(asyncio.new_event_loop())  # it makes a pair of sockets, which the sandbox forbids
    os.chdir(directory)
    libraries = [sys.prefix, sys.base_prefix, *(one for one in sys.path if one)]
    held = apply_sandbox(memory_bytes=memory_bytes, directory=directory, libraries=libraries)
    link.sendall(json.dumps(held.as_message()).encode() + b"\n")
    while True:
        line, descriptors = _received(link)
        if not line:
            return
        request = ExtractionRequest.of_line(line)
        blob = Blob(descriptor=descriptors[0])
        try:
            _answer(link, request, blob)
        finally:
            os.close(descriptors[0])


def _answer(link: socket.socket, request: ExtractionRequest, blob: Blob) -> None:
    """Send the nodes of a file."""
    for node in FileWalk(request, lambda: _timed(request)).nodes(blob):
        link.sendall(node.as_message())
    link.sendall(END)


def _received(link: socket.socket) -> tuple[bytes, list[int]]:
    """Return a request and the descriptor that comes with its first byte; nothing at the end."""
    line, descriptors, _, _ = socket.recv_fds(link, 1 << 16, 1)
    while line and not line.endswith(b"\n"):
        more = link.recv(1 << 16)
        if not more:
            return b"", []
        line += more
    return line, descriptors


@contextlib.contextmanager
def _timed(request: ExtractionRequest) -> Iterator[None]:
    """Let the kernel end this process if a step takes too long, even inside a library that never returns."""
    _limit_processor_time(int(time.process_time()) + 1 + request.limits["cpu_s"])
    signal.setitimer(signal.ITIMER_REAL, request.limits["wall_s"])
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@lru_cache(maxsize=1)  # within a second the limit is the same, and short files come by the thousand
def _limit_processor_time(end_s: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (end_s, resource.getrlimit(resource.RLIMIT_CPU)[1]))
