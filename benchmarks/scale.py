"""How time, memory and recall hold from 50 thousand to 5 million documents, with ``nearkin dedup --memory 2GiB``.

Corpora are Parquet, by the generator of ``corpus.py``, the same distribution at every size. Time per document is given
with and without the start of the process (the time of a run on 1,000 documents). Recall is of planted pairs:
families are drawn, their documents made again, their exact Jaccard computed, and the pairs at or above the threshold
looked up. Every reported pair that touches one of those documents is checked too: it must be true, with the exact
similarity::

    python benchmarks/scale.py --data FOLDER
    python benchmarks/scale.py --documents 5000,50000 --memory 1GiB
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from corpus import MEAN_BYTES, Manifest, write_corpus
from judge import Share
from measure import Run, run_measured
from planted import THRESHOLD, check_sample
from truth import SHINGLE_WORDS

HERE = Path(__file__).resolve().parent
START_DOCUMENTS = 1_000
SMALL_DOCUMENTS = 100_000  # up to so many, the median of three runs counts


@dataclass(frozen=True, slots=True)
class Size:
    """One size of corpus.

    Parameters
    ----------
    wall_s : float
        The whole process.
    start_s : float
        Of it, what a run on 1,000 documents takes.
    peak_memory_bytes : int
        Resident, of the process tree, mapped files included.
    peak_anonymous_bytes : int
        Without mapped files.
    recall : Share
        Of sampled planted pairs at or above the threshold.
    n_checked, n_untrue : int
        Reported pairs that touch the sample, and those of them that are not true or not exact.
    """

    documents: int
    text_bytes: int
    wall_s: float
    start_s: float
    cpu_s: float
    peak_memory_bytes: int
    peak_anonymous_bytes: int
    recall: Share
    recall_error: float
    predicted_recall: float | None
    n_checked: int
    n_untrue: int
    n_pairs: int
    stages: str

    @property
    def microseconds(self) -> float:
        """Per document, the whole process."""
        return 1e6 * self.wall_s / self.documents

    @property
    def work_microseconds(self) -> float:
        """Per document, without the start."""
        return 1e6 * max(self.wall_s - self.start_s, 0.0) / self.documents


class Scale:
    """Runs on corpora of growing size."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.out: Path = options.out

    def corpus(self, n_documents: int) -> tuple[Path, Manifest]:
        """The folder of Parquet files, written unless it is there."""
        folder = self.out / f"scale-{n_documents}"
        manifest = write_corpus(
            folder,
            n_documents,
            data=self.options.data,
            seed=self.options.seed,
            mean_bytes=self.options.mean_bytes,
            output_format="parquet",
        )
        return folder, manifest

    def run(self, folder: Path, run_folder: Path) -> Run:
        """``nearkin dedup`` on all files of the folder."""
        command = [str(self.options.nearkin), "dedup", *map(str, sorted(folder.glob("*.parquet")))]
        command += ["--text", "text", "--id", "id", "--out", str(run_folder), "--overwrite", "--no-report"]
        command += ["--threshold", str(THRESHOLD), "--shingle", f"words:{SHINGLE_WORDS}"]
        command += ["--memory", self.options.memory]
        log = self.out / "logs" / f"{folder.name}.log"
        run = run_measured(command, time_limit_s=self.options.time_limit, log=log)
        if not run.is_good:
            raise SystemExit(f"nearkin on {folder.name}: {run.failure}\nits output: {log}")
        return run

    def start_s(self) -> float:
        """What a run takes before it does anything to speak of; the first one may compile kernels and is left out."""
        folder, _ = self.corpus(START_DOCUMENTS)
        self.run(folder, self.out / "runs" / "scale-start")
        return median(self.run(folder, self.out / "runs" / "scale-start").wall_s for _ in range(3))

    def size(self, n_documents: int, start_s: float) -> Size:
        """One size: corpus, runs, answers."""
        _say(f"{n_documents:,} documents: corpus")
        folder, manifest = self.corpus(n_documents)
        run_folder = self.out / "runs" / folder.name
        repeats = 3 if n_documents <= SMALL_DOCUMENTS else 1
        runs = []
        for _ in range(repeats):
            _say(f"{n_documents:,} documents: nearkin")
            runs.append(self.run(folder, run_folder))
        _say(f"{n_documents:,} documents: answers")
        told = json.loads((run_folder / "manifest.json").read_text("utf-8"))
        recall, n_checked, n_untrue = check_sample(manifest, self.options.data, run_folder)
        predicted = told.get("estimated_recall")
        size = Size(
            documents=n_documents,
            text_bytes=_text_bytes(folder),
            wall_s=median(run.wall_s for run in runs),
            start_s=start_s,
            cpu_s=median(run.cpu_s for run in runs),
            peak_memory_bytes=max(run.peak_memory_bytes for run in runs),
            peak_anonymous_bytes=max(run.peak_anonymous_bytes for run in runs),
            recall=recall,
            recall_error=math.sqrt(max(recall.value * (1 - recall.value), 1e-9) / max(recall.n_all, 1)),
            predicted_recall=predicted,
            n_checked=n_checked,
            n_untrue=n_untrue,
            n_pairs=pq.read_metadata(run_folder / "pairs.parquet").num_rows,
            stages=json.dumps(told.get("stages", [])),
        )
        if self.options.clean:
            shutil.rmtree(run_folder)
            shutil.rmtree(folder)
        return size


