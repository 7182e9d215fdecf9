"""A collection at work: filled, grouped, a wave added, opened, asked; beside each step its time, memory and disk.

Documents are those of ``corpus.py``. Every command is a process of its own; questions are asked of one opened
collection, warm, one after another, and as commands. What they find is compared with an exhaustive search in integers
for a sample, and the benchmark ends with exit code 1 where it differs::

    python benchmarks/waves.py --data FOLDER --documents 200000
    python benchmarks/waves.py --data FOLDER --url postgresql://USER:PASSWORD@HOST:PORT/DATABASE
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table

import nearkin
from corpus import write_corpus
from measure import Run, run_measured
from nearkin.collection.matching.matches import are_counted, counts_of
from nearkin.records import LetterVectors
from nearkin.stages.search.ranges.index import RangeQueries

HERE = Path(__file__).resolve().parent
WAVE, QUERIES, COMMANDS, CHECKED = 10_000, 400, 5, 20
GAMMAS = (0.025, 0.05)

console = Console(width=110)


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "nearkin", *map(str, arguments)]


def run(out: Path, *arguments: str | Path) -> Run:
    """A command, measured; the benchmark ends where it fails."""
    done = run_measured(command(*arguments), time_limit_s=3_600, log=out / "command.log")
    if not done.is_good:
        raise SystemExit(f"{' '.join(map(str, arguments))}: {done.failure}")
    return done


def folder_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def ask(collection: nearkin.Collection, ids: list[str], **options: float) -> list[float]:
    """Milliseconds of each question; the first round warms."""
    for doc_id in ids:
        collection.similar(doc_id, **options)
    took = []
    for doc_id in ids:
        began = time.perf_counter()
        collection.similar(doc_id, **options)
        took.append(1000 * (time.perf_counter() - began))
    return took


def check(collection: nearkin.Collection, ids: list[str], gamma: float) -> None:
    """Compare what is found with an exhaustive search over the store's own vectors."""
    with collection.opened.snapshot() as seen:
        n_contents = sum(len(segment) for segment in seen.segments)
        n_dimensions = collection.opened.counting.letters.n_dimensions
        is_counted = are_counted(seen.segments)

        def vectors_of(contents: np.ndarray) -> LetterVectors:
            counts = counts_of(seen.segments, contents, n_dimensions)
            return collection.opened.counting.vectors_of_counts(counts, is_counted[contents])

        vectors = vectors_of(np.arange(n_contents))
        for doc_id in ids:
            content = collection.document(doc_id).content
            own = vectors_of(np.array([content]))
            limit = RangeQueries.of("benchmark", own.fingerprint, own, gamma).limits[0]
            n_expected = 0
            for start in range(0, n_contents, 1 << 16):
                gaps = vectors.counts[start : start + (1 << 16)].astype(np.int64) - own.counts[0].astype(np.int64)
                near = np.einsum("ij,ij->i", gaps, gaps) <= limit
                n_expected += int((near & vectors.is_counted[start : start + (1 << 16)]).sum())
            left = dict(collection.similar(doc_id, gamma=gamma).stages)["matches"]
            if left != n_expected:
                raise SystemExit(f"{doc_id} at {gamma}: {left} found, {n_expected} expected")


def mebibytes(done: Run) -> str:
    return f"{done.peak_anonymous_bytes / 2**20:,.0f} MiB"


def group(table: Table, out: Path, place: str, what: str) -> None:
    done = run(out, "groups", place, "--json")
    table.add_row(what, f"{done.wall_s:.1f} s", mebibytes(done))


def write_labels(place: str, out: Path) -> None:
    """Give each document one of two labels."""
    with nearkin.Collection.open(place) as collection, collection.opened.store.reading() as connection:
        ids = connection.exec_driver_sql("SELECT doc_id FROM documents WHERE is_current ORDER BY row").scalars().all()
    drawn = np.random.default_rng(4).integers(0, 2, len(ids)).tolist()
    rows = (f"{doc_id},{label}" for doc_id, label in zip(ids, drawn, strict=True))
    out.write_text("\n".join(["doc_id,label", *rows]) + "\n", encoding="utf-8")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="real sentences: see corpus.py")
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--url", help="of an empty PostgreSQL database; a directory if not given")
    parser.add_argument("--out", type=Path, default=HERE / "out" / "waves")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    first, second = options.out / f"first-{options.documents}", options.out / "second"
    write_corpus(first, options.documents, data=options.data, output_format="parquet")
    write_corpus(second, WAVE, data=options.data, output_format="parquet", seed=2)
    place = options.url or str(options.out / "matter")
    if options.url is None:
        shutil.rmtree(place, ignore_errors=True)
    table = Table(title=f"{options.documents:,} documents in {'PostgreSQL' if options.url else 'SQLite'}")
    for name in ("what", "took", "memory without mapped files"):
        table.add_column(name, justify="left" if name == "what" else "right")
    filled = run(options.out, "add", place, first, "--wave", "first", "--text", "text", "--id", "id", "-q")
    rate = options.documents / filled.wall_s
    table.add_row("fill it", f"{filled.wall_s:.1f} s, {rate:,.0f} documents/s", mebibytes(filled))
    group(table, options.out, place, "group all documents, Jaccard 0.5")
    for what, wave in ((f"add a wave of {WAVE:,}", second), ("add it again", second)):
        added = run(options.out, "add", place, wave, "--wave", "second", "--text", "text", "--id", "id", "-q")
        table.add_row(what, f"{added.wall_s:.2f} s", mebibytes(added))
    group(table, options.out, place, f"group again, with {WAVE:,} new documents")
    labels = options.out / "labels.csv"
    write_labels(place, labels)
    found = run(options.out, "conflicts", place, labels, "--json")
    table.add_row("conflicts of labels drawn at random", f"{found.wall_s:.1f} s", mebibytes(found))
    began = time.perf_counter()
    with nearkin.Collection.open(place) as collection:
        with collection.opened.snapshot():
            table.add_row("open it, with its index", f"{1000 * (time.perf_counter() - began):.0f} ms", "")
        with collection.opened.store.reading() as connection:
            rows = connection.exec_driver_sql("SELECT doc_id FROM documents WHERE is_current ORDER BY row").all()
        chosen = np.random.default_rng(1).choice(len(rows), QUERIES, replace=False)
        ids = [rows[i][0] for i in chosen]
        for name, asked in [
            *((f"gamma {gamma}", {"gamma": gamma}) for gamma in GAMMAS),
            ("Jaccard 0.7", {"threshold": 0.7}),
        ]:
            took = ask(collection, ids, **asked)
            figures = f"median {median(took):.2f} ms, 99th percentile {np.percentile(took, 99):.1f} ms"
            table.add_row(f"a question, warm, {name}", figures, "")
        for gamma in GAMMAS:
            check(collection, ids[:CHECKED], gamma)
    cold = [run(options.out, "similar", place, doc_id, "--json") for doc_id in ids[:COMMANDS]]
    peak = max(one.peak_anonymous_bytes for one in cold)
    table.add_row(
        "nearkin similar, its own process", f"median {median(o.wall_s for o in cold):.2f} s", f"{peak / 2**20:,.0f} MiB"
    )
    if options.url is None:
        size = folder_size(Path(place)) / (options.documents + WAVE)
        index = folder_size(Path(place) / "segments") / (options.documents + WAVE)
        table.caption = f"{size:,.0f} bytes a document on disk, {index:,.0f} of them the index"
    console.print(table)


if __name__ == "__main__":
    main()
