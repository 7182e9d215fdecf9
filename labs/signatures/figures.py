"""Figures of the experiment, as SVG strings."""

from __future__ import annotations

from collections.abc import Sequence

from labs.lines import FigureLine, labelled_lines
from labs.signatures.experiment import SignatureResults
from labs.signatures.methods import BITS, KINDS, MINHASH, PROJECTIONS, PUBLISHED_KINDS, WEIGHTED
from labs.signatures.published import unique_share
from labs.signatures.signing import DRIFT_BITS
from labs.signatures.tables import CURVE_BITS, curve
from labs.signatures.uniqueness import MAX_COUNTED
from nearkin.reports.plots.axes import Numbers, count_axis
from nearkin.reports.plots.charts import Series, line_chart

Heights = tuple[str, Sequence[float]]


def unique_signatures(results: SignatureResults, *, name: str, width: int) -> str:
    """Figure 1: distinct signatures by bits."""
    n = len(results.documents)
    return labelled_lines(
        _numbered([(kind.label, [results.unique(kind.key, bits).n_unique / n for bits in BITS]) for kind in KINDS]),
        [str(bits) for bits in BITS],
        Numbers(low=0, high=1, title="distinct signatures, as a share of the documents"),
        name=name,
        title="Distinct signatures by bits",
        x_title="bits",
        width=width,
    )


def published_unique_signatures(results: SignatureResults, *, name: str, width: int) -> str:
    """Figure 1 of the article, from its Table 2."""
    return labelled_lines(
        _numbered([(kind.label, [unique_share(kind.key, bits) or 0.0 for bits in BITS]) for kind in PUBLISHED_KINDS]),
        [str(bits) for bits in BITS],
        Numbers(low=0, high=1, title="distinct signatures, as a share of the documents"),
        name=name,
        title="Distinct signatures by bits, in the article",
        x_title="bits",
        width=width,
    )


def neighbours(results: SignatureResults, *, bits: int, distance: int, name: str, width: int) -> str:
    """Figures 2 and 3: documents by the number of their neighbours."""
    counts = {n.key: n.n_documents for n in results.neighbours if (n.bits, n.distance) == (bits, distance)}
    kinds = (*PROJECTIONS, MINHASH)
    labels = [*(str(n) for n in range(MAX_COUNTED)), f"{MAX_COUNTED}+"]
    most = max(n for kind in kinds for n in counts[kind.key])
    y = count_axis([1] * 100 + [max(most, 100)], "documents")  # logarithmic: few have neighbours
    return labelled_lines(
        _numbered([(kind.label, counts[kind.key]) for kind in kinds]),
        labels,
        y,
        name=name,
        title=f"Documents by neighbours within distance {distance}, {bits:,} bits",
        x_title=f"neighbours within distance {distance}, {bits:,} bits",
        width=width,
    )


def best_f1(results: SignatureResults, *, truth: str, name: str, width: int) -> str:
    """F1 at the best distance, by bits."""
    return labelled_lines(
        _numbered(
            [(kind.label, [results.retrieval(kind.key, bits, truth).best.f1 for bits in BITS]) for kind in KINDS]
        ),
        [str(bits) for bits in BITS],
        Numbers(low=0, high=1, title="F1 at the best distance"),
        name=name,
        title="F1 of Hamming neighbours at the best distance, by bits",
        x_title="bits",
        width=width,
    )


def precision_recall(results: SignatureResults, *, name: str, width: int) -> str:
    """Precision by recall at one length, one line per kind, one point per distance."""
    lines = []
    for kind in KINDS:
        points = curve(results.retrieval(kind.key, CURVE_BITS))
        lines.append(Series(kind.label, [q.recall for q in points], [q.precision for q in points]))
    return line_chart(
        lines,
        name=name,
        title=f"Precision and recall of Hamming neighbours, {CURVE_BITS} bits",
        description="Each point is a distance",
        x_title="recall",
        y_title="precision",
        x_domain=(0.0, 1.0),
        y_domain=(0.0, 1.0),
        width=width,
    )


def drift(results: SignatureResults, *, name: str, width: int) -> str:
    """Bits that differ from the final signature, by number of documents in the statistics."""
    lines: list[Heights] = []
    for bits in DRIFT_BITS:
        of = results.drifts.of(bits)
        lines.append((f"{bits} bits, mean", [d.mean for d in of]))
        if bits == CURVE_BITS:
            lines.append((f"{bits} bits, 95th percentile", [d.high for d in of]))
    labels = [_short(d.n_documents) for d in results.drifts.of(DRIFT_BITS[0])]
    top = max([0.01, *(y for _, line in lines for y in line)])
    y = Numbers(low=0, high=1.08 * top, title="bits that differ from the final signature", words="{:.0%}".format)
    return labelled_lines(
        _numbered(lines),
        labels,
        y,
        name=name,
        title=f"Drift of {WEIGHTED.label}",
        x_title="documents in the statistics",
        width=width,
    )


def _short(n: int) -> str:
    """Format a number of documents for an axis: 21578 -> 21.6k."""
    return f"{n:,}" if n < 10_000 else f"{n / 1000:.3g}k"


def _numbered(lines: Sequence[Heights]) -> list[FigureLine]:
    """Number lines so that a kind looks the same in all figures; other lines take the remaining looks."""
    looks = {kind.label: i for i, kind in enumerate(KINDS)}
    return [FigureLine.numbered(looks.get(name, i), name, y) for i, (name, y) in enumerate(lines)]
