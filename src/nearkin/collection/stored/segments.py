"""Index of a collection, kept beside the store: which segments should exist, and how they are made."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import time
import weakref
from bisect import bisect_right
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.counting import SIGNATURE, TextCounting
from nearkin.collection.stored import segment_files
from nearkin.collection.stored.load_spans import LoadSpan
from nearkin.errors import OutputError
from nearkin.nouns import counted
from nearkin.records import U64, Bool, LetterVectors
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.search.ranges.segment import RangeSegment
from nearkin.store import schema
from nearkin.wording import WarningMessage

_AT_A_TIME = 1 << 14
_MAX_UNSAVED = 512
"""Maximum number of contents added since, such as check-ins, whose segment is built in memory and not saved."""
_WRITTEN_BY_NOW_S = 86_400.0
Span = tuple[int, int]
"""First content, and one after the last."""


def wanted_spans(loads: Sequence[LoadSpan]) -> tuple[Span, ...]:
    """Return the segments that should exist: each at least twice as long as the next.

    Examples
    --------
    >>> wanted_spans([LoadSpan(0, 100, b""), LoadSpan(100, 110, b""), LoadSpan(110, 120, b"")])
    ((0, 100), (100, 120))
    """
    spans: list[Span] = []
    for load in loads:
        spans.append((load.first, load.end))
        while len(spans) > 1 and _length(spans[-2]) < 2 * _length(spans[-1]):
            (first, _), (_, end) = spans[-2:]
            spans[-2:] = [(first, end)]
    return tuple(spans)


def _length(span: Span) -> int:
    return span[1] - span[0]


class Segments:
    """The segments of one collection."""

    def __init__(
        self,
        folder: Path,
        collection: str,
        counting: TextCounting,
        *,
        is_read_only: bool = False,
        database: Path | None = None,
    ) -> None:
        self.folder, self._collection, self._counting = folder, collection, counting
        self._database = database
        self._is_read_only = is_read_only
        self._held: dict[tuple[Span, str], segment_files.Segment] = {}
        self._loads: Sequence[LoadSpan] = ()
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):  # a child lacks the thread that may hold the lock
            unlock = weakref.WeakMethod(self._unlock)
            os.register_at_fork(after_in_child=lambda: (call := unlock()) and call())

    def _unlock(self) -> None:
        self._lock = threading.Lock()

    def cover(
        self, connection: Connection, loads: Sequence[LoadSpan], progress: Progress, *, settle: bool
    ) -> tuple[segment_files.Segment, ...]:
        """Return segments for all contents of the loads, in order; missing ones are built."""
        with self._lock:
            if not settle and self._held and loads == self._loads:  # nothing was added since the last query
                return tuple(self._held.values())
            spans, there = self._spans_there(loads), self.listed()
            is_new = not settle and len(spans) > 1 and spans[-1] not in there
            newest = spans[-1] if is_new and _length(spans[-1]) <= _MAX_UNSAVED else None
            if settle or (is_new and newest is None and not self._is_read_only):
                spans, settle = wanted_spans(loads), True
            held = {(span, self._digest(loads, span)): span for span in spans}
            usable = {key: segment for key, segment in self._held.items() if not settle or key[0] in there}
            segments = {
                key: usable.get(key) or self._have(connection, loads, span, progress, is_saved=span != newest)
                for key, span in held.items()
            }
            self._held, self._loads = segments, loads
            if settle:
                self._remove_all_but(spans)
            return tuple(segments.values())

    def difference(self, connection: Connection, loads: Sequence[LoadSpan], span: Span) -> str | None:
        """Return how an existing segment differs from its checksums, or from the store; None if it does not."""
        name, identity = segment_files.name_of(*span), self._identity(loads, span)
        try:
            segment_files.check(self.folder / name, identity, fully=True)
            segment = segment_files.load(self.folder, *span, identity)
        except segment_files.DamagedSegmentError as error:
            return str(error)
        vectors, words, has_features = read_contents(connection, self._counting, span, Silent())
        if not segment.vectors.is_of(vectors):
            return f"{segment_files.part_of_index(name)}: its letter counts differ from those in the database"
        if not (np.array_equal(segment.words, words) and np.array_equal(segment.has_features, has_features)):
            return f"{segment_files.part_of_index(name)}: its signatures differ from those in the database"
        return None

    def forget(self, span: Span) -> None:
        """Remove a damaged segment."""
        with self._lock:
            self._held.clear()
            segment_files.remove(self.folder / segment_files.name_of(*span))

    def remove_all(self) -> None:
        """Remove every segment, and what killed processes left: nothing of an erased text stays."""
        with self._lock:
            self._held.clear()
            self._loads = ()
            # in a cache, there may be segments of this collection under other addresses, or of its copies
            folders = self.folder.parent.glob(f"{self._collection}*") if self._database is None else [self.folder]
            for folder in folders:
                for path in folder.iterdir() if folder.is_dir() else ():
                    segment_files.remove(path)

    def _identity(self, loads: Sequence[LoadSpan], span: Span) -> dict[str, object]:
        return {
            "format": 1,
            "collection": self._collection,
            "letters": self._counting.letters.fingerprint,
            "signatures": self._counting.signatures,
            "contents": self._digest(loads, span),
        }

    @staticmethod
    def _digest(loads: Sequence[LoadSpan], span: Span) -> str:
        """Return a digest of the store's contents in the span; after a restore they may be others."""
        load = loads[bisect_right(loads, span[1], key=lambda entry: entry.end) - 1]
        return f"{load.digest.hex()}-{load.generation}" if span[0] <= load.first and load.end <= span[1] else ""

    def _spans_there(self, loads: Sequence[LoadSpan]) -> tuple[Span, ...]:
        """Return the existing segments, the longest first, and the gaps that must be built."""
        bounds = {load.first for load in loads} | {load.end for load in loads}
        there = sorted((s for s in self.listed() if {*s} <= bounds), key=lambda s: (s[0], -s[1]))
        end = max(bounds, default=0)
        spans: list[Span] = []
        at = 0
        while at < end:
            begins_here = next((span for span in there if span[0] == at), None)
            after = min((span[0] for span in there if span[0] > at), default=end)
            spans.append(begins_here or (at, after))
            at = spans[-1][1]
        return tuple(spans)

    def listed(self) -> list[Span]:
        """List the segments in the directory."""
        spans = []
        for path in self.folder.glob("*-*") if self.folder.is_dir() else ():
            first, _, end = path.name.partition("-")
            if first.isdecimal() and end.isdecimal():
                spans.append((int(first), int(end)))
        return spans

    def _have(
        self, connection: Connection, loads: Sequence[LoadSpan], span: Span, progress: Progress, *, is_saved: bool
    ) -> segment_files.Segment:
        identity = self._identity(loads, span)
        try:
            return segment_files.load(self.folder, *span, identity)
        except segment_files.DamagedSegmentError as error:
            if (self.folder / segment_files.name_of(*span)).exists():
                warning = f"part of the index is rebuilt from the database ({error})"
                progress.say(WarningMessage(warning))
        segment = build(connection, self._counting, span, progress)
        if not is_saved:
            return segment
        if self._is_read_only:
            n = counted(span[1] - span[0], "text")
            progress.say(f"read-only: the index of {n} is built for this command, and not saved")
            return segment
        try:
            if self._database is not None and not self._database.is_file():
                raise OutputError(f"{self._database} is gone.")
            segment_files.save(segment, self.folder, identity)
            return segment_files.load(self.folder, *span, identity)
        except (OutputError, segment_files.DamagedSegmentError) as error:
            progress.say(WarningMessage(f"the index could not be saved, and stays in memory: {error}"))
            return segment

    def _remove_all_but(self, spans: Sequence[Span]) -> None:
        for span in set(self.listed()) - set(spans):
            segment_files.remove(self.folder / segment_files.name_of(*span))
        for left in self.folder.glob(".*.part"):  # left by a killed process, unless one is writing it
            with contextlib.suppress(OSError):
                if time.time() - left.stat().st_mtime > _WRITTEN_BY_NOW_S:
                    shutil.rmtree(left, ignore_errors=True)


