"""All pairs of similar texts, found exactly, to which signatures are compared.

Prefix filtering finds the candidates and misses none; bitmaps of the sets quickly reject most of them; the rest is
compared feature by feature.

Source: Roberto J. Bayardo, Yiming Ma, Ramakrishnan Srikant, "Scaling up all pairs similarity search", 2007; Edans
F. de O. Sandes, George L. M. Teodoro, Alba C. M. A. Melo, "Bitmap filter: speeding up exact set similarity joins with
bitwise operations", 2020.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.errors import ParameterError
from nearkin.records import F64, I64, U8, U32, U64, Candidates, ShingleSets
from nearkin.runs.progress import Progress
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.features.shingles import Words
from nearkin.stages.search.linking import MAX_PAIRS, Linking, merge_runs
from nearkin.stages.search.prefixes import Prefixes
from nearkin.stages.signatures.numbering import FeatureNumbers
from nearkin.stages.verification.overlap import verify

CHARACTER_THRESHOLD, WORD_THRESHOLD = 0.8, 0.7
BY_CHARACTERS, BY_WORDS = "characters", "words"
MAX_SIMILAR = 20_000_000
_WORDS = Words(5)
_BLOCK_PAIRS = 1 << 16
_ROUNDING = 1e-9
_LARGE_RUN = int((2 * MAX_PAIRS) ** 0.5)  # for more rows Linking would not make every pair


@dataclass(frozen=True, slots=True)
class SimilarPairs:
    """Pairs of rows of at least a threshold, with their exact Jaccard similarity; arrays of shape (n_pairs,)."""

    left: U32
    right: U32
    similarity: F64

    def __len__(self) -> int:
        return len(self.left)

    def at_least(self, threshold: float) -> SimilarPairs:
        """Select the pairs of at least a similarity."""
        chosen = self.similarity >= threshold - _ROUNDING
        return SimilarPairs(self.left[chosen], self.right[chosen], self.similarity[chosen])


def word_sets(texts: pa.LargeStringArray) -> ShingleSets:
    """Return sets of word 5-grams, of texts normalised as by ``nearkin dedup``."""
    return _WORDS.sets(Normalisation().apply(texts))


def similar_pairs(sets: ShingleSets, threshold: float, *, threads: int, progress: Progress) -> SimilarPairs:
    """Return every pair of sets with a Jaccard similarity of at least ``threshold``; empty sets are in no pair.

    Raises
    ------
    ParameterError
        There are more than `MAX_SIMILAR`.

    Examples
    --------
    >>> from nearkin.runs.progress import Silent
    >>> sets = ShingleSets(np.array([1, 2, 3, 1, 2, 9], np.uint64), np.array([0, 3, 5, 6]), np.array([3, 2, 1]), "")
    >>> pairs = similar_pairs(sets, 0.6, threads=1, progress=Silent())
    >>> pairs.left.tolist(), pairs.right.tolist(), pairs.similarity.round(2).tolist()
    ([0], [1], [0.67])
    """
    compare = _Comparison(sets, _bitmaps(sets), threshold)
    progress.start("compare", 0, "pairs")
    found = [SimilarPairs(np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros(0))]
    n_found = 0
    for n_candidates, similar in map_ordered(compare.matches, _candidates(sets, threshold), threads=threads):
        found.append(similar)
        n_found += len(similar)
        if n_found > MAX_SIMILAR:
            raise ParameterError.of("documents", f"so few that at most {MAX_SIMILAR:,} pairs are similar", len(sets))
        progress.advance(n_candidates)
    progress.finish()
    left, right, similarity = (np.concatenate([getattr(part, name) for part in found]) for name in found[0].__slots__)
    _, first = np.unique(left.astype(np.uint64) << np.uint64(32) | right, return_index=True)
    return SimilarPairs(left[first], right[first], similarity[first])


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Comparison of blocks of candidates."""

    sets: ShingleSets
    bitmaps: U64
    threshold: float

    def matches(self, pairs: Candidates) -> tuple[int, SimilarPairs]:
        """Return the number of candidates, and the similar ones among them."""
        sizes, least = self.sets.sizes, self.threshold - _ROUNDING
        n_left, n_right = sizes[pairs.left], sizes[pairs.right]
        may_match = np.minimum(n_left, n_right) >= least * np.maximum(n_left, n_right)
        # |A Δ B| <= (1 - t) / (1 + t) (|A| + |B|), and bitmaps differ in at most as many bits as sets in elements
        max_apart = (1 - least) / (1 + least) * (n_left + n_right)
        may_match[may_match] = self._apart(pairs.left[may_match], pairs.right[may_match]) <= max_apart[may_match]
        chosen = Candidates(pairs.left[may_match], pairs.right[may_match])
        offsets = self.sets.offsets
        matches = verify(chosen, self.sets.hashes, offsets[:-1], offsets[1:]) if len(chosen) else None
        if matches is None:
            return len(pairs), SimilarPairs(chosen.left, chosen.right, np.zeros(0))
        jaccard = matches.jaccard
        is_similar = jaccard >= least
        return len(pairs), SimilarPairs(chosen.left[is_similar], chosen.right[is_similar], jaccard[is_similar])

    def _apart(self, left: U32, right: U32) -> I64:
        """Return the number of bits in which the bitmaps of pairs differ, some pairs at a time."""
        parts = [np.zeros(0, np.int64)]
        for start in range(0, len(left), 4096):
            some = slice(start, start + 4096)
            differing = np.bitwise_count(self.bitmaps[left[some]] ^ self.bitmaps[right[some]])
            parts.append(differing.sum(axis=1, dtype=np.int64))
        return np.concatenate(parts)


