"""The results as an HTML page without scripts or external files."""

from __future__ import annotations

from functools import partial

import numpy as np

from labs.experiment import Drawn, LabPage, drawn, places
from labs.similarity_index import figures
from labs.similarity_index.columns import LABELS, hit_chance
from labs.similarity_index.experiment import IndexResults
from labs.similarity_index.published import BEST_SCORE, N_OVER_ONE, N_RUNS, REMARKS, TABLE_9
from labs.similarity_index.runs import IndexRun
from labs.similarity_index.tables import families, published_file
from labs.similarity_index.zones import Folder, matrix, zone_name
from nearkin.nouns import counted
from nearkin.stages.signatures.similarity_index import TOLERANCE


def draw(results: IndexResults) -> tuple[Drawn, ...]:
    """Draw all figures."""
    n = len(results.chance.multipliers)
    every = [
        drawn(
            "methods",
            figures.method_frequency,
            results,
            f"Figure 3: {counted(results.n_over_one, 'run')} with a score above 1.",
        ),
        drawn("scores", figures.scores, results, f"The paper's five runs with {n:,} other multipliers."),
        drawn(
            "best-scores",
            figures.best_scores,
            results,
            f"Highest score with each of {n:,} multipliers.",
        ),
        drawn("runs-above-1", figures.runs_over_one, results, f"Runs above 1 with each of {n:,} multipliers."),
    ]
    if (larger := results.larger) is not None:
        for truth in larger.truths:
            counts = counted(len(larger.families), "document"), counted(len(larger.queries), "query", "queries")
            words = f"Truth: {LABELS[truth.name]}. {', '.join(counts)}."
            chart = partial(figures.precision_recall, truth=truth.name)
            every.append(drawn(f"precision-recall-{truth.name}", chart, larger, words))
            chart = partial(figures.rows_recall, truth=truth.name)
            every.append(drawn(f"rows-{truth.name}", chart, larger, words))
        if len(larger.walks[0].size):
            words = f"{larger.walks[0].method}, one point per document; slope {larger.walks[0].slope:.2f}."
            every.append(drawn("size-by-length", figures.size_by_length, larger, words))
        n_pairs = ", ".join(f"{int(one.n_pairs.sum()):,}" for one in larger.walks)
        words = f"Pairs that should be found ({n_pairs}), tolerance {TOLERANCE}."
        every.append(drawn("hits-by-shared", figures.hits_by_shared, larger, words))
    return tuple(every)


def _values(results: IndexResults) -> dict[str, object]:
    return {
        "folder": results.folder,
        "is_published": results.folder.zones.is_published,
        "files": _files(results),
        "chance": results.chance,
        "in_all_streams": families(results).rows,
        "compared": list(zip(TABLE_9, results.published, strict=True)),
        "best": [(run, _matrices(results.folder, run)) for run in results.best],
        "published_matrices": [
            (said, run, _matrices(results.folder, run)) for said, run in zip(TABLE_9, results.published, strict=True)
        ],
        "n_runs_said": N_RUNS,
        "n_over_one_said": N_OVER_ONE,
        "best_said": BEST_SCORE,
        "share_of_best_said": float((results.chance.best.round(2) >= BEST_SCORE).mean()),
        "n_pairs": len(results.folder) ** 2,
        "median": np.median,
        "said_zone": matrix,
        "larger": results.larger,
        "truth_labels": LABELS,
        "unrelated": float(hit_chance(np.zeros(1))[0]),
        "chances": [(share, float(hit_chance(np.array([share]))[0])) for share in (0.0, 0.5, 0.8, 0.9, 0.99, 1.0)],
        "remarks": REMARKS,
    }


def _files(results: IndexResults) -> list[tuple[str, int, int, object]]:
    """Return name, zone, characters, and the paper's file."""
    folder = results.folder
    rows = zip(folder.names, folder.zones.zone.tolist(), folder.n_characters, strict=True)
    return [(name, zone, n, published_file(results, name)) for name, zone, n in rows]


def _matrices(folder: Folder, run: IndexRun) -> list[tuple[str, list[tuple[str, list[tuple[int, int]]]]]]:
    """Return for each zone its name, and for each file its hits and the expected ones."""
    hits, found = run.hits, []
    for number in range(1, int(folder.zones.zone.max()) + 1):
        rows = np.flatnonzero(folder.zones.zone == number)
        own = [
            (folder.names[i], [(int(hits[i, j]), int(folder.zones.expected[i, j])) for j in rows.tolist()])
            for i in rows.tolist()
        ]
        found.append((zone_name(folder.zones, number), own))
    return found


PAGE = LabPage(
    "labs.similarity_index",
    draw,
    _values,
    {
        "score": lambda x: f"{x:.2f}",
        "thousandths": places(3),
        "percent": lambda x: "–" if x != x else f"{100 * x:.1f} %",
        "rows": lambda x: f"{x:,.0f}" if x >= 100 else f"{x:,.2f}",
    },
)
