"""Every pair of documents with exact Jaccard similarity at or above a threshold, and nothing of Nearkin in it.

Words become numbers, N-grams of numbers become numbers again, so no hash can collide. Pairs are found by a set
similarity join with prefix filtering, which loses none: order all shingles from rare to common; two sets with Jaccard
>= t share at least ceil(t * n) shingles of either, so their rarest common shingle lies among the first n - ceil(t * n)
+ 1 of both (Chaudhuri, Ganti and Kaushik, "A primitive operator for similarity joins in data cleaning", 2006; Bayardo,
Ma and Srikant, "Scaling up all pairs similarity search", 2007). Every pair that shares one of those is compared in
full, in integers.

``--check`` proves it against all pairs of Python sets on 1,000 documents::

    python benchmarks/truth.py --check
    python benchmarks/truth.py benchmarks/out/corpus.jsonl --threshold 0.8 --out benchmarks/out/truth.parquet
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from documents import read_columns
from words import RULES

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
SHINGLE_WORDS = 5
TRUTH_VERSION = 2  # raised when the rules for words or shingles change: stored truths of before are then left alone


@dataclass(frozen=True, slots=True)
class ShingleNumbers:
    """The set of shingles of each document; the smaller the number, the rarer the shingle.

    Parameters
    ----------
    numbers : int64 array
        The sets one after another, each sorted.
    offsets : int64 array, shape (n_documents + 1,)
        Set ``i`` is ``numbers[offsets[i]:offsets[i + 1]]``.
    """

    numbers: I64
    offsets: I64

    @property
    def sizes(self) -> I64:
        """Distinct shingles of each document."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> I64:
        return self.numbers[self.offsets[row] : self.offsets[row + 1]]


@dataclass(frozen=True, slots=True)
class TruePairs:
    """Pairs of rows with their exact Jaccard similarity, ``a < b``, sorted."""

    a: I64
    b: I64
    jaccard: F64

    def __len__(self) -> int:
        return len(self.a)

    @property
    def keys(self) -> I64:
        """One sorted number a pair."""
        return pair_keys(self.a, self.b)


def pair_keys(a: I64, b: I64) -> I64:
    """``smaller row << 32 | larger row``."""
    return (np.minimum(a, b).astype(np.int64) << 32) | np.maximum(a, b).astype(np.int64)


def number_shingles(texts: Iterable[str], words_of: Callable[[str], Sequence[str]], n: int) -> ShingleNumbers:
    """The shingles of every text, numbered from rare to common.

    A text of fewer than ``n`` words has one shingle, all its words; a text without words has none.
    """
    word_numbers: dict[str, int] = {}
    flat: list[NDArray[np.uint32]] = []
    lengths: list[int] = []
    for text in texts:
        numbers = [word_numbers.setdefault(word, len(word_numbers) + 1) for word in words_of(text)]
        if 0 < len(numbers) < n:
            numbers += [0] * (n - len(numbers))  # 0 is no word, so a short text equals short texts alone
        flat.append(np.array(numbers, dtype=np.uint32))
        lengths.append(len(numbers))
    words = np.concatenate(flat) if flat else np.zeros(0, np.uint32)
    row_of_word = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    starts = np.arange(len(words))
    shingles = words.astype(np.uint64)
    for step in range(1, n):
        inside = (starts + step < len(words)) & (
            row_of_word[np.minimum(starts + step, len(words) - 1)] == row_of_word[starts]
        )
        starts, shingles = starts[inside], shingles[inside]
        longer = (shingles << np.uint64(32)) | words[starts + step].astype(np.uint64)
        shingles = np.unique(longer, return_inverse=True)[1].astype(np.uint64)
    return _from_rare_to_common(row_of_word[starts], shingles.astype(np.int64), len(lengths))


def _from_rare_to_common(rows: I64, shingles: I64, n_documents: int) -> ShingleNumbers:
    """Repeats inside a document dropped, shingles renumbered by how many documents hold them, sets sorted."""
    entries = np.unique((rows << 32) | shingles)
    rows, shingles = entries >> 32, entries & 0xFFFFFFFF
    n_holding = np.bincount(shingles)
    rank = np.empty(len(n_holding), dtype=np.int64)
    rank[np.argsort(n_holding, kind="stable")] = np.arange(len(n_holding))
    entries = np.sort((rows << 32) | rank[shingles])
    offsets = np.searchsorted(entries >> 32, np.arange(n_documents + 1)).astype(np.int64)
    return ShingleNumbers(entries & 0xFFFFFFFF, offsets)


def n_common(sets: ShingleNumbers, a: I64, b: I64) -> I64:
    """Shingles in both documents of each pair."""
    counts = (
        len(np.intersect1d(sets[left], sets[right], assume_unique=True))
        for left, right in zip(a.tolist(), b.tolist(), strict=True)
    )
    return np.fromiter(counts, dtype=np.int64, count=len(a))


