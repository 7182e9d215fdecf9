"""Choice of the search method for pairs, by a sample and the model."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nearkin.engines.local import map_ordered
from nearkin.kernels.terms import Sparse, block_by_terms, near_in_block, spread_in_block
from nearkin.manifests.pairs import PairPlanRecord, WayRecord
from nearkin.options.pairs import PairOptions
from nearkin.planning.pairs.assurance import SamplePairs, assured
from nearkin.planning.pairs.calibration import Prefix, calibrated
from nearkin.planning.pairs.chances import CosineSpread
from nearkin.planning.pairs.search import PairSearch, Plan, Prediction, Question, choose, exact_is_quick, predict
from nearkin.records import F64, I64, U64, BitSignatures, WeightedVectors
from nearkin.reports.quantities import about_text, recall_text, share_percent_text, time_text
from nearkin.runs.progress import Meter
from nearkin.stages.search.sliding_window import SlidingWindow
from nearkin.stages.search.stretches import keys_of, rows_of
from nearkin.stages.signatures.random_projection import RandomProjection, TermVectors
from nearkin.workflows.pairing.searching import BLOCK, MAX_PAIRS, cosines_of, min_sum, reaches, some_vectors
from nearkin.workflows.pairing.vectors import PairVectors
from nearkin.workflows.resources import Resources

_PROBES = 12
MIN_PAIRS = 30
_MAX_PAIRS = 4_000
_MAX_TRIES = 24
_MAX_TARGET = 1 - 1e-6


def plan_search(vectors: PairVectors, options: PairOptions, *, resources: Resources, meter: Meter) -> PairPlanRecord:
    """Choose the search method, and report it; options that are set are not chosen."""
    question = question_of(vectors, options, cores=resources.n_threads)
    is_open = options.method == "auto" and not options.fixed
    is_asked = options.method == "vectors" or (is_open and options.recall >= 1)
    if is_asked or (is_open and exact_is_quick(question)):
        every = PairSearch("vectors")
        exact = predict(every, question)
        why = f"exact search, estimated {time_text(exact.elapsed_s)}"
        if is_asked:
            why = "--method was given" if options.method == "vectors" else "--recall 1 compares all pairs"
        record = _record(Plan(every, exact, (), reaches=True, is_quick=True), why)
    else:
        answer = answer_by_sample(vectors, question, options, resources=resources, meter=meter)
        why = "the fastest method that reaches the recall on a sample of the documents"
        record = _record(
            answer.capped(), why if options.method == "auto" else "--method was given", answer.sampled, options.recall
        )
    _say(record, options, meter)
    return record


def _record(plan: Plan, why: str, sampled: Sampled | None = None, wanted: float = 0.0) -> PairPlanRecord:
    return PairPlanRecord(
        plan.search,
        _rounded(plan.prediction),
        in_words=plan.search.describe(),
        why=why,
        reaches_recall=plan.prediction.recall_low >= wanted,
        alternatives=tuple(WayRecord(way, _rounded(prediction)) for way, prediction in plan.alternatives),
        sampled_documents=0 if sampled is None else sampled.n_documents,
        sampled_pairs=0 if sampled is None else len(sampled.keys),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Choice of the search, made from a sample of the documents.

    Parameters
    ----------
    clustering
        None: no window is a candidate, or there are too few pairs.
    """

    question: Question
    plan: Plan
    sampled: Sampled
    clustering: Clustering | None

    def capped(self) -> Plan:
        """Return the plan with windows limited to what the sample supports."""
        plan = self.plan
        alternatives = tuple((way, _capped(way, predicted, self.clustering)) for way, predicted in plan.alternatives)
        if plan.search.permutations > MAX_ORDERS:  # fewer were measured
            plan = replace(plan, prediction=_capped(plan.search, plan.prediction, self.clustering))
        return replace(plan, alternatives=alternatives)


