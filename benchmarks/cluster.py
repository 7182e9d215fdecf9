"""``nearkin dedup`` on a Spark cluster: beside itself on one machine, and beside other ways to do it on Spark.

The cluster is a master and two workers of one core each, on this machine; ``standalone.py`` says how. It reports:

- whole: the same corpus with ``--engine local --threads 2`` and ``--engine spark``. The results must be the same bytes,
  else the benchmark ends with exit code 1. Time on the wall and of all processors, start-up told apart; what each stage
  took, and what it sent through Spark's shuffles.
- peers: text-dedup's script for Spark and Spark's own MinHashLSH on the same cluster, judged like the peers of
  ``run.py``. Nearkin runs on the cluster before and after each. A peer that takes too long is stopped, and said so::

    python benchmarks/cluster.py --data FOLDER
    python benchmarks/cluster.py --only whole --corpus FOLDER_OF_PARQUET
    python benchmarks/cluster.py --only peers --peer-documents 5000
"""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

import pyarrow.parquet as pq

from cluster_tables import Engine, PeerTable, WholeTable
from corpus import FILE_DOCUMENTS, write_corpus
from documents import read_columns
from environments import HERE, NO_NETWORK, Peer, install
from judge import Planted, read_nearkin_answer, read_peer_answer
from measure import Run, run_measured
from processor import ProcessorTime, counted
from results import PeerRow, Slot
from run import machine
from shuffles import Events
from standalone import N_WORKERS, Standalone, running
from tables import BUSY, QUIET_LOAD
from truth import SHINGLE_WORDS, number_shingles, true_pairs
from words import RULES

