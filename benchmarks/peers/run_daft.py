"""Daft: normalise and minhash in its engine; then bands, grouped by key. ``--sketch-only`` stops at the sketch.

Daft has no LSH of its own: the banding is ours, in its engine, one group-by a band. Candidates are not verified.
"""

from __future__ import annotations

import sys
from itertools import combinations

import daft
from answer import BANDS, PERMUTATIONS, ROWS, SHINGLE_WORDS, Stopwatch, arguments, hand_over
from daft import DataFrame, col
from daft import functions as f

TEXTS = daft.DataType.list(daft.DataType.string())


def sketches(path: str) -> DataFrame:
    """Row number and sketch of each document, not yet computed."""
    text = f.normalize(col("text"), remove_punct=True, lowercase=True, nfd_unicode=True, white_space=True)
    sketch = f.minhash(text, num_hashes=PERMUTATIONS, ngram_size=SHINGLE_WORDS, hash_function="xxhash3_64")
    row = f.substr(col("id"), 1).cast(daft.DataType.int64())  # ids of the corpus are "d" and the row
    return daft.read_json(path).select(row.alias("row"), sketch.alias("sketch"))


def candidate_pairs(sketched: DataFrame) -> set[tuple[int, int]]:
    """All pairs of rows that share a band, band after band."""
    pairs: set[tuple[int, int]] = set()
    values = col("sketch").cast(daft.DataType.list(daft.DataType.uint32()))
    for band in range(BANDS):
        key = f.list_join(f.slice(values, band * ROWS, (band + 1) * ROWS).cast(TEXTS), " ")
        banded = sketched.select(col("row"), key.alias("key")).groupby("key").agg(f.list_agg(col("row")).alias("rows"))
        for rows in banded.where(f.list_count(col("rows")) > 1).to_pydict()["rows"]:
            pairs.update(combinations(sorted(rows), 2))
    return pairs


def main() -> None:
    """Run and hand over."""
    corpus, out = arguments()
    watch, is_sketch_only = Stopwatch(), "--sketch-only" in sys.argv
    with watch.stage("read and sketch"):
        sketched = sketches(str(corpus)).collect()
    n_documents = len(sketched)
    if is_sketch_only:
        hand_over(out, "daft", n_documents, watch, "normalise and minhash in its engine; no search, no answer")
        return
    with watch.stage("bands"):
        pairs = candidate_pairs(sketched)
    how = (
        f"normalise and minhash in its engine, then {BANDS} bands of {ROWS} grouped by key; candidates are not verified"
    )
    hand_over(out, "daft", n_documents, watch, how, pairs=pairs)


if __name__ == "__main__":
    main()
