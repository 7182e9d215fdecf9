"""An extraction worker: requests for files, answered with the nodes of everything inside them.

Its place stands in a file that it shares with the pool, so the document that kills it is known.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

from nearkin.stages.documents.extraction import messages
from nearkin.stages.documents.extraction.kinds import CONTAINERS, READERS, declared_kind, extractor_of, kind_of
from nearkin.stages.documents.extraction.mail import is_single
from nearkin.stages.documents.extraction.ocr import extractor_name
from nearkin.stages.documents.extraction.reading import Blob, DocumentRead, Given, Member, fault_of, gathered
from nearkin.stages.documents.extraction.sandbox import apply_sandbox
from nearkin.stages.documents.members import NO_TEXT, Origin
from nearkin.stages.documents.rules import ExtractionLimits, LanguageData, RecordFault
from nearkin.stages.documents.streams import compression_of, unpacked

_ANSWER_BYTES, _ANSWER_S = 1 << 18, 0.25
"""Texts and seconds after which an answer is sent, even if the files of the request are not done."""


def main(link: int, place: int, directory: str, limits: Mapping[str, int], languages: Mapping[str, str] | None) -> None:
    """Confine this process, then answer requests until the socket is closed."""
    os.chdir(directory)
    allowed = ExtractionLimits(**limits)
    ocr = None if languages is None else LanguageData(**languages)
    libraries = [sys.prefix, sys.base_prefix, *(path for path in sys.path if path), *(ocr.paths if ocr else ())]
    sandbox = apply_sandbox(
        memory_bytes=allowed.memory, file_bytes=allowed.disk, directory=directory, libraries=libraries
    )
    with socket.socket(fileno=link) as opened:
        opened.sendall(messages.as_message(sandbox))
        _Worker(opened, place, allowed, ocr).serve()


_MAY_BE_EMPTY = ("text", "eml", "msg")
"""Kinds whose files are documents even without a text: a mail has headers."""


class _Worker:
    """The kernel ends this process if a step takes too long, even inside a library."""

    def __init__(self, link: socket.socket, place: int, limits: ExtractionLimits, ocr: LanguageData | None) -> None:
        self._link, self._place, self._limits, self._ocr = link, place, limits, ocr
        self._n_files = self._n_bytes = 0
        self._sent_at = time.monotonic()
        self._answer: messages.Answer = []
        self._request = messages.ExtractionRequest(name="")
        self._n_nodes = self._n_bytes_inside = 0

    def serve(self) -> None:
        while True:
            head, descriptors, _, _ = socket.recv_fds(self._link, messages.HEAD.size, messages.REQUEST_FILES)
            if not head:
                return
            self._sent_at = time.monotonic()
            requests = messages.received(self._link, list[messages.ExtractionRequest], head)
            for self._request, descriptor in zip(requests, descriptors, strict=True):
                self._n_files += 1
                self._n_nodes = self._n_bytes_inside = 0
                kind = self._request.kind if self._request.is_page else None
                self._visit(Member(name=None, blob=Blob(descriptor=descriptor), kind=kind), None, 0, 0)
                self._answer.append(None)
                os.close(descriptor)
            self._send()

    def _send(self) -> None:
        """Send what has been read; an idle or waiting worker has no time limit."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._link.sendall(messages.as_message(self._answer))
        self._answer, self._n_bytes, self._sent_at = [], 0, time.monotonic()

    def _begin(self, number: int) -> None:
        """Start the time limit of a step, after which the process ends, at a document."""
        if time.monotonic() - self._sent_at > _ANSWER_S:
            self._send()
        os.pwrite(self._place, messages.PLACE.pack(self._n_files, number), 0)
        signal.setitimer(signal.ITIMER_REAL, self._limits.time)

    def _visit(self, member: Member, parent: int | None, position: int, level: int) -> None:
        request, number = self._request, self._n_nodes
        self._n_nodes += 1
        name = request.name if parent is None else member.name or ""
        declared, blob = declared_kind(name), member.blob
        kind, read = declared or "unknown", DocumentRead(fault=member.fault, extractor="none")
        if number in request.given_up:
            read = replace(read, fault=RecordFault(*request.given_up[number]))
        elif blob is not None:
            kind, blob, read = self._read(blob, member.kind, name, number)
        is_container, has_members = kind in CONTAINERS and read.fault is None, read.members is not None
        extractor = read.extractor or (
            extractor_name(self._ocr) if kind == "image" and self._ocr is not None else extractor_of(kind)
        )
        if kind == "text" and read.reason == "unsupported":  # binary data of an unknown kind
            kind = "unsupported"
        if member.fault is not None:
            read = read.lacking(member.fault.reason, member.fault.sentence)
        text = None if read.text is None else read.text.encode("utf-8", "replace")
        if text is not None and len(text) > min(self._limits.size, messages.MAX_TEXT_BYTES):
            read, text = replace(read, fault=self._limits.exceeded("size")), None
        elif text is not None and not (has_members or kind in _MAY_BE_EMPTY) and (not text or text.isspace()):
            read, text = read.lacking("empty", NO_TEXT), None
        origin = Origin(
            sha256=None if blob is None else blob.sha256, size_bytes=None if blob is None else blob.size,
            kind=kind, declared_kind=declared if declared != kind else None, extractor=extractor,
            n_pages=read.n_pages, exception=read.reason, sentence=None if read.fault is None else read.fault.sentence,
            is_partial=read.fault is not None and bool(text and text.strip()), warnings="; ".join(read.warnings),
            position=position or None, mail=read.mail,
        )  # fmt: skip
        node = messages.ExtractedNode(
            parent=parent, name=member.name, is_container=is_container, has_members=has_members,
            origin=origin, text=text,
        )  # fmt: skip
        self._answer.append(node)
        self._n_bytes += len(text or b"")
        if self._n_bytes >= _ANSWER_BYTES:
            self._send()
        if read.members is not None:
            self._visit_members(read.members, number, level)

    def _read(self, blob: Blob, certain: str | None, name: str, number: int) -> tuple[str, Blob, DocumentRead]:
        self._begin(number)
        kind, inner = "packed", name
        try:
            for _ in range(2):
                if compression_of(blob.head) == "none":
                    break
                with blob.opened() as raw:
                    blob = gathered(unpacked(raw.read, compression_of(blob.head)), blob.size, self._limits)
                inner = os.path.splitext(inner)[0]
            kind = certain or kind_of(blob, inner)
            if kind == "packed":
                raise RecordFault("unsupported", "compressed more than twice")
            if kind == "text" and blob.head and number == 0:
                kind = self._request.kind or kind  # for plain text, the one that the user named
            if kind == "mbox" and not certain and declared_kind(inner) != "mbox" and is_single(blob):
                kind = "eml"
            given = Given(
                blob=blob, kind=kind, name=name, encoding=self._request.encoding, limits=self._limits, ocr=self._ocr,
                charset=None if number else self._request.charset, begin_again=lambda: self._begin(number),
            )  # fmt: skip
            reader, library = READERS.get(kind, ("plain.read_nothing", " "))
            if kind == "image" and self._ocr is not None:
                reader, library = "ocr.read_image", "xberg"
            if " " not in library and library not in sys.modules:
                signal.setitimer(signal.ITIMER_REAL, 0)  # to load it takes a second, which is not the document's
                with suppress(Exception):  # that it is missing, its reader says
                    import_module(library)
                self._begin(number)
            read = partial(_function(reader), given)
            return kind, blob, DocumentRead(members=read) if kind in CONTAINERS else read()
        except Exception as error:  # noqa: BLE001  (a library may raise anything; it costs this document only)
            return kind, blob, DocumentRead(fault=fault_of(error, self._limits))

    def _visit_members(self, members: Callable[[], Iterator[Member]], number: int, level: int) -> None:
        if level + 1 > self._limits.levels:
            self._visit(Member(name=None, fault=self._limits.exceeded("levels")), number, 1, level + 1)
            return
        listed, position, is_over = members(), 0, False
        while not is_over:
            position += 1
            try:
                self._begin(self._n_nodes)
                member = next(listed, None)
            except Exception as error:  # noqa: BLE001  (a library may raise anything; it costs the rest of this file)
                member, is_over = Member(name=None, fault=fault_of(error, self._limits)), True
            if member is None:
                return
            self._n_bytes_inside += 0 if member.blob is None else member.blob.size
            is_too_many = self._n_nodes > self._limits.files
            if is_too_many or self._n_bytes_inside > self._limits.total:
                fault = self._limits.exceeded("files" if is_too_many else "total")
                member, is_over = Member(name=None, fault=fault), True
            self._visit(member, number, position, level + 1)


@lru_cache  # an import costs as much as a message
def _function(name: str) -> Callable[[Given], Any]:
    module, _, function = name.partition(".")
    reader: Callable[[Given], Any] = getattr(import_module(f"{__package__}.{module}"), function)
    return reader
