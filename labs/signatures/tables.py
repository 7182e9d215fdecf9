"""The results as tables, each a CSV file."""

from __future__ import annotations

from labs.claims import claims_table
from labs.signatures.apart import WANTED
from labs.signatures.confusion import ConfusedPair
from labs.signatures.drift import Drift
from labs.signatures.experiment import SignatureResults
from labs.signatures.published import DOCUMENTS_PER_SIGNATURE, SECONDS, MeanAndDeviation, unique_share
from labs.signatures.retrieval import DISTANCES, Retrieval, RetrievalQuality
from labs.signatures.uniqueness import MAX_COUNTED
from labs.tables import Cell, Table

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
