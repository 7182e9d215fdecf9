"""The tables of a benchmark: on the terminal, in Markdown and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from judge import Share, Verdict
from results import PeerRow, Results

Rows = list[list[str]]


def _seconds(value: float | None) -> str:
    return f"{value:.2f}" if value else NOTHING


def _ratio(value: float | None, *, at_least: bool = False) -> str:
    return NOTHING if value is None else f"{'> ' if at_least else ''}{value:.1f}×"


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:,.0f}" if size_bytes else NOTHING


def _share(share: Share | None) -> str:
    if share is None or not share.n_all:
        return NOTHING
    # cut, never rounded up to a 1 that is not one
    return "1" if share.n_found == share.n_all else f"{int(share.value * 10_000) / 10_000:.4f}"


SPEED_HEADS = [
    "tool",
    "whole process s",
    "documents/s",
    "× Nearkin",
    "work s",
    "× Nearkin's work",
    "memory MiB",
    "recall",
    "precision",
    "dropped",
    "of them alone",
]
NOTHING = "–"


def speed_rows(results: Results) -> Rows:
    """Nearkin, then every peer: time, ratio, memory, quality."""
    return [*_nearkin_rows(results), *(_peer_row(peer, results.n_documents) for peer in results.peers)]


def _nearkin_rows(results: Results) -> Rows:
    """Without its report, and with it."""
    n, times, quality = results.n_documents, results.times, quality_of(results.check.verdict)
    works = [slot.work_s for slot in results.slots if slot.work_s is not None]
    work_s = sum(works) / len(works) if works else None
    wall_s = sum(slot.wall_s for slot in results.slots) / len(results.slots)
    memory = _mib(max(slot.peak_memory_bytes for slot in results.slots))
    plain = ["nearkin", _seconds(wall_s), f"{n / wall_s:,.0f}", "1", _seconds(work_s), "1"]
    report = ["nearkin, with report", _seconds(times.with_report_wall_s), f"{n / times.with_report_wall_s:,.0f}"]
    report += [_ratio(times.with_report_wall_s / wall_s), NOTHING, NOTHING]
    return [[*plain, memory, *quality], [*report, _mib(times.with_report_peak_memory_bytes), *quality]]


def _peer_row(peer: PeerRow, n_documents: int) -> list[str]:
    """One peer; why it has no answer is among the notes."""
    memory = _mib(peer.peak_memory_bytes)
    if peer.failure:
        wall = f"> {peer.wall_s:.0f}" if peer.is_stopped else "failed"
        ratio = _ratio(peer.ratio_wall, at_least=True)
        return [peer.name, wall, NOTHING, ratio, NOTHING, NOTHING, memory, *[NOTHING] * 4]
    rate = f"{n_documents / peer.wall_s:,.0f}"
    times = [_seconds(peer.wall_s), rate, _ratio(peer.ratio_wall), _seconds(peer.work_s), _ratio(peer.ratio_work)]
    return [peer.name, *times, memory, *quality_of(peer.verdict)]


def quality_of(verdict: Verdict | None) -> list[str]:
    """Recall, precision, dropped, dropped alone."""
    if verdict is None:
        return ["no answer", NOTHING, NOTHING, NOTHING]
    return [_share(verdict.recall), _share(verdict.precision), f"{verdict.n_dropped:,}", f"{verdict.n_dropped_alone:,}"]


def _recall_rows(results: Results, part: Callable[[Verdict], dict[str, Share]]) -> tuple[list[str], Rows]:
    """One kind of recall for everyone, a column for each kind."""
    kinds = part(results.check.verdict)
    heads = ["tool", *(f"{name} ({share.n_all:,})" for name, share in kinds.items())]
    rows = [["nearkin", *map(_share, kinds.values())]]
    for peer in results.peers:
        if peer.verdict is not None:
            rows.append([peer.name, *map(_share, part(peer.verdict).values())])
    return heads, rows


def candidate_rows(results: Results) -> Rows:
    """Recall and precision before a tool's own picking, and by its own words."""
    rows = []
    for peer in results.peers:
        verdict, own = peer.verdict, peer.own_verdict
        if verdict is None or (own is None and verdict.candidate_recall is None):
            continue
        rows.append(
            [
                peer.name,
                _share(verdict.candidate_recall),
                _share(verdict.candidate_precision),
                _share(own.recall if own else None),
                _share(own.precision if own else None),
            ]
        )
    return rows