def _bitmaps(sets: ShingleSets) -> U64:
    """Return a bitmap per set: bit ``j`` is the parity of its elements with hash ``j``, shape (n_sets, n_words)."""
    mean = len(sets.hashes) / max(1, len(sets))
    n_bits = min(1 << 14, max(1 << 9, 1 << int(2 * mean).bit_length()))
    places = (sets.hashes >> np.uint64(64 - n_bits.bit_length() + 1)).astype(np.int64)
    bitmaps: U8 = np.zeros((len(sets), n_bits // 8), np.uint8)
    for i, (start, end) in enumerate(pairwise(sets.offsets.tolist())):
        bitmaps[i] = np.packbits(np.bincount(places[start:end], minlength=n_bits) & 1)
    return bitmaps.view(np.uint64)


def _candidates(sets: ShingleSets, threshold: float) -> Iterator[Candidates]:
    """Yield pairs that share one of the rarest elements of both; a pair may occur twice."""
    keys, rows = _rarest(sets, threshold)
    order = np.argsort(keys, kind="stable")
    keys, rows = keys[order], rows[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.zeros(0, np.int64)
    lengths = np.diff(np.concatenate([starts, [len(keys)]]))
    for start, length in zip(starts[lengths > _LARGE_RUN].tolist(), lengths[lengths > _LARGE_RUN].tolist()):
        run = np.sort(rows[start : start + length])
        for i in range(0, length - 1, step := max(1, _BLOCK_PAIRS // length)):
            left, right = np.triu_indices(min(step, length - i), 1, length - i)
            yield Candidates(run[left + i], run[right + i])
    is_small = np.repeat(lengths <= _LARGE_RUN, lengths)
    linking = Linking(
        sets.sizes.astype(np.uint32), np.full(len(sets), 3, np.uint8), threshold, max_pivots=max(1, len(sets))
    )
    runs = [pairs for pairs, _ in linking.link(keys[is_small], rows[is_small])]
    yield from merge_runs(runs, block_pairs=_BLOCK_PAIRS)


def _rarest(sets: ShingleSets, threshold: float) -> tuple[U64, U32]:
    """Return the rarest elements of each set, as many as a prefix filter needs, and the row of each."""
    numbers = FeatureNumbers().add(sets.hashes)
    counts = np.bincount(numbers)
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    ranks = rank[numbers]
    lengths = Prefixes(threshold).lengths(sets.sizes)
    parts = [np.zeros(0, np.int64)]
    for (start, end), n in zip(pairwise(sets.offsets.tolist()), lengths.tolist(), strict=True):
        parts.append(np.partition(ranks[start:end], n - 1)[:n] if n else parts[0])
    rows = np.repeat(np.arange(len(sets), dtype=np.uint32), lengths)
    return np.concatenate(parts).astype(np.uint64), rows
