"""Pairs of words that translate each other, before they become a table: joined, pruned, normalised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import ParameterError, is_int
from nearkin.kernels.model_1 import entries
from nearkin.records import F64, I32, I64, Bool
from nearkin.stages.translation.model_1 import Learned


@dataclass(frozen=True, slots=True)
class Pruning:
    """Limits for the translations to keep.

    A row pruned in one direction has probability 0 there; one pruned in both is removed. The remaining probabilities of
    a word are normalised to sum to 1.
    """

    min_probability: float = 0.005
    max_translations: int = 20

    def __post_init__(self) -> None:
        if not 0 <= self.min_probability <= 1:
            raise ParameterError.of("min_probability", "from 0 to 1", self.min_probability)
        if not is_int(self.max_translations) or self.max_translations < 1:
            raise ParameterError.of("max_translations", "an int >= 1", self.max_translations)

    def keeps(self, given: I32, other: I32, probabilities: F64) -> Bool:
        """Return which entries of one direction stay; in a tie those with lower numbers."""
        is_kept: Bool = (probabilities >= self.min_probability) & (probabilities > 0)
        n_candidates = np.bincount(given[is_kept], minlength=int(given.max(initial=0)) + 1)
        is_skewed = n_candidates > self.max_translations  # the others keep all candidates: nothing to sort
        skewed = np.flatnonzero(is_kept & is_skewed[given])
        order = skewed[np.lexsort((other[skewed], -probabilities[skewed], given[skewed]))]
        ordered = given[order]
        rank = np.arange(len(order)) - np.searchsorted(ordered, ordered, "left")
        is_kept[order[rank >= self.max_translations]] = False
        return is_kept


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationRows:
    """Distinct pairs of a source word and a target word.

    Parameters
    ----------
    source, target : int32 arrays, shape (n_rows,)
        Numbers of the words, which are distinct.
    forward, backward : float64 arrays, shape (n_rows,)
        p(target | source) and p(source | target); 0 if a direction lacks the row.
    counts : float64 array, shape (n_rows,)
        Expected number of times that the words translate each other in the training data.
    """

    source_words: pa.LargeStringArray
    target_words: pa.LargeStringArray
    source: I32
    target: I32
    forward: F64
    backward: F64
    counts: F64

    @classmethod
    def of_words(
        cls, words: tuple[pa.LargeStringArray, pa.LargeStringArray], source: I32, target: I32, **values: F64
    ) -> TranslationRows:
        """Make rows over the words of both languages."""
        return cls(source_words=words[0], target_words=words[1], source=source, target=target, **values)

    @classmethod
    def of_counts(
        cls, words: tuple[pa.LargeStringArray, pa.LargeStringArray], source: I32, target: I32, counts: F64
    ) -> TranslationRows:
        """Make rows whose probabilities are the shares of the counts; each pair of words occurs once."""
        return cls.of_words(words, source, target, forward=counts, backward=counts, counts=counts).normalised()

    @classmethod
    def of_learned(
        cls, words: tuple[pa.LargeStringArray, pa.LargeStringArray], forward: Learned, backward: Learned,
        pruning: Pruning,
    ) -> TranslationRows:  # fmt: skip
        """Join two learned directions, without rows that neither keeps; the probabilities are not pruned yet."""
        keys = []
        for learned, is_reverse in ((forward, False), (backward, True)):
            given = learned.given
            kept = pruning.keeps(given, learned.words, learned.probabilities)
            pair = (learned.words[kept], given[kept]) if is_reverse else (given[kept], learned.words[kept])
            keys.append(_keys(*pair, len(words[1])))
        both = np.union1d(*keys)
        source, target = _numbers(both, len(words[1]))
        p, n = forward.counts(entries((forward.starts, forward.words), source, target))
        q, m = backward.counts(entries((backward.starts, backward.words), target, source))
        return cls.of_words(words, source, target, forward=p, backward=q, counts=(n + m) / 2)

    def pruned(self, pruning: Pruning) -> TranslationRows:
        """Return the likeliest translations of each word, with normalised probabilities."""
        forward = np.where(pruning.keeps(self.source, self.target, self.forward), self.forward, 0.0)
        backward = np.where(pruning.keeps(self.target, self.source, self.backward), self.backward, 0.0)
        kept = (forward > 0) | (backward > 0)
        rows = TranslationRows(
            source_words=self.source_words,
            target_words=self.target_words,
            source=self.source[kept],
            target=self.target[kept],
            forward=forward[kept],
            backward=backward[kept],
            counts=self.counts[kept],
        )
        return rows.normalised()

    def normalised(self) -> TranslationRows:
        """Return rows in which the probabilities of each word's translations sum to 1, if there are any."""
        return TranslationRows(
            source_words=self.source_words, target_words=self.target_words, source=self.source, target=self.target,
            forward=_shares(self.source, self.forward, len(self.source_words)),
            backward=_shares(self.target, self.backward, len(self.target_words)),
            counts=self.counts,
        )  # fmt: skip

    def in_order(self) -> TranslationRows:
        """Return sorted words that have a row; rows by source word, the likeliest first, then by target word."""
        source_words, source = _sorted_words(self.source_words, self.source)
        target_words, target = _sorted_words(self.target_words, self.target)
        forward, backward, counts = (
            column.astype(np.float32).astype(np.float64) for column in (self.forward, self.backward, self.counts)
        )
        order = np.lexsort((target, -forward, source))
        return TranslationRows(
            source_words=source_words,
            target_words=target_words,
            source=source[order],
            target=target[order],
            forward=forward[order],
            backward=backward[order],
            counts=counts[order],
        )


