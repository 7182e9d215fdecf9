"""The results as tables: for CSV files, for the summary, for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from labs.minhash.corpus import TitledRequest
from labs.minhash.experiment import HIGH_THRESHOLD, N_SKETCHES, NEAR_THRESHOLD, SHINGLE, MinhashResults
from labs.minhash.published import PUBLISHED
from labs.minhash.truth import N_HASHES, Banding
from labs.tables import Cell, Table


@dataclass(frozen=True, slots=True)
class ArticleNumber:
    """A number of the article beside ours."""

    what: str
    published: str
    here: str


def tables(results: MinhashResults) -> tuple[Table, ...]:
    """Return all tables, each a CSV file."""
    truth = results.truth
    bins = len(truth.histogram)
    pairs = truth.similar
    ids = results.documents.ids
    return (
        Table(
            "sentences",
            ("sentences", "length", "published", "similarity", "similarity_without_last_shingle"),
            tuple((s.name, s.length, s.published, s.similarity, s.without_last) for s in results.sentences),
        ),
        Table(
            "shingle_lengths",
            ("shingle", "mean_near", "percentile_10_near", "median_unrelated", "percentile_99_9_unrelated"),
            tuple(
                (e.shingle, e.mean_near, e.low_near, e.median_unrelated, e.high_unrelated)
                for e in results.lengths.effects
            ),
            nan="nan",
        ),
        Table(
            "s_curves",
            ("similarity", *(f"{curve.bands}x{curve.rows}" for curve in results.curves)),
            tuple(
                (float(s), *(float(curve.probabilities[i]) for curve in results.curves))
                for i, s in enumerate(results.similarities)
            ),
        ),
        Table(
            "bands",
            (
                "bands", "rows", "candidates", "candidates_predicted", "candidates_least", "candidates_most",
                "high_pairs", "high_pairs_found", "high_pairs_found_predicted", "high_pairs_found_least",
                "checked_in_vain", "all_pairs",
            ),
            tuple(_banding_row(b, truth.n_high, truth.n_pairs) for b in truth.bandings),
        ),
        Table(
            "similarities",
            ("from", "to", "pairs"),
            tuple((i / bins, (i + 1) / bins, int(n)) for i, n in enumerate(truth.histogram)),
        ),
        Table(
            "pairs",
            ("id_a", "id_b", "jaccard"),
            tuple(
                (ids[a].as_py(), ids[b].as_py(), s)
                for a, b, s in zip(pairs.left.tolist(), pairs.right.tolist(), pairs.similarity.tolist(), strict=True)
            ),
        ),
    )  # fmt: skip


def _banding_row(b: Banding, n_high: int, n_pairs: int) -> tuple[Cell, ...]:
    return (
        b.bands, b.rows, b.n_candidates[0], b.n_expected, min(b.n_candidates), max(b.n_candidates),
        n_high, b.n_high_found[0], b.n_high_expected, min(b.n_high_found), b.n_in_vain, n_pairs,
    )  # fmt: skip


def side_by_side(results: MinhashResults) -> tuple[ArticleNumber, ...]:
    """Return the article's numbers beside ours, in its order."""
    truth, copies, said = results.truth, results.copies, PUBLISHED
    twenty = next(b for b in truth.bandings if b.bands == 20)
    return (
        *_sentences(results),
        ArticleNumber("documents searched among themselves", f"{said.n_first}", f"{copies.n_documents:,}"),
        ArticleNumber(f"pairs ≥ {NEAR_THRESHOLD} among them", f"{said.n_pairs_first}", f"{copies.n_pairs:,}"),
        ArticleNumber(
            "pairs without the last shingle of each text", f"{said.n_pairs_first}", f"{copies.n_pairs_without_last:,}"
        ),
        ArticleNumber(
            "pairs / documents (no share)", f"{said.share_said:.1%}", f"{copies.n_pairs / copies.n_documents:.1%}"
        ),
        ArticleNumber("documents with a near-duplicate", "–", _share(copies.n_with_a_copy, copies.n_documents)),
        ArticleNumber("documents that could be removed", "–", _share(copies.n_removable, copies.n_documents)),
        ArticleNumber("documents searched with bands", f"{said.n_documents:,}", f"{truth.n_documents:,}"),
        ArticleNumber("all pairs", f"{said.n_all_pairs_said:,} (499,500)", f"{truth.n_pairs:,}"),
        ArticleNumber("candidates, 20 bands of 5", f"{said.n_candidates_20_bands}", f"{twenty.n_candidates[0]:,}"),
        ArticleNumber("candidates predicted by the model", "–", f"{twenty.n_expected:,.1f}"),
        ArticleNumber(f"pairs ≥ {HIGH_THRESHOLD}", f"{said.n_high}", f"{truth.n_high:,}"),
        ArticleNumber(f"pairs ≥ {HIGH_THRESHOLD} found", f"{said.n_high_found}", f"{twenty.n_high_found[0]:,}"),
        ArticleNumber("candidates compared for nothing", f"{said.n_in_vain}", f"{twenty.n_in_vain:,}"),
    )


def _sentences(results: MinhashResults) -> Iterator[ArticleNumber]:
    for s in results.sentences:
        yield ArticleNumber(f"{s.name}, {s.length} characters", f"{s.published:.5f}", f"{s.similarity:.5f}")


def _share(n: int, of: int) -> str:
    return f"{n:,} ({n / of:.1%})"


def summary(files: TitledRequest, results: MinhashResults) -> dict[str, object]:
    """Return all numbers except the long tables, for programs."""
    truth, copies, documents = results.truth, results.copies, results.documents
    return {
        "corpus": {
            "inputs": files.shown_inputs,
            "text": files.text,
            "title": files.title,
            "n_documents": len(documents),
            "n_empty": documents.n_empty,
            "n_unreadable": documents.n_unreadable,
        },
        "parameters": {
            "shingle": str(SHINGLE),
            "normalise": "case",
            "hashes": N_HASHES,
            "sketches": N_SKETCHES,
            "near_threshold": NEAR_THRESHOLD,
            "high_threshold": HIGH_THRESHOLD,
        },
        "sentences": tables(results)[0].records(),
        "shingle_lengths": {
            "n_near_pairs": results.lengths.n_near,
            "n_unrelated_pairs": results.lengths.n_unrelated,
            "by_shingle": tables(results)[1].records(),
        },
        "bands": tables(results)[3].records(),
        "copies": {
            "n_documents": copies.n_documents,
            "n_pairs": copies.n_pairs,
            "n_pairs_without_last_shingle": copies.n_pairs_without_last,
            "n_documents_with_a_copy": copies.n_with_a_copy,
            "n_documents_removable": copies.n_removable,
        },
        "n_pairs": truth.n_pairs,
        "n_high_pairs": truth.n_high,
        "published": {name: getattr(PUBLISHED, name) for name in PUBLISHED.__slots__},
    }
