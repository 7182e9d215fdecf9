"""Signatures beside the article's own way of making them: hashlib for every occurrence, vectors looked up in SQLite.

The article (Adam Roegiest and Edward Lee, "On Tradeoffs Between Document Signature Methods for a Legal Due Diligence
Corpus", SIGIR 2019) hashes each occurrence of a character 4-gram, and takes TopSig's vectors from a database in memory.
Here both are done with numpy adding the vectors, on some documents; Nearkin signs all of them. The signatures must be
the same before anything is timed. The ratio is of time per occurrence::

    python benchmarks/signing.py --data FOLDER
    python benchmarks/signing.py --documents 10 --bits 64
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from nearkin.engines.local import map_ordered
from nearkin.kernels.signatures import project_sparse
from nearkin.records import BitSignatures
from nearkin.stages.features.shingles import Characters, count_features
from nearkin.stages.signatures.bits import BitMethod
from nearkin.stages.signatures.simhash import Simhash
from nearkin.stages.signatures.statistics import Statistics
from nearkin.stages.signatures.topsig import TopSig, WeightedTopSig

BATCH_BYTES = 8 << 20
FEATURES = Characters(4)


@dataclass(frozen=True, slots=True)
class Row:
    """One method at one length: nanoseconds an occurrence, and how many times faster than the article's way."""

    method: str
    bits: int
    paper_ns: float | None
    ns_one_thread: float
    ns_two_threads: float

    @property
    def ratios(self) -> tuple[str, str]:
        """With one thread and with two."""
        if self.paper_ns is None:
            return "–", "–"
        return f"{self.paper_ns / self.ns_one_thread:,.0f}×", f"{self.paper_ns / self.ns_two_threads:,.0f}×"


def batches(texts: pa.LargeStringArray) -> Iterator[pa.LargeStringArray]:
    """Texts of about 8 MB together."""
    start = size = 0
    for i, text in enumerate(texts):
        size += len(text.as_buffer())
        if size >= BATCH_BYTES:
            yield texts[start : i + 1]
            start, size = i + 1, 0
    if start < len(texts):
        yield texts[start:]


def sign(parts: Sequence[pa.LargeStringArray], method: BitMethod, threads: int) -> list[BitSignatures]:
    """Raw text to signatures."""
    return list(map_ordered(lambda part: method.sign(count_features(part, FEATURES)), parts, threads=threads))


def grams(text: str) -> Iterator[str]:
    """Every occurrence."""
    return (text[i : i + 4] for i in range(len(text) - 3))