def _text_bytes(folder: Path) -> int:
    """Text in the corpus, uncompressed, from the files' own statistics."""
    total = 0
    for part in folder.glob("*.parquet"):
        metadata = pq.read_metadata(part)
        text = metadata.schema.to_arrow_schema().get_field_index("text")
        groups = range(metadata.num_row_groups)
        total += sum(metadata.row_group(group).column(text).total_uncompressed_size for group in groups)
    return total


def rows_of(sizes: list[Size]) -> list[list[str]]:
    """The table: a line for each figure, a column for each size; growth is against the first size."""
    first = sizes[0]
    figures: list[tuple[str, Callable[[Size], str]]] = [
        ("text, GB", lambda size: f"{size.text_bytes / 1e9:.2f}"),
        ("whole process, s", lambda size: f"{size.wall_s:.1f}"),
        ("of it start, s", lambda size: f"{size.start_s:.1f}"),
        ("processor, s", lambda size: f"{size.cpu_s:.1f}"),
        ("documents/s", lambda size: f"{size.documents / size.wall_s:,.0f}"),
        ("µs a document", lambda size: f"{size.microseconds:.1f}"),
        ("growth", lambda size: _growth(size.microseconds, first.microseconds)),
        ("µs a document, without start", lambda size: f"{size.work_microseconds:.1f}"),
        ("growth, without start", lambda size: _growth(size.work_microseconds, first.work_microseconds)),
        ("peak memory, MiB", lambda size: f"{size.peak_memory_bytes / 2**20:,.0f}"),
        ("of it no mapped files, MiB", lambda size: f"{size.peak_anonymous_bytes / 2**20:,.0f}"),
        ("pairs reported", lambda size: f"{size.n_pairs:,}"),
        ("planted pairs looked up", lambda size: f"{size.recall.n_all:,}"),
        ("recall of them", lambda size: f"{size.recall.value:.4f} ± {size.recall_error:.4f}"),
        ("recall predicted", lambda size: "–" if size.predicted_recall is None else f"{size.predicted_recall:.4f}"),
        ("reported pairs checked", lambda size: f"{size.n_checked:,}"),
        ("of them untrue", lambda size: f"{size.n_untrue:,}"),
    ]
    return [[name, *(figure(size) for size in sizes)] for name, figure in figures]


def heads_of(sizes: list[Size]) -> list[str]:
    """The sizes."""
    return ["documents", *(f"{size.documents:,}" for size in sizes)]


def _growth(now: float, first: float) -> str:
    """By how much more than at the first size."""
    return f"{now / first - 1:+.0%}" if first else "–"


def write(sizes: list[Size], out: Path, memory: str) -> None:
    """``scale.json`` and ``scale.md``."""
    (out / "scale.json").write_text(json.dumps([asdict(size) for size in sizes], indent=1) + "\n", "utf-8")
    heads = heads_of(sizes)
    lines = [f"# nearkin dedup --memory {memory}\n", _line(heads), _line(["---:"] * len(heads))]
    (out / "scale.md").write_text("\n".join([*lines, *map(_line, rows_of(sizes))]) + "\n", "utf-8")


def _line(cells: list[str]) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def _say(text: str) -> None:
    """What is going on."""
    print(f"• {text}", file=sys.stderr, flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", default="50000,500000,5000000", help="sizes, separated by commas")
    parser.add_argument("--memory", default="2GiB", help="for nearkin")
    parser.add_argument("--data", type=Path, help="a folder with reuters21578.parquet and contracts.parquet")
    parser.add_argument("--out", type=Path, default=HERE / "out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mean-bytes", type=int, default=MEAN_BYTES, help="of a document's text")
    parser.add_argument("--time-limit", type=float, default=4 * 3_600.0, help="seconds for one run")
    parser.add_argument("--nearkin", type=Path, default=Path(sys.executable).with_name("nearkin"), help="its command")
    parser.add_argument("--clean", action="store_true", help="remove each corpus and run once it is measured")
    options = parser.parse_args()
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    scale, sizes = Scale(options), []
    start_s = scale.start_s()
    for n_documents in map(int, options.documents.split(",")):
        sizes.append(scale.size(n_documents, start_s))
        write(sizes, options.out, options.memory)  # after every size: an interrupted run keeps what it has
    table = Table(title=f"nearkin dedup --memory {options.memory}", title_justify="left")
    for number, head in enumerate(heads_of(sizes)):
        table.add_column(head, justify="right" if number else "left")
    for row in rows_of(sizes):
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
