"""The figures of a deduplication's report, each at two widths with its caption and its numbers.

The module that draws is imported in the functions: a report can be described, its records made, without the extra.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nearkin.manifests.dedup import DedupManifest
from nearkin.nouns import counted
from nearkin.reports.criterion import measure_of
from nearkin.reports.quantities import parameter_text

_WIDE, _NARROW = 684, 262  # pixels of a figure's plot: beside a margin of text, and on a telephone


@dataclass(frozen=True, slots=True)
class RecallCurve:
    """The chance that a search without bands finds a pair, by the pair's similarity."""

    similarities: Sequence[float]
    probabilities: Sequence[float]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure at two widths, its caption, and its numbers as a table."""

    wide: str
    narrow: str
    caption: str
    columns: tuple[str, str] = ("", "")
    rows: tuple[tuple[str, str], ...] = ()


def reasons_figure(facts: DedupManifest) -> Figure | None:
    """Documents by reason; none where there are no documents. Its numbers stand in a table of the page."""
    from nearkin.reports.figures import reasons_bar

    if not facts.count("documents"):
        return None
    wide = reasons_bar(facts.by_reason, name="reasons-w", width=_WIDE + 56)
    narrow = reasons_bar(facts.by_reason, name="reasons-n", width=_NARROW + 56)
    return Figure(wide, narrow, "Documents by what happened to them.")


def similarity_figure(facts: DedupManifest, bin_edges: Sequence[float], counts: Sequence[int]) -> Figure | None:
    """The histogram of similarities; none where there are no pairs."""
    from nearkin.reports.figures import similarity_histogram

    if not sum(counts):
        return None
    threshold = bin_edges[0] if facts.threshold is None else facts.threshold
    first = _first_bin(bin_edges, counts, threshold)
    bin_edges, counts = bin_edges[first:], counts[first:]
    wide, narrow = (
        similarity_histogram(
            bin_edges, counts, threshold, measure=measure_of(facts), name=f"similarities-{tag}", width=width
        )
        for tag, width in (("w", _WIDE), ("n", _NARROW))
    )
    return Figure(
        wide,
        narrow,
        f"Verified pairs by {measure_of(facts)} similarity. Exact copies count as pairs of similarity 1.",
        (f"{measure_of(facts)} similarity", "Pairs"),
        tuple(_bin_rows(bin_edges, counts)),
    )


def _first_bin(bin_edges: Sequence[float], counts: Sequence[int], threshold: float) -> int:
    """The first bin to be shown: those that end below the threshold hold nothing, as long as they do."""
    for index, count in enumerate(counts):
        if count or bin_edges[index + 1] > threshold:
            return index
    return 0


def _bin_rows(bin_edges: Sequence[float], counts: Sequence[int]) -> Iterator[tuple[str, str]]:
    """The bins of a histogram as lines of a table; the last one holds its upper end."""
    last = len(counts) - 1
    for index, ((low, high), n) in enumerate(zip(pairwise(bin_edges), counts, strict=True)):
        yield (
            f"{parameter_text(round(low, 6))} {'to' if index == last else 'to under'} {parameter_text(round(high, 6))}",
            f"{n:,}",
        )


def recall_figure(
    facts: DedupManifest, bin_edges: Sequence[float], counts: Sequence[int], curve: RecallCurve | None
) -> Figure | None:
    """The curve of the search; none where the run has no plan of its own."""
    from nearkin.reports.figures import recall_curve, s_curve

    threshold = facts.threshold
    bands, rows = int(facts.plan_numbers.get("bands", 0)), int(facts.plan_numbers.get("rows", 0))
    if threshold is None or (curve is None and not (bands and rows)):
        return None
    # what was asked for was asked at the threshold of the search, where no other dot stands
    asked = facts.recall if threshold == facts.searched_threshold else None
    drawn = []
    for tag, width in (("w", _WIDE - 24), ("n", _NARROW - 24)):
        name, measure = f"curve-{tag}", measure_of(facts)
        if curve is None:
            drawn.append(
                s_curve(bands, rows, threshold, asked, bin_edges, counts, measure=measure, name=name, width=width)
            )
            continue
        drawn.append(
            recall_curve(
                curve.similarities,
                curve.probabilities,
                threshold,
                _at(curve, threshold),
                asked,
                bin_edges,
                counts,
                measure=measure,
                name=name,
                width=width,
            )
        )
    return Figure(drawn[0], drawn[1], _recall_caption(f"{counted(bands, 'band')} of {rows}" if curve is None else None))


def _recall_caption(bands: str | None) -> str:
    """Describe the curve."""
    search = f" with {bands}" if bands else ""
    texts = "" if bands else ", for the smallest texts that are searched by a sample of their shingles"
    return (
        f"How likely the search finds a pair{search}, by the pair's similarity (line){texts}; over the pairs of this"
        " run (bars). The dot is the threshold."
    )


def _at(curve: RecallCurve, similarity: float) -> float:
    """The curve's probability at a similarity, along straight lines between its points."""
    import numpy as np

    return float(np.interp(similarity, curve.similarities, curve.probabilities))


def size_figure(group_size_counts: Mapping[int, int]) -> Figure | None:
    """Groups by size; none where there are no groups."""
    from nearkin.reports.figures import binned_sizes, group_sizes

    sizes = sorted(group_size_counts)
    counts = [group_size_counts[size] for size in sizes]
    if not sum(counts):
        return None
    wide, narrow = (
        group_sizes(sizes, counts, name=f"sizes-{tag}", width=w) for tag, w in (("w", _WIDE), ("n", _NARROW))
    )
    rows = tuple((label, f"{n:,}") for label, n in binned_sizes(sizes, counts))
    return Figure(wide, narrow, "Groups by the number of their documents.", ("Documents in the group", "Groups"), rows)
