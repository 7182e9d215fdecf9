"""Figures of the experiment, as SVG strings."""

from __future__ import annotations

from collections.abc import Callable

from labs.cross_lingual.experiment import (
    EDGES,
    GLOSS,
    THRESHOLDS,
    TRANSLATED,
    CrossLingualResults,
    SetResults,
    TranslationWay,
)
from labs.cross_lingual.published import CLAIMS, THRESHOLD
from labs.cross_lingual.windows import ORDERS, TIMED_ORDERS, WindowPoint, Windows
from labs.experiment import FigureLine, labelled_lines
from labs.marks import area, diamonds, legend_of_bars
from nearkin.reports.axes import Numbers, grouped
from nearkin.reports.plots import Plot, Series, legend_height, line_chart
from nearkin.reports.theme import DASHES, INK, SERIES, SURFACE

MAX_SETS = 3
_GAP = 0.006
_N_CURVES = 4
_MIN_EFFECTIVENESS = 0.5
_THINNEST = 0.004  # of an area, which would vanish where the model says one number


def shown_ways(one: SetResults) -> list[TranslationWay]:
    """Return the methods in a histogram: the projection, and the given translation or the gloss."""
    other = one.way(TRANSLATED[0]) or one.way(GLOSS[0])
    return [one.ways[0], *([other] if other else [])]


def cosines(one: SetResults, *, name: str, width: int) -> str:
    """Figure 1: documents by the cosine with their translations, one bar per method."""
    ways = shown_ways(one)
    part = 0.1 / len(ways)
    shares = [[count / max(1, way.finding.n_compared) for count in way.finding.counts.tolist()] for way in ways]
    x = Numbers(low=0, high=1, title="cosine", n_ticks=10 if width >= 400 else 5)
    y = Numbers(low=0, high=1.08 * max(0.1, *(share for own in shares for share in own)), title="share of documents")
    plot = Plot(x=x, y=y, width=width, height=170, top=legend_height(len(ways)))
    drawn = []
    for i, own in enumerate(shares):
        left, right = i * part + _GAP * (i == 0), (i + 1) * part - _GAP * (i == len(ways) - 1)
        bars = [(low + left, low + right, share) for low, share in zip(EDGES[:-1], own, strict=True)]
        drawn.append(plot.bars(bars, SERIES[i]))
    return plot.svg(
        plot.axes(),
        *drawn,
        plot.mark(THRESHOLD, f"{THRESHOLD:g}"),
        legend_of_bars(plot, [(way.label, SERIES[i]) for i, way in enumerate(ways)]),
        name=name,
        title=f"Cosines of documents and their translations: {one.name}",
        description=", ".join(f"{way.label}: mean {way.finding.mean_cosine:.2f}" for way in ways),
    )


def thresholds(results: CrossLingualResults, *, name: str, width: int) -> str:
    """Recall and precision of the known pairs by threshold, two lines per set."""
    lines = []
    for i, one in enumerate(results.sets[:MAX_SETS]):
        finding = one.finding
        recall = [finding.recall(t) for t in THRESHOLDS]
        precision = [finding.precision(t) for t in THRESHOLDS]
        lines.append(FigureLine(f"{one.name}: recall", recall, SERIES[i], ()))
        lines.append(FigureLine(f"{one.name}: precision", precision, SERIES[i], (2, 3)))
    y = Numbers(low=0, high=1, title="recall and precision of the known pairs")
    return labelled_lines(
        lines, [f"{t:g}" for t in THRESHOLDS], y, name=name, title="Known pairs by threshold", x_title="minimum cosine",
        width=width,
    )  # fmt: skip


def times(slid: Windows, *, name: str, width: int) -> str:
    """Figure 5: seconds by window, one line per number of permutations."""
    series = []
    for permutations in TIMED_ORDERS:
        own = [one for one in slid.timed if one.permutations == permutations]
        label = f"{permutations} permutations"
        series.append(Series(label, [float(one.window) for one in own], [one.elapsed_s for one in own]))
    ends = 0.0, 1.04 * max(one.window for one in slid.timed)
    heights = 0.0, 1.06 * max(one.elapsed_s for one in slid.timed)
    return line_chart(
        series, name=name, title="Seconds by window", description="CPU time",
        x_title="window", y_title="CPU seconds", x_domain=ends, y_domain=heights,
        width=width,
    )  # fmt: skip


