"""FAISS: the signatures within a Hamming distance of each query, by its flat index or by multi-index hashing.

``run_faiss.py SIGNATURES OUT INDEX DISTANCE QUERIES THREADS``: SIGNATURES is a numpy file of packed bits, a row each;
the first QUERIES of its rows are asked. INDEX is ``flat`` (`IndexBinaryFlat`) or ``multihash`` (`IndexBinaryMultiHash`
with one table more than the distance and no flips: two signatures within the distance agree in one of so many blocks,
so it misses none). FAISS returns what is nearer than the radius, which is therefore one more than the distance. OUT
gets ``faiss.json`` (seconds) and ``faiss-pairs.npy``: the row of the query in the upper 32 bits, that of the neighbour
in the lower.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import faiss
import numpy as np


def main() -> None:
    """Build, ask, and hand over."""
    signatures, out, kind = np.load(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    distance, n_queries, threads = map(int, sys.argv[4:7])
    faiss.omp_set_num_threads(threads)
    n_bits = 8 * signatures.shape[1]
    n_tables = distance + 1
    index = faiss.IndexBinaryFlat(n_bits)
    if kind == "multihash":
        index = faiss.IndexBinaryMultiHash(n_bits, n_tables, n_bits // n_tables)
        index.nflip = 0
    began = time.perf_counter()
    index.add(signatures)
    build_s = time.perf_counter() - began
    queries = signatures[:n_queries]
    index.range_search(queries[:100], distance + 1)  # threads started, memory touched
    began = time.perf_counter()
    limits, _, neighbours = index.range_search(queries, distance + 1)
    elapsed_s = time.perf_counter() - began
    of_query = np.repeat(np.arange(n_queries, dtype=np.uint64), np.diff(limits).astype(np.int64))
    np.save(out / "faiss-pairs.npy", of_query << np.uint64(32) | neighbours.astype(np.uint64))
    told = {"version": faiss.__version__, "build_s": build_s, "elapsed_s": elapsed_s, "queries": n_queries}
    (out / "faiss.json").write_text(json.dumps(told), "utf-8")


if __name__ == "__main__":
    main()
