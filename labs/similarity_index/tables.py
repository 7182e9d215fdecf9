"""The results as tables, each a CSV file."""

from __future__ import annotations

import numpy as np

from labs.experiment import Cell, Table
from labs.similarity_index.columns import SHARED_EDGES
from labs.similarity_index.experiment import IndexPlan, IndexResults
from labs.similarity_index.larger import Larger
from labs.similarity_index.published import (
    BEST_SCORE,
    FAMILY_COUNTS,
    FILES,
    MOST_FREQUENT,
    N_OVER_ONE,
    N_RUNS,
    TABLE_9,
    PaperFile,
)
from labs.similarity_index.runs import SUPER_SHINGLE, IndexRun, frequencies
from nearkin.stages.signatures.similarity_index import METHODS, TextStream

_COUNTS = ("false_positives", "false_negatives", "correct", "score", "as_expected", "pairs")


def tables(results: IndexResults) -> tuple[Table, ...]:
    """Return all tables, in the order of the page."""
    made = (
        _files(results),
        _table_9(results),
        Table("best-runs", ("run", "k", "w", *_COUNTS), tuple(_row(run) for run in results.best)),
        _matrices(results),
        _frequencies(results),
        families(results),
        _chance(results),
        _multipliers(results),
        _stop_lists(results),
        Table("runs", ("run", "k", "w", *_COUNTS), tuple(_row(run) for run in results.runs)),
    )
    return made if results.larger is None else (*made, _columns(results.larger), _walks(results.larger))


def _row(run: IndexRun) -> tuple[Cell, ...]:
    return (run.method.name, run.method.k, run.method.w, *_counts(run))


def _counts(run: IndexRun) -> tuple[Cell, ...]:
    c = run.counted
    return c.n_false_positives, c.n_false_negatives, c.n_correct, c.score, c.n_as_expected, c.n_pairs


def published_file(results: IndexResults, name: str) -> PaperFile | None:
    """Return the paper's file of this name, if the folder is the paper's."""
    files = FILES if results.folder.zones.is_published else ()
    return next((file for file in files if name in file.names), None)


def _files(results: IndexResults) -> Table:
    folder = results.folder
    words = [len(own) for own in TextStream("words").words(folder.texts)]
    rows = []
    for name, zone, n, n_words in zip(
        folder.names, folder.zones.zone.tolist(), folder.n_characters, words, strict=True
    ):
        said = published_file(results, name)
        rows.append((name, zone, n, n_words, *((said.name, said.n_characters, said.n_words) if said else (None,) * 3)))
    columns = (
        "file", "zone", "characters", "words", "published_file", "published_characters", "published_words",
    )  # fmt: skip
    return Table("table-1-files", columns, tuple(rows))


def _table_9(results: IndexResults) -> Table:
    rows = []
    for said, run in zip(TABLE_9, results.published, strict=True):
        scores = results.chance.of(run.method)
        rows.append(
            (
                *_row(run), said.n_false_positives, said.n_false_negatives, said.n_correct, said.score,
                float(np.median(scores)), float(scores.max()), results.chance.at_least(run.method, said.score),
            )
        )  # fmt: skip
    columns = (
        "published_false_positives", "published_false_negatives", "published_correct", "published_score",
        "median_of_multipliers", "most_of_multipliers", "share_of_multipliers_at_least_published",
    )  # fmt: skip
    return Table("table-9", ("run", "k", "w", *_COUNTS, *columns), tuple(rows))


def _matrices(results: IndexResults) -> Table:
    """Return pairs of one zone, and false positives, of the best runs and of the paper's."""
    names, zones = results.folder.names, results.folder.zones
    rows: list[tuple[Cell, ...]] = []
    for run in {run.method: run for run in (*results.best, *results.published)}.values():
        hits = run.hits
        shown = zones.inside | (hits & ~np.eye(len(names), dtype=np.bool_))
        rows += [
            (run.method.name, run.method.k, names[i], names[j], int(hits[i, j]), int(zones.expected[i, j]),
             int(zones.inside[i, j]))
            for i, j in np.argwhere(shown).tolist()
        ]  # fmt: skip
    return Table("matrices", ("run", "k", "file", "other", "similar", "expected", "same_zone"), tuple(rows))


def _frequencies(results: IndexResults) -> Table:
    counts = frequencies(results.runs)
    numbers = sorted({run.method.tracking_number for run in results.runs}, key=lambda n: (-counts.get(n, 0), n))
    rank = {number: place for place, number in enumerate(MOST_FREQUENT, 1)}
    return Table(
        "figure-3-methods",
        ("tracking_number", "runs_above_1", "mean_of_multipliers", "published_rank"),
        tuple((n, counts.get(n, 0), results.chance.mean_frequency(n), rank.get(n)) for n in numbers),
    )


def families(results: IndexResults) -> Table:
    """Count how often a method scores above 1 over all streams: here, with other multipliers, in the paper."""
    rows: list[tuple[Cell, ...]] = []
    for number in METHODS:
        here = sum(run.counted.score > 1 for run in results.runs if run.method.method == number)
        if number == SUPER_SHINGLE:
            rows.append((number, METHODS[number], here, *[None] * 3, FAMILY_COUNTS.get(number), None))
            continue
        n, said = results.chance.frequency_in_all_streams(number), FAMILY_COUNTS.get(number)
        share = None if said is None else float((n >= said).mean())
        rows.append((number, METHODS[number], here, float(n.mean()), int(n.min()), int(n.max()), said, share))
    columns = (
        "method", "what", "runs_above_1", "mean_of_multipliers", "least_of_multipliers", "most_of_multipliers",
        "published", "share_of_multipliers_at_least_published",
    )  # fmt: skip
    return Table("figure-3-in-all-streams", columns, tuple(rows))


