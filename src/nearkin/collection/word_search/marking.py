"""Marks in a text: the words of a query, and passages that stand in many other texts.

Passages are found by counts of word 5-grams. The keys that check-ins store say less: they have one 5-gram of 32, and
only collections with check-ins have them.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from nearkin.collection.counting import NORMALISE
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored.contents import texts_of
from nearkin.collection.stored.group_state import GroupState, stored_tolerances
from nearkin.collection.stored.word_sets import in_lots
from nearkin.collection.stored.word_tables import Term, terms_of, words_of
from nearkin.collection.word_search.query import parse
from nearkin.collection.word_search.searching import word_spans
from nearkin.errors import CollectionError
from nearkin.kernels.buffers import strings
from nearkin.kernels.mixing import GOLDEN, spread
from nearkin.records import I64, U64
from nearkin.stages.features.words import WordSplitter
from nearkin.store.schema import contents, documents

MIN_TEXTS, MIN_WORDS = 5, 12
"""Number of other texts in which a passage stands, and its number of words."""
_N = 5
_BITS = 24
_MOST_BYTES = 1 << 25
_A_LOT = 1 << 22
_MOST_STOPS = 4
_MOST_MATCHES, _MOST_PASSAGES = 1_000, 400
"""Marks of a page; a browser is slow with more."""
Span = tuple[int, int]


class RepeatedWords:
    """Numbers of texts with each word 5-gram, by the first 24 bits of its hash.

    They count the shortest current texts, up to 32 MiB, and of each group of near-duplicates one.
    """

    def __init__(self, collection: OpenedCollection) -> None:
        self._counts: NDArray[np.uint8] = np.zeros(1 << _BITS, np.uint8)
        splitter = WordSplitter()
        with collection.store.reading() as connection:
            for some in in_lots(_counted(connection), most=_A_LOT):
                try:
                    texts = list(texts_of(connection, some).values())
                except CollectionError:  # a text is damaged, of which `fsck` tells
                    continue
                split = splitter.split(NORMALISE.apply(strings(texts)))
                codes = _codes(split.words.to_pylist())[split.ids]
                for start, end in pairwise(split.offsets.tolist()):
                    slots = np.unique(_slots(codes[start:end]))
                    self._counts[slots] += self._counts[slots] < np.iinfo(np.uint8).max

    def passages(self, words: Sequence[str]) -> list[Span]:
        """Return the first word of each passage that stands in many other texts, and the one after its last."""
        is_often = self._counts[_slots(_codes(words))] > MIN_TEXTS
        ends = np.flatnonzero(np.diff(np.concatenate([[0], is_often.astype(np.int8), [0]])))
        spans = [(start, end + _N - 1) for start, end in ends.reshape(-1, 2).tolist()]
        return [(start, end) for start, end in spans if end - start >= MIN_WORDS]


def _counted(connection: Connection) -> Iterator[tuple[int, int]]:
    """Yield the contents to be counted, with their sizes."""
    tolerances = stored_tolerances(connection)
    membership = GroupState.known(connection, tolerances[0]).membership if tolerances else None
    is_current = select(documents.c.row).where(documents.c.content == contents.c.content, documents.c.is_current)
    rows = select(contents.c.content, contents.c.n_bytes).where(is_current.exists()).order_by(contents.c.n_bytes)
    found, seen, n_left = connection.execute(rows).all(), set[int](), _MOST_BYTES
    numbers: I64 = np.array([row.content for row in found], np.int64)
    groups = np.full(len(found), -1) if membership is None else membership.group_of(numbers)
    for row, group in zip(found, groups.tolist(), strict=True):
        n_left -= row.n_bytes
        if group not in seen and n_left >= 0:
            yield row.content, row.n_bytes
        seen.update([group] if group >= 0 else ())


def _codes(words: Sequence[str]) -> U64:
    return np.array([zlib.crc32(word[:100].encode("utf-8", "surrogatepass")) for word in words], np.uint64)


def _slots(codes: U64) -> U64:
    """Return the slot of each 5-gram of the words with these codes."""
    mixed = np.zeros(max(0, len(codes) - _N + 1), np.uint64)
    for i in range(_N):
        mixed = spread(mixed * GOLDEN + codes[i : i + len(mixed)])
    return mixed >> np.uint64(64 - _BITS)


@dataclass(frozen=True, slots=True)
class MarkedPiece:
    """Part of a text: whether the query asks for it, and whether it stands in many other texts."""

    text: str
    is_match: bool = False
    is_repeated: bool = False


def marked(connection: Connection, text: str, query: str, repeated: RepeatedWords | None) -> list[MarkedPiece]:
    """Return a text in pieces, with the words of a query and repeated passages marked."""
    terms: tuple[Term, ...] = tuple(terms_of(parse(query, connection))) if query.strip() else ()
    if not terms and repeated is None:
        return [MarkedPiece(text)]
    spans, owners, words = _words_in(text)

    def in_text(first: int, after: int) -> Span:
        return spans[owners[first]][0], spans[owners[after - 1]][1]

    found = sorted({place + i for term in terms for place in term.places_in(words) for i in range(len(term.words))})
    matches = sorted({in_text(place, place + 1) for place in found[:_MOST_MATCHES]})
    passages = [] if repeated is None else repeated.passages(words)[:_MOST_PASSAGES]
    often = _joined([_with_stops(text, *in_text(*one)) for one in passages])
    cuts = sorted({0, len(text), *(place for span in (*matches, *often) for place in span)})
    return [MarkedPiece(text[a:b], _has(matches, a), _has(often, a)) for a, b in pairwise(cuts)]


def _words_in(text: str) -> tuple[list[Span], list[int], list[str]]:
    """Return where the words of a text begin and end; and the words as they are compared, with the place of each."""
    spans = word_spans(text)
    written = [text[begin:end] for begin, end in spans]
    distinct = list(dict.fromkeys(written))
    by_span = dict(zip(distinct, words_of(distinct), strict=True))
    words = [(place, word) for place, one in enumerate(written) for word in by_span[one]]
    return spans, [place for place, _ in words], [word for _, word in words]


def _with_stops(text: str, begin: int, end: int) -> Span:
    """Return a passage with the punctuation behind it."""
    stops = text[end : end + _MOST_STOPS]
    return begin, end + len(stops) - len(stops.lstrip(".,;:!?)\"'"))


def _joined(spans: Sequence[Span]) -> list[Span]:
    found = list[Span]()
    for begin, end in spans:
        found[-1:] = [(found[-1][0], end)] if found and begin <= found[-1][1] else [*found[-1:], (begin, end)]
    return found


def _has(spans: Sequence[Span], place: int) -> bool:
    before = bisect_right(spans, (place, 1 << 62)) - 1
    return before >= 0 and place < spans[before][1]
