"""What is said of finished runs and audits, without running one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nearkin.collection.loads.adding import Added
from nearkin.manifests.dedup import DedupManifest, ExtractionCounts
from nearkin.manifests.inputs import DamagedFile
from nearkin.planning.audit import AuditEstimate
from nearkin.planning.audit_sample import ProposedSample
from nearkin.reports.dedup.wording import promises
from nearkin.reports.reasons import reason_in_words
from nearkin.reports.sentences.add import add_sentences
from nearkin.reports.sentences.audit import below_text, measured_recall, prediction_sentence, proposal_sentence
from nearkin.reports.sentences.damage import damage_sentences
from nearkin.reports.sentences.dedup import dedup_sentences, extraction_sentence
from nearkin.runs.meter import StageCost


def test_damaged_files_are_named_and_beyond_five_counted() -> None:
    damaged = [DamagedFile(path=f"{i}.gz", line=1000 * i, problem="the gzip stream is truncated") for i in range(1, 8)]

    said = list(map(str, damage_sentences(damaged, "The table has")))

    assert len(said) == 6
    told = "Incomplete: 1.gz, line 1,000: the gzip stream is truncated. The table has only the documents before it."
    assert said[0] == told
    assert said[5] == "Incomplete: 2 more damaged files."


def test_damage_without_a_place() -> None:
    [nothing] = damage_sentences([DamagedFile(path="a.parquet", line=1, problem="it is truncated")], "The results have")
    assert str(nothing) == "Incomplete: a.parquet, line 1: it is truncated. None of its documents was read."
    assert "a.tmx: no element" in str(*damage_sentences([DamagedFile(path="a.tmx", problem="no element")], "It has"))
    found = DamagedFile(path="a.tmx", problem="no element")
    assert found.as_stored() == {"path": "a.tmx", "problem": "no element"}
    assert DamagedFile.of(found.as_stored()) == found


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
    ("found", "predicted", "said"),
    [
        (SOME, 0.95, ""),
        (SOME, 0.950049, ""),
        (SOME, None, ""),
        (NOTHING, 0.9, ""),
        (
            SOME,
            0.97,
            "",
        ),
        (
            SOME,
            0.99,
            "The measured recall is 4.00 points below the predicted 99.00%, and its whole interval is at least 1.00 "
            "points below it.",
        ),
        (
            replace(SOME, high=0.97005),
            0.99,
            "The measured recall is 4.00 points below the predicted 99.00%, and its whole interval is at least 1.99 "
            "points below it.",
        ),
        (
            replace(EXACT, recall=0.8174, low=0.8174, high=0.8174),
            0.9014,
            "The recall is 8.40 points below the predicted 90.14%.",
        ),
        (
            replace(EXACT, recall=0.8174, low=0.8174, high=0.8174),
            0.8274,
            "The recall is 1.00 points below the predicted 82.74%.",
        ),
        (
            replace(EXACT, recall=0.9893, low=0.9893, high=0.9893),
            0.9894,
            "The recall is 0.01 points below the predicted 98.94%.",
        ),
        (
            replace(EXACT, recall=72 / 73, low=72 / 73, high=72 / 73),  # 98.630%, printed as 98.63%
            0.998676,
            "The recall is 1.23 points below the predicted 99.86%.",
        ),
    ],
)
def test_by_how_much_a_recall_is_below_the_predicted_one(
    found: AuditEstimate, predicted: float | None, said: str
) -> None:
    assert below_text(found, predicted) == said


def test_what_another_sample_would_tell() -> None:
    assert str(proposal_sentence(ProposedSample(500, 12.0, 0.05))) == (
        "For an interval of about 5 points: --sample 500 (about 12 s)"
    )
    assert (
        str(proposal_sentence(ProposedSample(900, 61.0, 0.0))) == "For the exact recall: --sample 900 (about 1 min 1 s)"
    )


def test_exceptions_count_documents_that_were_not_extracted() -> None:
    told = ExtractionCounts(documents=157, in_part=3, unread=15, exceptions={"corrupt": 6, "empty": 16})
    assert extraction_sentence(told).text == (
        "22 exceptions (19 without text, 3 partial): 6 corrupt, 16 empty; see exceptions.csv"
    )
    told = ExtractionCounts(exceptions={"empty": 1})
    assert extraction_sentence(told).text == "exceptions.csv lists 1 document without text: 1 empty"


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"in_part": 0, "unread": 0}, "9 documents extracted from files, all of them completely"),
        ({"in_part": 0, "unread": 2}, "exceptions.csv lists 2 documents without text: 2 corrupt"),
        ({"in_part": 1, "unread": 0}, "1 exception (1 partial): 1 corrupt; see exceptions.csv"),
        ({"in_part": 2, "unread": 1}, "3 exceptions (1 without text, 2 partial): 3 corrupt; see exceptions.csv"),
    ],
)
def test_documents_in_part_are_counted_only_where_there_are_some(counts: dict[str, int], said: str) -> None:
    n = sum(counts.values())
    told = ExtractionCounts(documents=9, exceptions={"corrupt": n} if n else {}, **counts)
    assert extraction_sentence(told).text == said


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (1, "Kept 1 stored text that another version of the extractor made; --re-extract replaces it"),
        (2, "Kept 2 stored texts that another version of the extractor made; --re-extract replaces them"),
    ],
)
def test_texts_of_another_version_are_counted(n: int, said: str) -> None:
    added = Added(
        wave="1", n_new=0, n_new_versions=0, n_unchanged=n, n_problems=0, n_contents=0, n_other_extractor=n
    )  # fmt: skip
    assert said in list(map(str, add_sentences(added, ())))


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"drop": "containing", "threshold": 0.8}, "contains at least 80% of a document of the other set"),
        ({"drop": "either", "threshold": 0.825}, "contains at least 82.5% of a document of the other set"),
        ({"min_shared": 1}, "shares at least 1 shingle with a document of the other set"),
    ],
)
def test_an_overlap_is_explained_by_the_criterion_of_the_run(parameters: dict[str, object], said: str) -> None:
    told = DedupManifest(parameters=parameters, against_counts={"documents": 1})
    assert reason_in_words(told, "overlap") == said


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


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_dry_run_names_no_list_of_exceptions(dry_run: bool) -> None:
    counts = {"n_new": 1, "n_new_versions": 0, "n_unchanged": 0, "n_contents": 1, "n_problems": 1}
    added = Added(wave="1", **counts, n_no_text=1, n_not_stored=1, is_dry_run=dry_run)
    said = next(one for one in map(str, add_sentences(added, ())) if "2 found: " in one)
    assert ("nearkin exceptions COLLECTION" in said) != dry_run
