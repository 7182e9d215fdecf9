"""What is said of finished runs and audits, without running one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nearkin.manifests.dedup import DedupManifest
from nearkin.planning.audit import AuditEstimate
from nearkin.reports.dedup.wording import promises
from nearkin.reports.sentences.audit import measured_recall, prediction_sentence
from nearkin.reports.sentences.dedup import dedup_sentences
from nearkin.runs.progress import StageCost


def estimate(*numbers: float | None) -> AuditEstimate:
    """Of these numbers, in the order of its fields."""
    names = ("n_population", "n_sampled", "n_with_pairs", "n_true", "n_found", "recall", "low", "high")
    return AuditEstimate(**dict(zip(names, numbers, strict=True)))  # type: ignore[arg-type]


SOME = estimate(1000, 100, 20, 40, 38, 0.95, 0.9, 0.98)
EXACT = estimate(100, 100, 20, 40, 40, 1.0, 1.0, 1.0)
NOTHING = estimate(1000, 100, 0, 0, 0, None, None, None)
NOTHING_AT_ALL = estimate(100, 100, 0, 0, 0, None, None, None)


@pytest.mark.parametrize(
    ("found", "recall", "why"),
    [
        (SOME, "95.00%", "95% interval 90.00% to 98.00%"),
        (replace(SOME, low=0.99991, high=0.999999), "95.00%", "95% interval 99.99% to 99.99%"),
        (replace(SOME, low=0.62707), "95.00%", "95% interval 62.70% to 98.00%"),
        (EXACT, "100.00%", "exact: every document was sampled"),
        (NOTHING, "–", "no sampled document has a true pair, so the recall is not known"),
        (NOTHING_AT_ALL, "–", "no true pair was found (every document was sampled)"),
    ],
)
def test_a_measured_recall_and_how_sure_it_is(found: AuditEstimate, recall: str, why: str) -> None:
    assert measured_recall(found) == (recall, why)


@pytest.mark.parametrize(
    ("found", "predicted", "claims_all", "said", "tone"),
    [
        (SOME, None, False, "not known", "plain"),
        (SOME, 0.94, False, "inside the interval", "plain"),
        (SOME, 0.97, False, "above the measured recall, inside the interval", "plain"),
        (SOME, 0.99, False, "outside the interval", "warning"),
        (SOME, 1.0, True, "inconsistent: pairs were missed", "damage"),
        (EXACT, 1.0, True, "consistent: none of these pairs was missed", "plain"),
        (EXACT, 0.99, False, "", "plain"),
        (NOTHING, 0.99, False, "", "plain"),
    ],
)
def test_whether_a_prediction_held(
    found: AuditEstimate, predicted: float | None, claims_all: bool, said: str, tone: str
) -> None:
    sentence = prediction_sentence(found, predicted, claims_all=claims_all)

    assert (str(sentence), sentence.tone) == (said, tone)


@pytest.mark.parametrize(
    ("n_missed", "said"),
    [
        (0.0, "less than 0.1"),  # rounded in the manifest
        (0.052, "less than 0.1"),
        (1.26, "1.3"),
    ],
)
def test_missed_pairs_are_an_expectation_on_the_console_and_in_the_report(n_missed: float, said: str) -> None:
    told = DedupManifest(
        parameters={"measure": "jaccard", "threshold": 0.8, "shingle": "words:5"},
        plan={"recall_at_threshold": 0.99128},
        counts={"documents": 9, "pairs": 43},
        estimated_missed_pairs=n_missed,
        estimated_recall=0.998806,
        stages=(StageCost("read", 1.0, 1 << 20),),
    )
    console = " ".join(sentence.text for sentence in dedup_sentences(told, has_kept=False))
    report = " ".join(note.text for note in promises(told))
    assert "Estimated recall: 99.88% of all pairs, 99.12% of pairs exactly at the threshold." in console
    assert f"Expected number of missed pairs: {said}. To measure the recall, run nearkin audit." in console
    assert f"the expected number is {said} (estimated recall 99.88%). To measure the recall, run" in report


def test_without_verified_pairs_nothing_is_estimated_on_the_console_and_in_the_report() -> None:
    told = DedupManifest(
        parameters={"measure": "jaccard", "threshold": 0.8, "shingle": "words:5"},
        plan={"recall_at_threshold": 0.99128},
        counts={"documents": 9},
        estimated_missed_pairs=0.0,
        stages=(StageCost("read", 1.0, 1 << 20),),
    )
    console = " ".join(sentence.text for sentence in dedup_sentences(told, has_kept=False))
    report = " ".join(note.text for note in promises(told))
    assert all(
        "No pair was verified, so the number of missed pairs was not estimated" in one for one in (console, report)
    )
    assert "expected number" not in (console + report).lower()