def sections(results: Results) -> list[tuple[str, list[str], Rows]]:
    """All tables, each with its title and heads."""
    edits = _recall_rows(results, lambda verdict: verdict.by_edit)
    bands = _recall_rows(results, lambda verdict: verdict.by_similarity)
    found = [
        ("Speed, memory, quality", SPEED_HEADS, speed_rows(results)),
        ("Recall by kind of edit (number of true pairs)", *edits),
        ("Recall by exact Jaccard (number of true pairs)", *bands),
    ]
    candidates = candidate_rows(results)
    if candidates:
        heads = ["tool", "candidates' recall", "their precision", "recall, own words", "precision, own words"]
        found.append(("Before its own picking, and by its own rule for words", heads, candidates))
    return found


QUIET_LOAD = 0.5
BUSY = "The machine was busy with something else (load {load:.1f} at the start): times are longer and less sure."
MEANING = (
    "× Nearkin: the peer's whole process over the mean of Nearkin's (no report) just before and just after it.",
    "× Nearkin's work: the peer's work, imports apart, over nearkin.dedup in a process that has loaded its kernels.",
    "Memory: of the whole process tree, shared pages counted once.",
    "Dropped, of them alone: resembling no other document at the threshold, so that their text may be lost.",
)


def notes(results: Results) -> list[str]:
    """What the figures stand on."""
    check, corpus = results.check, results.corpus
    n_true = check.verdict.recall.n_all
    predicted = "not told" if check.predicted_recall is None else f"{check.predicted_recall:.4f}"
    return [
        f"{results.n_documents:,} documents, made from {corpus['origin']} (seed {corpus['seed']}); {results.machine}.",
        f"Truth: all {n_true:,} pairs with Jaccard of word 5-grams >= {results.threshold}, found exhaustively, exact.",
        f"Nearkin {results.nearkin_version}: {check.n_reported:,} pairs reported, {check.n_untrue} of them untrue, "
        f"similarities off by at most {check.largest_difference:g}; "
        f"recall {_share(check.verdict.recall)}, predicted {predicted}.",
        f"Nearkin's first run took {results.times.first_wall_s:.1f} s; a fresh installation compiles its kernels then.",
        *([BUSY.format(load=results.load)] if results.load > QUIET_LOAD else []),
        *MEANING,
        *(f"PROBLEM: {problem}" for problem in check.problems),
        *(f"{peer.name} FAILED: {peer.failure}" for peer in results.peers if peer.failure),
        *(f"{peer.name} ({peer.package} {peer.version}): {peer.how}." for peer in results.peers if peer.how),
    ]


def print_tables(results: Results) -> None:
    """On the terminal."""
    console = Console(width=max(150, Console().width))
    for title, heads, rows in sections(results):
        table = Table(title=title, title_justify="left")
        for number, head in enumerate(heads):
            table.add_column(head, justify="right" if number else "left", no_wrap=not number)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    for line in notes(results):
        console.print(line, highlight=False, markup=False)


def write_results(results: Results, out: Path) -> None:
    """``results.json`` and ``results.md`` in ``out``, each written aside and renamed."""
    record = asdict(results)
    for stored, peer in zip(record["peers"], results.peers, strict=True):
        stored["ratio_wall"], stored["ratio_work"] = peer.ratio_wall, peer.ratio_work
    _write(out / "results.json", json.dumps(record, indent=1) + "\n")
    lines = ["# Benchmark\n"]
    for title, heads, rows in sections(results):
        lines += [f"## {title}\n", _line(heads), _line(["---"] * len(heads)), *map(_line, rows), ""]
    lines += [f"- {note}" for note in notes(results)]
    _write(out / "results.md", "\n".join(lines) + "\n")


def _line(cells: list[str]) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    aside = path.with_name(path.name + ".part")
    aside.write_text(text, "utf-8")
    aside.replace(path)
