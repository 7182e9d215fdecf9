"""Projection of terms from one language to another, by a translation table.

Source: Kareem Darwish, Douglas W. Oard, "Probabilistic structured query methods", SIGIR 2003, as in Ture,
Elsayed, Lin, SIGIR 2011, section 3.1 (see `nearkin.stages.search.sliding_window`):
``tf*(e) = Σ p(f|e) tf(f)`` and ``df*(e) = Σ p(f|e) df(f)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.kernels.terms import project_terms
from nearkin.records import F32, F64, I32, I64, U8, Bool, TermCounts
from nearkin.stages.translation.table import TranslationTable

WAYS = ("whole", "stem", "itself", "parts", "unknown")
"""Ways in which a source word is translated: it is in the table; words with its stem are; the other corpus contains
it too, like names and numbers; the parts of a compound are in the table; not at all."""
Stemming = Callable[[pa.LargeStringArray], pa.LargeStringArray]


@dataclass(frozen=True, slots=True)
class WordProjection:
    """Target terms of each source term.

    Parameters
    ----------
    starts, targets : int64 array of shape (n_source + 1,), int32 array of shape (n_entries,)
        Source term ``i`` becomes the target terms from ``starts[i]`` to ``starts[i + 1]``.
    shares : float32 array, shape (n_entries,)
        p(source | target).
    ways : uint8 array, shape (n_source,)
        Index in `WAYS`.
    """

    starts: I64
    targets: I32
    shares: F32
    ways: U8
    n_targets: int

    def project(self, counts: TermCounts, *, least: float) -> TermCounts:
        """Return documents in terms of the target language; results below ``least`` are omitted."""
        terms = counts.terms, counts.counts, counts.offsets
        return TermCounts(*project_terms(terms, (self.starts, self.targets, self.shares), self.n_targets, least=least))

    def document_frequencies(self, frequencies: F64) -> F64:
        """Return ``df*`` of each target term, from ``df`` of each source term."""
        of_entry = np.repeat(frequencies, np.diff(self.starts)) * self.shares
        return np.bincount(self.targets, of_entry, self.n_targets).astype(np.float64)


@dataclass(frozen=True)
class Projector:
    """Finds the way in which every word of a corpus is translated.

    Parameters
    ----------
    agreement
        A translation is used if the table gives it this probability in the other direction too (Percy Liang, Ben
        Taskar, Dan Klein, "Alignment by agreement", NAACL 2006). Otherwise every rare target word counts as a
        translation of whatever common words stood beside it: of 3,269 news documents the translation was then the most
        similar one for 3,111 instead of 3,268 (``labs/pages/cross-lingual.md``).
    """

    table: TranslationTable
    stemming: Stemming | None = None
    splits: bool = True
    agreement: float = 0.05

    def of(
        self, words: pa.LargeStringArray, is_used: Bool, targets: pa.LargeStringArray, used_targets: I64
    ) -> WordProjection:
        """Return the way of each of the collection's distinct source words to its distinct target words.

        Parameters
        ----------
        used_targets : int64 array
            Indices into ``targets``: words are translated only to these, since no others can match.
        """
        way = self._of(words.filter(pa.array(is_used)), targets.take(pa.array(used_targets)))
        ways = np.full(len(words), WAYS.index("unknown"), np.uint8)
        ways[is_used] = way.ways
        sizes = np.zeros(len(words), np.int64)
        sizes[is_used] = np.diff(way.starts)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return WordProjection(starts, used_targets[way.targets].astype(np.int32), way.shares, ways, len(targets))

    def _of(self, words: pa.LargeStringArray, targets: pa.LargeStringArray) -> WordProjection:
        entries = _Entries(self.table, targets, self.agreement)
        ways = np.full(len(words), WAYS.index("unknown"), np.uint8)
        whole = _places(words, self.table.source_words)
        parts = [(np.flatnonzero(whole >= 0), whole[whole >= 0], np.ones(int((whole >= 0).sum())))]
        ways[whole >= 0] = WAYS.index("whole")
        itself = _places(words, targets)
        is_name = (whole < 0) & (itself >= 0)
        ways[is_name] = WAYS.index("itself")
        if self.stemming is not None:
            rest = np.flatnonzero((whole < 0) & ~is_name)
            matches = self._by_stem(words, rest)
            ways[matches[0]] = WAYS.index("stem")
            parts.append(matches)
        rest = np.flatnonzero(ways == WAYS.index("unknown"))
        matches = self._by_parts(words, rest)
        ways[matches[0]] = WAYS.index("parts")
        parts.append(matches)
        word_rows, table_words, shares = (np.concatenate(column) for column in zip(*parts, strict=True))
        rows, targets_of, p = entries.of(table_words)
        names = np.flatnonzero(is_name)
        source = np.concatenate([word_rows[rows], names])
        target = np.concatenate([targets_of, itself[names]])
        values = np.concatenate([shares[rows] * p, np.ones(len(names))])
        return _projection(source, target, values, ways, len(targets))

    def _by_stem(self, words: pa.LargeStringArray, rows: I64) -> tuple[I64, I64, F64]:
        """Translate missing words like all words with the same stem, each by its share."""
        if self.stemming is None:
            return _nothing()
        stems = self.stemming(self.table.source_words).dictionary_encode()
        of_stem = np.argsort(stems.indices.to_numpy(), kind="stable")
        bounds = np.searchsorted(stems.indices.to_numpy()[of_stem], np.arange(len(stems.dictionary) + 1))
        wanted = _places(self.stemming(words.take(pa.array(rows))), stems.dictionary)
        rows, wanted = rows[wanted >= 0], wanted[wanted >= 0]
        sizes = bounds[wanted + 1] - bounds[wanted]
        at = np.repeat(bounds[wanted], sizes) + _running(sizes)
        return np.repeat(rows, sizes), of_stem[at], np.repeat(1.0 / np.maximum(sizes, 1), sizes)

    def _by_parts(self, words: pa.LargeStringArray, rows: I64) -> tuple[I64, I64, F64]:
        links = LINKS.get(self.table.origin.source.lower().partition("-")[0])
        if links is None or not self.splits or not len(rows):
            return _nothing()
        known, frequencies = self._known()
        splitter = CompoundSplitter(frequencies, links)
        word_rows, parts = [], []
        for row, word in zip(rows.tolist(), words.take(pa.array(rows)).to_pylist(), strict=True):
            for part in splitter.parts(word):
                word_rows.append(row)
                parts.append(known[part])
        return np.array(word_rows, np.int64), np.array(parts, np.int64), np.ones(len(word_rows))

    def _known(self) -> tuple[dict[str, int], dict[str, float]]:
        """Return words of the table that may be parts, those that occur more than once: numbers and frequencies."""
        rows = self.table.rows
        counts = np.bincount(rows.source, rows.counts, len(rows.source_words))
        numbers = np.flatnonzero(counts > 1.5)
        words = rows.source_words.take(pa.array(numbers)).to_pylist()
        return dict(zip(words, numbers.tolist())), dict(zip(words, counts[numbers].tolist()))


class _Entries:
    def __init__(self, table: TranslationTable, targets: pa.LargeStringArray, agreement: float) -> None:
        rows = table.rows
        place = _places(rows.target_words, targets)
        is_agreed = (rows.backward > 0) & (rows.forward >= agreement)
        kept = np.flatnonzero(is_agreed & (place[rows.target] >= 0))
        self._starts = np.searchsorted(rows.source[kept], np.arange(len(rows.source_words) + 1))
        self._targets = place[rows.target[kept]]
        self._p = rows.backward[kept]

    def of(self, words: I64) -> tuple[I64, I64, F64]:
        """Return the translations of some words: index in ``words``, target, p(source | target)."""
        sizes = self._starts[words + 1] - self._starts[words]
        at = np.repeat(self._starts[words], sizes) + _running(sizes)
        return np.repeat(np.arange(len(words)), sizes), self._targets[at], self._p[at]


def _projection(source: I64, target: I64, values: F64, ways: U8, n_targets: int) -> WordProjection:
    keys, places = np.unique(source * max(n_targets, 1) + target, return_inverse=True)
    shares = np.bincount(places, values, len(keys))
    word_rows, targets = np.divmod(keys, max(n_targets, 1))
    starts = np.searchsorted(word_rows, np.arange(len(ways) + 1)).astype(np.int64)
    return WordProjection(starts, targets.astype(np.int32), shares.astype(np.float32), ways, n_targets)


def _places(words: pa.LargeStringArray, among: pa.LargeStringArray) -> I64:
    if not len(among):
        return np.full(len(words), -1, np.int64)
    places = pc.index_in(words, value_set=among).fill_null(-1)
    return np.asarray(places.to_numpy(zero_copy_only=False), np.int64)


def _running(sizes: I64) -> I64:
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _nothing() -> tuple[I64, I64, F64]:
    return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)


LINKS = {
    "de": ("", "s", "es", "n", "en", "er", "e"),
    "nl": ("", "s", "en", "e"),
    "sv": ("", "s"),
    "da": ("", "s", "e"),
    "no": ("", "s", "e"),
    "fi": ("", "n"),
}
"""Languages that write compounds as one word, and their linking letters."""
_MIN_PART = 4
_LONGEST = 60


@dataclass(frozen=True)
class CompoundSplitter:
    """Cuts words into known ones.

    Examples
    --------
    >>> known = {"verkehr": 50.0, "unfall": 40.0, "minister": 90.0, "fall": 300.0}
    >>> splitter = CompoundSplitter(known, LINKS["de"])
    >>> splitter.parts("verkehrsunfall"), splitter.parts("verkehrsschild"), splitter.parts("minister")
    (('verkehr', 'unfall'), (), ())
    """

    frequencies: Mapping[str, float]
    links: tuple[str, ...]
    _links: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_links", tuple(sorted(self.links, key=len)))

    def parts(self, word: str) -> tuple[str, ...]:
        """Return two or more known parts; empty if there are none."""
        if not 2 * _MIN_PART <= len(word) <= _LONGEST or not word.isalpha():
            return ()
        best: tuple[float, tuple[str, ...]] = (0.0, ())
        # for each end and number of parts, the best way to cut what precedes it: (product, parts)
        ways: list[dict[int, tuple[float, tuple[str, ...]]]] = [{} for _ in range(len(word) + 1)]
        ways[0][0] = (1.0, ())
        for end in range(_MIN_PART, len(word) + 1):
            for start in range(end - _MIN_PART + 1):
                if ways[start] and (frequency := self.frequencies.get(word[start:end], 0.0)):
                    self._extend(ways, word, start, end, frequency)
        for n, (product, parts) in ways[len(word)].items():
            if n > 1 and product ** (1 / n) > best[0]:
                best = product ** (1 / n), parts
        return best[1]

    def _extend(
        self, ways: list[dict[int, tuple[float, tuple[str, ...]]]], word: str, start: int, end: int, frequency: float
    ) -> None:
        part = word[start:end]
        for n, (product, parts) in ways[start].items():
            for link in self._links:
                after = end + len(link)
                if after > len(word) or (link and (after == len(word) or not word.startswith(link, end))):
                    continue
                way = (product * frequency, (*parts, part))
                if way[0] > ways[after].get(n + 1, (0.0, ()))[0]:
                    ways[after][n + 1] = way
