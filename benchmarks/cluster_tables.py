"""The tables of ``cluster.py``: on the terminal, and as Markdown."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from judge import Verdict
from results import PeerRow
from shuffles import Events
from tables import NOTHING, quality_of

Rows = list[list[str]]
TEXTS = ("what", "stage on one machine")  # heads of columns that are read, not compared


@dataclass(frozen=True, slots=True)
class Section:
    """One table."""

    title: str
    heads: list[str]
    rows: Rows

    def markdown(self) -> str:
        """As Markdown."""
        rules = ["---" if head in TEXTS or not number else "---:" for number, head in enumerate(self.heads)]
        lines = [self.heads, rules, *self.rows]
        return f"## {self.title}\n\n" + "".join(f"| {' | '.join(cells)} |\n" for cells in lines)

    def printed(self) -> Table:
        """For the terminal."""
        table = Table(title=self.title, title_justify="left")
        for number, head in enumerate(self.heads):
            is_text = not number or head in TEXTS
            table.add_column(head, justify="left" if is_text else "right")
        for row in self.rows:
            table.add_row(*row)
        return table


def show(sections: list[Section], notes: list[str], place: Path) -> None:
    """Print, and write to ``place``."""
    console = Console(width=max(150, Console().width))
    for section in sections:
        console.print(section.printed())
    for line in notes:
        console.print(line, highlight=False, markup=False)
    text = "\n".join(section.markdown() for section in sections) + "\n" + "".join(f"- {note}\n" for note in notes)
    place.write_text(text, "utf-8")


@dataclass(frozen=True, slots=True)
class Engine:
    """One way to run Nearkin.

    Parameters
    ----------
    start_s : float
        Of ``wall_s``: until work begins.
    processor_s : float
        Of all processes.
    start_processor_s : float
        Of a run on 1,000 documents.
    stages : dict of str to float
        Seconds of each.
    """

    name: str
    wall_s: float
    start_s: float
    processor_s: float
    start_processor_s: float
    stages: dict[str, float]

    @property
    def work_s(self) -> float:
        """Without the start."""
        return self.wall_s - self.start_s

    @property
    def work_processor_s(self) -> float:
        """Without the start."""
        return self.processor_s - self.start_processor_s


@dataclass(frozen=True, slots=True)
class WholeTable:
    """One machine and the cluster."""

    n_documents: int
    local: Engine
    spark: Engine
    events: Events
    notes: list[str]

    def show(self, out: Path) -> None:
        """Print, and write ``whole.md``."""
        meaning = [
            "Start, wall: on Spark until its executors are seen to be fit; on one machine a run on 1,000 documents.",
            "Start, processor: a run on 1,000 documents; on Spark every Java compiles its own loops again in it.",
            "One machine: the mean of just before and just after.",
        ]
        show([self._speed(), self._stages(), self._shuffles()], [*meaning, *self.notes], out / "whole.md")

    def _speed(self) -> Section:
        heads = ["", "wall s", "of it start s", "documents/s", "without start", "processor s", "of it start s"]
        heads += ["documents/processor s", "without start"]
        rows = [self._row(self.local), self._row(self.spark)]
        local, spark = self.local, self.spark
        rates = local.wall_s / spark.wall_s, local.work_s / spark.work_s
        processor_rates = local.processor_s / spark.processor_s, local.work_processor_s / spark.work_processor_s
        cells = [[f"{rate:.2f}" for rate in pair] for pair in (rates, processor_rates)]
        rows.append(["Spark / one machine", "", "", *cells[0], "", "", *cells[1]])
        return Section(f"{self.n_documents:,} documents, the same bytes", heads, rows)

    def _row(self, engine: Engine) -> list[str]:
        cells = [engine.name]
        for all_s, start_s, work_s in (
            (engine.wall_s, engine.start_s, engine.work_s),
            (engine.processor_s, engine.start_processor_s, engine.work_processor_s),
        ):
            cells += [f"{all_s:.1f}", f"{start_s:.1f}"]
            cells += [f"{self.n_documents / seconds:,.0f}" if seconds > 0 else NOTHING for seconds in (all_s, work_s)]
        return cells

    def _stages(self) -> Section:
        sent: defaultdict[str, int] = defaultdict(int)
        for one in self.events.shuffles:
            sent[one.stage] += one.size_bytes
        local = [(name, f"{seconds:.1f}") for name, seconds in self.local.stages.items()]
        spark = [(name, f"{s:.1f}", self._each(sent[name])) for name, s in self.spark.stages.items()]
        n = max(len(local), len(spark))
        local += [("", "")] * (n - len(local))
        spark += [("", "", "")] * (n - len(spark))
        rows = [[*of_spark, *of_local] for of_spark, of_local in zip(spark, local, strict=True)]
        heads = ["stage on Spark", "s", "shuffled, B a document", "stage on one machine", "s"]
        return Section("Stages", heads, rows)

    def _shuffles(self) -> Section:
        rows = [[one.stage, self._each(one.size_bytes), one.carries] for one in self.events.shuffles]
        if self.events.other_bytes:
            rows.append([NOTHING, self._each(self.events.other_bytes), "of what no stage keeps"])
        n_bytes = self.events.other_bytes + sum(one.size_bytes for one in self.events.shuffles)
        rows.append(["all", self._each(n_bytes), f"{n_bytes / 2**20:,.0f} MiB"])
        return Section("Shuffles, compressed as they travel", ["stage", "B a document", "what"], rows)

    def _each(self, n_bytes: int) -> str:
        """Bytes a document."""
        return f"{n_bytes / self.n_documents:,.1f}" if n_bytes else NOTHING


@dataclass(frozen=True, slots=True)
class PeerTable:
    """Nearkin and its peers on Spark."""

    n_documents: int
    n_true: int
    threshold: float
    local_wall_s: float
    local_processor_s: float
    spark_wall_s: float
    spark_processor_s: float
    verdict: Verdict
    rows: tuple[PeerRow, ...]
    notes: list[str]

    def show(self, out: Path) -> None:
        """Print, and write ``peers.md``."""
        heads = ["on the cluster", "whole process s", "× Nearkin", "processor s", "× Nearkin"]
        heads += ["recall", "precision", "dropped", "of them alone"]
        quality = quality_of(self.verdict)
        spark = ["Nearkin", f"{self.spark_wall_s:.1f}", "1", f"{self.spark_processor_s:.1f}", "1", *quality]
        times = self.local_wall_s, self.spark_wall_s, self.local_processor_s, self.spark_processor_s
        local = ["Nearkin, without it", *_times(*times), *quality]
        title = f"{self.n_documents:,} documents, {self.n_true:,} true pairs"
        rows = [spark, local, *map(self._row, self.rows)]
        show([Section(title, heads, rows)], [*self._meaning(), *self.notes], out / "peers.md")

    def _row(self, peer: PeerRow) -> list[str]:
        if peer.failure and not peer.is_stopped:
            return [peer.name, "failed", *[NOTHING] * 7]
        beside_s = peer.nearkin_wall_s or self.spark_wall_s
        times = _times(peer.wall_s, beside_s, peer.cpu_s, self.spark_processor_s)
        if peer.is_stopped:
            times = [f"> {cell}" for cell in times]
        return [peer.name, *times, *quality_of(peer.verdict)]

    def _meaning(self) -> list[str]:
        return [
            f"Truth: all pairs with Jaccard of word 5-grams >= {self.threshold}, found exhaustively, exact.",
            "× Nearkin: on the cluster, the mean of just before and just after; processor seconds: of all its runs.",
            "Clusters are judged generously: two documents in one count as a found pair.",
            *(f"{peer.name}: {peer.failure}." for peer in self.rows if peer.failure),
            *(f"{peer.name} ({peer.package} {peer.version}): {peer.how}." for peer in self.rows if peer.how),
        ]


def _times(wall_s: float, beside_s: float, processor_s: float, beside_processor_s: float) -> list[str]:
    return [
        f"{wall_s:.1f}", f"{wall_s / beside_s:.2f}", f"{processor_s:.1f}", f"{processor_s / beside_processor_s:.2f}"
    ]  # fmt: skip
