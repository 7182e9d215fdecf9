"""Which segments there are to be, and how they come about: the index of a collection, kept beside its store.

The store is the truth. A segment that is missing, damaged, or made from something else is made again from it; where
nothing can be written it is made in memory. So a crash, a full disk or a lost folder costs time and no answer.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import threading
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection import segment_files
from nearkin.collection.counting import SIGNATURE, TextCounting
from nearkin.collection.segment_files import DamagedSegmentError, Segment, check, load, name_of, save
from nearkin.errors import CollectionError, OutputError
from nearkin.records import U64, Bool, LetterVectors
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.search.ranges.segment import RangeSegment
from nearkin.store import schema
from nearkin.store.checksums import checksum, covered
from nearkin.store.store import Store

_AT_A_TIME = 1 << 14
_WRITTEN_BY_NOW_S = 86_400.0
_OF_LOADS = covered(schema.loads)
Span = tuple[int, int]
"""First content, and the one after the last."""


@dataclass(frozen=True, slots=True)
class LoadSpan:
    """The contents that one load brought, and their digest.

    ``generation`` is that of the store: it is raised when what was derived from contents has to be derived anew.
    """

    first: int
    end: int
    digest: bytes
    generation: int = 0


def loads_of(connection: Connection, store: Store) -> tuple[LoadSpan, ...]:
    """Those that brought any contents, in their order.

    Raises
    ------
    CollectionError
        A row of a load is not what was stored: what is derived from it would be anything.
    """
    loads, changed = believable_loads(connection, store)
    if changed:
        raise CollectionError(
            f"{store.place} is damaged: what it says of load {changed[0]} is not what was stored. Run nearkin "
            "verify COLLECTION, which repairs what can be repaired and names the rest."
        )
    return loads


def believable_loads(connection: Connection, store: Store) -> tuple[tuple[LoadSpan, ...], list[object]]:
    """Those that brought any contents and are as they were stored, in their order; the numbers of the others."""
    generation = store.generation(connection)
    spans, changed = list[LoadSpan](), list[object]()
    for *values, stored in connection.execute(select(schema.loads).order_by(schema.loads.c.load)):
        if checksum(values, values[0]) != stored:
            changed.append(values[0])
            continue
        load = dict(zip(_OF_LOADS, values))
        spans.append(LoadSpan(load["first_content"], load["end_content"], bytes(load["digest"]), generation))
    return tuple(span for span in spans if span.end > span.first), changed


def wanted_spans(loads: Sequence[LoadSpan]) -> tuple[Span, ...]:
    """The segments that there are to be: every one at least twice as long as the one after it.

    So there are few, however many loads there were, and a content is copied a few times in its life.

    Examples
    --------
    >>> wanted_spans([LoadSpan(0, 100, b""), LoadSpan(100, 110, b""), LoadSpan(110, 120, b"")])
    ((0, 100), (100, 120))
    """
    spans: list[Span] = []
    for one in loads:
        spans.append((one.first, one.end))
        while len(spans) > 1 and _length(spans[-2]) < 2 * _length(spans[-1]):
            (first, _), (_, end) = spans[-2:]
            spans[-2:] = [(first, end)]
    return tuple(spans)


def _length(span: Span) -> int:
    return span[1] - span[0]


class Segments:
    """The segments of one collection.

    Parameters
    ----------
    folder : Path
        Theirs; it need not be there.
    collection : str
        The collection's own id.
    counting : TextCounting
    """

    def __init__(self, folder: Path, collection: str, counting: TextCounting) -> None:
        self.folder, self._collection, self._counting = folder, collection, counting
        self._held: dict[tuple[Span, str], Segment] = {}
        self._loads: Sequence[LoadSpan] = ()
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):  # another thread may hold the lock, and is not there in a child
            forgotten = weakref.ref(self)

            def unlock() -> None:
                if (alive := forgotten()) is not None:
                    alive._lock = threading.Lock()

            os.register_at_fork(after_in_child=unlock)

    def cover(
        self, connection: Connection, loads: Sequence[LoadSpan], progress: Progress, *, settle: bool
    ) -> tuple[Segment, ...]:
        """Segments for all contents, in their order; what is missing is made.

        Parameters
        ----------
        connection : Connection
            Of the snapshot that the loads were read from.
        loads : sequence of LoadSpan
        progress : Progress
            Told what has to be made anew.
        settle : bool
            Have `wanted_spans` and remove all others: for who writes. Who reads takes what is there as it is.
        """
        with self._lock:
            if not settle and self._held and loads == self._loads:  # nothing came since the last question
                return tuple(self._held.values())
            spans = wanted_spans(loads) if settle else self._spans_there(loads)
            held = {(span, self._digest(loads, span)): span for span in spans}
            segments = {
                key: self._held.get(key) or self._have(connection, loads, span, progress) for key, span in held.items()
            }
            self._held, self._loads = segments, loads
            if settle:
                self._remove_all_but(spans)
            return tuple(segments.values())

    def check(self, loads: Sequence[LoadSpan]) -> dict[str, str | None]:
        """Every checksum of every segment that is there: its name, and what is wrong with it, or None.

        Segments of loads that came after these are left to whoever knows them.
        """
        told: dict[str, str | None] = {}
        for span in self.listed():
            if span[1] > max((load.end for load in loads), default=0):
                continue
            try:
                check(self.folder / name_of(*span), self._identity(loads, span), fully=True)
                told[name_of(*span)] = None
            except DamagedSegmentError as error:
                told[name_of(*span)] = str(error)
        return told

    def differs_from_store(self, connection: Connection, loads: Sequence[LoadSpan], name: str) -> str | None:
        """What a segment has otherwise than the store, or None: it may have been made when the store was damaged."""
        first, _, end = name.partition("-")
        span = int(first), int(end)
        try:
            segment = load(self.folder, *span, self._identity(loads, span))
        except DamagedSegmentError as error:
            return str(error)
        vectors, words, has_features = read_contents(connection, self._counting, span, Silent())
        if not segment.vectors.is_of(vectors):
            return f"{name}: its letter counts are not those of the store"
        if not (np.array_equal(segment.words, words) and np.array_equal(segment.has_features, has_features)):
            return f"{name}: its signatures are not those of the store"
        return None

    def forget(self, name: str) -> None:
        """Remove a segment that is damaged."""
        with self._lock:
            self._held.clear()
            segment_files.remove(self.folder / name)

    def _identity(self, loads: Sequence[LoadSpan], span: Span) -> dict[str, object]:
        return {
            "collection": self._collection,
            "letters": self._counting.letters.fingerprint,
            "signatures": self._counting.signatures,
            "contents": self._digest(loads, span),
        }

    @staticmethod
    def _digest(loads: Sequence[LoadSpan], span: Span) -> str:
        """Of what the store has in the span: a store that was put back from a copy has other contents there."""
        inside = [one for one in loads if span[0] <= one.first and one.end <= span[1]]
        joined = b"".join(one.digest for one in inside)
        generations = ",".join(str(one.generation) for one in inside[:1] if one.generation)
        return hashlib.sha256(joined + generations.encode()).hexdigest()

    def _spans_there(self, loads: Sequence[LoadSpan]) -> tuple[Span, ...]:
        """Segments that are there, the longest first, and in between what has to be made."""
        bounds = {one.first for one in loads} | {one.end for one in loads}
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
        """The segments that lie in the folder."""
        spans = []
        for path in self.folder.glob("*-*") if self.folder.is_dir() else ():
            first, _, end = path.name.partition("-")
            if first.isdecimal() and end.isdecimal():
                spans.append((int(first), int(end)))
        return spans

    def _have(self, connection: Connection, loads: Sequence[LoadSpan], span: Span, progress: Progress) -> Segment:
        """The segment from its files, or made."""
        identity = self._identity(loads, span)
        try:
            return load(self.folder, *span, identity)
        except DamagedSegmentError as error:
            if (self.folder / name_of(*span)).exists():
                progress.say(f"a part of the index is damaged and is made again from the store ({error})")
        segment = build(connection, self._counting, span, progress)
        try:
            save(segment, self.folder, identity)
            return load(self.folder, *span, identity)
        except (OutputError, DamagedSegmentError) as error:
            progress.say(f"the index could not be saved, and stays in memory: {error}")
            return segment

    def _remove_all_but(self, spans: Sequence[Span]) -> None:
        for span in set(self.listed()) - set(spans):
            segment_files.remove(self.folder / name_of(*span))
        for left in self.folder.glob(".*.part"):  # by a process that was killed, unless one is writing it
            with contextlib.suppress(OSError):
                if time.time() - left.stat().st_mtime > _WRITTEN_BY_NOW_S:
                    shutil.rmtree(left, ignore_errors=True)


def build(connection: Connection, counting: TextCounting, span: Span, progress: Progress) -> Segment:
    """A segment from the store."""
    vectors, words, has_features = read_contents(connection, counting, span, progress)
    return Segment(*span, RangeSegment.build(vectors), words, has_features)


def read_contents(
    connection: Connection, counting: TextCounting, span: Span, progress: Progress
) -> tuple[LetterVectors, U64, Bool]:
    """Letter counts, signatures, and which of these there are, of some contents of the store."""
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
        # of a store that lacks something, the rest is found: verify tells what it lacks
        whole = [row for row in rows if isinstance(row[1], bytes) and len(row[1]) == sizes[0]]
        places = np.array([row[0] for row in whole], np.int64) - first
        counts[places] = np.frombuffer(b"".join([row[1] for row in whole]), "<u4").reshape(len(whole), counts.shape[1])
        is_counted[places] = [bool(row[2]) for row in whole]
        signed = [row for row in rows if isinstance(row[3], bytes) and len(row[3]) == sizes[1]]
        places = np.array([row[0] for row in signed], np.int64) - first
        signatures[places] = np.frombuffer(b"".join([row[3] for row in signed]), np.uint8).reshape(
            len(signed), sizes[1]
        )
        has_features[places] = True
        progress.advance(stop - start)
    progress.finish()
    return counting.vectors_of_counts(counts, is_counted), signatures.view(np.uint64), has_features
