"""Sentences of ``nearkin audit``: the measured recall, whether the prediction held, and a larger sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.reports.quantities import nearest_percent_text, share_percent_text
from nearkin.reports.sentences.rough_quantities import time_text
from nearkin.reports.sentences.sentence import Sentence

if TYPE_CHECKING:
    from nearkin.planning.audit import AuditEstimate
    from nearkin.planning.audit_sample import ProposedSample


def measured_recall(found: AuditEstimate) -> tuple[str, str]:
    """Give the recall of an audit with its interval."""
    if found.is_exact and found.recall is None:
        return "–", "exact: every document was sampled, and none has a true pair"
    if found.recall is None or found.low is None or found.high is None:
        return "–", "no sampled document has a true pair, so the recall is not known"
    recall = share_percent_text(found.recall)
    if found.is_exact:
        return recall, "exact: every document was sampled"
    return (
        recall,
        f"{found.confidence:.0%} interval {nearest_percent_text(found.low)} to {nearest_percent_text(found.high)}",
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
    if found.low <= predicted <= found.high:
        return Sentence("inside the interval")
    return Sentence("outside the interval", "warning")


def proposal_sentence(proposed: ProposedSample) -> Sentence:
    """Describe a larger sample: the expected interval, and the time that it takes."""
    tells = f"an interval of about {100 * proposed.width:.0f} points" if proposed.width else "the exact recall"
    return Sentence(f"For {tells}: --sample {proposed.n_documents} (about {time_text(proposed.elapsed_s)})")