def answer_by_sample(
    vectors: PairVectors, question: Question, options: PairOptions, *, resources: Resources, meter: Meter
) -> Answer:
    """Compare some documents with all on the other side, and choose by the result."""
    sampled = sample(vectors, options.threshold, seed=options.seed, resources=resources, meter=meter)
    question = replace(question, spread=sampled.spread)
    clustering: Clustering | None = None
    measured = MeasuredSample(vectors, sampled, options.seed, resources=resources, meter=meter)
    target = options.recall
    for _ in range(_MAX_TRIES):
        plan = chosen(replace(question, recall=target), options)
        search = plan.search
        if search.method == "window" and clustering is None and len(sampled.keys) >= MIN_PAIRS:
            clustering = calibrate(measured.signed(search.bits), sampled, options.seed, meter=meter)
            question = replace(question, prefix=clustering.prefix)
            plan = chosen(replace(question, recall=target), options)
            search = plan.search
        if search.method == "vectors" or not len(sampled.keys):
            break
        plan = replace(plan, prediction=assured(search, plan.prediction, question, measured.pairs(search)))
        low = plan.prediction.recall_low
        if low >= options.recall or target >= _MAX_TARGET or options.leaves_nothing_to_choose():
            break
        target = min(_MAX_TARGET, 1 - (1 - target) * max(0.5, 0.99 * (1 - options.recall) / (1 - low)))
    plan = replace(plan, reaches=plan.prediction.recall_low >= options.recall)
    return Answer(question, plan, sampled, clustering)


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """Clustering of the pairs of a sample.

    Parameters
    ----------
    gaps : int64 array, shape (n_pairs, n_orders)
        Distances between the two documents of each pair in some orders that the search does not use.
    """

    prefix: Prefix
    gaps: NDArray[np.int64]

    def max_found(self, way: PairSearch) -> float:
        """Return an upper limit of the share of pairs that meet in a window."""
        share = float((self.gaps <= way.window).mean())
        return 1.0 - (1.0 - share) ** way.permutations