def _chance(results: IndexResults) -> Table:
    chance = results.chance
    here = {run.method: run.counted.score for run in results.runs}
    rows = tuple(
        (
            method.name, method.k, method.w, here[method], float(scores.mean()), float(np.quantile(scores, 0.05)),
            float(np.median(scores)), float(np.quantile(scores, 0.95)), float(scores.max()), float((scores > 1).mean()),
            float(chance.n_as_expected[:, i].mean()),
        )
        for i, method in enumerate(chance.methods)
        for scores in [chance.scores[:, i]]
    )  # fmt: skip
    columns = (
        "run", "k", "w", "score", "mean", "percentile_5", "median", "percentile_95", "most", "share_above_1",
        "mean_as_expected",
    )  # fmt: skip
    return Table("chance-runs", columns, rows)


def _multipliers(results: IndexResults) -> Table:
    chance = results.chance
    pairs = zip(chance.multipliers, chance.n_over_one.tolist(), chance.best.tolist(), strict=True)
    return Table("chance-multipliers", ("multiplier", "runs_above_1", "best_score"), tuple(pairs))


def _stop_lists(results: IndexResults) -> Table:
    """Return the paper's five runs, the best score, and the number of runs above 1, without the words of each list."""
    rows: list[tuple[Cell, ...]] = []
    for one in results.stop_lists:
        own = one.stop_list.name, len(one.stop_list)
        for run in results.published:
            method, others = run.method, one.others[run.method]
            rows.append((*own, method.name, method.k, one.scores[method], float(np.median(others))))
        rows += [(*own, "best of all", None, one.best, None), (*own, "runs above 1", None, one.n_over_one, None)]
    columns = ("stop_list", "words", "run", "k", "score", "median_of_multipliers")
    return Table("stop-lists", columns, tuple(rows))


def _columns(larger: Larger) -> Table:
    names = [truth.name for truth in larger.truths]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            column.key, column.condition, one.setting, one.n_rows,
            *(of[name] for name in names for of in (one.precision, one.recall, one.pooled_recall)),
        )
        for column in larger.columns
        for one in larger.of(column.key)
    )  # fmt: skip
    measures = [f"{measure}_{name}" for name in names for measure in ("precision", "recall", "pooled_recall")]
    return Table("columns", ("column", "condition", "setting", "rows", *measures), rows)


def _walks(larger: Larger) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in larger.walks:
        ends = (*SHARED_EDGES[1:], 1.0)
        for i, (low, high) in enumerate(zip(SHARED_EDGES, ends, strict=True)):
            numbers = int(one.n_pairs[i]), float(one.measured[i]), float(one.expected[i])
            rows.append((one.method.name, one.method.k, low, high, *numbers))
    return Table("walk", ("run", "k", "shared_from", "shared_to", "pairs", "measured", "expected"), tuple(rows))


def summary(plan: IndexPlan, results: IndexResults) -> dict[str, object]:
    """Convert the results to JSON."""
    chance, length = results.chance, results.by_length.counted
    return {
        "folder": {"path": str(plan.folder), "n_files": len(results.folder), "zones": _zones(results)},
        "parameters": {"multipliers": plan.n_multipliers, "queries": plan.n_queries, "seed": plan.seed},
        "runs": {
            "n_runs": len(results.runs),
            "n_above_1": results.n_over_one,
            "n_above_1_without_super_shingle": results.n_over_one_compared,
            "best_score": results.best[0].counted.score,
            "score_of_length": length.score,
            "published": {"n_runs": N_RUNS, "n_above_1": N_OVER_ONE, "best_score": BEST_SCORE},
        },
        "chance": {
            "n_runs": len(chance.methods),
            "mean_n_above_1": float(chance.n_over_one.mean()),
            "min_n_above_1": int(chance.n_over_one.min()),
            "max_n_above_1": int(chance.n_over_one.max()),
            "mean_best_score": float(chance.best.mean()),
            "share_with_a_best_of_published": float((chance.best.round(2) >= BEST_SCORE).mean()),
        },
        "documents": None if results.larger is None else _documents(results.larger, results),
    }


def _zones(results: IndexResults) -> str:
    return "published" if results.folder.zones.is_published else str(results.plan.expected)


def _documents(larger: Larger, results: IndexResults) -> dict[str, object]:
    file, sizes = results.plan.documents, larger.families.sizes
    return {
        "path": None if file is None else str(file.path),
        "family": None if file is None else file.family,
        "n_documents": len(larger.families),
        "n_families": len(sizes),
        "n_families_of_two_and_more": int((sizes > 1).sum()),
        "largest_family": int(sizes.max()),
        "n_left_out": larger.families.n_left_out,
        "n_without_text_or_family": larger.families.n_without,
        "n_queries": len(larger.queries),
        "truths": [
            {"name": truth.name, "n_pairs": len(truth), "n_queries_with_relatives": truth.n_with_relatives}
            for truth in larger.truths
        ],
        "n_without_index": larger.n_without_index,
        "walks": [
            {"run": str(walk.method), "slope": _number(walk.slope), "scale": _number(walk.scale_of_size)}
            for walk in larger.walks
        ],
    }


def _number(value: float) -> float | None:
    return None if value != value else value
