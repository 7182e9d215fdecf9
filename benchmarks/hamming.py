"""The Hamming search beside FAISS, and how it grows.

Three tables. All pairs within distance 3 of a million signatures of 64 bits, beside FAISS's multi-index hashing and its
flat index; brute force at 1024 bits, a pair at a time, beside the flat index, on one thread; and the time of all pairs
from 100 thousand to 3 million signatures, with its slope. Nearkin runs before and after every peer, and a ratio is the
peer's time over the mean of the two. FAISS has no word for equal signatures and would return every pair of them, so it
gets the distinct ones; Nearkin's time includes finding these. The pairs are compared, and the benchmark ends with exit
code 1 where they differ. The flat index is asked for a sample of the signatures, and its time multiplied::

    python benchmarks/hamming.py --corpus benchmarks/out/corpus-50000.jsonl
    python benchmarks/hamming.py --data FOLDER --signatures 200000 --growth none
    python benchmarks/hamming.py --costs     # the constants of the plan, measured here
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from bit_strings import grown, signatures_of
from corpus import write_corpus
from documents import read_columns
from environments import HERE, Peer, install
from nearkin.kernels.hamming import near_in_table, scan_tiles, sort_by_block
from nearkin.records import BitSignatures
from nearkin.reports.axes import Numbers, with_prefix
from nearkin.reports.plots import Plot
from nearkin.stages.search.hamming import plan as hamming_plan
from nearkin.stages.search.hamming.neighbours import nearest, neighbour_pairs
from nearkin.stages.search.hamming.pairs import HammingPairs

U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]
FAISS = Peer("faiss", "faiss", "run_faiss.py")
WIDE_BITS, WIDE_TEXTS = 1024, 5_000
WIDE_SIGNATURES, WIDE_QUERIES = 200_000, 1_000
WIDE_DISTANCES = (10, 100, 200, 300)
FLAT_QUERIES = 4_000
SEED = 1

console = Console()


@dataclass(frozen=True, slots=True)
class Answer:
    """What one run found and how long it took: the query in the upper 32 bits of a pair, its neighbour in the lower."""

    elapsed_s: float
    pairs: U64


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def of(packed: U8) -> BitSignatures:
    """A record of them; all have features."""
    return BitSignatures(packed, np.ones(len(packed), bool), f"benchmark;bits={8 * packed.shape[1]}")


def faiss(out: Path, packed: U8, kind: str, distance: int, n_queries: int, threads: int) -> Answer:
    """FAISS in a process and an environment of its own; building the index counts."""
    np.save(out / "signatures.npy", packed)
    arguments = [out / "signatures.npy", out, kind, distance, n_queries, threads]
    script = [str(FAISS.python), str(HERE / "peers" / FAISS.script)]
    subprocess.run([*script, *map(str, arguments)], check=True)
    told = json.loads((out / "faiss.json").read_text("utf-8"))
    return Answer(told["build_s"] + told["elapsed_s"], np.sort(np.load(out / "faiss-pairs.npy")))


def both_ways(found: HammingPairs) -> U64:
    """The pairs of distinct signatures as FAISS tells them: each from both of its sides, and everyone with itself."""
    left, right = found.left.astype(np.uint64), found.right.astype(np.uint64)
    every = np.arange(len(found.classes), dtype=np.uint64)
    one, other = np.concatenate([left, right, every]), np.concatenate([right, left, every])
    return np.sort(one << np.uint64(32) | other)


def check_same(ours: U64, theirs: U64, what: str) -> None:
    """End the benchmark where the pairs differ."""
    if not np.array_equal(ours, theirs):
        raise SystemExit(f"{what}: Nearkin found {len(ours):,} pairs, FAISS {len(theirs):,}, and they are not the same")


def all_pairs(options: argparse.Namespace, real: U8) -> None:
    """A million signatures of 64 bits beside both indexes."""
    packed = grown(real, options.signatures, SEED)
    signatures, distance, threads = of(packed), options.distance, options.threads
    found = neighbour_pairs(signatures, distance, threads=threads)  # compiles, and is what peers are checked against
    console.print(f"[dim]{found.plan.describe()}")
    distinct, expected = packed[found.classes.firsts], both_ways(found)

    def nearkin() -> float:
        return timed(lambda: neighbour_pairs(signatures, distance, threads=threads))

    table = Table(
        title=f"All pairs within distance {distance}: {len(packed):,} signatures of 64 bits, {len(distinct):,} "
        f"distinct; {len(found):,} pairs of these, {found.n_document_pairs:,} of documents; {threads} threads"
    )
    for name in ("who", "seconds", "Nearkin, s", "ratio", "pairs"):
        table.add_column(name, justify="right")
    for kind in ("multihash", "flat"):
        n_queries = len(distinct) if kind == "multihash" else min(FLAT_QUERIES, len(distinct))
        before = nearkin()
        peer = faiss(options.out, distinct, kind, distance, n_queries, threads)
        ours = (before + nearkin()) / 2
        check_same(expected[expected >> np.uint64(32) < n_queries], peer.pairs, f"FAISS {kind}")
        whole_s = peer.elapsed_s * len(distinct) / n_queries
        note = "the same" if kind == "multihash" else f"the same; time of {n_queries:,} queries, multiplied"
        table.add_row(f"FAISS {kind}", f"{whole_s:.2f}", f"{ours:.3f}", f"{whole_s / ours:.1f}", note)
    console.print(table)


def wide(options: argparse.Namespace, texts: list[str]) -> None:
    """Brute force at 1024 bits, a pair at a time, on one thread."""
    packed = grown(signatures_of(texts[:WIDE_TEXTS], WIDE_BITS), WIDE_SIGNATURES, SEED)
    signatures, queries = of(packed), of(packed[:WIDE_QUERIES])
    table = Table(
        title=f"Brute force at {WIDE_BITS} bits, one thread: {WIDE_QUERIES:,} queries against "
        f"{WIDE_SIGNATURES:,} signatures"
    )
    for name in ("distance", "found", "FAISS flat, ns a pair", "Nearkin, ns a pair", "ratio"):
        table.add_column(name, justify="right")
    for distance in WIDE_DISTANCES:

        def nearkin(distance: int = distance) -> float:
            return timed(lambda: nearest(queries, signatures, distance, method="brute force"))

        found = nearest(queries, signatures, distance, method="brute force")
        before = nearkin()
        peer = faiss(options.out, packed, "flat", distance, WIDE_QUERIES, 1)
        ours = (before + nearkin()) / 2
        check_same(np.sort(found.query.astype(np.uint64) << np.uint64(32) | found.row), peer.pairs, "FAISS flat")
        a_pair = 1e9 / (WIDE_QUERIES * WIDE_SIGNATURES)
        table.add_row(
            str(distance),
            f"{len(found):,}",
            f"{peer.elapsed_s * a_pair:.2f}",
            f"{ours * a_pair:.2f}",
            f"{peer.elapsed_s / ours:.1f}",
        )
    console.print(table)


def growth(options: argparse.Namespace, real: U8) -> None:
    """The time of all pairs over the number of signatures: the median of three runs each."""
    sizes = [int(size) for size in options.growth.split(",")]
    table = Table(title=f"All pairs within distance {options.distance} at 64 bits, {options.threads} threads")
    for name in ("signatures", "distinct", "pairs of distinct", "tables", "seconds", "µs a signature"):
        table.add_column(name, justify="right")
    rows = []
    for size in sizes:
        signatures = of(grown(real, size, SEED))
        found = neighbour_pairs(signatures, options.distance, threads=options.threads)
        seconds = sorted(
            timed(lambda s=signatures: neighbour_pairs(s, options.distance, threads=options.threads)) for _ in range(3)
        )[1]
        rows.append((size, len(found.classes), len(found), found.plan.n_tables, round(seconds, 4)))
        table.add_row(*(f"{n:,}" for n in rows[-1][:4]), f"{seconds:.3f}", f"{1e6 * seconds / size:.2f}")
    slope = np.polyfit(np.log([row[0] for row in rows]), np.log([row[4] for row in rows]), 1)[0]
    table.caption = f"seconds grow with the {slope:.2f}th power of the number of signatures"
    console.print(table)
    with (options.out / "growth.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["signatures", "distinct", "pairs_of_distinct", "tables", "seconds"])
        writer.writerows(rows)
    drawn = growth_chart([row[0] for row in rows], [row[4] for row in rows], options.distance, slope)
    (options.out / "growth.svg").write_text(drawn + "\n", encoding="utf-8")


def growth_chart(sizes: list[int], seconds: list[float], distance: int, slope: float) -> str:
    """Draw the seconds over the number of signatures, both on log scales."""
    x = Numbers(
        low=min(sizes),
        high=1.05 * max(sizes),
        title="signatures, log scale",
        kind="log",
        values=sizes,
        words=with_prefix,
    )
    powers = [10.0**exponent for exponent in range(-4, 5)]
    y = Numbers(
        low=min(seconds),
        high=1.05 * max(seconds),
        title=f"seconds, log scale; slope {slope:.2f}",
        kind="log",
        values=powers,
    )
    plot = Plot(x=x, y=y, width=640, height=260)
    return plot.svg(
        plot.axes(),
        plot.line(sizes, seconds),
        plot.dots(zip(sizes, seconds, strict=True)),
        name="growth",
        title=f"All pairs within distance {distance}",
        description=f"From {min(seconds):.3f} to {max(seconds):.3f} seconds",
    )


def costs() -> None:
    """What the constants of the plan are on this machine."""
    chance = np.random.default_rng(0)
    table = Table("step", "measured here", "constant", title="nanoseconds on one core")

    def best(work: Callable[[], object]) -> float:
        work()
        return min(timed(work) for _ in range(5))

    for n_words in (1, 16):
        words = chance.integers(0, 2**64, (500_000, n_words), dtype=np.uint64)
        blocks = np.zeros((2, n_words), np.uint64)
        for share, name in ((0xFFFF_FFFF, "entry"), (0x3FF, "candidate")):
            blocks[0, 0], blocks[1, 0] = share, ~np.uint64(share)

            def link(words: U64 = words, blocks: U64 = blocks) -> None:
                entries = sort_by_block(words, blocks[0], key_bits=22)
                list(near_in_table(entries, words, blocks, np.array([True, False]), distance=1, n_queries=0))

            n = len(words) if name == "entry" else len(words) ** 2 / 2 / 1024
            constant = hamming_plan.NS_ENTRY if name == "entry" else hamming_plan.NS_CANDIDATE
            per_word = hamming_plan.NS_ENTRY_WORD if name == "entry" else hamming_plan.NS_CANDIDATE_WORD
            constant += per_word * (n_words if name == "entry" else n_words - 1)
            table.add_row(f"table, {name}, {n_words} words", f"{1e9 * best(link) / n:.2f}", f"{constant:.2f}")
    queries = chance.integers(0, 2**64, (4096, 16), dtype=np.uint64)
    tiles = chance.integers(0, 2**64, (32, 16, 256), dtype=np.uint64)
    lead_costs = [(f"{n} first words", n, 3, ns) for n, ns in hamming_plan.NS_LEAD.items()]
    all_close = hamming_plan.NS_LEAD[4] / 256 + hamming_plan.NS_SCAN + 3 * hamming_plan.NS_SCAN_GROUP
    for name, lead, distance, constant in [*lead_costs, ("16 words, all close", 4, 440, all_close)]:

        def scan(lead: int = lead, distance: int = distance) -> None:
            found = scan_tiles(
                tiles, queries, rows=(0, 4096), first_row=0, end_row=32 * 256, is_one_set=False, n_lead_words=lead,
                distance=distance,
            )  # fmt: skip
            list(found)

        table.add_row(f"brute force, {name}", f"{1e9 * best(scan) / 4096 / 32 / 256:.2f}", f"{constant:.2f}")
    console.print(table)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="JSONL with 'text'; without it one is made")
    parser.add_argument("--documents", type=int, default=50_000, help="of the corpus that is made")
    parser.add_argument("--data", type=Path, help="sentences for it: see corpus.py")
    parser.add_argument("--signatures", type=int, default=1_000_000)
    parser.add_argument("--distance", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--growth", default="100000,200000,500000,1000000,2000000,3000000", help="sizes, or none")
    parser.add_argument("--peers", choices=["faiss", "none"], default="faiss")
    parser.add_argument("--costs", action="store_true", help="measure the constants of the plan, and nothing else")
    parser.add_argument("--out", type=Path, default=HERE / "out" / "hamming")
    options = parser.parse_args()
    if options.costs:
        costs()
        return
    options.out.mkdir(parents=True, exist_ok=True)
    if options.corpus is None:
        options.corpus = HERE / "out" / f"corpus-{options.documents}.jsonl"
        write_corpus(options.corpus, options.documents, data=options.data)
    texts = read_columns(options.corpus, ["text"]).column("text").to_pylist()
    print(f"signing {len(texts):,} texts", file=sys.stderr)
    real = signatures_of(texts, 64)
    if options.peers != "none":
        failure = install(FAISS)
        if failure:
            raise SystemExit(f"FAISS is {failure}")
        all_pairs(options, real)
        wide(options, texts)
    if options.growth != "none":
        growth(options, real)


if __name__ == "__main__":
    main()
