"""Which way a search for pairs goes: by a sample of the documents, what they cost here, and the model."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nearkin.nouns import counted
from nearkin.planning.pair_calibration import Prefix, calibrated
from nearkin.planning.pair_costs import Costs
from nearkin.planning.pair_measuring import measured_costs
from nearkin.planning.pair_search import PairSearch, Plan, Prediction, Question, choose, predict
from nearkin.records import I64, BitSignatures
from nearkin.runs.meter import Meter
from nearkin.stages.search.sliding_window import SlidingWindow
from nearkin.stages.search.stretches import rows_of
from nearkin.workflows.dedup.options import Resources
from nearkin.workflows.pairing.options import PairOptions
from nearkin.workflows.pairing.sampling import Sampled, sample
from nearkin.workflows.pairing.vectors import PairVectors
from nearkin.workflows.pairing.verifying import MOST_PAIRS

_QUICK_S = 20.0
"""A search of every pair of vectors that takes one core no longer needs no plan."""
_PROBES = 12
LEAST_PAIRS = 30
_MOST_PAIRS = 4_000


@dataclass(frozen=True, slots=True)
class Planned:
    """The way that is gone, and why.

    Parameters
    ----------
    search : PairSearch
    prediction : Prediction
    alternatives : tuple of (PairSearch, Prediction)
        The best of the other ways.
    why : str
    n_sampled : int
        Documents that the plan was made from; 0 where none was needed.
    n_sample_pairs : int
        Their pairs at the threshold.
    wanted : float
        The recall that was asked for.
    """

    search: PairSearch
    prediction: Prediction
    alternatives: tuple[tuple[PairSearch, Prediction], ...]
    why: str
    n_sampled: int = 0
    n_sample_pairs: int = 0
    wanted: float = 0.0

    @property
    def reaches(self) -> bool:
        """Whether the recall that was asked for is predicted, if only just."""
        return self.prediction.recall >= self.wanted

    def as_stored(self) -> dict[str, object]:
        """For the manifest."""
        return {
            "search": asdict(self.search),
            "in_words": self.search.describe(),
            "why": self.why,
            "predicted": _rounded(self.prediction),
            "reaches_recall": self.reaches,
            "alternatives": [
                {"search": asdict(way), "predicted": _rounded(prediction)} for way, prediction in self.alternatives
            ],
            "sampled_documents": self.n_sampled,
            "sampled_pairs": self.n_sample_pairs,
        }


def plan_search(vectors: PairVectors, options: PairOptions, *, resources: Resources, meter: Meter) -> Planned:
    """Choose the way.

    Parameters
    ----------
    vectors : PairVectors
    options : PairOptions
        What they name is not chosen.
    resources : Resources
    meter : Meter
    """
    question = _question(vectors, options, Costs.default(), resources)
    every = PairSearch("vectors")
    quick = predict(every, question)
    is_asked = options.method == "vectors" or (options.method == "auto" and options.recall >= 1)
    if is_asked or (options.method == "auto" and quick.core_s < _QUICK_S and not _fixed(options)):
        why = "asked for" if is_asked else "so few pairs that every one is compared"
        return _told(Planned(every, quick, (), why), options, meter)
    sampled = sample(vectors, options.threshold, resources=resources, meter=meter)
    # what is chosen, and so what is found, depends on the documents alone: not on this machine, nor how busy it is
    question = replace(question, spread=sampled.spread)
    crowding: Crowding | None = None
    plan = _choose(question, options)
    if plan.search.method == "window" and len(sampled.keys) >= LEAST_PAIRS:
        crowding = calibrate(vectors, sampled, plan.search.bits, options.seed, resources=resources, meter=meter)
        question = replace(question, prefix=crowding.prefix)
        plan = _choose(question, options)
    why = "as asked" if options.method != "auto" else "the quickest way to the recall, by a sample of the documents"
    with meter.stage("plan", 0, "steps"):
        here = replace(question, costs=_costs_here(question, sampled))
        ways = (plan.search, *(way for way, _ in plan.alternatives))
        told, *others = (_capped(way, predict(way, here), crowding) for way in ways)
    alternatives = tuple(zip(ways[1:], others, strict=True))
    n_sampled, n_pairs = sampled.n_documents, len(sampled.keys)
    planned = Planned(plan.search, told, alternatives, why, n_sampled, n_pairs, options.recall)
    return _told(planned, options, meter)


def _costs_here(question: Question, sampled: Sampled) -> Costs:
    """For the time that is told: what steps take on this machine now; of vectors, what they took for the sample."""
    costs = measured_costs(left_terms=question.left_terms, right_terms=question.right_terms)
    kept = sampled.candidate_ns + 2 * costs.candidate
    return replace(
        costs, candidate=kept, candidate_term=0.0, vectors=sampled.pair_ns, vectors_left=0.0, vectors_product=0.0
    )


@dataclass(frozen=True, slots=True, eq=False)
class Crowding:
    """How near the pairs of a sample stand to each other.

    Parameters
    ----------
    prefix : Prefix
        What the model makes of it.
    gaps : int64 array, shape (n_pairs, n_orders)
        Places between the two documents of each pair in some orders that the search does not use.
    """

    prefix: Prefix
    gaps: NDArray[np.int64]

    def most_found(self, way: PairSearch) -> float:
        """No more than this share of the pairs meets in a window, however they differ in how often they do."""
        share = float((self.gaps <= way.window).mean())
        return 1.0 - (1.0 - share) ** way.permutations


def calibrate(
    vectors: PairVectors, sampled: Sampled, bits: int, seed: int, *, resources: Resources, meter: Meter
) -> Crowding:
    """How near the sample's pairs stand to each other."""
    signatures = vectors.signed(bits, seed, threads=resources.n_threads, meter=meter)
    n_documents = sum(int(one.has_features.sum()) for one in signatures)
    step = -(-len(sampled.keys) // _MOST_PAIRS)
    left, right = rows_of(sampled.keys[::step])
    with meter.stage("calibrate", _PROBES, "steps") as progress:
        gaps = np.empty((len(left), _PROBES), np.int64)
        for number, places in enumerate(_probes(signatures, seed)):
            gaps[:, number] = np.abs(places[0][left] - places[1][right])
            progress.advance(1)
    return Crowding(calibrated(sampled.cosines[::step], gaps, n_documents), gaps)


def _capped(way: PairSearch, told: Prediction, crowding: Crowding | None) -> Prediction:
    """No more than what was seen of the sample allows: of equal documents the model knows nothing."""
    if way.method != "window" or crowding is None:
        return told
    most = crowding.most_found(way)
    names = ("recall_low", "recall", "recall_high")
    return replace(told, **{name: min(getattr(told, name), most) for name in names})


def _probes(signatures: tuple[BitSignatures, BitSignatures], seed: int) -> list[tuple[I64, I64]]:
    other = (seed + (1 << 32)) % 2**64
    return list(SlidingWindow(_PROBES, 1, other).positions(*signatures))


def _question(vectors: PairVectors, options: PairOptions, costs: Costs, resources: Resources) -> Question:
    left, right = vectors.left_facts, vectors.right_facts
    return Question(
        n_left=left.n_vectors,
        n_right=right.n_vectors,
        threshold=options.threshold,
        recall=options.recall,
        cores=resources.n_threads,
        left_terms=left.mean_terms,
        right_terms=right.mean_terms,
        costs=costs,
    )


def _fixed(options: PairOptions) -> dict[str, int]:
    named = {name: getattr(options, name) for name in ("bits", "distance", "permutations", "window")}
    return {name: value for name, value in named.items() if value is not None}


def _choose(question: Question, options: PairOptions) -> Plan:
    method = None if options.method == "auto" else options.method
    return choose(question, method=method, **_fixed(options))


def _told(planned: Planned, options: PairOptions, meter: Meter) -> Planned:
    prediction, say = planned.prediction, meter.progress.say
    band = f"{prediction.recall_low:.1%}"
    if prediction.recall_high - prediction.recall_low > 0.0005:
        band = f"{prediction.recall_low:.1%} to {prediction.recall_high:.1%}"
    say(f"search: {planned.search.describe()} ({planned.why}); predicted recall {band}")
    if not planned.reaches:
        say(f"a recall of {options.recall:.1%} was asked for: with what is fixed, this is as near as it comes")
    if options.top is None and prediction.n_pairs > MOST_PAIRS:
        say(
            f"about {counted(round(prediction.n_pairs), 'pair')} are expected, and more than {MOST_PAIRS:,} are "
            "refused: raise --threshold, or keep the best of each document with --top"
        )
    return planned


def _rounded(prediction: Prediction) -> dict[str, float]:
    return {
        name: value if isinstance(value, int) else float(f"{value:.6g}") for name, value in asdict(prediction).items()
    }