def paper_simhash(text: str, bits: int) -> bytes:
    """SHAKE-256 of every occurrence, +1 or -1 for each bit."""
    sums = np.zeros(bits, np.int64)
    n = 0
    for gram in grams(text):
        sums += np.unpackbits(np.frombuffer(hashlib.shake_256(gram.encode()).digest(bits // 8), np.uint8))
        n += 1
    return np.packbits(2 * sums > n).tobytes()


class PaperTopSig:
    """Vectors in a table of SQLite in memory, looked up for every occurrence; filled before, as in the article."""

    def __init__(self, texts: Sequence[str], bits: int) -> None:
        self._base = sqlite3.connect(":memory:")
        self._base.execute("create table vectors (feature text primary key, vector blob) without rowid")
        features = sorted({gram for text in texts for gram in grams(text)})
        counted = count_features(pa.array(features, pa.large_string()), FEATURES)
        ones, offsets = np.ones(1, np.int64), np.array([0, 1])
        method = TopSig(bits)
        for feature, hashed in zip(features, counted.hashes, strict=True):
            draw = {"n_bits": bits, "n_nonzero": method.n_nonzero, "seed": 0}
            plus = np.unpackbits(project_sparse(np.array([hashed]), ones, offsets, **draw)).astype(np.int8)
            minus = np.unpackbits(project_sparse(np.array([hashed]), -ones, offsets, **draw)).astype(np.int8)
            self._base.execute("insert into vectors values (?, ?)", (feature, (plus - minus).tobytes()))
        self._bits = bits

    def __call__(self, text: str) -> bytes:
        """One signature."""
        sums = np.zeros(self._bits, np.int64)
        find = self._base.execute
        for gram in grams(text):
            (vector,) = find("select vector from vectors where feature = ?", (gram,)).fetchone()
            sums += np.frombuffer(vector, np.int8)
        return np.packbits(sums > 0).tobytes()


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure(
    name: str,
    make: Callable[[], BitMethod],
    parts: Sequence[pa.LargeStringArray],
    n_occurrences: int,
    sample: Sequence[str],
    paper: Callable[[str], bytes] | None,
) -> Row:
    """Check that both give the same signatures, then time both: ours twice before and after, of which the best."""
    n_sampled = sum(max(0, len(text) - 3) for text in sample)
    paper_ns = None
    ours_s: dict[int, list[float]] = {1: [], 2: []}
    for round_ in range(2):
        for threads in ours_s:  # a new method each time: what it remembers of features is part of the work
            ours_s[threads].append(timed(lambda threads=threads: sign(parts, make(), threads)))
        if paper is not None and round_ == 0:
            signed = make().sign(count_features(pa.array(sample, pa.large_string()), FEATURES))
            started = time.perf_counter()
            found = [paper(text) for text in sample]
            paper_ns = (time.perf_counter() - started) / n_sampled * 1e9
            if found != [bytes(row) for row in signed.packed]:
                raise SystemExit(f"{name}: the two ways give different signatures")
    one, two = (min(seconds) / n_occurrences * 1e9 for seconds in ours_s.values())
    return Row(name, make().bits, paper_ns, one, two)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with contracts.parquet")
    parser.add_argument("--documents", type=int, default=20, help="that the article's way signs")
    parser.add_argument("--bits", default="64,1024")
    parser.add_argument("--out", type=Path, help="a JSON file for the figures")
    arguments = parser.parse_args()
    texts = pq.read_table(arguments.data / "contracts.parquet")["text"].cast(pa.large_string()).combine_chunks()
    parts = list(batches(texts))
    counted = [count_features(part, FEATURES) for part in parts]
    n_occurrences = int(sum(one.n_occurrences.sum() for one in counted))
    statistics = Statistics.of(counted)
    every = max(1, len(texts) // arguments.documents)
    sample = [text.as_py() for text in texts[::every]][: arguments.documents]
    rows = []
    for bits in map(int, arguments.bits.split(",")):
        sign(parts[:1], Simhash(bits), 1)  # kernels are loaded
        rows.append(
            measure(
                "simhash (SHAKE-256)",
                lambda b=bits: Simhash(b),
                parts,
                n_occurrences,
                sample,
                lambda text, b=bits: paper_simhash(text, b),
            )
        )
        rows.append(
            measure("topsig", lambda b=bits: TopSig(b), parts, n_occurrences, sample, PaperTopSig(sample, bits))
        )
        rows.append(measure("simhash-fast", lambda b=bits: Simhash(b, "fast"), parts, n_occurrences, sample, None))
        weighted = lambda b=bits: WeightedTopSig(statistics, b)  # noqa: E731
        rows.append(measure("weighted-topsig", weighted, parts, n_occurrences, sample, None))
    table = Table("method", "bits", "article's way", "ours, 1 thread", "2 threads", "× 1 thread", "× 2 threads")
    for row in rows:
        paper = "–" if row.paper_ns is None else f"{row.paper_ns:,.0f}"
        one, two = f"{row.ns_one_thread:.1f}", f"{row.ns_two_threads:.1f}"
        table.add_row(row.method, f"{row.bits:,}", paper, one, two, *row.ratios)
    Console(width=120).print(table)
    print(
        f"Nanoseconds an occurrence of a character 4-gram. {len(texts):,} contracts with {n_occurrences:,} of them; "
        f"the article's way on {len(sample)} of the contracts. The signatures are the same bit for bit."
    )
    if arguments.out:
        arguments.out.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


if __name__ == "__main__":
    main()
