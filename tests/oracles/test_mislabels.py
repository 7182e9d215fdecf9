"""Wrong labels planted among versions of generated contracts, found by `conflicts`: the benchmark, in small."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_planted_mislabels_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    import generate
    import mislabels

    monkeypatch.setattr(generate, "N_CONTRACTS_OF_A_KIND", generate.N_CONTRACTS_OF_A_KIND)
    planted = mislabels.plant(15, 13, seed=3)
    assert len(planted.wrong) == 15
    assert all(planted.labels[doc_id] in mislabels.OTHER for doc_id, _ in planted.documents)
    words, letters = mislabels.asked(planted, {"words": {}, "letters": {"gamma": 0.025}})
    assert (words.n_found, words.n_false) == (15, 0)
    assert 1 <= letters.n_found <= 10  # the figures of the guide: letters miss most versions with a changed clause
    assert letters.n_false <= 5
