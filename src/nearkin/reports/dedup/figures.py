"""The figures of a deduplication's report, each at two widths with its caption and its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nearkin.kernels.chances import found_by_bands
from nearkin.manifests.dedup import DedupManifest
from nearkin.nouns import counted
from nearkin.reports.criterion import measure_of
from nearkin.reports.dedup.wording import outcome_of
from nearkin.reports.figure import Figure, at_both_widths, bins_from, bins_in_words
from nearkin.reports.figures import RecallLine, binned_sizes, group_sizes, outcome_chart, similarity_chart

_CURVE_STEPS = 100
_VIEW_BELOW = 0.25  # of similarity, below the threshold


@dataclass(frozen=True, slots=True)
class RecallCurve:
    """Probability that a search without bands finds a pair, by the pair's similarity."""

    similarities: Sequence[float]
    probabilities: Sequence[float]


def outcome_figure(facts: DedupManifest) -> Figure | None:
    """Draw the kept and dropped documents; None if there are no documents. A table of the page has the numbers."""
    if not facts.count("documents"):
        return None
    dropped = {reason: n for reason, n in facts.by_reason.items() if n and outcome_of(facts, reason) == "dropped"}
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
    return Figure(wide, narrow, caption + _about_line(facts, recall, curve), columns, rows)


def _about_line(facts: DedupManifest, recall: RecallLine | None, curve: RecallCurve | None) -> str:
    """Describe the line of the figure."""
    if recall is None:
        return ""
    bands, rows = int(facts.plan_numbers.get("bands", 0)), int(facts.plan_numbers.get("rows", 0))
    search, before = f" with {counted(bands, 'band')} of {counted(rows, 'row')}", ""
    if curve is not None:
        shortest = round(facts.plan_numbers.get("exact_below", 0))
        search = " whose shorter text " + (
            f"has {counted(shortest, 'shingle')}" if shortest else "has just that length"
        )
        which = f"Texts of at least {counted(shortest, 'shingle')}" if shortest else "Texts from some length on"
        rest = ", shorter ones exhaustively" if shortest > 1 else ""
        before = f" {which} are searched by a sample of their shingles{rest}."
    line = f"{before} Line: the predicted probability that the search finds a pair{search}"
    line += "; the dot and the dashed vertical line mark the threshold"
    if recall.asked_for is not None:
        line += f"; the dotted horizontal line is the requested recall of {recall.asked_for:g}"
    return f"{line}."


def _recall_line(facts: DedupManifest, curve: RecallCurve | None) -> RecallLine | None:
    """Return the line of the search; None if the run has no plan of its own."""
    threshold = facts.threshold
    bands, rows = int(facts.plan_numbers.get("bands", 0)), int(facts.plan_numbers.get("rows", 0))
    if threshold is None or (curve is None and not (bands and rows)):
        return None
    # the recall was requested at the threshold of the search, where no other dot stands
    asked = facts.recall if threshold == facts.searched_threshold else None
    if curve is not None:
        return RecallLine(curve.similarities, curve.probabilities, _at(curve, threshold), asked)
    similarities = [step / _CURVE_STEPS for step in range(_CURVE_STEPS + 1)]
    probabilities = [float(found_by_bands(s, bands, rows)) for s in similarities]
    return RecallLine(similarities, probabilities, float(found_by_bands(threshold, bands, rows)), asked)


def _at(curve: RecallCurve, similarity: float) -> float:
    """Return the curve's probability at a similarity, along straight lines between its points."""
    import numpy as np

    return float(np.interp(similarity, curve.similarities, curve.probabilities))


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
    rows = tuple((label, f"{n:,}") for label, n in binned_sizes(sizes, counts))
    return Figure(wide, narrow, "Groups by the number of their documents.", ("Documents in the group", "Groups"), rows)
