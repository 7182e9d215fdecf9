"""Pairs across languages: each step beside what there is, and the whole beside its plan.

Documents are made of sentences and their translations (``--sentences``, a Parquet file with ``--columns de,en``); the
table is learned from the same. Five tables: a comparison of 1024-bit signatures, of every pair and in windows, beside
FAISS's flat index, on one thread; signatures of 1000 bits beside a dense matrix, on one thread; what share of the
comparisons buys what share of the pairs; seconds against the number of orders and the width of the window; and a search
of 200 thousand documents on each side beside the time and the recall that were predicted. Answers are compared before
times are printed::

    python benchmarks/cross_lingual.py --sentences sentence_pairs.parquet
    python benchmarks/cross_lingual.py --sentences sentence_pairs.parquet --only whole --documents 200000
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from bilingual import write_documents
from environments import HERE, Peer, install
from nearkin.options.pairs import PairOptions
from nearkin.planning.pairs.search import PairSearch, Prediction
from nearkin.records import BitSignatures
from nearkin.runs.progress import Meter, Silent
from nearkin.stages.search.sliding_window import SignatureScan, SlidingWindow, WindowPairs
from nearkin.workflows.aligning.parallel import ParallelCorpus
from nearkin.workflows.aligning.training import AlignOptions, train
from nearkin.workflows.pairing.inputs import PairInput, Prepared, opened, prepare, read_table
from nearkin.workflows.pairing.planning import plan_search
from nearkin.workflows.pairing.searching import search
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources

FAISS = Peer("faiss", "faiss", "run_faiss.py")
FLAT_QUERIES, FLAT_SIGNATURES = 1_000, 100_000
FLAT_DISTANCES = (300, 413)
DENSE_DOCUMENTS = 4_000
ORDERS, WINDOWS = (10, 20, 40, 60, 80, 100, 120, 160, 240, 320), (50, 75, 100, 200, 400, 800)
DISTANCES = (400, 430)
PARTS = ("compare", "sign", "tradeoff", "linear", "whole")

console = Console()


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def prepared_of(options: argparse.Namespace, n: int, work: Path) -> Prepared:
    """Made documents, read and weighed."""
    meter = Meter(Silent())
    given = inputs_of(options)
    resources = Resources(options.threads)
    return prepare(
        opened(given, None, meter.progress), read_table(given), PairOptions(), work, resources=resources, meter=meter
    )


def inputs_of(options: argparse.Namespace, n: int) -> PairInput:
    """The files of a size, made unless they are there, and the table."""
    columns = tuple(options.columns.split(","))
    table, paths = options.out / "table.parquet", [options.out / f"{side}-{n}.parquet" for side in ("left", "right")]
    if not table.exists():
        corpus = ParallelCorpus(
            paths=[str(options.sentences)], source=columns[0], target=columns[1], source_column=columns[0],
            target_column=columns[1],
        )  # fmt: skip
        train(corpus, AlignOptions()).table.write(table)
    if not all(path.exists() for path in paths):
        write_documents(options.sentences, columns, n, options.out)  # type: ignore[arg-type]
    return PairInput(ReadingRequest(inputs=[str(paths[0])]), ReadingRequest(inputs=[str(paths[1])]), table)


def head(signatures: BitSignatures, n: int) -> BitSignatures:
    """The first of them."""
    return BitSignatures(signatures.packed[:n], signatures.has_features[:n], signatures.fingerprint)


def compare(options: argparse.Namespace, prepared: Prepared) -> None:
    """A comparison of 1024 bits on one thread."""
    if failure := install(FAISS):
        raise SystemExit(f"FAISS is {failure}")
    both = prepared.vectors.signed(1024, 0, threads=options.threads, meter=Meter(Silent()))
    one = BitSignatures(np.concatenate([side.packed for side in both]), np.ones(sum(map(len, both)), bool), "both")
    every, queries = head(one, FLAT_SIGNATURES), head(one, FLAT_QUERIES)
    table = Table("distance", "found", "FAISS flat, ns", "Nearkin, ns", "ratio", title="One of 1024 bits, one thread")
    np.save(options.out / "signatures.npy", every.packed)
    flat_ns = 0.0
    for distance in FLAT_DISTANCES:
        found = SignatureScan().pairs(queries, every, distance=distance)
        before = timed(lambda d=distance: SignatureScan().pairs(queries, every, distance=d))
        arguments = [options.out / "signatures.npy", options.out, "flat", distance, FLAT_QUERIES, 1]
        subprocess.run([str(FAISS.python), str(HERE / "peers" / FAISS.script), *map(str, arguments)], check=True)
        ours = (before + timed(lambda d=distance: SignatureScan().pairs(queries, every, distance=d))) / 2
        theirs = json.loads((options.out / "faiss.json").read_text("utf-8"))["elapsed_s"]
        keys = np.sort((found.left.astype(np.uint64) << np.uint64(32)) | found.right)
        if not np.array_equal(keys, np.sort(np.load(options.out / "faiss-pairs.npy"))):
            raise SystemExit(f"distance {distance}: the answers differ")
        a_pair = 1e9 / (FLAT_QUERIES * len(every))
        flat_ns = theirs * a_pair
        table.add_row(
            str(distance), f"{len(found):,}", f"{flat_ns:.2f}", f"{ours * a_pair:.2f}", f"{theirs / ours:.1f}"
        )
    for width in (200, 1000, 2000):
        window = SlidingWindow(4, width)
        window.pairs(*both, distance=413)
        counts: list[int] = []
        elapsed = timed(lambda w=window, c=counts: c.append(w.pairs(*both, distance=413).n_comparisons))
        a_pair = 1e9 * elapsed / counts[0]
        table.add_row(f"413, windows of {width:,}", "", f"{flat_ns:.2f}", f"{a_pair:.2f}", f"{flat_ns / a_pair:.1f}")
    table.caption = "in windows the sorting is in our time"
    console.print(table)


def sign(options: argparse.Namespace, prepared: Prepared) -> None:
    """Signatures of 1000 bits on one thread."""
    vectors = prepared.vectors
    n = min(DENSE_DOCUMENTS, len(vectors.right))
    end = int(vectors.right.offsets[n])
    np.savez(
        options.out / "vectors.npz", terms=vectors.right.terms[:end], weights=vectors.right.weights[:end],
        offsets=vectors.right.offsets[: n + 1], n_terms=vectors.n_terms,
    )  # fmt: skip
    right = replace(
        vectors.right, terms=vectors.right.terms[:end], weights=vectors.right.weights[:end],
        offsets=vectors.right.offsets[: n + 1],
    )  # fmt: skip
    some = replace(vectors, left=right, right=right)

    def ours() -> object:
        return some.signed(1000, 0, threads=1, meter=Meter(Silent()))

    ours()
    before = timed(ours) / 2  # both sides are the same documents
    script = [sys.executable, str(HERE / "peers" / "run_dense_projection.py"), str(options.out / "vectors.npz")]
    one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    subprocess.run([*script, str(options.out), "1000"], check=True, env=one_thread)
    mean = (before + timed(ours) / 2) / 2
    dense = json.loads((options.out / "dense.json").read_text("utf-8"))["elapsed_s"]
    mine = some.signed(1000, 0, threads=1, meter=Meter(Silent()))[1]
    theirs = BitSignatures(np.load(options.out / "dense.npy"), mine.has_features, "dense")
    table = Table("who", "µs a document", "ratio", "error of cosines", title=f"1000 bits, {n:,} documents, one thread")
    rows = np.random.default_rng(2).integers(0, n, (2, 20_000))
    truth = truth_of(some.right.sparse, rows, vectors.n_terms)
    for name, signed, elapsed in (("a dense matrix in numpy", theirs, dense), ("Nearkin", mine, mean)):
        bits = np.bitwise_count(signed.packed[rows[0]] ^ signed.packed[rows[1]]).sum(axis=1)
        error = np.abs(np.cos(np.pi * bits / 1000) - truth).mean()
        table.add_row(name, f"{1e6 * elapsed / n:.1f}", f"{dense / elapsed:.1f}", f"{error:.4f}")
    table.caption = f"{vectors.n_terms:,} terms; {len(right.terms) / n:.0f} of them in a document"
    console.print(table)


def truth_of(sparse: tuple, rows: np.ndarray, n_terms: int) -> np.ndarray:
    """The true cosines."""
    from nearkin.kernels.terms import products

    return products(sparse, sparse, (rows[0].astype(np.int64), rows[1].astype(np.int64)), n_terms)


def tradeoff(options: argparse.Namespace, prepared: Prepared) -> None:
    """Shares of the comparisons and of the pairs: 1000 bits, the article's distance and a looser one.

    Relative recall is that over what every pair of signatures finds at the article's distance, as in the article.
    """
    vectors, silent = prepared.vectors, Meter(Silent())
    both = vectors.signed(1000, 0, threads=options.threads, meter=silent)
    truth = search(vectors, PairSearch("vectors"), 0.3, seed=0, threads=options.threads, meter=silent).keys
    scan = SignatureScan().pairs(*both, distance=DISTANCES[0], threads=options.threads)
    bound = float(np.isin(truth, key_of(scan)).mean())
    table = Table(
        "orders", "window", "relative cost", *(f"relative recall, distance {distance}" for distance in DISTANCES),
        title=f"1000 bits, {len(truth):,} true pairs; every pair of signatures within {DISTANCES[0]} finds {bound:.3f}",
    )  # fmt: skip
    rows: list[tuple[float, ...]] = []
    for width in WINDOWS:
        for n_orders in ORDERS:
            found = SlidingWindow(n_orders, width).pairs(*both, distance=DISTANCES[-1], threads=options.threads)
            share = found.n_comparisons / scan.n_comparisons
            is_true = np.isin(key_of(found), truth)
            recalls = [float(is_true[found.distance <= most].sum()) / len(truth) / bound for most in DISTANCES]
            rows.append((share, *recalls))
            table.add_row(str(n_orders), str(width), f"{share:.1%}", *(f"{recall:.3f}" for recall in recalls))
    for wanted, paper in ((0.93, 35), (0.95, 40), (0.98, 50)):
        told = []
        for column, most in enumerate(DISTANCES, 1):
            enough = [row[0] for row in rows if row[column] >= wanted]
            told.append(f"distance {most} {min(enough):.1%}" if enough else f"distance {most} not reached")
        console.print(f"relative recall {wanted:.0%} costs: {', '.join(told)}; the article {paper} %", highlight=False)
    console.print(table)


def key_of(found: WindowPairs) -> np.ndarray:
    """Both rows of each pair in one number."""
    return (found.left.astype(np.uint64) << np.uint64(32)) | found.right


def linear(options: argparse.Namespace, prepared: Prepared) -> None:
    """Seconds against orders and against windows, and how straight the lines are."""
    both = prepared.vectors.signed(1000, 0, threads=options.threads, meter=Meter(Silent()))

    def seconds(n_orders: int, width: int) -> float:
        """Measure processor time, the minimum of three runs; wall-clock time would include other work."""
        taken = []
        for _ in range(3):
            began = time.process_time()
            SlidingWindow(n_orders, width).pairs(*both, distance=400)
            taken.append(time.process_time() - began)
        return min(taken)

    seconds(1, 50)
    table = Table("what grows", "values", "seconds", "R²", title="One thread, seconds of the processor")
    for name, values, others in (
        ("orders, windows of 1,000", (4, 8, 12, 16, 20), lambda value: (value, 1000)),
        ("window, 5 orders", (1000, 2000, 3000, 4000, 5000), lambda value: (5, value)),
    ):
        measured = [seconds(*others(value)) for value in values]
        fit = np.polyval(np.polyfit(values, measured, 1), values)
        rest = float(((np.array(measured) - fit) ** 2).sum())
        r_squared = 1 - rest / float(((np.array(measured) - np.mean(measured)) ** 2).sum())
        told = " ".join(f"{one:.2f}" for one in measured)
        table.add_row(name, " ".join(map(str, values)), told, f"{r_squared:.5f}")
    console.print(table)


def whole(options: argparse.Namespace) -> None:
    """A search beside its plan: seconds of all processors, since wall-clock time includes other work."""
    n, meter = options.documents, Meter(Silent())
    table = Table("way", "predicted s", "processor s", "ratio", "wall s", "predicted recall", "true recall",
                  title=f"{n:,} × {n:,}, {options.threads} threads")  # fmt: skip
    resources, truth = Resources(options.threads), np.zeros(0, np.uint64)
    with tempfile.TemporaryDirectory() as work:
        vectors = prepared_of(options, n, Path(work)).vectors
        for method in ("vectors", "signatures", "window"):
            chosen = PairOptions(method=method)
            planned = plan_search(vectors, chosen, resources=resources, meter=meter)
            if method == "vectors":  # asked for, it is not planned: the next plan's alternative says what it takes
                way, told = PairSearch("vectors"), None
            else:
                way, told = planned.search, planned.predicted
            wall, began = time.perf_counter(), time.process_time()
            found = search(vectors, way, 0.3, seed=0, threads=options.threads, meter=meter)
            taken, wall = time.process_time() - began, time.perf_counter() - wall
            truth = found.keys if method == "vectors" else truth
            if told is None:
                kept = taken, wall
                continue
            if method == "signatures":
                every = next(other.predicted for other in planned.alternatives if other.search.method == "vectors")
                _row(table, PairSearch("vectors"), every, *kept, recall=1.0)
            _row(table, way, told, taken, wall, recall=float(np.isin(truth, found.keys).mean()))
            if not np.isin(found.keys, truth).all():
                raise SystemExit(f"{way.describe()}: a pair that is none")
    console.print(table)


def _row(table: Table, way: PairSearch, told: Prediction, taken: float, wall: float, *, recall: float) -> None:
    table.add_row(
        way.describe(), f"{told.core_s:.1f}", f"{taken:.1f}", f"{taken / told.core_s:.2f}", f"{wall:.1f}",
        f"{told.recall_low:.1%} to {told.recall_high:.1%}", f"{recall:.2%}",
    )  # fmt: skip


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=Path, required=True, help="Parquet: sentences and their translations")
    parser.add_argument("--columns", default="de,en")
    parser.add_argument("--documents", type=int, default=200_000, help="on each side, of the whole search")
    parser.add_argument("--smaller", type=int, default=50_000, help="on each side, of everything else")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--out", type=Path, default=HERE / "out" / "cross-lingual")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    parts = options.only or PARTS
    if set(parts) - {"whole"}:
        with tempfile.TemporaryDirectory() as work:
            prepared = prepared_of(options, options.smaller, Path(work))
            for name, part in (("compare", compare), ("sign", sign), ("tradeoff", tradeoff), ("linear", linear)):
                if name in parts:
                    part(options, prepared)
    if "whole" in parts:
        whole(options)


if __name__ == "__main__":
    main()