def shown_windows(slid: Windows) -> tuple[int, ...]:
    """Return three different windows: near the article's ratio of documents to window if possible, and wider ones."""
    return slid.windows[1:6:2] or slid.windows[:1]


def recall_published(slid: Windows, *, name: str, width: int) -> str:
    """Figure 6: measured recall, and the article's band."""
    return _banded(slid, lambda one: one.published_model, name, width, "Recall and the article's model")


def recall_calibrated(slid: Windows, *, name: str, width: int) -> str:
    """Figure 6 with the calibrated model."""
    return _banded(slid, _calibrated_ends, name, width, "Recall and the calibrated model")


def _calibrated_ends(one: WindowPoint) -> tuple[float, float]:
    return one.calibrated_model[0], one.calibrated_model[2]


def _banded(
    slid: Windows, ends: Callable[[WindowPoint], tuple[float, float]], name: str, width: int, title: str
) -> str:
    """Draw lines of recall over areas predicted by a model."""
    windows = shown_windows(slid)
    ticks = [n for n in ORDERS if width >= 400 or n in (10, 50, 200, 1000)]
    x = Numbers(
        low=ORDERS[0], high=ORDERS[-1], title="permutations, log scale", kind="log", values=ticks, words=grouped
    )
    y = Numbers(low=0, high=1, title="recall; areas: the model" if width >= 400 else "recall")
    plot = Plot(x=x, y=y, width=width, height=250, top=legend_height(len(windows)))
    areas, lines, legend = [], [], []
    for window, colour, dash in zip(windows, SERIES, DASHES, strict=False):
        own = [slid.of(permutations, window) for permutations in ORDERS]
        lows, highs = zip(*map(ends, own), strict=True)
        areas.append(area(plot, ORDERS, lows, [max(high, low + _THINNEST) for low, high in zip(lows, highs)], colour))
        lines.append(plot.line(ORDERS, [one.recall for one in own], colour, dash))
        legend.append((f"window {window}", colour, dash))
    names = ", ".join(label for label, _, _ in legend)
    return plot.svg(plot.axes(), *areas, *lines, plot.legend(legend), name=name, title=title, description=names)


def effectiveness(slid: Windows, *, name: str, width: int) -> str:
    """Figure 8: relative effectiveness by relative cost, one line per window; diamonds: the article."""
    windows = slid.windows[:: max(1, len(slid.windows) // _N_CURVES)][:_N_CURVES]
    x = Numbers(low=0, high=1, title="relative cost: comparisons over all pairs")
    y_title = "relative effectiveness; diamonds: article" if width >= 400 else "effectiveness"
    y = Numbers(low=_MIN_EFFECTIVENESS, high=1, title=y_title)
    plot = Plot(x=x, y=y, width=width, height=270, top=legend_height(len(windows)))
    lines, legend = [], []
    for window, colour, dash in zip(windows, SERIES, DASHES, strict=False):
        reached = slid.effectiveness(window).tolist()
        costs = [slid.cost(permutations, window) for permutations in range(1, len(reached) + 1)]
        points = [(cost, share) for cost, share in zip(costs, reached, strict=True) if cost <= 1]
        lines.append(plot.line([cost for cost, _ in points], [share for _, share in points], colour, dash))
        legend.append((f"window {window}", colour, dash))
    said = ", ".join(f"{share:.0%} at {cost:.0%}" for share, cost in CLAIMS)
    return plot.svg(
        plot.axes(),
        *lines,
        diamonds(plot, [(cost, share) for share, cost in CLAIMS], SURFACE, INK, size=5.5),
        plot.legend(legend),
        name=name,
        title="Relative effectiveness by relative cost",
        description=f"Article: {said}",
    )
