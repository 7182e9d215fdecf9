"""Nearkin through its Python API, so that the start of a process is separate from the work; in Nearkin's environment.

The corpus is read, and deduplicated twice: the first call loads the compiled kernels, the second is the work alone.
"""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pyarrow.json
from answer import SHINGLE_WORDS, THRESHOLD, Stopwatch, arguments, hand_over

import nearkin


def main() -> None:
    """Run and hand over."""
    corpus, out = arguments()
    watch = Stopwatch()
    began = time.perf_counter()
    nearkin.dedup(_table(corpus), threshold=THRESHOLD, shingle=f"words:{SHINGLE_WORDS}")
    first_s = time.perf_counter() - began
    with watch.stage("read"):
        table = _table(corpus)
    with watch.stage("dedup"):
        nearkin.dedup(table, threshold=THRESHOLD, shingle=f"words:{SHINGLE_WORDS}")
    hand_over(
        out, "nearkin", table.num_rows, watch, f"nearkin.dedup on a table, second call (the first took {first_s:.2f} s)"
    )


def _table(corpus: Path) -> pa.Table:
    """Ids and texts of the corpus."""
    options = pyarrow.json.ReadOptions(block_size=16 << 20)
    return pyarrow.json.read_json(corpus, read_options=options).select(["id", "text"])


if __name__ == "__main__":
    main()
