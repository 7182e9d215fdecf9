"""Figures of a search for pairs, each at two widths with its caption and its numbers.

The module that draws is imported in the functions: a report can be described, its records made, without the extra.
"""

from __future__ import annotations

from collections.abc import Sequence

from nearkin.manifests.pairs import PairsManifest
from nearkin.nouns import counted
from nearkin.reports.figure import Figure, at_both_widths, bins_from, bins_in_words
from nearkin.reports.quantities import parameter_text

ARTICLE = "figure 1 of Ture, Elsayed and Lin, “No free lunch”, SIGIR 2011"


def cosine_figure(told: PairsManifest) -> Figure | None:
    """Draw the cosines of the found pairs; None if there are none."""
    counts, threshold = told.histogram.counts, told.threshold
    if not sum(counts):
        return None
    first, step = told.histogram.start, told.histogram.step
    edges = [round(first + step * i, 9) for i in range(len(counts) + 1)]
    edges, from_threshold = bins_from(threshold, edges, counts)
    of = " at or above the threshold, before the best of each left document were selected"
    caption = f"Pairs by cosine{of if told.parameters['top'] else ''}."
    return _histogram("cosines", edges, from_threshold, threshold, caption)


def known_figure(told: PairsManifest) -> Figure | None:
    """Draw the cosines of known pairs, found or not; None if no known pair could be compared."""
    known = told.known
    if known is None or not sum(known.histogram):
        return None
    caption = (
        f"Known pairs by cosine, whether they were found or not; those below the threshold cannot be found. Compare"
        f" {ARTICLE}."
    )
    return _histogram("known", _tenths(known.histogram), known.histogram, told.threshold, caption)


def translated_figure(told: PairsManifest) -> Figure | None:
    """Draw the cosines of the same pairs by the table and by a translation, as outlines of two histograms."""
    from nearkin.reports.plots.charts import Series, line_chart

    found = told.translated
    if found is None or not found.n_pairs:
        return None
    both = {
        "by the translation table": found.histogram_by_table,
        "by the translated documents": found.histogram_by_translation,
    }
    edges = _tenths(found.histogram_by_table)
    series = [Series(label, *_outline(edges, counts)) for label, counts in both.items()]
    top = max(max(counts) for counts in both.values())
    wide, narrow = at_both_widths(
        "translated",
        lambda name, width: line_chart(
            series, name=name, title="Pairs by cosine, by the table and by the translation",
            description=f"Outlines of two histograms of the same {counted(found.n_pairs, 'pair')}", x_title="cosine",
            y_title="pairs", x_domain=(0.0, 1.0), y_domain=(0.0, top * 1.05), width=width, height=220,
        ),
    )  # fmt: skip
    rows = tuple(
        (words, f"{table:,} · {translation:,}")
        for words, table, translation in zip(
            bins_in_words(edges), found.histogram_by_table, found.histogram_by_translation, strict=True
        )
    )
    caption = f"The same pairs by both, in steps of 0.1, as in {ARTICLE}."
    return Figure(wide, narrow, caption, ("Cosine", "Pairs by the table · by the translation"), rows)


def _histogram(name: str, bin_edges: Sequence[float], counts: Sequence[int], threshold: float, caption: str) -> Figure:
    """Draw one histogram with the threshold marked."""
    from nearkin.reports.plots.charts import interval_chart

    label = f"threshold {parameter_text(threshold)}"
    wide, narrow = at_both_widths(
        name,
        lambda name, width: interval_chart(
            bin_edges, counts, name=name, title=caption.partition(";")[0].rstrip("."),
            description=f"Histogram of {counted(sum(counts), 'pair')}; the threshold is {parameter_text(threshold)}",
            x_title="cosine", y_title="pairs", mark=(threshold, label), width=width,
        ),
    )  # fmt: skip
    rows = tuple((words, f"{n:,}") for words, n in zip(bins_in_words(bin_edges), counts, strict=True))
    return Figure(wide, narrow, caption, ("Cosine", "Pairs"), rows)


def _tenths(counts: Sequence[int]) -> list[float]:
    """Return the edges of equally wide bins from 0 to 1."""
    return [round(i / len(counts), 9) for i in range(len(counts) + 1)]


def _outline(bin_edges: Sequence[float], counts: Sequence[int]) -> tuple[list[float], list[float]]:
    """Return the corners of a histogram, from left to right.

    Examples
    --------
    >>> _outline([0.0, 0.5, 1.0], [3, 1])
    ([0.0, 0.0, 0.5, 0.5, 1.0, 1.0], [0.0, 3.0, 3.0, 1.0, 1.0, 0.0])
    """
    return [edge for edge in bin_edges for _ in range(2)], [0.0, *(float(n) for n in counts for _ in range(2)), 0.0]
