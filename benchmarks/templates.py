"""How time, memory and disk grow on forms: invoices that share a page of terms and differ in numbers, names and items.

Most pairs of such documents are just below the threshold, which is the hardest case for a search by bands. Every
invoice has the same page of terms and the same labels; customers, streets, towns and items are invented words; the
rest are numbers. Some copies are planted: an invoice again with a few words replaced, so that its similarity is between
0.78 and 0.98. Recall is that of the planted pairs, by their exact similarity; with up to 5,000 documents, all are
compared, too::

    python benchmarks/templates.py                                  # 5, 10, 20 thousand
    python benchmarks/templates.py --documents 200000,500000 --memory 1GiB
    python benchmarks/templates.py --documents 5000 --planted 200
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from threading import Event, Thread

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from measure import run_measured
from nearkin.planning.search import EVERY_SIZE
from nearkin.records import I64
from nearkin.stages.features.shingles import Words
from nearkin.stages.search.exhaustive import common_counts

HERE = Path(__file__).resolve().parent
THRESHOLD = 0.7
SAMPLE = 400
BLOCK_DOCUMENTS = 10_000
MAX_BRUTE_FORCE = 5_000
SYLLABLES = ["ba", "ke", "li", "mo", "nu", "pra", "ste", "tol", "vin", "wer", "gra", "dul", "fen", "hos", "jar", "quil"]


class Form:
    """Invoices of one form.

    Parameters
    ----------
    n_shared, n_own : int
        Words of the page of terms, and about how many words each invoice has of its own.
    seed : int
    """

    def __init__(self, n_shared: int, n_own: int, seed: int) -> None:
        self.n_own, self.seed = n_own, seed
        chance = Random(f"terms {seed}")
        self.words = ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(5_000)]
        self.terms = " ".join(chance.choices(self.words, k=n_shared))
        self.items = [" ".join(chance.choices(self.words, k=2)) for _ in range(3_000)]

    def invoice(self, i: int) -> str:
        """Return invoice number ``i``."""
        chance = Random(f"{self.seed} {i}")
        head = (
            f"Invoice number {chance.randrange(10**7)} Date {chance.randint(1, 28)}.{chance.randint(1, 12)}.2025 "
            f"Customer {' '.join(chance.choices(self.words, k=3))} Street {chance.choice(self.words)} "
            f"{chance.randint(1, 200)} Town {chance.randrange(10**5)} {chance.choice(self.words)}"
        )
        n_words, lines = 15, []
        while n_words < self.n_own * chance.uniform(0.9, 1.1):
            lines.append(f"{chance.randint(1, 99)} {chance.choice(self.items)} {chance.randrange(10**5) / 100:.2f} EUR")
            n_words += 5
        return f"{head} Items {' '.join(lines)} Total {chance.randrange(10**6) / 100:.2f} EUR payable\n{self.terms}"

    def changed(self, text: str, i: int) -> str:
        """Return the text with one to nine words replaced, anywhere."""
        chance, words = Random(f"copy {self.seed} {i}"), text.split(" ")
        for at in chance.sample(range(len(words)), chance.randint(1, 9)):
            words[at] = chance.choice(self.words)
        return " ".join(words)


def rows(form: Form, n_documents: int, n_planted: int) -> Iterator[tuple[str, str]]:
    """Yield the id and the text of each document; the copies of the first invoices come last."""
    n_bases = n_documents - n_planted
    for i in range(n_bases):
        yield f"i{i}", form.invoice(i)
    for i in range(n_planted):
        yield f"c{i}", form.changed(form.invoice(i), i)


def write(path: Path, form: Form, n_documents: int, n_planted: int) -> None:
    """Write the corpus as Parquet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        block: list[tuple[str, str]] = []
        for row in rows(form, n_documents, n_planted):
            block.append(row)
            if len(block) == BLOCK_DOCUMENTS:
                writer.write_table(pa.table(list(zip(*block, strict=True)), schema=schema))
                block = []
        if block:
            writer.write_table(pa.table(list(zip(*block, strict=True)), schema=schema))


def similarities(texts: list[str]) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.float64]], I64]:
    """Return the exact Jaccard similarity of every pair, zero on the diagonal; and the number of shingles of each."""
    sets = Words(5).sets(pa.array(texts, pa.large_string()))
    common = common_counts(sets)
    return common / np.maximum(sets.sizes[:, None] + sets.sizes[None, :] - common, 1), sets.sizes


