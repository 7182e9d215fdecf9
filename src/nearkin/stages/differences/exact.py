"""Two texts as one sequence of segments, from which each can be restored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from nearkin.stages.differences.changes import find_changes
from nearkin.stages.differences.words import Wording

SegmentKind = Literal["equal", "only_a", "only_b"]
_RUN = re.compile(r"\s+|\S+")


@dataclass(frozen=True, slots=True)
class TextSegment:
    """Characters of both texts, or of one of them: ``kind`` is "equal", "only_a" or "only_b"."""

    kind: SegmentKind
    text: str


def exact_segments(text_a: str, text_b: str) -> Iterator[TextSegment]:
    """Yield the segments of two texts in order; at a difference, the segment of A comes first."""
    of_a, of_b = list[str](), list[str]()
    for one in _segments(text_a, text_b):
        if one.kind == "equal":
            yield from _of_change("".join(of_a), "".join(of_b))
            of_a.clear()
            of_b.clear()
            yield one
        else:
            (of_a if one.kind == "only_a" else of_b).append(one.text)
    yield from _of_change("".join(of_a), "".join(of_b))


def _segments(text_a: str, text_b: str) -> Iterator[TextSegment]:
    at_a = at_b = 0
    for one in find_changes(Wording(text_a), Wording(text_b)).changes:
        yield from _of_common(text_a[at_a : one.start_a], text_b[at_b : one.start_b])
        yield from _of_change(text_a[one.start_a : one.end_a], text_b[one.start_b : one.end_b])
        at_a, at_b = one.end_a, one.end_b
    yield from _of_common(text_a[at_a:], text_b[at_b:])


def _of_change(a: str, b: str) -> Iterator[TextSegment]:
    if a:
        yield TextSegment("only_a", a)
    if b:
        yield TextSegment("only_b", b)


def _of_common(a: str, b: str) -> Iterator[TextSegment]:
    if a == b:
        if a:
            yield TextSegment("equal", a)
        return
    runs_a, runs_b = _RUN.findall(a), _RUN.findall(b)
    if _n_written(runs_a) != _n_written(runs_b):  # white space inside of punctuation
        yield from _of_change(a, b)
        return
    same = list[str]()
    for one, other in _paired(runs_a, runs_b):
        if one == other:
            same.append(one)
            continue
        if same:
            yield TextSegment("equal", "".join(same))
            same.clear()
        yield from _of_change(one, other)
    if same:
        yield TextSegment("equal", "".join(same))


def _n_written(runs: list[str]) -> int:
    return sum(not run.isspace() for run in runs)


def _paired(a: list[str], b: list[str]) -> Iterator[tuple[str, str]]:
    """White space of only one text has nothing beside it."""
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i].isspace() == b[j].isspace():
            yield a[i], b[j]
            i, j = i + 1, j + 1
        elif a[i].isspace():
            yield a[i], ""
            i += 1
        else:
            yield "", b[j]
            j += 1
    yield from zip_longest(a[i:], b[j:], fillvalue="")
