"""The figures of a run's report, each an SVG string."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nearkin.errors import MissingExtraError, ParameterError
from nearkin.kernels.chances import found_by_bands
from nearkin.nouns import counted
from nearkin.reports.charts import bar_chart, column_chart, interval_chart
from nearkin.reports.layers import Layer, chart_of, check_bins, count_scale, intervals, layered, margins, top_titled
from nearkin.reports.quantities import parameter_text, share_text
from nearkin.reports.theme import QUIET, SIGNAL, SOFT, SURFACE, to_svg

try:
    import altair as alt
except ImportError as error:
    raise MissingExtraError.of("Drawing a figure", "report") from error

_CURVE_STEPS = 100
_ROOM_ABOVE = 1.12  # of the probability axis, for the label of the operating point
_SIZE_BINS = ((2, 2), (3, 3), (4, 4), (5, 9), (10, 19), (20, 99), (100, None))


def similarity_histogram(
    bin_edges: Sequence[float],
    counts: Sequence[int],
    threshold: float,
    *,
    measure: str = "Jaccard",
    name: str = "similarities",
    width: int = 640,
) -> str:
    """Histogram of the similarities of verified pairs, with the threshold marked."""
    return interval_chart(
        bin_edges,
        counts,
        name=name,
        title=f"Verified pairs by {measure} similarity",
        description=f"Histogram of {counted(sum(counts), 'pair')}; the threshold is {parameter_text(threshold)}",
        x_title=f"{measure} similarity",
        y_title="pairs",
        mark=(threshold, f"threshold {parameter_text(threshold)}"),
        width=width,
    )


def binned_sizes(sizes: Sequence[int], counts: Sequence[int]) -> list[tuple[str, int]]:
    """Groups by ranges of size, from the smallest to the largest range that occurs.

    Examples
    --------
    >>> binned_sizes([2, 3, 7, 8], [40, 9, 2, 1])
    [('2', 40), ('3', 9), ('4', 0), ('5–9', 3)]
    """
    if len(sizes) != len(counts):
        raise ParameterError.of("counts", "binned_sizes", f"one for each of {len(sizes)} sizes", len(counts))
    rows = []
    for low, high in _SIZE_BINS:
        if low > max(sizes, default=0):
            break
        label = f"{low}+" if high is None else f"{low}" if low == high else f"{low}–{high}"
        inside = (n for size, n in zip(sizes, counts, strict=True) if low <= size and (high is None or size <= high))
        rows.append((label, sum(inside)))
    return rows


def group_sizes(sizes: Sequence[int], counts: Sequence[int], *, name: str = "sizes", width: int = 640) -> str:
    """Number of groups of each size; ``counts[i]`` groups have ``sizes[i]`` documents."""
    rows = binned_sizes(sizes, counts)
    return column_chart(
        [label for label, _ in rows],
        [n for _, n in rows],
        name=name,
        title="Groups by size",
        description=f"Columns for {counted(sum(counts), 'group')}; the largest has "
        f"{counted(max(sizes, default=0), 'document')}",
        x_title="documents in the group",
        y_title="groups",
        width=width,
    )


def reasons_bar(counts: Mapping[str, int], *, name: str = "reasons", width: int = 640) -> str:
    """Documents by reason, in the order given; those that are unique are drawn quietly."""
    return bar_chart(
        list(counts),
        list(counts.values()),
        name=name,
        title="Documents by reason",
        description="; ".join(f"{reason}: {n:,}" for reason, n in counts.items()) or "no documents",
        faint=[reason == "unique" for reason in counts],
        width=width,
    )


def s_curve(
    bands: int,
    rows: int,
    threshold: float,
    recall_target: float | None,
    pair_bin_edges: Sequence[float],
    pair_counts: Sequence[int],
    *,
    measure: str = "Jaccard",
    name: str = "curve",
    width: int = 640,
) -> str:
    """The chance that banding finds a pair, by the pair's similarity, over the histogram of the corpus's own pairs."""
    if bands < 1 or rows < 1:
        raise ParameterError.of("bands and rows", "s_curve", "ints >= 1", (bands, rows))
    similarities = [step / _CURVE_STEPS for step in range(_CURVE_STEPS + 1)]
    return recall_curve(
        similarities,
        [float(found_by_bands(s, bands, rows)) for s in similarities],
        threshold,
        float(found_by_bands(threshold, bands, rows)),
        recall_target,
        pair_bin_edges,
        pair_counts,
        measure=measure,
        name=name,
        width=width,
    )


def recall_curve(
    similarities: Sequence[float],
    probabilities: Sequence[float],
    threshold: float,
    recall_at_threshold: float,
    recall_target: float | None,
    pair_bin_edges: Sequence[float],
    pair_counts: Sequence[int],
    *,
    measure: str = "Jaccard",
    name: str = "curve",
    width: int = 640,
    height: int = 260,
) -> str:
    """The chance that a search finds a pair, as any curve, over the histogram of the corpus's own pairs.

    The point where the run works is marked: the threshold, and the chance there. The histogram has its own axis, on the
    right.
    """
    check_bins("recall_curve", pair_bin_edges, pair_counts)
    pairs = count_scale(pair_counts)
    x = alt.Scale(domain=[0, 1], nice=False)
    behind = (
        intervals(pair_bin_edges, pair_counts)
        .mark_bar(binSpacing=0, fill=SOFT.light)
        .encode(
            x=alt.X("from:Q", scale=x, axis=alt.Axis(title=f"{measure} similarity of the pair", tickCount=6)),
            x2=alt.X2("to:Q"),
            y=alt.Y("n:Q", scale=pairs.scale, axis=pairs.axis("pairs", side="right")),
            y2=alt.Y2Datum(0),
        )
    )
    front = _curve_layers(similarities, probabilities, threshold, recall_at_threshold, recall_target)
    chart = (
        layered(behind, layered(*front))
        .resolve_scale(y="independent")
        .properties(width=width, height=height, padding=margins(right=48))
    )
    return to_svg(
        chart,
        name=name,
        title=f"Probability that a pair is found, by its {measure} similarity",
        description=f"At the threshold of {parameter_text(threshold)} it is {share_text(recall_at_threshold)}",
    )


def _curve_layers(
    similarities: Sequence[float],
    probabilities: Sequence[float],
    threshold: float,
    recall_at_threshold: float,
    recall_target: float | None,
) -> list[Layer]:
    """The curve, the recall that was asked for, the operating point with its words."""
    scale = alt.Scale(domain=[0, _ROOM_ABOVE], nice=False)
    ticks = [0, 0.2, 0.4, 0.6, 0.8, 1]
    y = alt.Y("p:Q", scale=scale, axis=top_titled("probability of being found", ticks, number_format=".1f"))
    points = [{"s": s, "p": p} for s, p in zip(similarities, probabilities, strict=True)]
    layers: list[Layer] = [chart_of(points).mark_line(interpolate="monotone").encode(x=alt.X("s:Q"), y=y)]
    if recall_target is not None:
        asked = chart_of([{"p": recall_target, "label": f"asked for: {recall_target:g}"}]).encode(y=y)
        layers.append(asked.mark_rule(stroke=QUIET.light, strokeDash=[2, 3]))
        layers.append(
            asked.mark_text(align="left", dy=11, dx=4, fill=QUIET.light).encode(
                x=alt.value(0), text=alt.Text("label:N")
            )
        )
    label = f"{share_text(recall_at_threshold)} at {parameter_text(threshold)}"
    here = [{"s": threshold, "p": recall_at_threshold, "zero": 0, "label": label}]
    point = chart_of(here).encode(x=alt.X("s:Q"))
    right_half = threshold > 0.4
    layers += [
        point.mark_rule(stroke=SIGNAL.light, strokeWidth=1.5, strokeDash=[5, 3]).encode(y=y, y2=alt.Y2("zero:Q")),
        point.mark_point(
            size=70, filled=True, fill=SIGNAL.light, stroke=SURFACE.light, strokeWidth=1.5, opacity=1
        ).encode(y=y),
        point.mark_text(
            align="right" if right_half else "left", dx=-8 if right_half else 8, dy=-11, fill=SIGNAL.light, fontSize=13
        ).encode(y=y, text=alt.Text("label:N")),
    ]
    return layers