def true_pairs(form: Form, n_documents: int, n_planted: int) -> set[frozenset[str]]:
    """Return the planted pairs at or above the threshold; with few documents, all pairs."""
    if n_documents <= MAX_BRUTE_FORCE:
        ids, texts = zip(*rows(form, n_documents, n_planted), strict=True)
        similarity, _ = similarities(list(texts))
        left, right = np.nonzero(np.triu(similarity >= THRESHOLD))
        return {frozenset((ids[a], ids[b])) for a, b in zip(left.tolist(), right.tolist(), strict=True)}
    found = set()
    for i in range(n_planted):
        base = form.invoice(i)
        similarity, _ = similarities([base, form.changed(base, i)])
        if similarity[0, 1] >= THRESHOLD:
            found.add(frozenset((f"i{i}", f"c{i}")))
    return found


class Disk(Thread):
    """Largest size of a folder while it is written."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.folder, self.peak_bytes, self.end = folder, 0, Event()
        shutil.rmtree(folder, ignore_errors=True)
        self.start()

    def run(self) -> None:
        """Look ten times a second."""
        while not self.end.wait(0.1):
            size = 0
            for path in self.folder.rglob("*"):
                with suppress(OSError):
                    size += path.stat().st_blocks * 512
            self.peak_bytes = max(self.peak_bytes, size)

    def ended(self) -> int:
        """Stop looking, and return the size."""
        self.end.set()
        self.join()
        return self.peak_bytes


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", default="5000,10000,20000")
    parser.add_argument("--planted", type=int, default=0, help="copies among the documents")
    parser.add_argument("--shared", type=int, default=300, help="words of the page of terms")
    parser.add_argument("--own", type=int, default=72, help="own words of each invoice")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--memory", default="1GiB")
    parser.add_argument("--out", type=Path, default=HERE / "out" / "templates")
    parser.add_argument("--nearkin", type=Path, default=Path(sys.executable).parent / "nearkin")
    parser.add_argument("--time-limit", type=float, default=1800)
    options = parser.parse_args()
    form = Form(options.shared, options.own, options.seed)

    sample, sizes = similarities([form.invoice(i) for i in range(SAMPLE)])
    of_pairs = sample[np.triu_indices(SAMPLE, 1)]
    Console().print(
        f"{sizes.mean():.0f} shingles ({sizes.min()} to {sizes.max()}); similarity of {len(of_pairs):,} pairs: "
        f"largest {of_pairs.max():.3f}, {np.mean(of_pairs >= 0.5):.0%} from 0.5 on"
    )
    table = Table("documents", "CPU s", "s", "memory, MiB", "anonymous", "disk, MiB", "predicted", "compared", "recall",
                  "pairs", "plan")  # fmt: skip
    for n_documents in map(int, options.documents.split(",")):
        corpus = options.out / f"{options.shared}-{options.own}-{options.seed}-{n_documents}-{options.planted}.parquet"
        if not corpus.exists():
            write(corpus, form, n_documents, options.planted)
        run_folder = options.out / "run"
        command = [str(options.nearkin), "dedup", str(corpus), "--text", "text", "--id", "id", "--out", str(run_folder)]
        command += ["--overwrite", "--no-report", "--memory", options.memory]
        disk = Disk(run_folder)
        run = run_measured(command, time_limit_s=options.time_limit, log=options.out / "log.txt")
        if not run.is_good:
            raise SystemExit(run.failure)
        plan = (manifest := json.loads((run_folder / "manifest.json").read_text("utf-8")))["plan"]
        pairs = pq.read_table(run_folder / "pairs.parquet")
        found = {frozenset(pair) for pair in zip(*(pairs[name].to_pylist() for name in ("id_a", "id_b")), strict=True)}
        true, expected = true_pairs(form, n_documents, options.planted), plan["expected_candidates"]
        table.add_row(
            f"{n_documents:,}", f"{run.cpu_s:.1f}", f"{run.wall_s:.1f}", f"{run.peak_memory_bytes / 2**20:,.0f}",
            f"{run.peak_anonymous_bytes / 2**20:,.0f}", f"{disk.ended() / 2**20:,.0f}", f"{expected:,.0f}",
            f"{manifest['counts']['candidates']:,}", f"{len(found & true)} of {len(true)}", f"{len(found):,}",
            "rare shingles" if plan["exact_below"] == EVERY_SIZE else f"{plan['bands']} x {plan['rows']}",
        )  # fmt: skip
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
