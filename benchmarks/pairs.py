"""Pairs across languages: each step beside what there is, and the whole beside its plan.

Documents are made of sentences and their translations (``--sentences``, a Parquet file with ``--columns de,en``); the
table is learned from the same. Five tables: a comparison of 1024-bit signatures, of every pair and in windows, beside
FAISS's flat index, on one thread; signatures of 1000 bits beside a dense matrix, on one thread; what share of the
comparisons buys what share of the pairs; seconds against the number of orders and the width of the window; and a search
of 200 thousand documents on each side beside the time and the recall that were predicted. Answers are compared before
times are told::

    python benchmarks/pairs.py --sentences sentence_pairs.parquet
    python benchmarks/pairs.py --sentences sentence_pairs.parquet --only whole --documents 200000
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

from environments import HERE, Peer, install
from nearkin.planning.pair_search import PairSearch
from nearkin.records import BitSignatures
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Silent
from nearkin.stages.search.sliding_window import SignatureScan, SlidingWindow
from nearkin.workflows.aligning.parallel import ParallelCorpus
from nearkin.workflows.aligning.training import AlignOptions, save, train
from nearkin.workflows.dedup.options import Resources
from nearkin.workflows.pairing.inputs import PairInput, Prepared, opened, prepare, read_table
from nearkin.workflows.pairing.job import pair_files
from nearkin.workflows.pairing.options import PairOptions
from nearkin.workflows.pairing.searching import search
from nearkin.workflows.signing.texts import Reading
from translations import write_documents

FAISS = Peer("faiss", "faiss", "run_faiss.py")
FLAT_QUERIES, FLAT_SIGNATURES = 1_000, 100_000
FLAT_DISTANCES = (300, 413)
DENSE_DOCUMENTS = 4_000
ORDERS, WINDOWS = (5, 10, 20, 40, 80, 160), (50, 200, 500, 1000, 2000)
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
    given = inputs_of(options, n)
    resources = Resources(options.threads)
    return prepare(
        opened(given, meter.progress), read_table(given), PairOptions(), work, resources=resources, meter=meter
    )


def inputs_of(options: argparse.Namespace, n: int) -> PairInput:
    """The files of a size, made unless they are there, and the table."""
    columns = tuple(options.columns.split(","))
    table, paths = options.out / "table.parquet", [options.out / f"{side}-{n}.parquet" for side in ("left", "right")]
    if not table.exists():
        corpus = ParallelCorpus([str(options.sentences)], *columns, *columns)
        save(train(corpus, AlignOptions(aligner="model-1")).table, table)
    if not all(path.exists() for path in paths):
        write_documents(options.sentences, columns, n, options.out)  # type: ignore[arg-type]
    return PairInput(Reading([str(paths[0])]), Reading([str(paths[1])]), table)


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
    from nearkin.kernels.compiled import cosines

    return cosines.products(sparse, sparse, (rows[0].astype(np.int64), rows[1].astype(np.int64)), n_terms)


def tradeoff(options: argparse.Namespace, prepared: Prepared) -> None:
    """Shares of the comparisons and of the pairs, as the article has them: 1000 bits, distance 400."""
    both = prepared.vectors.signed(1000, 0, threads=options.threads, meter=Meter(Silent()))
    truth = search(
        prepared.vectors, PairSearch("vectors"), 0.3, seed=0, threads=options.threads, meter=Meter(Silent())
    ).keys  # fmt: skip
    scan = SignatureScan()
    scan.pairs(head(both[0], 50), head(both[1], 50), distance=400)
    found = scan.pairs(*both, distance=400, threads=options.threads)
    scan_s = timed(lambda: scan.pairs(*both, distance=400, threads=options.threads))
    keys = (found.left.astype(np.uint64) << np.uint64(32)) | found.right
    bound = float(np.isin(truth, keys).mean())
    table = Table(
        "orders", "window", "recall", "relative recall", "comparisons", "relative cost", "time / every pair's",
        title=f"1000 bits, distance 400, {len(truth):,} true pairs; every pair of signatures finds {bound:.3f} of them",
    )  # fmt: skip
    rows = []
    for width in WINDOWS:
        for n_orders in ORDERS:
            window = SlidingWindow(n_orders, width)
            told: list = []
            elapsed = timed(lambda w=window, t=told: t.append(w.pairs(*both, distance=400, threads=options.threads)))
            own = (told[0].left.astype(np.uint64) << np.uint64(32)) | told[0].right
            recall = float(np.isin(truth, own).mean())
            share = told[0].n_comparisons / found.n_comparisons
            rows.append((share, recall / bound))
            table.add_row(
                str(n_orders), str(width), f"{recall:.3f}", f"{recall / bound:.3f}", f"{told[0].n_comparisons:,}",
                f"{share:.1%}", f"{elapsed / scan_s:.2f}",
            )  # fmt: skip
    for wanted, paper in ((0.93, 35), (0.95, 40), (0.98, 50)):
        enough = [share for share, recall in rows if recall >= wanted]
        told_cost = f"{min(enough):.1%}" if enough else "not reached"
        console.print(
            f"relative recall {wanted:.0%}: relative cost {told_cost}; the article: {paper} %", highlight=False
        )
    console.print(table)


def linear(options: argparse.Namespace, prepared: Prepared) -> None:
    """Seconds against orders and against windows, and how straight the lines are."""
    both = prepared.vectors.signed(1000, 0, threads=options.threads, meter=Meter(Silent()))

    def seconds(n_orders: int, width: int) -> float:
        return min(timed(lambda: SlidingWindow(n_orders, width).pairs(*both, distance=400)) for _ in range(2))

    seconds(1, 50)
    table = Table("what grows", "values", "seconds", "R²", title="One thread; the least of two runs")
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
    """A search beside its plan."""
    n = options.documents
    table = Table(
        "way", "predicted s", "measured s", "ratio", "predicted recall", "true recall", title=f"{n:,} × {n:,}"
    )
    truth: np.ndarray | None = None
    for method in ("vectors", "auto", "window"):
        given, out = inputs_of(options, n), options.out / f"pairs-{method}"
        about = pair_files(
            given, out, PairOptions(method=method), overwrite=True, report=False, resources=Resources(options.threads)
        )
        own = keys_of(out)
        truth = own if truth is None else truth
        stages = {stage["name"]: stage["elapsed_s"] for stage in about["stages"]}  # type: ignore[attr-defined,index]
        measured = stages["search"] + stages.get("sign", 0.0)
        told = about["plan"]["predicted"]  # type: ignore[index]
        table.add_row(
            about["plan"]["in_words"], f"{told['elapsed_s']:.1f}", f"{measured:.1f}",  # type: ignore[index]
            f"{measured / told['elapsed_s']:.2f}", f"{told['recall_low']:.1%} to {told['recall_high']:.1%}",
            f"{np.isin(truth, own).mean():.2%}",
        )  # fmt: skip
        console.print(json.dumps(stages))
    console.print(table)


def keys_of(out: Path) -> np.ndarray:
    """The pairs of a run as numbers: the ids are d0, d1 and so on."""
    import pyarrow.parquet as pq

    table = pq.read_table(out / "pairs.parquet", columns=["left", "right"])
    left, right = (np.array([int(one[1:]) for one in table[name].to_pylist()], np.uint64) for name in ("left", "right"))
    return np.sort((left << np.uint64(32)) | right)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=Path, required=True, help="Parquet: sentences and their translations")
    parser.add_argument("--columns", default="de,en")
    parser.add_argument("--documents", type=int, default=200_000, help="on each side, of the whole search")
    parser.add_argument("--smaller", type=int, default=50_000, help="on each side, of everything else")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--out", type=Path, default=HERE / "out" / "pairs")
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
