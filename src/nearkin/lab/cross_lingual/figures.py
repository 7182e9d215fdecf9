"""The figures of the experiment, each an SVG string."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import altair as alt

from nearkin.lab.cross_lingual.experiment import GLOSS, TRANSLATED, CrossLingualResults, SetResults, TranslationWay
from nearkin.lab.cross_lingual.finding import EDGES, THRESHOLDS
from nearkin.lab.cross_lingual.published import CLAIMS, THRESHOLD
from nearkin.lab.cross_lingual.windows import ORDERS, TIMED_ORDERS, WindowPoint, Windows
from nearkin.lab.lines import LEGEND_STEP, SHARES, FigureLine, in_order, labelled_lines, line_legend, line_strokes
from nearkin.reports.charts import Series, line_chart
from nearkin.reports.layers import Layer, across, chart_of, layered, margins, top_titled
from nearkin.reports.theme import INK, SERIES, SURFACE, to_svg

MAX_SETS = 3
_GAP = 0.006
_N_CURVES = 4
_MIN_EFFECTIVENESS = 0.5


def shown_ways(one: SetResults) -> list[TranslationWay]:
    """Of a histogram: the projection, and a translation or the gloss beside it."""
    other = one.way(TRANSLATED[0]) or one.way(GLOSS[0])
    return [one.ways[0], *([other] if other else [])]


def cosines(one: SetResults, *, name: str, width: int) -> str:
    """Figure 1: documents by the cosine of the document and its translation, a bar a way."""
    ways = shown_ways(one)
    names = [way.label for way in ways]
    part = 0.1 / len(ways)
    rows = []
    for i, way in enumerate(ways):
        n = max(1, way.finding.n_compared)
        for k, count in enumerate(way.finding.counts.tolist()):
            low = EDGES[k] + i * part
            ends = {"from": low + _GAP * (i == 0), "to": low + part - _GAP * (i == len(ways) - 1)}
            rows.append({"way": way.label, **ends, "share": count / n})
    top = max([0.1, *(float(str(row["share"])) for row in rows)])
    legend, colours = line_legend(len(names)), in_order(names, [colour.light for colour in SERIES])
    bars = (
        chart_of(rows)
        .mark_bar(binSpacing=0)
        .encode(
            x=alt.X("from:Q", scale=_exactly(0, 1), axis=alt.Axis(title="cosine", tickCount=10 if width >= 400 else 5)),
            x2="to:Q",
            y=alt.Y("share:Q", scale=_exactly(0, 1.08 * top), axis=_axis("share of documents")),
            y2=alt.datum(0),
            fill=alt.Fill("way:N", legend=legend, scale=colours),
        )
    )  # fmt: skip
    chart = layered(bars, across(THRESHOLD, f"{THRESHOLD:g}", right_half=False))
    return to_svg(
        chart.properties(width=width, height=170, padding=margins(top=60 + LEGEND_STEP * len(names))),
        name=name,
        title=f"Cosines of documents and their translations: {one.name}",
        description=", ".join(f"{way.label}: mean {way.finding.mean_cosine:.2f}" for way in ways),
    )


def thresholds(results: CrossLingualResults, *, name: str, width: int) -> str:
    """Recall and precision of the known pairs by threshold, two lines a set."""
    lines = []
    for i, one in enumerate(results.sets[:MAX_SETS]):
        finding = one.finding
        recall = [finding.recall(t) for t in THRESHOLDS]
        precision = [finding.precision(t) for t in THRESHOLDS]
        lines.append(FigureLine(f"{one.name}: recall", recall, SERIES[i], ()))
        lines.append(FigureLine(f"{one.name}: precision", precision, SERIES[i], (2, 3)))
    return labelled_lines(
        lines, [f"{t:g}" for t in THRESHOLDS], SHARES, name=name, title="Known pairs by threshold",
        x_title="least cosine", y_title="recall and precision of the known pairs", width=width,
    )  # fmt: skip


def times(slid: Windows, *, name: str, width: int) -> str:
    """Figure 5: seconds by window, a line a number of permutations."""
    series = []
    for permutations in TIMED_ORDERS:
        own = [one for one in slid.timed if one.permutations == permutations]
        label = f"{permutations} permutations"
        series.append(Series(label, [float(one.window) for one in own], [one.elapsed_s for one in own]))
    ends = 0.0, 1.04 * max(one.window for one in slid.timed)
    heights = 0.0, 1.06 * max(one.elapsed_s for one in slid.timed)
    return line_chart(
        series, name=name, title="Seconds by window", description="Time of one processor",
        x_title="window", y_title="seconds of one processor", x_domain=ends, y_domain=heights,
        width=width,
    )  # fmt: skip


def shown_windows(slid: Windows) -> tuple[int, ...]:
    """Three that differ: about the article's documents over window where there are enough documents, and wider ones."""
    return slid.windows[1:6:2] or slid.windows[:1]


