"""The results as an HTML page without scripts or external files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from labs.experiment import Cell, Drawn, Experiment, FigureLine, LabPage, Table, claims_table, drawn, labelled_lines
from labs.signatures.apart import WANTED
from labs.signatures.confusion import ConfusedPair
from labs.signatures.drift import Drift
from labs.signatures.experiment import SignatureResults, run
from labs.signatures.methods import (
    ALL_KINDS,
    BITS,
    DRIFT_BITS,
    FAST_SIMHASH,
    FEATURES,
    KINDS,
    MINHASH,
    PROJECTIONS,
    PUBLISHED_KINDS,
    SIMHASH_ONCE,
    TOPSIG,
    TOPSIG_CODE,
    TOPSIG_ONCE,
    WEIGHTED,
    WEIGHTED_CODE,
)
from labs.signatures.published import DOCUMENTS_PER_SIGNATURE, ONE_NEIGHBOUR, SECONDS, MeanAndDeviation, unique_share
from labs.signatures.retrieval import DISTANCES, Retrieval, RetrievalQuality
from labs.signatures.truth import BY_CHARACTERS, BY_WORDS, CHARACTER_THRESHOLD, WORD_THRESHOLD
from labs.signatures.uniqueness import MAX_COUNTED
from nearkin.planning.neighbour_recall import SIMILARITY, usual_distance
from nearkin.reports.axes import Numbers, count_axis
from nearkin.reports.plots import Series, line_chart
from nearkin.workflows.reading.request import ReadingRequest


def draw(results: SignatureResults) -> tuple[Drawn, ...]:
    """Draw all figures."""
    every = [
        drawn("figure-1", unique_signatures, results, "Figure 1 on these documents."),
        drawn(
            "figure-1-published",
            published_unique_signatures,
            results,
            "Figure 1 of the article: 90,000 agreements. The shares are the inverse of its Table 2.",
        ),
    ]
    for bits, distance in ((32, 1), (128, 1), (1024, 1), (1024, 3)):
        number = 2 if distance == 1 else 3
        every.append(
            drawn(
                f"figure-{number}-{bits}",
                partial(neighbours, bits=bits, distance=distance),
                results,
                f"Figure {number}: documents by neighbours within distance {distance}, {bits:,} bits.",
            )
        )
    for truth, words in ((BY_CHARACTERS, "4-gram sets at 0.8"), (BY_WORDS, "word 5-gram sets at 0.7")):
        if results.n_true[truth]:
            caption = f"F1 at the best distance, against {words}."
            every.append(drawn(f"f1-{truth}", partial(best_f1, truth=truth), results, caption))
    if results.n_true[BY_CHARACTERS]:
        caption = "Precision and recall at 64 bits, against 4-gram sets at 0.8."
        every.append(drawn("precision-recall", precision_recall, results, caption))
    caption = "Weighted TopSig by the statistics of the first documents: bits that differ from the final signature."
    every.append(drawn("drift", drift, results, caption))
    return tuple(every)


def _values(results: SignatureResults) -> dict[str, object]:
    return {
        "documents": results.documents,
        "advice": results.advice,
        "timings": results.timings,
        "paper_ways": results.paper_ways,
        "drifts": results.drifts,
        "labels": {kind.key: kind.label for kind in ALL_KINDS},
        "all_bits": BITS,
        "drift_bits": DRIFT_BITS,
        "distances": DISTANCES,
        "kinds": KINDS,
        "usual_distances": {(one.key, one.bits): usual_distance(one.key, one.bits) for one in results.apart},
        "wanted": WANTED,
        "similarity": SIMILARITY,
        "compared": (FAST_SIMHASH, TOPSIG, TOPSIG_CODE, WEIGHTED, WEIGHTED_CODE, SIMHASH_ONCE, TOPSIG_ONCE),
        "published_kinds": PUBLISHED_KINDS,
        "truths": {BY_CHARACTERS: "4-gram sets of at least 0.8", BY_WORDS: "word 5-gram sets of at least 0.7"},
        "published_seconds": SECONDS,
        "published_documents": DOCUMENTS_PER_SIGNATURE,
        "one_neighbour": ONE_NEIGHBOUR,
    }


PAGE = LabPage(
    "labs.signatures",
    draw,
    _values,
    {
        "thousandths": lambda x: "–" if x != x else f"{x:,.3f}",
        "share": lambda x: "–" if x != x else f"{100 * x:.1f} %",
        "milliseconds": lambda x: f"{1000 * x:,.3g}" if x < 1 else f"{1000 * x:,.0f}",
        "times": lambda x: f"{x:,.0f}" if x >= 10 else f"{x:.1f}",
        "microseconds": lambda x: f"{1e6 * x:,.2f}",
    },
)


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


CURVE_BITS = 64


def tables(results: SignatureResults) -> tuple[Table, ...]:
    """Return all tables, in the order of the page."""
    return (
        _figure_1(results),
        _table_1(results),
        _paper_way(results),
        _table_2(results),
        _figures_2_and_3(results),
        _retrieval(results),
        _curves(results),
        _apart(results),
        _drift(results),
        _arrivals(results),
        _confusions(results),
        claims_table(results.claims),
    )


def _figure_1(results: SignatureResults) -> Table:
    n = len(results.documents)
    return Table(
        "figure-1-unique-signatures",
        ("method", "bits", "unique_signatures", "share_of_documents", "published_share"),
        tuple((u.key, u.bits, u.n_unique, u.n_unique / n, unique_share(u.key, u.bits)) for u in results.uniqueness),
    )


def _table_1(results: SignatureResults) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for s in results.timings.seconds:
        said = SECONDS.get((s.key, s.bits))
        rows.append((s.key, s.bits, s.mean, s.deviation, *_published(said)))
    columns = ("method", "bits", "mean_s", "deviation_s", "published_mean_s", "published_deviation_s")
    return Table("table-1-seconds", columns, tuple(rows))


def _published(said: MeanAndDeviation | None) -> tuple[Cell, Cell]:
    return (None, None) if said is None else (said.mean, said.deviation)


def _paper_way(results: SignatureResults) -> Table:
    return Table(
        "paper-way",
        ("method", "bits", "paper_way_s_per_feature", "times_ours", "documents_with_equal_signatures"),
        tuple((p.key, p.bits, p.seconds_per_feature, p.ratio, p.n_equal) for p in results.paper_ways.rows),
    )


def _table_2(results: SignatureResults) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for u in results.uniqueness:
        said = DOCUMENTS_PER_SIGNATURE.get((u.key, u.bits))
        rows.append((u.key, u.bits, u.mean, u.deviation, u.most, *_published(said)))
    columns = ("method", "bits", "mean", "deviation", "most", "published_mean", "published_deviation")
    return Table("table-2-documents-per-signature", columns, tuple(rows))


def _figures_2_and_3(results: SignatureResults) -> Table:
    names = (*(f"with_{n}" for n in range(MAX_COUNTED)), f"with_{MAX_COUNTED}_or_more")
    return Table(
        "figures-2-and-3-neighbours",
        ("method", "bits", "distance", *names),
        tuple((n.key, n.bits, n.distance, *n.n_documents) for n in results.neighbours),
    )


def _retrieval(results: SignatureResults) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for r in results.retrievals:
        named = [(f"{d}", r.at(d)) for d in DISTANCES if d < r.bits] + [("best", r.best)]
        for what, q in named:
            rows.append(
                (
                    r.truth, r.key, r.bits, what, q.distance, q.n_neighbours, q.n_found, q.n_true,
                    q.precision, q.recall, q.f1,
                )
            )  # fmt: skip
    columns = (
        "truth", "method", "bits", "which", "distance", "neighbours", "found", "alike", "precision", "recall", "f1",
    )  # fmt: skip
    return Table("precision-and-recall", columns, tuple(rows))


def _curves(results: SignatureResults) -> Table:
    rows = []
    for r in results.retrievals:
        if r.bits == CURVE_BITS:
            rows += [(r.truth, r.key, q.distance, q.precision, q.recall) for q in curve(r)]
    columns = ("truth", "method", "distance", "precision", "recall")
    return Table(f"precision-recall-curve-{CURVE_BITS}-bits", columns, tuple(rows), in_summary=False)


def curve(retrieval: Retrieval) -> list[RetrievalQuality]:
    """Return the quality for every distance that has neighbours, up to the first that finds all pairs."""
    points = []
    for distance in range(retrieval.bits + 1):
        quality = retrieval.at(distance)
        if quality.n_neighbours:
            points.append(quality)
        if quality.n_found == quality.n_true:
            break
    return points


def _apart(results: SignatureResults) -> Table:
    rows = []
    for one in results.apart:
        share = one.share
        told = (None,) * 3 if share is None else (share.mean, share.deviation, one.distance_reaching(WANTED))
        rows.append((one.key, one.bits, one.n_pairs, *told))
    columns = ("method", "bits", "pairs", "mean_share_of_bits", "deviation", f"distance_for_{WANTED:g}")
    return Table("bits-apart", columns, tuple(rows))


def _drift(results: SignatureResults) -> Table:
    def row(drift: Drift) -> tuple[Cell, ...]:
        best = drift.best
        of = "online" if not drift.n_documents else drift.n_documents
        return (
            drift.bits, of, drift.mean, drift.high, drift.n_unique, best.distance, best.precision, best.recall, best.f1,
        )  # fmt: skip

    return Table(
        "drift",
        (
            "bits", "statistics_of", "mean_share_of_bits", "percentile_95", "unique_signatures", "best_distance",
            "precision", "recall", "f1",
        ),
        tuple(row(d) for d in (*results.drifts.by_first, *results.drifts.online)),
    )  # fmt: skip


def _arrivals(results: SignatureResults) -> Table:
    return Table(
        "drift-online",
        ("bits", "first_document", "last_document", "mean_share_of_bits", "percentile_95"),
        tuple((a.bits, a.first, a.last, a.mean, a.high) for a in results.drifts.arrivals),
    )


def _confusions(results: SignatureResults) -> Table:
    def row(key: str, bits: int, what: str, pair: ConfusedPair) -> tuple[Cell, ...]:
        return key, bits, what, pair.id_a, pair.id_b, pair.distance, pair.similarity

    rows = []
    for c in results.confusions:
        rows += [row(c.key, c.bits, "near signatures, unlike texts", pair) for pair in c.unlike]
        rows += [row(c.key, c.bits, "far signatures, alike texts", pair) for pair in c.missed]
    columns = ("method", "bits", "what", "id_a", "id_b", "distance", "jaccard")
    return Table("confusions", columns, tuple(rows), in_summary=False)


def summary(files: ReadingRequest, results: SignatureResults) -> dict[str, object]:
    """Return the results as JSON types."""
    documents, advice, drifts = results.documents, results.advice, results.drifts
    return {
        "corpus": {
            **documents.read_from(files),
            "n_distinct_texts": results.n_distinct,
            "n_occurrences": results.n_occurrences,
            "n_features": results.n_features,
        },
        "parameters": {
            "features": str(FEATURES),
            "normalise": "none",
            "bits": list(BITS),
            "character_threshold": CHARACTER_THRESHOLD,
            "word_threshold": WORD_THRESHOLD,
        },
        "n_alike": dict(results.n_true),
        "advice": {
            "method": advice.kind.key,
            "bits": advice.bits,
            "distance": advice.distance,
            "sentences": list(advice.sentences),
        },
        "statistics_needed": [
            {
                "bits": bits,
                "n_for_small_drift": drifts.n_for_small_drift(bits),
                "n_for_retrieval": drifts.n_for_retrieval(bits),
            }
            for bits in DRIFT_BITS
        ],
        "timed": {
            "n_documents": results.timings.n_documents,
            "n_batches": results.timings.n_batches,
            "mean_features": results.timings.mean_features,
        },
    }


EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary)