def build(connection: Connection, counting: TextCounting, span: Span, progress: Progress) -> segment_files.Segment:
    """Build a segment from the store."""
    vectors, words, has_features = read_contents(connection, counting, span, progress)
    return segment_files.Segment(*span, partial(RangeSegment.build, vectors), words, has_features)


def read_contents(
    connection: Connection, counting: TextCounting, span: Span, progress: Progress
) -> tuple[LetterVectors, U64, Bool]:
    """Read letter counts, signatures, and which contents have signatures."""
    first, end = span
    n_contents = end - first
    counts = np.zeros((n_contents, counting.letters.n_dimensions), np.uint32)
    signatures = np.zeros((n_contents, SIGNATURE.bits // 8), np.uint8)
    is_counted, has_features = np.zeros(n_contents, np.bool_), np.zeros(n_contents, np.bool_)
    contents = schema.contents.c
    unit: Literal["documents"] = "documents"
    progress.start("index", n_contents, unit)
    sizes = 4 * counts.shape[1], signatures.shape[1]
    for start in range(first, end, _AT_A_TIME):
        stop = min(start + _AT_A_TIME, end)
        rows = connection.execute(
            select(contents.content, contents.counts, contents.is_counted, contents.signature)
            .where(contents.content >= start, contents.content < stop)
            .order_by(contents.content)
        ).all()
        places = np.array([row[0] for row in rows], np.int64) - first
        counts_in_bytes = b"".join([row[1][: sizes[0]].ljust(sizes[0], b"\0") for row in rows])
        counts[places] = np.frombuffer(counts_in_bytes, "<u4").reshape(len(rows), counts.shape[1])
        is_counted[places] = [bool(row[2]) for row in rows]
        signed = [row for row in rows if row[3] is not None]
        places = np.array([row[0] for row in signed], np.int64) - first
        signatures[places] = np.frombuffer(b"".join([row[3] for row in signed]), np.uint8).reshape(
            len(signed), sizes[1]
        )
        has_features[places] = True
        progress.advance(stop - start)
    progress.finish()
    return counting.vectors_of_counts(counts, is_counted), signatures.view(np.uint64), has_features