def recall_published(slid: Windows, *, name: str, width: int) -> str:
    """Figure 6: measured recall, and the article's band."""
    return _banded(slid, lambda one: one.published_model, name, width, "Recall and the article's model")


def recall_calibrated(slid: Windows, *, name: str, width: int) -> str:
    """The same with the calibrated model."""
    return _banded(slid, _calibrated_ends, name, width, "Recall and the calibrated model")


def _calibrated_ends(one: WindowPoint) -> tuple[float, float]:
    return one.calibrated_model[0], one.calibrated_model[2]


def _banded(
    slid: Windows, ends: Callable[[WindowPoint], tuple[float, float]], name: str, width: int, title: str
) -> str:
    """Lines of recall over areas that a model says."""
    windows = shown_windows(slid)
    names = [f"window {window}" for window in windows]
    ticks = [n for n in ORDERS if width >= 400 or n in (10, 50, 200, 1000)]
    x = alt.X(
        "x:Q", scale=alt.Scale(type="log", domain=[ORDERS[0], ORDERS[-1]], nice=False),
        axis=alt.Axis(title="permutations, log scale", values=ticks, labelExpr="format(datum.value, ',d')"),
    )  # fmt: skip
    scale = _exactly(0, 1)
    layers: list[Layer] = []
    rows = []
    for i, window in enumerate(windows):
        own = [slid.of(permutations, window) for permutations in ORDERS]
        bands = [ends(one) for one in own]
        area = [
            {"x": one.permutations, "low": low, "high": max(high, low + 0.004)}
            for one, (low, high) in zip(own, bands, strict=True)
        ]
        layers.append(
            chart_of(area)
            .mark_area(fill=SERIES[i].light, fillOpacity=0.22, clip=True)
            .encode(x=x, y=alt.Y("low:Q", scale=scale), y2="high:Q")
        )
        rows += [{"line": names[i], "x": one.permutations, "y": one.recall} for one in own]
    axis = _axis("recall; areas: the model" if width >= 400 else "recall")
    layers.append(_lines(rows, names, x, alt.Y("y:Q", scale=scale, axis=axis)))
    chart = layered(*layers).properties(width=width, height=250, padding=margins(top=56 + LEGEND_STEP * len(names)))
    return to_svg(chart, name=name, title=title, description=", ".join(names))


def effectiveness(slid: Windows, *, name: str, width: int) -> str:
    """Figure 8: relative effectiveness by relative cost, a line a window; diamonds: the article."""
    windows = slid.windows[:: max(1, len(slid.windows) // _N_CURVES)][:_N_CURVES]
    names = [f"window {window}" for window in windows]
    rows = []
    for line, window in zip(names, windows, strict=True):
        reached = slid.effectiveness(window)
        for permutations in range(1, len(reached) + 1):
            cost = slid.cost(permutations, window)
            if cost <= 1:
                rows.append({"line": line, "x": cost, "y": float(reached[permutations - 1])})
    x = alt.X(
        "x:Q", scale=_exactly(0, 1), axis=alt.Axis(title="relative cost: comparisons over all pairs", tickCount=5)
    )
    axis = _axis("relative effectiveness; diamonds: article" if width >= 400 else "effectiveness")
    y = alt.Y("y:Q", scale=_exactly(_MIN_EFFECTIVENESS, 1), axis=axis)
    said = [{"x": cost, "y": reached} for reached, cost in CLAIMS]
    diamonds = (
        chart_of(said)
        .mark_point(
            shape="diamond", size=110, filled=True, fill=SURFACE.light, stroke=INK.light, strokeWidth=1.8, opacity=1
        )
        .encode(x=x, y=y)
    )  # fmt: skip
    chart = layered(_lines(rows, names, x, y), diamonds).properties(
        width=width, height=270, padding=margins(top=56 + LEGEND_STEP * len(names))
    )
    told = ", ".join(f"{reached:.0%} at {cost:.0%}" for reached, cost in CLAIMS)
    return to_svg(chart, name=name, title="Relative effectiveness by relative cost", description=f"Article: {told}")


def _lines(rows: Sequence[dict[str, object]], names: Sequence[str], x: alt.X, y: alt.Y) -> alt.Chart:
    drawn: alt.Chart = chart_of(list(rows)).mark_line(clip=True).encode(*line_strokes(names), x=x, y=y)
    return drawn


def _axis(title: str) -> alt.Axis:
    return top_titled(title, None, number_format="~g")


def _exactly(low: float, high: float) -> alt.Scale:
    return alt.Scale(domain=[low, high], nice=False, zero=False)
