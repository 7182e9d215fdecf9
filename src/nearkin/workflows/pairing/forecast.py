"""What a search would take, by a sample of the documents: nothing is searched."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from nearkin.planning.pair_costs import Costs
from nearkin.planning.pair_measuring import measured_costs
from nearkin.planning.pair_search import Question
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Progress, Silent
from nearkin.workflows.dedup.options import Resources
from nearkin.workflows.pairing.inputs import PairInput, opened, prepare, read_table
from nearkin.workflows.pairing.options import PairOptions
from nearkin.workflows.pairing.planning import LEAST_PAIRS, calibrate
from nearkin.workflows.pairing.sampling import sample

_PROBE_BITS = 1024
_NAMES = ("sample-left", "sample-right")


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """A question that documents have answered in part.

    Parameters
    ----------
    question : Question
        With their spread of cosines, their numbers of terms, and, where enough pairs were seen, how they crowd.
    n_left, n_right : int
        Documents of the sample that have a vector.
    n_compared : int
        Of the left ones, those that were compared with all on the right.
    n_pairs : int
        At the threshold, among these.
    """

    question: Question
    n_left: int
    n_right: int
    n_compared: int
    n_pairs: int


def forecast(
    given: PairInput,
    options: PairOptions,
    *,
    n_left: int | None,
    n_right: int | None,
    cores: int,
    costs: Costs | None,
    resources: Resources,
    progress: Progress | None = None,
) -> Forecast:
    """Read two samples, compare some of their documents, and ask about collections of any size like them.

    Parameters
    ----------
    given : PairInput
        The samples, and the table if there is one.
    options : PairOptions
    n_left, n_right : int or None
        Documents of the collections; None: as many as in the samples.
    cores : int
    costs : Costs or None
        None: measured here, at these numbers of terms.
    resources : Resources
    progress : Progress, optional

    Raises
    ------
    InputError, ParameterError, FingerprintError
        See `nearkin.errors`.
    """
    meter = Meter(progress or Silent())
    with tempfile.TemporaryDirectory(prefix="nearkin-plan-") as work:
        table = read_table(given.table, given.left_language, given.right_language)
        sides = opened(given, table, meter.progress, _NAMES)
        prepared = prepare(sides, table, options, Path(work), names=_NAMES, resources=resources, meter=meter)
        vectors = prepared.vectors
        sampled = sample(vectors, options.threshold, resources=resources, meter=meter)
        left, right = vectors.left_facts, vectors.right_facts
        costs = costs or measured_costs(left_terms=left.mean_terms, right_terms=right.mean_terms)
        question = Question(
            n_left or left.n_vectors, n_right or right.n_vectors, options.threshold, options.recall, cores,
            left.mean_terms, right.mean_terms, sampled.spread, costs,
        )  # fmt: skip
        if len(sampled.keys) >= LEAST_PAIRS:
            crowding = calibrate(vectors, sampled, _PROBE_BITS, options.seed, resources=resources, meter=meter)
            question = replace(question, prefix=crowding.prefix)
    return Forecast(question, left.n_vectors, right.n_vectors, sampled.n_documents, len(sampled.keys))