def calibrate(
    signatures: tuple[BitSignatures, BitSignatures], sampled: Sampled, seed: int, *, meter: Meter
) -> Clustering:
    """Measure how close the pairs of the sample are in sorted orders that the search does not use."""
    n_documents = sum(int(signature.has_features.sum()) for signature in signatures)
    step = -(-len(sampled.keys) // _MAX_PAIRS)
    left, right = rows_of(sampled.keys[::step])
    with meter.stage("calibrate", _PROBES, "steps") as progress:
        gaps = np.empty((len(left), _PROBES), np.int64)
        for number, places in enumerate(_probes(signatures, seed)):
            gaps[:, number] = np.abs(places[0][left] - places[1][right])
            progress.advance(1)
    return Clustering(calibrated(sampled.cosines[::step], gaps, n_documents), gaps)


def _capped(way: PairSearch, prediction: Prediction, clustering: Clustering | None) -> Prediction:
    """Limit the prediction to what the sample supports: the model does not cover equal documents."""
    if clustering is None or way.method != "window":
        return prediction
    most = clustering.max_found(way)
    names = ("recall_low", "recall", "recall_high")
    return replace(prediction, **{name: min(getattr(prediction, name), most) for name in names})


def _probes(signatures: tuple[BitSignatures, BitSignatures], seed: int) -> list[tuple[I64, I64]]:
    other = (seed + (1 << 32)) % 2**64
    return list(SlidingWindow(_PROBES, 1, other).positions(*signatures))


def question_of(
    vectors: PairVectors, options: PairOptions, *, cores: int, n_left: int | None = None, n_right: int | None = None
) -> Question:
    """Return the question to the planner, about corpora of these vectors' kind."""
    left, right = vectors.left_facts, vectors.right_facts
    return Question(
        n_left=n_left or left.n_vectors,
        n_right=n_right or right.n_vectors,
        threshold=options.threshold,
        recall=options.recall,
        cores=cores,
        left_terms=left.mean_terms,
        right_terms=right.mean_terms,
    )


def chosen(question: Question, options: PairOptions) -> Plan:
    """Choose by the model; options that are set are not chosen."""
    method = None if options.method == "auto" else options.method
    return choose(question, method=method, **options.fixed)


def _say(plan: PairPlanRecord, options: PairOptions, meter: Meter) -> None:
    prediction, say = plan.predicted, meter.progress.say
    expected = recall_text(prediction.recall_low, prediction.recall_high)
    say(f"search: {plan.search.describe()} ({plan.why}); predicted recall {expected}")
    if not plan.reaches_recall:
        say(f"requested recall {share_percent_text(options.recall, 1)}: not reachable with the given options")
    if options.top is None and prediction.n_pairs > MAX_PAIRS:
        say(
            f"about {about_text(prediction.n_pairs)} pairs are expected, but the limit is {MAX_PAIRS:,}: "
            "raise --threshold, or keep the best of each document with --top"
        )


def _rounded(prediction: Prediction) -> Prediction:
    numbers = asdict(prediction).items()
    rounded = {name: n if isinstance(n, int) else float(f"{n:.6g}") for name, n in numbers}
    return Prediction(**rounded)  # type: ignore[arg-type]  # memory remains an integer


_SAMPLE = 2000
_MAX_SAMPLE_PAIRS = 400_000_000
_BINS = 100
_DRAWS = 400  # keeps the draw apart from other uses of the seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """Sample of documents on the left, each compared with all on the right.

    Parameters
    ----------
    keys : uint64 array, shape (n_pairs,)
        Pairs at the threshold, ascending: the left row in the upper 32 bits, the right one in the lower.
    """

    n_documents: int
    spread: CosineSpread
    keys: U64
    cosines: F64


def sample(vectors: PairVectors, threshold: float, *, seed: int = 0, resources: Resources, meter: Meter) -> Sampled:
    """Compare random documents on the left with all on the right."""
    right = vectors.right
    rows = np.flatnonzero(vectors.left.sizes)
    n = min(_SAMPLE, len(rows), max(50, _MAX_SAMPLE_PAIRS // max(1, len(right))))
    rows = rows[np.sort(np.random.default_rng([seed, _DRAWS]).choice(len(rows), n, replace=False))]
    left_sample, firsts = some_vectors(vectors.left, rows), range(0, len(right), BLOCK)
    counts, found = np.zeros(_BINS, np.int64), [np.zeros(0, np.uint64)]
    with meter.stage("sample", n * len(right), "pairs") as progress:

        def look(first: int) -> tuple[I64, U64]:
            return _look(vectors, left_sample, first, threshold)

        for first, (part, keys) in zip(firsts, map_ordered(look, firsts, threads=resources.n_threads)):
            counts += part
            places, others = rows_of(keys)
            found.append(keys_of(rows[places], others + first))
            progress.advance(n * min(BLOCK, len(right) - first))
        keys = np.sort(np.concatenate(found))
        cosines = cosines_of(vectors, keys, resources.n_threads)
    # documents without a vector are harmless: their products are 0 and are counted there
    counts[0] -= n * int((right.sizes == 0).sum())
    is_near = reaches(cosines, threshold)
    spread = CosineSpread.of_counts(np.linspace(0.0, 1.0, _BINS + 1), np.maximum(counts, 0))
    return Sampled(n_documents=n, spread=spread, keys=keys[is_near], cosines=cosines[is_near])


def _look(vectors: PairVectors, left_sample: Sparse, first: int, threshold: float) -> tuple[I64, U64]:
    end, n = min(first + BLOCK, len(vectors.right)), len(left_sample[2]) - 1
    block = block_by_terms(vectors.right.sparse, first, end, vectors.n_terms)
    counts = spread_in_block(left_sample, (0, n), block, n_bins=_BINS)
    return counts, near_in_block(left_sample, (0, n), block, least=min_sum(threshold))


_MAX_CLUSTERED = 400_000
_AT_ONCE = 1 << 13
MAX_ORDERS = 24
"""Maximum number of sorted orders to make for the sample; the mean over more of them varies little."""


class MeasuredSample:
    """Pairs of a sample (at least one), measured as a search will compare them."""

    def __init__(
        self, vectors: PairVectors, sampled: Sampled, seed: int, *, resources: Resources, meter: Meter
    ) -> None:
        self._vectors, self._sampled, self._seed = vectors, sampled, seed
        self._resources, self._meter = resources, meter
        self._step = -(-len(sampled.keys) // _MAX_CLUSTERED)
        self._left, self._right = rows_of(sampled.keys[:: self._step])
        self._distances = dict[int, I64]()
        self._signatures = dict[int, tuple[BitSignatures, BitSignatures]]()
        self._gaps = dict[int, NDArray[np.int64]]()

    def signed(self, bits: int) -> tuple[BitSignatures, BitSignatures]:
        """Return the signatures of all documents, for the sorted orders."""
        if bits not in self._signatures:
            self._signatures.clear()  # of another length: they take much memory
            self._signatures[bits] = self._vectors.signed(
                bits, self._seed, threads=self._resources.n_threads, meter=self._meter
            )
        return self._signatures[bits]

    def pairs(self, search: PairSearch) -> SamplePairs:
        """Return the pairs with the distances of their signatures and, in few sorted orders, their gaps."""
        if search.bits not in self._distances:
            self._distances[search.bits] = self._distances_of(search.bits)
        documents = np.unique(self._left, return_inverse=True)[1]
        return SamplePairs(
            n_bits=search.bits,
            documents=documents.astype(np.int64),
            n_documents=self._sampled.n_documents,
            cosines=self._sampled.cosines[:: self._step],
            distances=self._distances[search.bits],
            gaps=self._gaps_of(search) if 1 <= search.permutations <= MAX_ORDERS else None,
            share=1 / self._step,
        )

    def _distances_of(self, bits: int) -> I64:
        projection = RandomProjection(bits, self._seed)
        rows, places = zip(
            *(np.unique(rows_of_side, return_inverse=True) for rows_of_side in (self._left, self._right))
        )
        with self._meter.stage("sign sample", sum(map(len, rows)), "documents") as progress:

            def signed(side: WeightedVectors, own: I64) -> NDArray[np.uint8]:
                def sign(first: int) -> NDArray[np.uint8]:
                    terms, weights, offsets = some_vectors(side, own[first : first + _AT_ONCE])
                    hashes = self._vectors.hashes[terms]
                    return projection.sign(TermVectors(hashes, weights.astype(np.float64), offsets, "")).packed

                parts = []
                for part in map_ordered(sign, range(0, len(own), _AT_ONCE), threads=self._resources.n_threads):
                    progress.advance(len(part))
                    parts.append(part)
                return np.concatenate(parts)

            left, right = signed(self._vectors.left, rows[0]), signed(self._vectors.right, rows[1])
        distances = np.empty(len(self._left), np.int64)
        for first in range(0, len(distances), _AT_ONCE):
            block = slice(first, first + _AT_ONCE)
            distances[block] = np.bitwise_count(left[places[0][block]] ^ right[places[1][block]]).sum(axis=1)
        return distances

    def _gaps_of(self, search: PairSearch) -> NDArray[np.int64]:
        n, known = search.permutations, self._gaps.get(search.bits)
        if known is None or known.shape[1] < n:
            orders = SlidingWindow(n, search.window, self._seed)
            with self._meter.stage("sort sample", n, "steps") as progress:
                columns = []
                for left, right in orders.positions(*self.signed(search.bits)):
                    columns.append(np.abs(left[self._left] - right[self._right]))
                    progress.advance(1)
            known = self._gaps[search.bits] = np.stack(columns, axis=1)
        return known[:, :n]
