"""scikit-learn's KDTree: the vectors within a Euclidean distance of each query, one query after another.

``run_kdtree.py VECTORS QUERIES OUT``: as ``run_faiss_ranges.py``. The tree is built over double precision, in which the
distances are exact enough; it is asked for half a letter's square more than the limit. OUT gets ``kdtree.json``.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import sklearn
from sklearn.neighbors import KDTree


def main() -> None:
    """Build, ask, and hand over."""
    vectors, asked, out = np.load(sys.argv[1], mmap_mode="r"), np.load(sys.argv[2]), Path(sys.argv[3])
    began = time.perf_counter()
    tree = KDTree(vectors.astype(np.float64))
    build_s = time.perf_counter() - began
    queries = vectors[asked["rows"]].astype(np.float64)
    tree.query_radius(queries[:1], 1.0)
    seconds, found = [], []
    for limits in asked["limits"]:
        for i, limit in enumerate(limits.tolist()):
            began = time.perf_counter()
            rows = tree.query_radius(queries[i : i + 1], (limit + 0.5) ** 0.5)[0]
            seconds.append(time.perf_counter() - began)
            found.append(len(rows))
    told = {"version": sklearn.__version__, "build_s": build_s, "seconds": seconds, "found": found}
    (out / "kdtree.json").write_text(json.dumps(told), "utf-8")


if __name__ == "__main__":
    main()
