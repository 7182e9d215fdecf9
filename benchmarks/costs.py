"""What the steps of a search cost on this machine, in nanoseconds: the constants of ``nearkin.planning.search``.

The plan weighs sketching against comparing by constants, so that the same input gets the same plan everywhere; this
prints what they are here, to judge whether the constants still tell the truth::

    python benchmarks/costs.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from nearkin.kernels import linking, overlap, sketch
from nearkin.planning import search
from nearkin.records import ShingleSets
from nearkin.stages.search.prefixes import COUNT_BITS, Prefixes

N_SETS, N_SHINGLES = 4_000, 400


def best_of(work: Callable[[], object], times: int = 5) -> float:
    """Seconds of the fastest of some runs, after one that is not counted."""
    work()
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)


def main() -> None:
    """Measure and print."""
    chance = np.random.default_rng(0)
    hashes = chance.integers(0, 2**64, N_SETS * N_SHINGLES, dtype=np.uint64)
    offsets = np.arange(N_SETS + 1, dtype=np.int64) * N_SHINGLES

    sizes = np.array([8, 32, 128])
    sketched = [best_of(lambda n=n: sketch.sketch(hashes, offsets, size=int(n), seed=0)) / N_SETS * 1e9 for n in sizes]
    per_slot, fixed = np.polyfit(sizes, sketched, 1)

    n_keys = 1_000_000
    keys, rows = chance.integers(0, 2**64, n_keys, dtype=np.uint64), np.arange(n_keys, dtype=np.uint32)
    per_key = best_of(lambda: linking.sort_by_key(keys, rows)) / n_keys * 1e9

    sets = ShingleSets(hashes, offsets, np.zeros(N_SETS, np.int64), "")
    counts = chance.integers(0, 30, 1 << COUNT_BITS).astype(np.uint32)
    per_rare = best_of(lambda: Prefixes(0.7).keys(sets, counts)) / len(hashes) * 1e9

    left, right = (chance.integers(0, N_SETS, 100_000).astype(np.uint32) for _ in range(2))
    left.sort()
    per_pair = best_of(lambda: overlap.n_common(hashes, offsets[:-1], offsets[1:], left, right)) / len(left) * 1e9

    table = Table("step", "measured here", "constant", title="nanoseconds on one core")
    table.add_row("sketch, a shingle", f"{fixed / N_SHINGLES:.1f}", f"{search.NS_SKETCH_SHINGLE}")
    table.add_row("sketch, a slot of a document", f"{per_slot:.1f}", f"{search.NS_SKETCH_SLOT}")
    table.add_row("a band's key of a document, sorted", f"{per_key:.1f}", f"{search.NS_KEY}")
    table.add_row("a shingle, ordered by rarity", f"{per_rare:.0f}", f"{search.NS_RARE_SHINGLE:.0f}")
    table.add_row(
        f"a pair of {N_SHINGLES} shingles, compared",
        f"{per_pair:.0f}",
        f"{search.NS_PAIR + search.NS_PAIR_SHINGLE * N_SHINGLES:.0f} (with reading and shingling both texts)",
    )
    Console().print(table)


if __name__ == "__main__":
    main()