def merged(parts: Sequence[TranslationRows]) -> TranslationRows:
    """Merge rows of several corpora: each word's probabilities are weighted by its frequency in each corpus."""
    sides = [_united([part.source_words for part in parts]), _united([part.target_words for part in parts])]
    (source_words, source_numbers), (target_words, target_numbers) = sides
    source = np.concatenate([numbers[part.source] for numbers, part in zip(source_numbers, parts, strict=True)])
    target = np.concatenate([numbers[part.target] for numbers, part in zip(target_numbers, parts, strict=True)])
    weighed = []
    for part in parts:
        n_source = np.bincount(part.source, part.counts, len(part.source_words))
        n_target = np.bincount(part.target, part.counts, len(part.target_words))
        weighed.append((part.forward * n_source[part.source], part.backward * n_target[part.target], part.counts))
    keys, places = np.unique(_keys(source, target, len(target_words)), return_inverse=True)
    forward, backward, counts = (
        np.bincount(places, np.concatenate(column), len(keys)).astype(np.float64)
        for column in zip(*weighed, strict=True)
    )
    numbers = _numbers(keys, len(target_words))
    return TranslationRows(
        source_words=source_words,
        target_words=target_words,
        source=numbers[0],
        target=numbers[1],
        forward=forward,
        backward=backward,
        counts=counts,
    ).normalised()


def _keys(source: I32, target: I32, n_targets: int) -> I64:
    return source.astype(np.int64) * max(n_targets, 1) + target


def _numbers(keys: I64, n_targets: int) -> tuple[I32, I32]:
    source, target = np.divmod(keys, max(n_targets, 1))
    return source.astype(np.int32), target.astype(np.int32)


def _shares(given: I32, values: F64, n_given: int) -> F64:
    totals = np.bincount(given, values, n_given)[given]
    return np.divide(values, totals, out=np.zeros_like(values), where=totals > 0)


def _sorted_words(words: pa.LargeStringArray, numbers: I32) -> tuple[pa.LargeStringArray, I32]:
    used = np.unique(numbers)
    order = used[pc.sort_indices(words.take(pa.array(used))).to_numpy(zero_copy_only=False)]
    places = np.zeros(len(words), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return words.take(pa.array(order)), places[numbers]


def _united(parts: Sequence[pa.LargeStringArray]) -> tuple[pa.LargeStringArray, list[I32]]:
    encoded = pa.concat_arrays(parts).dictionary_encode()
    numbers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return encoded.dictionary, np.split(numbers, ends)
