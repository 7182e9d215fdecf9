from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearkin.manifests.pairs import PairsManifest
from nearkin.reports.pages import problems_table
from nearkin.reports.pairs import PairRow, TermRow, render_pairs_report
from nearkin.workflows.pairing import reporting

WINDOW = {"method": "window", "bits": 512, "distance": 210, "permutations": 15, "window": 1300}
VECTORS = {"method": "vectors", "bits": 0, "distance": 0, "permutations": 0, "window": 0}


def way(search: dict[str, Any], low: float, recall: float, high: float) -> dict[str, Any]:
    predicted = {
        "recall_low": low, "recall": recall, "recall_high": high, "n_comparisons": 383_667_000.0,
        "relative_cost": 1.19734, "n_candidates": 75_151.0, "n_hits": 75_151.0, "n_pairs": 11_089.0, "memory_bytes": 1,
        "signing_s": 0.1, "sorting_s": 0.1, "comparing_s": 0.1, "checking_s": 0.097, "elapsed_s": 0.397,
    }  # fmt: skip
    return {"search": search, "predicted": predicted}


def side(**ways: float) -> dict[str, Any]:
    file = {"path": "<in>.csv", "format": "csv", "text": "text", "id": None, "size_bytes": 9}
    return {
        "inputs": [file], "n_documents": 20_000, "n_unreadable": 2, "n_few_terms": 1,
        "n_vectors": 19_997, "n_words": 9, "n_rare_words": 4, "mean_terms": 5.0, "ways": ways,
    }  # fmt: skip


def manifest(**changed: Any) -> dict[str, Any]:
    ways = {"whole": 0.87, "stem": 0.03, "itself": 0.05, "parts": 0.01, "unknown": 0.04}
    return {
        "nearkin": "0.1", "command": "pairs", "fingerprint": "words",
        "parameters": {"threshold": 0.3, "recall": 0.9, "top": None, "terms": 5, "stems": True, "method": "window"},
        "table": {"path": "de-en.table", "fingerprint": "f" * 16, "source": "de", "target": "en", "translated": "left"},
        "left": side(**ways), "right": side(),
        "plan": way(WINDOW, 0.90078, 0.919125, 0.934125) | {
            "in_words": "signatures of 512 bits", "why": "--method was given",
            "alternatives": [way(VECTORS, 1.0, 1.0, 1.0)],
            "sampled_documents": 400, "sampled_pairs": 242,
        },
        "counts": {
            "pairs": 11_089, "pairs_at_threshold": 11_089, "left_with_pairs": 10_169, "right_with_pairs": 10_168,
            "comparisons": 380_803_113, "candidates": 75_151,
        },
        "histogram": {"from": 0.0, "step": 0.05, "counts": [0] * 6 + [11_089] + [0] * 13},
        "stages": [{"name": "read left", "elapsed_s": 0.8, "peak_memory_bytes": 1 << 20}],
    } | changed  # fmt: skip


def pair(left: str = "a", right: str = "b", cosine: float = 0.5, *terms: TermRow) -> PairRow:
    return PairRow(left, right, cosine, terms or (TermRow("house", "haus", 0.125), TermRow("nato", None, 0.06)))


def page(about: dict[str, Any], *best: PairRow, others: tuple[PairRow, ...] = (), remarks: Any = None) -> str:
    return render_pairs_report(PairsManifest.of(about), best=best, others=others, remarks=remarks or {}).replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_hostile_ids_and_words_stay_text() -> None:
    evil = "</td><script>alert(1)</script>\u202e{{ 7*7 }}\x00"
    remarks = {"left": problems_table([(evil, evil, evil)], 30)}
    html = page(manifest(), pair(evil, evil, 0.5, TermRow(evil, evil, 2.0)), others=(pair(evil),), remarks=remarks)
    assert html.count("<script") == 1  # its own
    assert "\u202e" not in html
    assert "\x00" not in html
    assert html.count("⟨U+202E⟩{{ 7*7 }}⟨U+0000⟩") == 8
    assert "width:16.00rem" in html
    assert "Remarks: 30; the first 1 are listed, all are in the tables" in html
    assert page(manifest(), pair("x" * 5000)).count("x") < 1000


def written(folder: Path, cosines: np.ndarray, *, group: int = 1000) -> Path:
    n = len(cosines)
    terms = pa.array([[{"term": "b", "left_term": None, "share": 0.5}]] * n, pa.list_(pa.struct(
        [("term", pa.large_string()), ("left_term", pa.large_string()), ("share", pa.float32())]
    )))  # fmt: skip
    rows = {
        "left_row": range(n),
        "right_row": range(n),
        "cosine": cosines,
        "rank": [1] * n,
        "terms": terms,
    }
    pq.write_table(pa.table(rows), folder / "pairs.parquet", row_group_size=group)
    odd = [("left", n, "b", "in.csv", 2, "not UTF-8"), ("right", n, "in.txt", "in.txt", 1, "not UTF-8")]
    plain = [(side, row, f"{side[0]}{row}", "in.csv", 1, None) for side in ("left", "right") for row in range(n)]
    names = ("side", "row", "name", "source", "line", "problem")
    documents = dict(zip(names, zip(*odd, *plain, strict=True), strict=True))
    pq.write_table(pa.table(documents), folder / "documents.parquet")
    return folder


@pytest.mark.parametrize("at_once", [300, 1 << 16])
def test_pairs_are_chosen_over_all_cosines(at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "_AT_ONCE", at_once)
    cosines = 0.3 + 0.6 * np.random.default_rng(1).random(5000) ** 2
    best, others = reporting.shown_pairs(written(tmp_path, cosines))
    assert [one.cosine for one in best] == sorted(cosines, reverse=True)[:100]
    shown = [one.cosine for one in others]
    assert shown == sorted(shown, reverse=True)
    assert len(shown) == 50
    assert max(shown) <= best[-1].cosine
    steps = np.diff(np.linspace(cosines.min(), best[-1].cosine, 51))[0]
    assert max(-np.diff(shown)) < 2.01 * steps
    rows = [int(one.left[1:]) for one in (*best, *others)]
    assert np.median(rows[len(best) :]) > 1000  # not the first of each step
    assert all(one.right == f"r{row}" and cosines[row] == one.cosine for row, one in zip(rows, (*best, *others)))
    assert (best, others) == reporting.shown_pairs(tmp_path)
