from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearkin.errors import MissingExtraError
from nearkin.manifests.pairs import PairsManifest
from nearkin.reports.dedup.page import ProblemRow
from nearkin.reports.pairs.page import PairRow, Remarks, TermRow, render_pairs_report
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
        "inputs": [{"source": file, "changed_ns": 1}], "n_documents": 20_000, "n_unreadable": 2, "n_few_terms": 1,
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


def page(about: dict[str, Any], *best: PairRow, others: tuple[PairRow, ...] = (), remarks: Any = ()) -> str:
    return render_pairs_report(PairsManifest.of(about), best=best, others=others, remarks=remarks).replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_known_pairs_and_a_translation() -> None:
    known = {
        "told_by": "<i>links</i>", "n_told": 12, "n_known": 10, "n_comparable": 9, "n_found": 8, "n_first": 7,
        "recall": 0.8, "n_pairs": 20, "precision_of_all_pairs": 0.4, "n_pairs_of_known_left": 16,
        "precision_of_known_left": 0.5, "mean_cosine": 0.45,
        "histogram": [0, 0, 1, 3, 5, 0, 0, 0, 0, 0],
    }  # fmt: skip
    translated = {
        "pairs": "known by links", "n_pairs": 9, "mean_by_table": 0.45, "mean_by_translation": 0.55,
        "histogram_by_table": known["histogram"], "histogram_by_translation": [0, 0, 0, 2, 2, 5, 0, 0, 0, 0],
    }  # fmt: skip
    html = page(manifest(known=known, translated=translated), pair())
    assert "Source of the known pairs: &lt;i&gt;links&lt;/i&gt;." in html
    assert (
        "Recall 80.0%: 8 of 10 known pairs found. 7 of these are the most similar pair of their left document." in html
    )
    assert "Precision over all pairs: 40.0% of 20 reported pairs are known." in html
    rest = "A pair that is not known is not necessarily wrong."
    assert f"Precision over left documents with a known partner: 50.0% of their 16 pairs are known. {rest}" in html
    assert "2 known pairs were skipped: the list repeats them" in html
    assert "1 known pair has a document that could not be compared" in html
    assert "the mean cosine is 0.450 by the table and 0.550 by the translated documents" in html
    assert '<td>0.50 to under 0.60</td><td class="number">0 · 5</td>' in html
    nothing = known | {"n_comparable": 0, "n_found": 0, "n_first": 0, "recall": 0.0, "n_pairs": 0,
                       "precision_of_all_pairs": None, "n_pairs_of_known_left": 0, "precision_of_known_left": None,
                       "mean_cosine": None, "histogram": [0] * 10}  # fmt: skip
    none = translated | {"n_pairs": 0, "mean_by_table": None, "mean_by_translation": None}
    html = page(manifest(known=nothing, translated=none), pair())
    assert "Recall 0.0%: 0 of 10 known pairs found." in html
    assert "none could be compared" in html
    assert "known-w" not in html


def test_hostile_ids_and_words_stay_text() -> None:
    evil = "</td><script>alert(1)</script>\u202e{{ 7*7 }}\x00"
    remarks = (Remarks("left", 30, (ProblemRow(evil, evil, evil),)),)
    html = page(manifest(), pair(evil, evil, 0.5, TermRow(evil, evil, 2.0)), others=(pair(evil),), remarks=remarks)
    assert html.count("<script") == 1  # its own
    assert "\u202e" not in html
    assert "\x00" not in html
    assert html.count("⟨U+202E⟩{{ 7*7 }}⟨U+0000⟩") == 8
    assert "width:16.00rem" in html
    assert "30 remarks about documents on the left" in html
    assert "The first 1 remarks; documents.parquet has all of them." in html
    assert page(manifest(), pair("x" * 5000)).count("x") < 1000


def test_the_same_arguments_give_the_same_page() -> None:
    assert page(manifest(), pair(), others=(pair(),)) == page(manifest(), pair(), others=(pair(),))


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


def test_the_page_is_written(tmp_path: Path) -> None:
    written(tmp_path, np.linspace(0.3, 0.9, 200))
    run: Any = SimpleNamespace(path=tmp_path, meter=SimpleNamespace(elapsed_s=4.5))
    html = reporting.render_page(run, PairsManifest.of(manifest()))
    assert "75 more pairs, down to a cosine of" in html
    assert re.search(
        r"</code> · \d{4}-\d\d-\d\d \d\d:\d\d UTC · took 4\.50.s, plus the time to write this report</p>", html
    )
    assert '<a href="pairs.parquet">' in html
    assert "known.tsv" not in html  # the run had no known pairs
    assert "<bdi>in.csv:2</bdi>" in html
    assert "1 remark about documents on the right" in html
    assert "<bdi>in.txt</bdi>" in html


def test_a_missing_library_is_a_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"nearkin\[report\]"):
        page(manifest(), pair())
