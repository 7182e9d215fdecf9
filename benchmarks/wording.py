"""Which threshold of wording, or gamma of letters, finds the texts with the same label: every document asked.

    python benchmarks/wording.py FILE.parquet --id id --text text --label license --where kind=text --leave-out other
    python benchmarks/wording.py CONTRACTS.parquet  # without labels: pairs with a Jaccard similarity ≥ 0.5 are right
    python benchmarks/wording.py MAILS/             # the bodies of raw messages in a folder

Every pair of documents is measured exactly, without any search: Jaccard similarity of word 5-grams, and distance of
letter counts as a share of the longer one's length. Texts that differ only in case and white space count once.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nearkin.collection.counting import DEFAULT_ALPHABET, NORMALISE, SHINGLES, TextCounting
from nearkin.kernels.overlap import n_common
from nearkin.records import F64, I64
from nearkin.stages.features.letters import LetterCounts

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
GAMMAS = (0.025, 0.05, 0.1)
WITHOUT_LABELS = 0.5
ROWS_AT_A_TIME = 64


def main() -> None:
    """Read, measure every pair, and print precision and recall of each setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--id", default="id")
    parser.add_argument("--text", default="text")
    parser.add_argument(
        "--label", help="column; without it the right pairs are those with a Jaccard similarity of at least 0.5"
    )
    parser.add_argument("--where", help="rows to take: COLUMN=VALUE, or several values with | between")
    parser.add_argument("--of-a-label", type=int, default=10, help="rows of one label at most")
    parser.add_argument("--leave-out", nargs="*", default=[], help="labels that are no family")
    parser.add_argument("--most", type=int, default=5_000, help="rows at most, evenly chosen")
    options = parser.parse_args()
    texts, labels = read(options)
    print(f"{len(texts):,} texts" + (f", {len(np.unique(labels)):,} labels" if labels is not None else ""))
    (_, n_same, _), *found = measured(texts, labels)
    right = "the same label" if labels is not None else f"a Jaccard similarity of at least {WITHOUT_LABELS}"
    print(f"{n_same:,} pairs with {right}\n\n| setting | precision | recall |\n|---|---|---|")
    for name, n_right, n_found in found:
        print(f"| {name} | {n_right / max(n_found, 1):.3f} | {n_right / max(n_same, 1):.3f} |")


def read(options: argparse.Namespace) -> tuple[pa.LargeStringArray, I64 | None]:
    """Return distinct texts, and a number for the label of each, if there are labels."""
    table = _bodies(options.file) if options.file.is_dir() else pq.read_table(options.file)
    if options.where:
        column, _, value = options.where.partition("=")
        table = table.filter(pc.is_in(table[column], pa.array(value.split("|"), pa.string())))
    if options.label:
        table = table.filter(pc.invert(pc.is_in(table[options.label], pa.array(options.leave_out, pa.string()))))
    texts = NORMALISE.apply(table[options.text].combine_chunks().cast(pa.large_string()))
    digests = np.array([hash(text) for text in texts.to_pylist()])
    rows = np.sort(np.unique(digests, return_index=True)[1])
    if options.label:
        labels = _numbers(table[options.label])[rows]
        rows = rows[pd.Series(labels).groupby(labels).cumcount().to_numpy() < options.of_a_label]
    if len(rows) > options.most:
        rows = rows[np.linspace(0, len(rows) - 1, options.most).astype(np.int64)]
    kept = table.take(pa.array(rows))
    kept_texts = kept[options.text].combine_chunks().cast(pa.large_string())
    return kept_texts, _numbers(kept[options.label]) if options.label else None


def _bodies(folder: Path) -> pa.Table:
    """Return the bodies of raw mails, as they were sent: everything after the first empty line."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    mails = [path.read_bytes().decode("latin-1").replace("\r\n", "\n").partition("\n\n")[2] for path in paths]
    return pa.table({"id": list(map(str, paths)), "text": pa.array(mails, pa.large_string())})


def _numbers(labels: pa.ChunkedArray) -> I64:
    return labels.combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)


def measured(texts: pa.LargeStringArray, labels: I64 | None) -> Iterator[tuple[str, int, int]]:
    """Yield each setting with the number of right pairs among those it finds, and of all it finds; first all pairs."""
    names = ["every pair"] + [f"Jaccard ≥ {one}" for one in THRESHOLDS] + [f"letters, γ {one}" for one in GAMMAS]
    n_right, n_found = np.zeros(len(names), np.int64), np.zeros(len(names), np.int64)
    sets = SHINGLES.sets(NORMALISE.apply(texts))
    counts = TextCounting(LetterCounts(DEFAULT_ALPHABET)).count(texts).counts.astype(np.float64)
    lengths = np.einsum("ij,ij->i", counts, counts)
    for start in range(0, len(texts), ROWS_AT_A_TIME):
        left = np.repeat(np.arange(start, min(start + ROWS_AT_A_TIME, len(texts))), len(texts))
        right = np.tile(np.arange(len(texts)), len(left) // len(texts))
        left, right = left[left < right], right[left < right]
        jaccard = _jaccards(sets.hashes, np.asarray(sets.offsets, np.int64), left, right)
        is_same = jaccard >= WITHOUT_LABELS if labels is None else labels[left] == labels[right]
        gap = counts[left] - counts[right]
        relative = np.sqrt(np.einsum("ij,ij->i", gap, gap) / np.maximum(np.maximum(lengths[left], lengths[right]), 1))
        passed = (
            [np.ones(len(left), np.bool_)]
            + [jaccard >= one for one in THRESHOLDS]
            + [relative <= one for one in GAMMAS]
        )
        n_right += [int((is_same & one).sum()) for one in passed]
        n_found += [int(one.sum()) for one in passed]
    yield from zip(names, n_right.tolist(), n_found.tolist(), strict=True)


def _jaccards(hashes: np.ndarray, offsets: I64, left: I64, right: I64) -> F64:
    sizes = np.diff(offsets)
    both = n_common(hashes, offsets[:-1], offsets[1:], left.astype(np.uint32), right.astype(np.uint32))
    return both / np.maximum(sizes[left] + sizes[right] - both, 1)


if __name__ == "__main__":
    main()
