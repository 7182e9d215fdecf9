"""Report of a deduplication: one HTML page that makes no network request; its script only filters."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from nearkin.kernels.sketch import found_by_bands
from nearkin.manifests.dedup import DedupManifest
from nearkin.options.dedup import DECIDING, DedupOptions
from nearkin.reports.comparison import ShownPiece, shown_pieces
from nearkin.reports.facts.fact import Fact, Table
from nearkin.reports.facts.jobs import dedup_facts, outcome_of, reasons_table
from nearkin.reports.figures import (
    Figure,
    RecallLine,
    at_both_widths,
    binned_sizes,
    bins_from,
    bins_in_words,
    group_sizes,
    outcome_chart,
    similarity_chart,
)
from nearkin.reports.pages import render_page
from nearkin.reports.quantities import criterion_of, measure_name, measure_of, parameter_text, time_text
from nearkin.stages.documents.ignoring import Ignored
from nearkin.stages.documents.normalisation import STEPS

DocId = str | int

_OPEN_SAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePair:
    """Verified pair that is shown with its differences.

    Parameters
    ----------
    text_a, text_b
        As they were compared: normalised.
    is_least_alike
        A is the principal of a group and B the member least similar to it.
    """

    id_a: DocId
    id_b: DocId
    source_a: str
    source_b: str
    similarity: float
    measure: str
    text_a: str
    text_b: str
    is_least_alike: bool = False
    is_bridge: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRow:
    """Document of a group, with fields of ``documents.parquet``; ``where`` is ``mail/1.jsonl:1``.

    ``copy_of`` is the document whose text it repeats, which may be dropped itself.
    """

    doc_id: DocId
    where: str
    similarity: float | None
    reason: str
    is_principal: bool = False
    copy_of: DocId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """Group of at least two documents, with fields of ``groups.parquet`` and the listed members.

    ``text`` is the principal's; None if the texts were not read for the page.
    """

    group: DocId
    size: int
    lowest_similarity: float
    n_bridges_refused: int
    n_exact_copies: int
    is_lowest_exact: bool = True
    members: tuple[MemberRow, ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedRow:
    """Document of the input that the other set has, with fields of ``documents.parquet``."""

    doc_id: DocId
    where: str
    match_id: DocId
    match_where: str
    similarity: float
    reason: str
    text: str
    match_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNote:
    """End (with time zone) and duration of a run, and the files beside its page."""

    ended: str
    elapsed_s: float
    files: tuple[str, ...] = ()

    @classmethod
    def now(cls, folder: Path, elapsed_s: float, names: Sequence[str]) -> RunNote:
        """Make the note for a run that ends now, with its existing results."""
        ended = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        return cls(ended=ended, elapsed_s=elapsed_s, files=tuple(name for name in names if (folder / name).exists()))

    @property
    def in_words(self) -> str:
        """Date, time and duration; the command takes longer, by the time for this page."""
        return f"{self.ended} · took {time_text(self.elapsed_s)}, plus the time to write this report"


@dataclass(frozen=True, slots=True)
class ShownPair:
    """Sample pair as the page shows it."""

    pair: SamplePair
    measure: str
    segments: tuple[ShownPiece, ...]
    is_open: bool


def render_dedup_report(
    manifest: DedupManifest,
    *,
    similarity_bin_edges: Sequence[float],
    similarity_counts: Sequence[int],
    group_size_counts: Mapping[int, int],
    largest_groups: Sequence[GroupRow],
    samples: Sequence[SamplePair],
    problems: Table,
    parts: Sequence[Table] = (),
    thresholds: Table | None = None,
    run: RunNote | None = None,
    curve: RecallCurve | None = None,
    exceptions: Table | None = None,
    dropped: Sequence[DroppedRow] = (),
) -> str:
    """Return the page ``report.html`` of a finished run; the same bytes for the same arguments.

    Parameters
    ----------
    curve
        For a search that has no bands; with bands the curve follows from the manifest's plan.
    """
    return render_page(
        "dedup.html.j2",
        script="find.js",
        facts=manifest,
        criterion=criterion_of(manifest),
        measure=measure_of(manifest),
        summary=tuple(dedup_facts(manifest)),
        reasons=reasons_table(manifest),
        parameters=tuple(parameter_facts(manifest)),
        normalisation_steps=normalisation_steps(manifest),
        outcome=outcome_figure(manifest),
        similarities=similarity_figure(manifest, similarity_bin_edges, similarity_counts, curve),
        sizes=size_figure(group_size_counts),
        largest_groups=largest_groups,
        n_groups=sum(group_size_counts.values()),
        samples=tuple(_shown(samples)),
        problems=problems,
        exceptions=exceptions,
        dropped=dropped,
        parts_of_input=parts,
        thresholds=thresholds,
        run=run,
    )


def _shown(samples: Sequence[SamplePair]) -> Iterator[ShownPair]:
    from nearkin.stages.differences.comparing import one_run

    for index, pair in enumerate(sorted(samples, key=lambda pair: pair.similarity)):
        pieces = shown_pieces(one_run(pair.text_a, pair.text_b))
        yield ShownPair(pair, measure_name(pair.measure), pieces, index < _OPEN_SAMPLES)


_CURVE_STEPS = 100
_VIEW_BELOW = 0.25  # of similarity, below the threshold


RecallCurve = tuple[Sequence[float], Sequence[float]]
"""Similarities of pairs, and the probability that a search without bands finds a pair of each."""


def outcome_figure(facts: DedupManifest) -> Figure | None:
    """Draw the kept and dropped documents; None if there are no documents."""
    if not facts.count("documents"):
        return None
    dropped = {reason: n for reason, n in facts.by_reason.items() if n and outcome_of(reason) == "dropped"}
    kept, unreadable = facts.count("kept"), facts.count("unreadable")
    wide, narrow = at_both_widths(
        "outcome", lambda name, width: outcome_chart(kept, unreadable, dropped, name=name, width=width + 56)
    )
    return Figure(
        wide, narrow, "Upper bar: all documents. Lower bars: dropped documents by reason, on a scale of their own."
    )


def similarity_figure(
    facts: DedupManifest, bin_edges: Sequence[float], counts: Sequence[int], curve: RecallCurve | None
) -> Figure | None:
    """Draw the pairs by similarity, and the probability of finding one; None if there are neither pairs nor a plan."""
    recall = _recall_line(facts, curve)
    if not sum(counts) and recall is None:
        return None
    first = _first_bin(bin_edges, counts, facts.threshold)
    bin_edges, counts = bin_edges[first:], counts[first:]
    wide, narrow = at_both_widths(
        "similarities",
        lambda name, width: similarity_chart(
            bin_edges, counts, facts.threshold, recall, measure=measure_of(facts), name=name, width=width
        ),
    )
    above = "" if facts.threshold is None else " at or above the threshold"
    caption = f"Bars: verified pairs{above}, by {measure_of(facts)} similarity. Each exact copy counts as one pair"
    caption += " of similarity 1."
    columns = (f"{measure_of(facts)} similarity", "Pairs")
    edges, from_threshold = bins_from(facts.threshold, [round(edge, 6) for edge in bin_edges], counts)
    rows = tuple((words, f"{n:,}") for words, n in zip(bins_in_words(edges), from_threshold, strict=True))
    return Figure(wide, narrow, caption + _about_line(recall), columns, rows)


def _about_line(recall: RecallLine | None) -> str:
    if recall is None:
        return ""
    asked = "" if recall.asked_for is None else f"; dotted: the requested recall of {recall.asked_for:g}"
    return f" Line: the predicted probability that the search finds a pair; dot and dashed line: the threshold{asked}."


def _recall_line(facts: DedupManifest, curve: RecallCurve | None) -> RecallLine | None:
    threshold = facts.threshold
    bands, rows = int(facts.plan_numbers.get("bands", 0)), int(facts.plan_numbers.get("rows", 0))
    if threshold is None or (curve is None and not (bands and rows)):
        return None
    # the recall was requested at the threshold of the search, where no other dot stands
    recall = facts.recall if threshold == facts.searched_threshold else None
    if curve is not None:
        return RecallLine(*curve, float(np.interp(threshold, *curve)), recall)
    similarities = [step / _CURVE_STEPS for step in range(_CURVE_STEPS + 1)]
    probabilities = [float(found_by_bands(s, bands, rows)) for s in similarities]
    return RecallLine(similarities, probabilities, float(found_by_bands(threshold, bands, rows)), recall)


def _first_bin(bin_edges: Sequence[float], counts: Sequence[int], threshold: float | None) -> int:
    """Return the first bin to show: the first with a pair, and early enough to see where the line falls."""
    last = len(counts) - 1
    with_pairs = next((i for i, n in enumerate(counts) if n), last)
    if threshold is None:
        return with_pairs
    in_view = max((i for i, edge in enumerate(bin_edges[:-1]) if edge <= threshold - _VIEW_BELOW), default=0)
    return min(with_pairs, in_view)


def size_figure(group_size_counts: Mapping[int, int]) -> Figure | None:
    """Draw the groups by size; None if there are no groups."""
    sizes = sorted(group_size_counts)
    counts = [group_size_counts[size] for size in sizes]
    if not sum(counts):
        return None
    wide, narrow = at_both_widths("sizes", lambda name, width: group_sizes(sizes, counts, name=name, width=width))
    rows = tuple((row.label, f"{row.n_groups:,}") for row in binned_sizes(sizes, counts))
    return Figure(wide, narrow, "Groups by the number of their documents.", ("Documents in the group", "Groups"), rows)


_OF_GROUPS = ("group", "keep")
"""Parameters without effect on a run against another set, which has no groups."""


def parameter_facts(run: DedupManifest) -> Iterator[Fact]:
    """Tabulate the parameters: first, in words, those that decide the result, then the others of the manifest."""
    for name in DECIDING:
        if name in run.parameters and not (run.is_against and name in _OF_GROUPS):
            yield Fact(name, _spelt(run.parameters[name]), DedupOptions.declared()[name].help)
    if {"bands", "rows"} <= run.plan_numbers.keys():
        bands, rows = run.plan_numbers["bands"], run.plan_numbers["rows"]
        meaning = f"{_chosen_from(run)}: documents are compared if all values of a band of their sketches are equal"
        yield Fact("bands × rows", f"{bands:,.0f} × {rows:,.0f}", meaning)
    if rate := run.plan_numbers.get("rate"):
        meaning = f"the share of shingles that become keys of the search, {_chosen_from(run)}"
        yield Fact("sampling", f"{rate:.4g}", meaning)
    for name in sorted(run.parameters.keys() - set(DECIDING)):
        if run.parameters[name] is not None:
            yield Fact(name, _spelt(run.parameters[name]), "")


def _chosen_from(run: DedupManifest) -> str:
    if "min_shared" in run.parameters:
        return "chosen from the recall for pairs with exactly one shared shingle"
    of_run = f" of {parameter_text(run.found_at_threshold)} of the run" if run.found_at_threshold is not None else ""
    return f"chosen from the recall and the threshold{of_run}"


def normalisation_steps(run: DedupManifest) -> tuple[str, ...]:
    """Ignored differences, in words, in the order of normalisation."""
    steps, _, ignored = str(run.parameters.get("normalise", "")).partition(";")
    names = [name.strip() for name in steps.split(",")]
    return (*(STEPS.get(name, name) for name in names if name not in {"", "none"}), *_ignored_in_words(ignored))


def _ignored_in_words(ignored: str) -> Iterator[str]:
    ignored_passages = Ignored.restored(f";{ignored}") if ignored else Ignored()
    if ignored_passages.numbers:
        yield "digits do not count"
    if ignored_passages.passages:
        yield f"passages of --ignore do not count: {len(ignored_passages.passages):,}"


def _spelt(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