THRESHOLD = 0.7
START_DOCUMENTS = 1_000
FILES = 4  # of a corpus, at least: a file is read by one task
RESULTS = ("documents.parquet", "pairs.parquet", "groups.parquet")
BANDS, ROWS = 35, 7  # of 250: 0.95 of the pairs at the threshold are found, as in run.py
PEERS = (
    Peer("text-dedup", "text-dedup", "run_text_dedup_spark.py", ("--bands", str(BANDS), "--rows", str(ROWS))),
    Peer(
        "text-dedup, 8 partitions",
        "text-dedup",
        "run_text_dedup_spark.py",
        ("--bands", str(BANDS), "--rows", str(ROWS), "--few-partitions"),
    ),
    Peer("Spark's MinHashLSH", "pyspark", "run_spark_minhash_lsh.py"),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """A run of Nearkin.

    Parameters
    ----------
    run : Run
    began_s : float
        In seconds since 1970.
    processor_s : float
        Of all processes: the driver, Java, executors, Python's workers, the cluster itself.
    stages : dict of str to float
        Seconds of each, as the manifest tells.
    """

    run: Run
    began_s: float
    processor_s: float
    stages: dict[str, float]

    @property
    def slot(self) -> Slot:
        """Between two peers."""
        return Slot(self.run.wall_s, None, self.run.peak_memory_bytes)


class Bench:
    """Runs on one cluster."""

    def __init__(self, options: argparse.Namespace, load: float, counting: ProcessorTime, cluster: Standalone) -> None:
        self.options = options
        self.out: Path = options.out
        self.load = load
        self.counting = counting
        self.cluster = cluster

    def corpus(self, n_documents: int) -> Path:
        """A folder of Parquet files, written unless it is there."""
        folder = self.out / f"corpus-{n_documents}"
        n = max(1, min(FILE_DOCUMENTS, n_documents // FILES))
        write_corpus(
            folder, n_documents, data=self.options.data, seed=self.options.seed, output_format="parquet",
            file_documents=n,
        )  # fmt: skip
        return folder

    def local(self, corpus: Path, name: str) -> Measured:
        """Nearkin on this machine alone."""
        return self._nearkin(corpus, name, "--threads", str(N_WORKERS))

    def spark(self, corpus: Path, name: str) -> Measured:
        """Nearkin on the cluster."""
        settings = [part for pair in self.cluster.logging.items() for part in ("--conf", "=".join(pair))]
        return self._nearkin(corpus, name, "--engine", "spark", "--master", self.cluster.url, *settings)

    def _nearkin(self, corpus: Path, name: str, *more: str) -> Measured:
        folder, log = self.out / "runs" / name, self.out / "logs" / f"{name}.log"
        command = [
            str(self.options.nearkin),
            "dedup",
            str(corpus),
            "--text",
            "text",
            "--id",
            "id",
            "--out",
            str(folder),
        ]
        command += ["--threshold", str(THRESHOLD), "--shingle", f"words:{SHINGLE_WORDS}"]
        command += ["--overwrite", "--no-report", "--quiet", *more]
        run, began_s, processor_s = self._run(command, log, time_limit_s=4 * 3_600.0)
        if not run.is_good:
            raise SystemExit(f"nearkin, {name}: {run.failure}\nits output: {log}")
        told = json.loads((folder / "manifest.json").read_text("utf-8"))
        return Measured(run, began_s, processor_s, {one["name"]: one["elapsed_s"] for one in told["stages"]})

    def _run(
        self, command: list[str], log: Path, *, time_limit_s: float, environment: dict[str, str] | None = None
    ) -> tuple[Run, float, float]:
        """(The run, when it began, processor seconds), the cluster's own until the run is off it included."""
        self.cluster.wait_until_idle()
        processor_s, began_s = self.counting.seconds(), time.time()
        run = run_measured(
            [*self.counting.launcher, *command],
            time_limit_s=time_limit_s,
            log=log,
            environment={**self.cluster.environment, **(environment or {})},
        )
        self.cluster.wait_until_idle()
        return run, began_s, self.counting.seconds() - processor_s

    def whole(self) -> WholeTable:
        """One machine, the cluster, one machine again."""
        small = self.corpus(START_DOCUMENTS)
        _say(f"{START_DOCUMENTS:,} documents: what it takes to start")
        self.local(small, "start-local")  # may have to compile kernels
        local_start, spark_start = self.local(small, "start-local"), self.spark(small, "start-spark")
        corpus = self.options.corpus or self.corpus(self.options.documents)
        n_documents = _n_documents(corpus)
        _say(f"{n_documents:,} documents: one machine")
        before = self.local(corpus, "local")
        _say(f"{n_documents:,} documents: the cluster")
        spark = self.spark(corpus, "spark")
        events = Events.read(self.cluster.event_log())
        _check_same(self.out / "runs" / "local", self.out / "runs" / "spark")
        _say(f"{n_documents:,} documents: one machine again")
        after = self.local(corpus, "local")
        wall_s = mean((before.run.wall_s, after.run.wall_s))
        processor_s = mean((before.processor_s, after.processor_s))
        stages = {name: mean((seconds, after.stages[name])) for name, seconds in before.stages.items()}
        start_s = events.first_query_s - spark.began_s + spark.stages["executors"]
        return WholeTable(
            n_documents=n_documents,
            local=Engine("one machine", wall_s, local_start.run.wall_s, processor_s, local_start.processor_s, stages),
            spark=Engine("Spark", spark.run.wall_s, start_s, spark.processor_s, spark_start.processor_s, spark.stages),
            events=events,
            notes=self.notes(),
        )

    def peers(self) -> PeerTable:
        """Nearkin, then each peer, and Nearkin again after it."""
        corpus = self.corpus(self.options.peer_documents)
        planted = self._planted(corpus)
        n_documents = _n_documents(corpus)
        _say(f"{n_documents:,} documents: one machine")
        local = self.local(corpus, "peers-local")
        _say(f"{n_documents:,} documents: the cluster")
        sparks = [self.spark(corpus, "peers-spark")]
        _check_same(self.out / "runs" / "peers-local", self.out / "runs" / "peers-spark")
        verdict = planted.judge(read_nearkin_answer(self.out / "runs" / "peers-spark").found)
        rows = []
        for peer in PEERS:
            row, before = PeerRow(name=peer.name, package=peer.package, failure=install(peer)), sparks[-1]
            if not row.failure:
                _say(peer.name)
                row = self._peer(peer, row, corpus, planted)
                sparks.append(self.spark(corpus, "peers-spark"))
            rows.append(row.beside(before.slot, sparks[-1].slot))
        return PeerTable(
            n_documents=n_documents,
            n_true=len(planted.pairs),
            threshold=THRESHOLD,
            local_wall_s=local.run.wall_s,
            local_processor_s=local.processor_s,
            spark_wall_s=mean(one.run.wall_s for one in sparks),
            spark_processor_s=mean(one.processor_s for one in sparks),
            verdict=verdict,
            rows=tuple(rows),
            notes=self.notes(),
        )

    def _peer(self, peer: Peer, row: PeerRow, corpus: Path, planted: Planted) -> PeerRow:
        """One peer on the cluster."""
        name = peer.name.replace(" ", "-").replace(",", "").replace("'", "")
        folder, log = self.out / "runs" / name, self.out / "logs" / f"{name}.log"
        shutil.rmtree(folder, ignore_errors=True)
        environment = {**NO_NETWORK, "PYSPARK_PYTHON": str(peer.python), "PYTHONWARNINGS": "ignore"}
        run, _, processor_s = self._run(
            peer.command(corpus, folder), log, time_limit_s=self.options.time_limit, environment=environment
        )
        row = replace(row.measured(run, folder), cpu_s=processor_s)
        found = None if row.failure else read_peer_answer(folder)
        shutil.rmtree(folder / "work", ignore_errors=True)
        return row if found is None else row.judged(planted.judge(found), None)

    def _planted(self, corpus: Path) -> Planted:
        """The truth."""
        _say("the truth")
        table = read_columns(corpus, ["text", "family", "edit"])
        sets = number_shingles(table.column("text").to_pylist(), RULES["nearkin"], SHINGLE_WORDS)
        return Planted.of(table, true_pairs(sets, THRESHOLD))

    def notes(self) -> list[str]:
        """What figures stand on."""
        return [
            f"{machine()}.",
            f"A master and {N_WORKERS} workers of one core each on this machine; --threads {N_WORKERS} without it.",
            f"Processor seconds are those of all processes, by {self.counting.how}.",
            *([BUSY.format(load=self.load)] if self.load > QUIET_LOAD else []),
        ]


def _n_documents(corpus: Path) -> int:
    return sum(pq.read_metadata(part).num_rows for part in corpus.glob("*.parquet"))


def _check_same(one: Path, other: Path) -> None:
    """End the benchmark unless two runs left the same bytes."""
    for name in RESULTS:
        if not filecmp.cmp(one / name, other / name, shallow=False):
            raise SystemExit(f"{one / name} and {other / name} differ, and should be the same bytes.")


@contextmanager
def started(options: argparse.Namespace) -> Iterator[Bench]:
    """A benchmark with its cluster."""
    load = os.getloadavg()[0]
    with counted() as counting, running(counting.launcher) as cluster:
        yield Bench(options, load, counting, cluster)


def _say(text: str) -> None:
    """What is going on."""
    print(f"• {text}", file=sys.stderr, flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="real sentences: see corpus.py")
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--peer-documents", type=int, default=50_000)
    parser.add_argument("--only", choices=["whole", "peers"])
    parser.add_argument("--corpus", type=Path, help="a folder of corpus.py's Parquet files, for whole, instead")
    parser.add_argument("--out", type=Path, default=HERE / "out" / "cluster")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=900.0, help="seconds for one run of one peer")
    parser.add_argument("--nearkin", type=Path, default=Path(sys.executable).with_name("nearkin"), help="its command")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each Python of the cluster would compile its modules anew
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    with started(options) as bench:
        if options.only != "peers":
            bench.whole().show(options.out)
        if options.only != "whole":
            bench.peers().show(options.out)


if __name__ == "__main__":
    main()