def jaccard(sets: ShingleNumbers, a: I64, b: I64) -> F64:
    """Exact Jaccard of each pair; 0 where neither document has a shingle."""
    common = n_common(sets, a, b)
    return np.asarray(common / np.maximum(sets.sizes[a] + sets.sizes[b] - common, 1))


def true_pairs(sets: ShingleNumbers, threshold: float) -> TruePairs:
    """All pairs at or above the threshold; the comparison is made in integers."""
    t = Fraction(str(threshold))
    if not 0 < t <= 1:
        raise ValueError(f"threshold: must be in (0, 1]. Got: {threshold!r}")
    keys = _candidates(sets, t)
    a, b = keys >> 32, keys & 0xFFFFFFFF
    small, large = np.minimum(sets.sizes[a], sets.sizes[b]), np.maximum(sets.sizes[a], sets.sizes[b])
    possible = small * t.denominator >= large * t.numerator
    a, b = a[possible], b[possible]
    common = n_common(sets, a, b)
    union = sets.sizes[a] + sets.sizes[b] - common
    similar = common * t.denominator >= union * t.numerator
    return TruePairs(a[similar], b[similar], common[similar] / union[similar])


def _candidates(sets: ShingleNumbers, t: Fraction) -> I64:
    """Keys of all pairs that share a shingle of both prefixes, sorted."""
    needed = -(-sets.sizes * t.numerator // t.denominator)
    prefix = np.where(sets.sizes > 0, sets.sizes - needed + 1, 0)
    rows = np.repeat(np.arange(len(sets)), prefix)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(prefix) - prefix, prefix)
    shingles = sets.numbers[sets.offsets[rows] + within]
    order = np.lexsort((rows, shingles))
    rows, shingles = rows[order], shingles[order]
    found, left, apart = [np.zeros(0, np.int64)], np.arange(len(rows)), 1
    while len(left):  # neighbours in a run of equal shingles, then those two apart, and so on
        left = left[left + apart < len(rows)]
        left = left[shingles[left] == shingles[left + apart]]
        found.append(np.unique(pair_keys(rows[left], rows[left + apart])))
        apart += 1
    return np.unique(np.concatenate(found))


def brute_force(texts: Sequence[str], words_of: Callable[[str], Sequence[str]], n: int, threshold: float) -> TruePairs:
    """The same pairs from Python sets of tuples of words, every pair compared: slow, and plainly right."""
    sets = []
    for text in texts:
        words = tuple(words_of(text))
        sets.append({words[i : i + n] for i in range(max(1, len(words) - n + 1))} if words else set())
    t, found = Fraction(str(threshold)), []
    for (a, left), (b, right) in combinations(enumerate(sets), 2):
        common = len(left & right)
        union = len(left) + len(right) - common
        if union and Fraction(common, union) >= t:
            found.append((a, b, common / union))
    columns = list(zip(*found, strict=True)) or [(), (), ()]
    return TruePairs(np.array(columns[0], np.int64), np.array(columns[1], np.int64), np.array(columns[2], np.float64))


def check(n_documents: int = 1_000) -> None:
    """Compare the join with brute force on a small corpus, at several thresholds and under every rule for words."""
    from corpus import write_corpus

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.jsonl"
        write_corpus(path, n_documents, data=None, seed=7, mean_bytes=900)
        texts = read_columns(path, ["text"]).column("text").to_pylist()
    texts += ["", "!", "one", "One.", "two words", "two words", "a b c d", "a b c d e", "a b c d e f"]
    for rule, words_of in RULES.items():
        sets = number_shingles(texts, words_of, SHINGLE_WORDS)
        expected = brute_force(texts, words_of, SHINGLE_WORDS, 0.3)
        for threshold in (0.3, 0.5, 0.8, 0.95, 1.0):
            wanted = expected.jaccard >= threshold
            found = true_pairs(sets, threshold)
            same = np.array_equal(found.keys, expected.keys[wanted])
            if not (same and np.array_equal(found.jaccard, expected.jaccard[wanted])):
                raise SystemExit(f"{rule}, threshold {threshold}: the join and brute force differ")
            print(f"{rule:<12} threshold {threshold:<4} {len(found):>5} pairs, the same as brute force")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--rule", choices=list(RULES), default="nearkin")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.check:
        check()
        return
    if options.corpus is None:
        parser.error("a corpus, or --check")
    began = time.perf_counter()
    texts = read_columns(options.corpus, ["text"]).column("text").to_pylist()
    sets = number_shingles(texts, RULES[options.rule], SHINGLE_WORDS)
    pairs = true_pairs(sets, options.threshold)
    print(f"{len(pairs):,} pairs >= {options.threshold} in {time.perf_counter() - began:.1f} s")
    if options.out:
        pq.write_table(pa.table({"row_a": pairs.a, "row_b": pairs.b, "jaccard": pairs.jaccard}), options.out)


if __name__ == "__main__":
    main()
