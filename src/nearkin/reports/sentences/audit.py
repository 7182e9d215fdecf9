"""Sentences of ``nearkin audit``: the measured recall, whether the prediction held, and a larger sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.reports.quantities import nearest_percent_text, share_percent_text, time_text
from nearkin.reports.sentences.sentence import Sentence
from nearkin.wording import rounded_down

if TYPE_CHECKING:
    from nearkin.planning.audit import AuditEstimate, ProposedSample


def measured_recall(found: AuditEstimate) -> tuple[str, str]:
    """Give the recall of an audit with its interval."""
    if found.is_exact and found.recall is None:
        return "–", "no true pair was found (every document was sampled)"
    if found.recall is None or found.low is None or found.high is None:
        return "–", "no sampled document has a true pair, so the recall is not known"
    recall = share_percent_text(found.recall)
    if found.is_exact:
        return recall, "exact: every document was sampled"
    return (
        recall,
        f"{found.confidence:.0%} interval {share_percent_text(found.low)} to {nearest_percent_text(found.high)}",
    )


def prediction_sentence(found: AuditEstimate, predicted: float | None, *, claims_all: bool) -> Sentence:
    """Compare the predicted recall with the measured recall; ``claims_all``: no missed pair was predicted."""
    if predicted is None:
        return Sentence("not known")
    if found.recall is None or found.low is None or found.high is None:
        return Sentence("")
    if claims_all:
        if found.n_missed:
            return Sentence("inconsistent: pairs were missed", "damage")
        return Sentence("consistent: none of these pairs was missed")
    if found.is_exact:
        return Sentence("")
    if predicted <= found.high and _points_text(_printed(predicted) - _printed(found.recall)):
        return Sentence("above the measured recall, inside the interval")
    if found.low <= predicted <= found.high:
        return Sentence("inside the interval")
    return Sentence("outside the interval", "warning")


def below_text(found: AuditEstimate, predicted: float | None, expected_by: str = "predicted") -> str:
    """Say by how much the whole interval of a recall is below the predicted one; "" if it is not, to 0.01 points.

    Examples
    --------
    >>> from nearkin.planning.audit import estimate_recall
    >>> below_text(estimate_recall([10, 10], [9, 8], n_population=2), 0.9)
    'The recall is 5.00 points below the predicted 90.00%.'
    """
    if predicted is None or found.recall is None or found.high is None:
        return ""
    points = _points_text(_printed(predicted) - _printed(found.recall))
    if not points:
        return ""
    than = f"below the {expected_by} {share_percent_text(predicted)}"
    if found.is_exact:
        return f"The recall is {points} {than}."
    if of_interval := _points_text(rounded_down(predicted - found.high, 4)):
        return f"The measured recall is {points} {than}, and its whole interval is at least {of_interval} below it."
    return ""


def _printed(share: float) -> float:
    """Return a share as `share_percent_text` prints it, so that differences are those of the printed figures."""
    return float(share_percent_text(share).removesuffix("%")) / 100


def _points_text(difference: float) -> str:
    points = round(100 * difference, 2)
    return f"{points:.2f} points" if points > 0 else ""


def proposal_sentence(proposed: ProposedSample) -> Sentence:
    """Describe a larger sample: the expected interval, and the time that it takes."""
    tells = f"an interval of about {100 * proposed.width:.0f} points" if proposed.width else "the exact recall"
    return Sentence(f"For {tells}: --sample {proposed.n_documents} (about {time_text(proposed.elapsed_s)})")
