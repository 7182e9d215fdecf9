"""Range search by letter counts beside an exhaustive scan, FAISS, a KD-tree and the two algorithms of the paper.

Vectors grow from the real documents of a folder: see ``letter_vectors.py``. Queries are documents of the collection
with more than 20 letters, drawn at random, asked one after another on one core, everything warm. Nearkin is measured
through `RangeIndex.search`, with all that Python does around the kernel, before the others and after them; its times
are those of both rounds together. The exhaustive scan is compiled, goes over the vectors row by row in 64-bit integers
with and without leaving a vector as soon as a part of its distance is too large; the faster of the two counts. Ratios
are the other's median over Nearkin's median, and over Nearkin's 99th percentile. Every peer answers a sample of the
queries. What Nearkin finds is compared with the exhaustive scan, and the benchmark ends with exit code 1 where it
differs; what the others find is counted::

    PYTHONPATH=. python benchmarks/ranges.py --data FOLDER --documents 1000000
    PYTHONPATH=. python benchmarks/ranges.py --data FOLDER --documents 13228105 --peers faiss
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from environments import HERE, Peer, install
from labs.range_search.algorithms import ProjectionIndex, RandomProjections
from nearkin.stages.search.ranges.index import RangeMatches, RangeQueries
from range_collection import SEED, Collection, prepared, record_of

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
FAISS = Peer("faiss", "faiss", "run_faiss_ranges.py")
KDTREE = Peer("kdtree", "scikit-learn", "run_kdtree.py")
GAMMAS = (0.025, 0.05)

console = Console(width=110)


@dataclass(frozen=True, slots=True)
class Nearkin:
    """Its seconds, shape (n_gammas, n_queries), and what it found for each tolerance."""

    seconds: F64
    found: list[list[RangeMatches]]


@njit(cache=True)
def scan(vectors, asked, limit, step, rows):
    """The rows within the limit; the sum is looked at after every ``step`` dimensions."""
    n_found = 0
    for row in range(len(vectors)):
        square = np.int64(0)
        for first in range(0, len(asked), step):
            for j in range(first, min(first + step, len(asked))):
                gap = np.int64(vectors[row, j]) - asked[j]
                square += gap * gap
            if square > limit:
                break
        if square <= limit:
            rows[n_found] = row
            n_found += 1
    return n_found


def nearkin(collection: Collection) -> Nearkin:
    """One query after another; the first round warms."""
    queries = [record_of(np.asarray(collection.vectors[row : row + 1])) for row in collection.rows]
    seconds, found = np.zeros((len(GAMMAS), len(queries))), []
    for g, gamma in enumerate(GAMMAS):
        for query in queries:
            collection.index.search(query, gamma)
        of_gamma = []
        for i, query in enumerate(queries):
            began = time.perf_counter()
            of_gamma.append(collection.index.search(query, gamma))
            seconds[g, i] = time.perf_counter() - began
        found.append(of_gamma)
    return Nearkin(seconds, found)


def limits_of(collection: Collection, n_queries: int) -> I64:
    """The squared distances asked for, shape (n_gammas, n_queries)."""
    queries = record_of(np.asarray(collection.vectors[collection.rows[:n_queries]]))
    return np.stack([RangeQueries.of("benchmark", "letters=latin", queries, gamma).limits for gamma in GAMMAS])


def exhaustive(collection: Collection, ours: Nearkin, n_queries: int) -> F64:
    """Seconds of the faster of two scans; ends the benchmark where Nearkin found something else."""
    limits, rows = limits_of(collection, n_queries), np.empty(len(collection.vectors), np.int64)
    vectors = np.asarray(collection.vectors)
    seconds = np.zeros((2, len(GAMMAS), n_queries))
    scan(vectors[:10], np.zeros(62, np.int64), 0, 62, rows)
    for s, step in enumerate((62, 16)):
        for g, i in np.ndindex(len(GAMMAS), n_queries):
            asked = vectors[collection.rows[i]].astype(np.int64)
            began = time.perf_counter()
            n_found = scan(vectors, asked, limits[g, i], step, rows)
            seconds[s, g, i] = time.perf_counter() - began
            if not np.array_equal(rows[:n_found], np.sort(ours.found[g][i].row)):
                raise SystemExit(
                    f"query {i}, gamma {GAMMAS[g]}: {n_found:,} matches, Nearkin {len(ours.found[g][i]):,}"
                )
    console.print(
        f"the scans agree with Nearkin: {n_queries} queries; whole rows {1000 * np.median(seconds[0]):.1f} ms, left "
        f"early {1000 * np.median(seconds[1]):.1f} ms; the faster one counts"
    )
    return seconds[int(np.median(seconds[1]) < np.median(seconds[0]))]


def peer(which: Peer, collection: Collection, ours: Nearkin, n_queries: int, out: Path) -> F64:
    """Seconds of a peer in a process and an environment of its own."""
    failure = install(which)
    if failure:
        raise SystemExit(f"{which.name} is {failure}")
    limits = limits_of(collection, n_queries)
    np.savez(out / "queries.npz", rows=collection.rows[:n_queries], limits=limits)
    script = [str(which.python), str(HERE / "peers" / which.script)]
    subprocess.run([*script, str(collection.path), str(out / "queries.npz"), str(out)], check=True)
    told = json.loads((out / f"{which.name}.json").read_text("utf-8"))
    expected = [len(ours.found[g][i]) for g, i in np.ndindex(limits.shape)]
    n_same = sum(a == b for a, b in zip(told["found"], expected, strict=True))
    console.print(
        f"{which.name} {told['version']}: built in {told['build_s']:.1f} s; as many matches as Nearkin for {n_same} of "
        f"{len(expected)} queries"
    )
    return np.array(told["seconds"]).reshape(limits.shape)


def compare(collection: Collection, options: argparse.Namespace) -> Nearkin:
    """Nearkin, the others, Nearkin again."""
    ours = nearkin(collection)
    others = {"exhaustive scan": exhaustive(collection, ours, min(options.sample, len(collection.rows)))}
    for which in (FAISS, KDTREE):
        if which.name in options.peers.split(","):
            n_queries = min(options.sample, len(collection.rows))
            others[which.name] = peer(which, collection, ours, n_queries, options.out)
    again = nearkin(collection)
    table = Table(title=f"One query, one core, {len(collection.vectors):,} documents: milliseconds")
    for name in ("γ", "who", "queries", "median", "99th percentile", "ratio", "to the p99"):
        table.add_column(name, justify="right")
    for g, gamma in enumerate(GAMMAS):
        mine = 1000 * np.concatenate([ours.seconds[g], again.seconds[g]])
        median, slow = np.median(mine), np.percentile(mine, 99)
        table.add_row(str(gamma), "Nearkin", f"{len(collection.rows):,}", f"{median:.3f}", f"{slow:.3f}", "1", "1")
        for name, seconds in others.items():
            theirs = 1000 * seconds[g]
            figures = f"{np.median(theirs):.1f}", f"{np.percentile(theirs, 99):.1f}"
            ratios = f"{np.median(theirs) / median:,.0f}", f"{np.median(theirs) / slow:,.0f}"
            table.add_row("", name, str(len(theirs)), *figures, *ratios)
    table.caption = "ratio: the other's median over Nearkin's, and over the 99th percentile of Nearkin"
    console.print(table)
    return ours


def study(collection: Collection, ours: Nearkin, n_queries: int) -> None:
    """The tables of the paper: recall, precision before the exact comparison, survivors, time."""
    table = Table(title=f"The paper's algorithms, 8 projections, {n_queries} queries; means")
    for name in (
        "γ",
        "search",
        "recall",
        "precision",
        "left by the first step",
        "left by all",
        "matches",
        "median, ms",
    ):
        table.add_column(name, justify="right")
    ways = [("gaussian", 8, False), ("rademacher", 8, False), ("rademacher", 8, True), ("rademacher", 0, True)]
    rows: dict[float, list[tuple[str, ...]]] = {gamma: [] for gamma in GAMMAS}
    for kind, n_directions, with_filters in ways:
        if (kind, n_directions, with_filters) != ("rademacher", 8, True):  # the same index as the one before
            index = ProjectionIndex.of(record_of(collection.vectors), RandomProjections(kind, n_directions, SEED))
        name = f"{kind}, filters" if with_filters else kind
        for g, gamma in enumerate(GAMMAS):
            rows[gamma].append(
                _studied(name if n_directions else "filters alone", index, collection, ours, g, n_queries, with_filters)
            )
    for g, gamma in enumerate(GAMMAS):
        survivors = np.concatenate([found.survivors for found in ours.found[g][:n_queries]])
        seconds = np.median(ours.seconds[g, :n_queries])
        rows[gamma].append(_row("Nearkin", 1.0, survivors, float(seconds)))
        for row in rows[gamma]:
            table.add_row(str(gamma), *row)
    console.print(table)


def _studied(
    name: str, index: ProjectionIndex, collection: Collection, ours: Nearkin, g: int, n_queries: int, with_filters: bool
) -> tuple[str, ...]:
    """One way of searching at one tolerance: a row of the table."""
    seconds, survivors = [], []
    for row in collection.rows[:n_queries]:
        query = record_of(np.asarray(collection.vectors[row : row + 1]))
        began = time.perf_counter()
        survivors.append(index.search(query, GAMMAS[g], with_filters=with_filters).survivors)
        seconds.append(time.perf_counter() - began)
    n_true = [len(found) for found in ours.found[g][:n_queries]]
    whole = np.concatenate(survivors)
    return _row(name, float(np.mean(whole[:, -1] / n_true)), whole, float(np.median(seconds)))


def _row(name: str, recall: float, survivors: I64, seconds: float) -> tuple[str, ...]:
    precision = np.mean(survivors[:, -1] / np.maximum(1, survivors[:, -2]))
    means = (f"{mean:,.0f}" for mean in survivors[:, 1:].mean(axis=0))
    return name, f"{recall:.4f}", f"{precision:.3f}", *means, f"{1000 * seconds:.3f}"


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="real documents: see letter_vectors.py")
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--sample", type=int, default=20, help="queries that the slow ones answer")
    parser.add_argument("--study", type=int, default=100, help="queries for the paper's algorithms, or 0")
    parser.add_argument("--peers", default="faiss,kdtree", help="faiss, kdtree, both or none")
    parser.add_argument("--out", type=Path, default=HERE / "out" / "ranges")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    collection = prepared(options.data, options.documents, options.queries, options.out, console)
    ours = compare(collection, options)
    if options.study:
        study(collection, ours, min(options.study, len(collection.rows)))


if __name__ == "__main__":
    main()
