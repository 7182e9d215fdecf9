"""FAISS: the vectors within a Euclidean distance of each query, by its flat index, one query after another.

``run_faiss_ranges.py VECTORS QUERIES OUT``: VECTORS is a numpy file of counts, a row each; QUERIES an ``.npz`` of
``rows`` and ``limits``, the squared distances asked for, shape (n_tolerances, n_queries). FAISS returns what is nearer
than the radius in float32, so it is asked for a little more than the limit. One thread. OUT gets ``faiss.json``: the
seconds of each query, and how many vectors it found.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import faiss
import numpy as np

BLOCK = 1 << 18


def main() -> None:
    """Build, ask, and hand over."""
    vectors, asked, out = np.load(sys.argv[1], mmap_mode="r"), np.load(sys.argv[2]), Path(sys.argv[3])
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatL2(vectors.shape[1])
    began = time.perf_counter()
    for start in range(0, len(vectors), BLOCK):
        index.add(vectors[start : start + BLOCK].astype(np.float32))
    build_s = time.perf_counter() - began
    queries = vectors[asked["rows"]].astype(np.float32)
    index.range_search(queries[:1], 1.0)  # memory touched
    seconds, found = [], []
    for limits in asked["limits"]:
        for i, limit in enumerate(limits.tolist()):
            began = time.perf_counter()
            ends, _, _ = index.range_search(
                queries[i : i + 1], float(np.nextafter(np.float32(limit), np.float32(np.inf)))
            )
            seconds.append(time.perf_counter() - began)
            found.append(int(ends[-1]))
    told = {"version": faiss.__version__, "build_s": build_s, "seconds": seconds, "found": found}
    (out / "faiss.json").write_text(json.dumps(told), "utf-8")


if __name__ == "__main__":
    main()
