"""Nearkin and its peers side by side on one corpus, each judged against exact Jaccard: the table of ``make bench``.

Nearkin runs before and after every peer, so that each ratio compares runs made within minutes of each other; the mean
of the two stands for Nearkin. First its answer is checked: every pair it reports must be true, with the exact
similarity, and its recall must be what it predicted. A peer that fails or takes too long is a row that says so::

    python benchmarks/run.py
    python benchmarks/run.py --documents 5000 --peers rensa,daft --data FOLDER
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import statistics
import sys
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpus import Manifest, write_corpus
from documents import read_columns
from environments import HERE, NO_NETWORK, PEERS, Peer, chosen_peers, install
from judge import Planted, Verdict, read_nearkin_answer, read_peer_answer
from measure import Run, run_measured
from results import CliTimes, NearkinCheck, PeerRow, Results, Slot
from tables import print_tables, write_results
from truth import SHINGLE_WORDS, TRUTH_VERSION, TruePairs, number_shingles, true_pairs
from words import RULES

THRESHOLD = 0.8
RECALL_SLACK_ERRORS = 3.0  # standard errors by which the measured recall may fall short of the predicted one


class Bench:
    """One benchmark: a corpus, its truth, and the runs on it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.out: Path = options.out
        self.corpus = self.out / f"corpus-{options.documents}.jsonl"
        self.out.mkdir(parents=True, exist_ok=True)
        _say(f"corpus of {options.documents:,} documents")
        self.load = os.getloadavg()[0]
        self.manifest: Manifest = write_corpus(self.corpus, options.documents, data=options.data, seed=options.seed)
        self.table = read_columns(self.corpus, ["text", "family", "edit"])
        self._planted: dict[str, Planted] = {}

    def planted(self, rule: str) -> Planted:
        """The truth by one rule for words: read from an earlier run on the very same corpus, or computed and kept."""
        if rule not in self._planted:
            digest = hashlib.sha256(
                repr((self.manifest, THRESHOLD, rule, SHINGLE_WORDS, TRUTH_VERSION)).encode()
            ).hexdigest()[:16]
            stored = self.out / f"truth-{rule}-{digest}.parquet"
            if not stored.is_file():
                _say(f"truth by the words of {rule}")
                sets = number_shingles(self.table.column("text").to_pylist(), RULES[rule], SHINGLE_WORDS)
                pairs = true_pairs(sets, THRESHOLD)
                pq.write_table(pa.table({"a": pairs.a, "b": pairs.b, "jaccard": pairs.jaccard}), stored)
            table = pq.read_table(stored)
            pairs = TruePairs(*(table.column(name).to_numpy() for name in ("a", "b", "jaccard")))
            self._planted[rule] = Planted.of(self.table, pairs)
        return self._planted[rule]

    def nearkin_cli(self, name: str, *more: str) -> Run:
        """One whole process of ``nearkin dedup``."""
        command = self.options.nearkin
        if not command.is_file():
            raise SystemExit(f"--nearkin must be the command of an installed Nearkin; {command} is not there.")
        arguments = [str(command), "dedup", str(self.corpus), "--out", str(self.out / "runs" / name), "--overwrite"]
        arguments += ["--threshold", str(THRESHOLD), "--shingle", f"words:{SHINGLE_WORDS}", *more]
        log = self.out / "logs" / f"{name}.log"
        run = run_measured(arguments, time_limit_s=self.options.time_limit, log=log)
        if not run.is_good:
            raise SystemExit(f"nearkin: {run.failure}\nits output: {log}")
        return run

    def nearkin_api(self) -> float | None:
        """Seconds of the work inside a process that has loaded its kernels; None, with a word, when that fails."""
        folder, log = self.out / "runs" / "nearkin-api", self.out / "logs" / "nearkin-api.log"
        shutil.rmtree(folder, ignore_errors=True)
        command = [sys.executable, str(PEERS / "run_nearkin.py"), str(self.corpus), str(folder)]
        run = run_measured(command, time_limit_s=self.options.time_limit, log=log)
        if not run.is_good:
            _say(f"nearkin through Python: {run.failure}")
            return None
        return float(json.loads((folder / "answer.json").read_text("utf-8"))["elapsed_s"])

    def slot(self) -> Slot:
        """Nearkin now: the median of the repeats."""
        runs = [self.nearkin_cli("nearkin", "--no-report") for _ in range(self.options.repeat)]
        api = [seconds for _ in range(self.options.repeat) if (seconds := self.nearkin_api()) is not None]
        return Slot(
            wall_s=statistics.median(run.wall_s for run in runs),
            work_s=statistics.median(api) if api else None,
            peak_memory_bytes=max(run.peak_memory_bytes for run in runs),
        )

    def check_nearkin(self) -> tuple[NearkinCheck, CliTimes]:
        """A first run, one with the report, and its answer against the truth; a wrong one ends the benchmark."""
        _say("nearkin: first run, its answer checked")
        first = self.nearkin_cli("nearkin-first", "--no-report")
        with_report = self.nearkin_cli("nearkin-report")
        planted = self.planted("nearkin")
        answer = read_nearkin_answer(self.out / "runs" / "nearkin-report")
        at = np.searchsorted(planted.pairs.keys, answer.listed)
        at = np.minimum(at, max(len(planted.pairs) - 1, 0))
        is_true = planted.pairs.keys[at] == answer.listed
        difference = np.abs(planted.pairs.jaccard[at] - answer.jaccard)[is_true]
        told = json.loads((self.out / "runs" / "nearkin-report" / "manifest.json").read_text("utf-8"))
        verdict = planted.judge(answer.found)
        predicted = _number(told.get("estimated_recall"))
        check = NearkinCheck(
            verdict=verdict,
            n_reported=len(answer.listed),
            n_untrue=int((~is_true).sum()),
            largest_difference=float(difference.max(initial=0.0)),
            predicted_recall=predicted,
            predicted_recall_at_threshold=_number(told.get("plan", {}).get("recall_at_threshold")),
            estimated_missed_pairs=_number(told.get("estimated_missed_pairs")),
            is_recall_as_predicted=_is_as_predicted(verdict, predicted),
            plan=json.dumps(told.get("plan", {})),
        )
        times = CliTimes(first.wall_s, with_report.wall_s, with_report.peak_memory_bytes)
        if check.problems and not self.options.keep_going:
            raise SystemExit("Nearkin's answer is wrong, so its speed means nothing:\n" + "\n".join(check.problems))
        return check, times

    def peer(self, peer: Peer, before: Slot) -> tuple[PeerRow, Slot]:
        """One peer, then Nearkin again."""
        row = PeerRow(name=peer.name, package=peer.package, failure=install(peer))
        if not row.failure:
            _say(peer.name)
            row = self._measure(peer, row)
        after = before if row.failure.startswith("not installed") else self.slot()
        return row.beside(before, after), after

    def _measure(self, peer: Peer, row: PeerRow) -> PeerRow:
        """Run a peer ``repeat`` times; the run with the median time is the one told."""
        runs: list[PeerRow] = []
        name = peer.name.replace(" ", "-")
        folder, log = self.out / "runs" / name, self.out / "logs" / f"{name}.log"
        homes = {"HF_HOME": str(self.out / "runs" / "hf-home"), "PYTHONWARNINGS": "ignore"}
        for _ in range(self.options.repeat):
            shutil.rmtree(folder, ignore_errors=True)
            run = run_measured(
                peer.command(self.corpus, folder),
                time_limit_s=self.options.time_limit,
                log=log,
                environment={**NO_NETWORK, **homes},
            )
            runs.append(row.measured(run, folder))
            if runs[-1].failure:
                shutil.rmtree(folder / "work", ignore_errors=True)
                return runs[-1]
        row = sorted(runs, key=lambda one: one.wall_s)[(len(runs) - 1) // 2]
        found = read_peer_answer(folder)
        if found is None:
            return row
        own = self.planted(peer.rule).judge(found) if self.options.own_rules and peer.rule != "nearkin" else None
        return row.judged(self.planted("nearkin").judge(found), own)

    def results(self) -> Results:
        """The whole benchmark."""
        check, times = self.check_nearkin()
        results = Results(
            asdict(self.manifest), machine(), THRESHOLD, version("nearkin"), self.load, check, times, [self.slot()], []
        )
        for peer in chosen_peers(self.options.peers):
            row, after = self.peer(peer, results.slots[-1])
            results.peers.append(row)
            if after is not results.slots[-1]:
                results.slots.append(after)
            write_results(results, self.out)  # after every peer: an interrupted benchmark keeps what it has
        return results


def _is_as_predicted(verdict: Verdict, predicted: float | None) -> bool | None:
    """Whether the measured recall is below the predicted one by no more than chance allows; None: nothing predicted."""
    if predicted is None or not verdict.recall.n_all:
        return None
    error = max((predicted * (1 - predicted) / verdict.recall.n_all) ** 0.5, 1 / verdict.recall.n_all)
    return bool(verdict.recall.value >= predicted - RECALL_SLACK_ERRORS * error)


def _number(value: object) -> float | None:
    """A float where a number came."""
    return float(value) if isinstance(value, int | float) else None


def machine() -> str:
    """What this ran on, in a line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, {system}"


def _say(text: str) -> None:
    """What is going on."""
    print(f"• {text}", file=sys.stderr, flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--peers", default="all", help="names or packages separated by commas; all; none")
    parser.add_argument("--data", type=Path, help="a folder with reuters21578.parquet and contracts.parquet")
    parser.add_argument("--out", type=Path, default=HERE / "out")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each, of which the median counts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=1_200.0, help="seconds for one run of one peer")
    parser.add_argument(
        "--own-rules", action=argparse.BooleanOptionalAction, default=True, help="judge peers by their own words too"
    )
    parser.add_argument("--nearkin", type=Path, default=Path(sys.executable).with_name("nearkin"), help="its command")
    parser.add_argument("--keep-going", action="store_true", help="even when Nearkin's answer is wrong")
    options = parser.parse_args()
    options.out = options.out.resolve()
    if options.repeat < 1 or options.documents < 100:
        parser.error("--repeat must be at least 1 and --documents at least 100")
    bench = Bench(options)
    results = bench.results()
    write_results(results, options.out)
    print_tables(results)
    if results.check.problems:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
