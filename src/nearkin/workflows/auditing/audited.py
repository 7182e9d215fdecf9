"""Options and results of every audit."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nearkin.collection.tolerance import Tolerance
from nearkin.planning.audit import AuditEstimate, ProposedSample, estimate_recall, propose_samples
from nearkin.records import F64, I64, Bool
from nearkin.reports.facts.fact import Fact
from nearkin.reports.quantities import percent_text, share_percent_text, time_text
from nearkin.tabular import AnswerRecord

SAMPLE = 500
MAX_MISSED = 1_000_000
"""Maximum number of listed pairs; the total is always given."""
MISSED_SCHEMA = pa.schema(
    [
        pa.field("id_a", pa.large_string(), nullable=False),  # the sampled document
        pa.field("id_b", pa.large_string(), nullable=False),
        pa.field("similarity", pa.float64()),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """Options of an audit.

    Parameters
    ----------
    sample
        Number of documents to compare with everything; if there are fewer, all are compared.
    tolerance
        Search of a collection; None means range search at its usual tolerance. Only for collections.
    """

    sample: int = SAMPLE
    seed: int = 0
    tolerance: Tolerance | None = None
    cache: Path | None = None
    threads: int = 1
    is_read_only: bool = False

    def drawn(self, population: I64) -> I64:
        """Draw the sample from a population, uniformly, in the order of the population."""
        if self.sample >= len(population):
            return population
        places = np.random.default_rng(self.seed).choice(len(population), self.sample, replace=False)
        return population[np.sort(places)]


def audit_recall(estimate: AuditEstimate) -> tuple[str, str]:
    """Give the recall of an audit with its interval."""
    if estimate.recall is None or estimate.low is None or estimate.high is None:
        return "–", "no true pair was found" if estimate.is_exact else "no sampled document has a true pair"
    recall = share_percent_text(estimate.recall)
    if estimate.is_exact:
        return recall, "exact: every document was sampled"
    low, high = share_percent_text(estimate.low), percent_text(estimate.high, digits=2)
    return recall, f"{estimate.confidence:.0%} interval {low} to {high}"


def prediction_fact(
    label: str, estimate: AuditEstimate, predicted: float | None, *, high: float | None = None, claims_all: bool
) -> Fact:
    """Compare the predicted recall, or its range up to ``high``, with the measured one."""
    if predicted is None:
        return Fact(label, "–", "not known")
    high = predicted if high is None else high
    value = share_percent_text(predicted) + f" to {percent_text(high, digits=2)}" * (high > predicted)
    if estimate.recall is None or estimate.low is None or estimate.high is None:
        return Fact(label, value)
    if claims_all and estimate.n_missed:
        return Fact(label, value, "pairs were missed", "damage")
    if (points := round(100 * (predicted - estimate.recall), 2)) > 0 and predicted > estimate.high:
        return Fact(label, value, f"{points:.2f} points above the recall", "warning")
    where = "inside" if estimate.low <= high else "below"
    return Fact(label, value, "" if estimate.is_exact else f"{where} the interval")


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited(AnswerRecord):
    """Result of an audit.

    Parameters
    ----------
    what
        The audited run or collection, for example "a run of nearkin dedup, clean".
    missed
        Pairs that exist and were not found, each once, the most similar first; with columns `MISSED_SCHEMA`.
    predicted_recall, predicted_high
        Recall that the run or the search expected, or the ends of its range; None if there is none.
    claims_all
        Whether the run guarantees to miss no pair, so that the prediction is certain.
    """

    hidden = ("what", "expected_by", "drawn", "is_truncated", "proposed")
    computed = (
        "below_predicted", "audited=what", "n_missed=estimate.n_missed", "is_exact=estimate.is_exact",
        "missed_pairs=missed.num_rows", "missed_pairs_are_truncated=is_truncated", "proposed_samples=proposed",
    )  # fmt: skip

    what: str
    pairs: str
    similarity: str
    estimate: AuditEstimate
    missed: pa.Table
    elapsed_s: float
    counting: str = ""
    predicted_recall: float | None = None
    predicted_high: float | None = None
    expected_by: str = "predicted"
    drawn: str = "documents"
    claims_all: bool = False
    is_truncated: bool = False
    notes: tuple[str, ...] = field(default=())
    proposed: tuple[ProposedSample, ...] = field(default=())

    @property
    def below_predicted(self) -> float | None:
        """Predicted recall minus the recall, to five decimals; 0 if it is not below, None if one is unknown."""
        if self.predicted_recall is None or self.estimate.recall is None:
            return None
        return max(0.0, round(self.predicted_recall - self.estimate.recall, 5))

    def facts(self, missed_in: str = "") -> Iterator[Fact]:
        """Give the recall beside the predicted one, the missed pairs, and larger samples."""
        estimate, expected_by = self.estimate, self.expected_by
        yield Fact("audited", self.what)
        population = "all" if estimate.is_exact else f"of {estimate.n_population:,}"
        with_pairs = f"{population} {self.drawn}; {estimate.n_with_pairs:,} with a true pair"
        yield Fact("sampled", estimate.n_sampled, with_pairs)
        counting = f"; {self.counting}" if self.counting else ""
        yield Fact("true pairs", f"{estimate.n_true:,}", f"{self.pairs}{counting}")
        yield Fact("found", f"{estimate.n_found:,}")
        yield Fact("recall", *audit_recall(estimate))
        label = "run's estimate" if expected_by == "estimated" else expected_by
        yield prediction_fact(
            label, estimate, self.predicted_recall, high=self.predicted_high, claims_all=self.claims_all
        )
        if n_missed := len(self.missed):
            all_of_them = "at least the first of them" if self.is_truncated else "each once"
            yield Fact("missed pairs", n_missed, f"{all_of_them}: {missed_in or '--out FILE writes them'}")
        for proposed in self.proposed:
            gives = f"an interval of about {100 * proposed.width:.0f} points" if proposed.width else "the exact recall"
            yield Fact(f"--sample {proposed.n_documents}", f"about {time_text(proposed.elapsed_s)}", gives)
        yield from (Fact(note, tone="quiet") for note in self.notes)
        yield Fact("time", f"{self.elapsed_s:.1f} s")


Pair = tuple[str, str, float]
"""Id of the sampled document, id of the other, and their similarity."""


class PairTally:
    """True pairs of each sampled document, how many of them were found, and at most `MAX_MISSED` that were missed."""

    def __init__(self, n_sampled: int, *, is_across: bool = False) -> None:
        self._n_true, self._n_found = np.zeros((2, n_sampled))
        self._is_across, self._is_truncated = is_across, False
        self._missed = dict[frozenset[str] | tuple[str, str], Pair]()

    def count(self, place: I64, was_found: Bool, weight: F64 | None = None) -> None:
        """Add true pairs: the place of the sampled document in the sample, and whether it was found."""
        weight = np.ones(len(place)) if weight is None else weight
        self._n_true += np.bincount(place, weight, len(self._n_true))
        self._n_found += np.bincount(place[was_found], weight[was_found], len(self._n_true))

    def miss(self, pairs: Iterable[Pair]) -> None:
        """List missed pairs."""
        for pair in pairs:
            key = (pair[0], pair[1]) if self._is_across else frozenset(pair[:2])
            if key in self._missed:
                self._missed[key] = min(self._missed[key], pair)
            elif len(self._missed) < MAX_MISSED:
                self._missed[key] = pair
            else:
                self._is_truncated = True
                return

    def missed(self) -> pa.Table:
        """Return the missed pairs, the most similar first."""
        ordered = sorted(self._missed.values(), key=lambda pair: (-pair[2], pair[0], pair[1]))
        columns = list(zip(*ordered, strict=True)) or [(), (), ()]
        return pa.table([pa.array(*each) for each in zip(columns, MISSED_SCHEMA.types)], schema=MISSED_SCHEMA)

    def audited(
        self,
        *,
        n_population: int,
        started: float,
        more_s: float | None = None,
        share_with_pairs: float | None = None,
        **about: Any,
    ) -> Audited:
        """Return the result of the audit, with the fields ``about`` it.

        Parameters
        ----------
        more_s
            Seconds that each further document takes; by default the mean of those that were sampled.
        """
        estimate, elapsed_s = estimate_recall(self._n_true, self._n_found, n_population=n_population), _since(started)
        n_sampled = estimate.n_sampled
        more = elapsed_s / max(n_sampled, 1) if more_s is None else more_s

        def elapsed_of(n_documents: int) -> float:
            return elapsed_s + more * (n_documents - n_sampled)

        return Audited(
            estimate=estimate,
            missed=self.missed(),
            is_truncated=self._is_truncated,
            elapsed_s=elapsed_s,
            proposed=propose_samples(estimate, elapsed_of, share_with_pairs=share_with_pairs),
            **about,
        )


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 3)
