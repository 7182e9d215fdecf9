"""Which letters a collection counts by default: what the two alphabets find, miss, and cost.

For each corpus every document is asked at both tolerances, of both alphabets. A pair that one alphabet alone finds is
judged by its edit similarity. Then what the longer vectors cost: a query among a million vectors grown from real ones,
to which the universal alphabet adds 64 counts that are nearly all 0, as they are in Latin text::

    python benchmarks/evidence/alphabets.py --data FOLDER
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pairs import print_table

from nearkin.records import LetterVectors
from nearkin.stages.features.letters import LetterCounts
from nearkin.stages.search.ranges.index import RangeIndex
from nearkin.stages.verification.edit import edit_similarity

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from letter_vectors import read_profiles, write_vectors  # noqa: E402

CORPORA = {
    "contracts, English": ("contracts.parquet", "text"),
    "newswire, English": ("reuters21578.parquet", "text"),
    "Bible, German": ("crosslingual/bible_chapters_kjv_elb1905.parquet", "de"),
    "news, German": ("crosslingual/ntrex_news_docs.parquet", "de"),
}
SAMPLE, QUERIES, ROUNDS = 400, 500, 3


def notices() -> pa.LargeStringArray:
    """Chinese, Japanese and Thai texts with versions, from the examples."""
    with tempfile.TemporaryDirectory() as folder:
        generate = [sys.executable, str(ROOT / "examples" / "generate.py"), folder]
        subprocess.run(generate, check=True, capture_output=True)
        lines = (Path(folder) / "notices.jsonl").read_text("utf-8").splitlines()
    return pa.array([json.loads(line)["text"] for line in lines], pa.large_string())


def mail(data: Path) -> pa.LargeStringArray:
    paths = sorted(path for path in (data / "mail").rglob("*") if path.is_file())
    return pa.array([path.read_bytes().decode("utf-8", "ignore") for path in paths], pa.large_string())


def pairs_of(vectors: LetterVectors, gamma: float) -> set[tuple[int, int]]:
    found = RangeIndex.of(vectors).search(vectors, gamma, threads=2)
    return {(min(a, b), max(a, b)) for a, b in zip(found.query.tolist(), found.row.tolist()) if a != b}


def judged(texts: pa.LargeStringArray, pairs: set[tuple[int, int]]) -> str:
    """How many there are, and of how many the edit similarity is at least 0.9, from a sample."""
    if not pairs:
        return "0"
    chosen = sorted(pairs)
    chosen = [chosen[i] for i in np.random.default_rng(1).permutation(len(chosen))[:SAMPLE]]
    found = [edit_similarity(texts[a].as_py(), texts[b].as_py()).max_similarity for a, b in chosen]
    return f"{len(pairs):,} ({np.mean(np.array(found) >= 0.9):.0%})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "out" / "alphabets")
    options = parser.parse_args()
    corpora = {
        name: pq.read_table(options.data / file)[column].cast(pa.large_string()).combine_chunks()
        for name, (file, column) in CORPORA.items()
        if (options.data / file).is_file()
    }
    if (options.data / "mail").is_dir():
        corpora["mail, raw"] = mail(options.data)
    corpora["notices, Chinese, Japanese, Thai"] = notices()
    rows = []
    for name, texts in corpora.items():
        latin, universal = LetterCounts("latin").count(texts), LetterCounts("universal").count(texts)
        for gamma in (0.025, 0.05):
            a, b = pairs_of(latin, gamma), pairs_of(universal, gamma)
            rows.append((name, gamma, f"{len(texts):,}", int((~latin.is_counted).sum()),
                         int((~universal.is_counted).sum()), judged(texts, a & b), judged(texts, a - b),
                         judged(texts, b - a)))  # fmt: skip
    print_table(
        "Pairs, and how many of them have an edit similarity of at least 0.9",
        ("corpus", "gamma", "documents", "not counted, latin", "universal", "pairs of both", "latin alone",
         "universal alone"),
        rows,
    )  # fmt: skip
    cost(options)


def cost(options: argparse.Namespace) -> None:
    """Median and 99th percentile of a query, of each alphabet, by turns."""
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"vectors-{options.documents}.npy"
    if not path.is_file():
        write_vectors(path, options.documents, read_profiles(options.data), seed=1)
    counts = np.load(path)
    wide = np.concatenate([counts, np.zeros((len(counts), 64), np.uint32)], axis=1)
    is_accented = np.random.default_rng(2).random(len(wide)) < 0.05
    wide[is_accented, 62:] = np.random.default_rng(3).integers(0, 2, (int(is_accented.sum()), 64))
    indices = {name: RangeIndex.of(record(c, name)) for name, c in (("latin", counts), ("universal", wide))}
    asked = np.random.default_rng(4).choice(np.flatnonzero(counts.sum(axis=1) > 100), QUERIES, replace=False)
    rows = []
    for gamma in (0.025, 0.05):
        seconds = {name: list[float]() for name in indices}
        for _ in range(ROUNDS):
            for name, c in (("latin", counts), ("universal", wide)):
                for row in asked:
                    query = record(c[row : row + 1], name)
                    began = time.perf_counter()
                    indices[name].search(query, gamma)
                    seconds[name].append(time.perf_counter() - began)
        for name, times in seconds.items():
            milliseconds = 1000 * np.array(times)
            segment = indices[name].segments[0]
            size = sum(getattr(segment, field).nbytes for field in segment.array_names()) / len(segment)
            rows.append((name, gamma, f"{np.median(milliseconds):.3f}", f"{np.percentile(milliseconds, 99):.3f}",
                         f"{size:.0f}"))  # fmt: skip
    print_table(
        f"A query among {len(counts):,} vectors",
        ("alphabet", "gamma", "median, ms", "99th percentile, ms", "bytes a document"),
        rows,
    )


def record(counts: np.ndarray, name: str) -> LetterVectors:
    n = counts.sum(axis=1, dtype=np.int64)
    return LetterVectors(counts, n >= 20, n, np.zeros(len(n), np.int64), name)


if __name__ == "__main__":
    main()
