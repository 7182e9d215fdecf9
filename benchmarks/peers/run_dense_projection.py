"""Signatures by a dense random matrix, with numpy: what is written in a few lines when there is no library.

``run_dense_projection.py VECTORS OUT BITS``: VECTORS is a numpy archive of ``terms``, ``weights``, ``offsets`` and
``n_terms``; OUT gets ``dense.json`` (seconds) and ``dense.npy``, the packed bits. The matrix is made before the clock
runs; documents go through it some at a time, as dense rows of 32-bit numbers.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

AT_ONCE = 512


def main() -> None:
    """Multiply and hand over."""
    given, out, n_bits = np.load(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    terms, weights, offsets, n_terms = (given[name] for name in ("terms", "weights", "offsets", "n_terms"))
    planes = np.random.default_rng(1).standard_normal((int(n_terms), n_bits), np.float32)
    packed, n = [], len(offsets) - 1
    began = time.perf_counter()
    for first in range(0, n, AT_ONCE):
        end = min(first + AT_ONCE, n)
        dense = np.zeros((end - first, int(n_terms)), np.float32)
        own = slice(int(offsets[first]), int(offsets[end]))
        dense[np.repeat(np.arange(end - first), np.diff(offsets[first : end + 1])), terms[own]] = weights[own]
        packed.append(np.packbits(dense @ planes >= 0, axis=1))
    elapsed_s = time.perf_counter() - began
    np.save(out / "dense.npy", np.concatenate(packed))
    (out / "dense.json").write_text(json.dumps({"elapsed_s": elapsed_s, "documents": n}), "utf-8")


if __name__ == "__main__":
    main()
