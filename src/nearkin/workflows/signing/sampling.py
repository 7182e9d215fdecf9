"""Default distance of a search for neighbours: the best F1 in a sample of the signed documents, by their texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.errors import SourceError
from nearkin.planning.evaluation import CurvePoint, ScoredPairs, best_of, curve_of, thinned
from nearkin.planning.neighbour_recall import SIMILARITY
from nearkin.records import I64, U32
from nearkin.runs.progress import Meter
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.features.shingles import parse_shingling
from nearkin.stages.search.hamming.pairs import U16, EqualSignatures
from nearkin.stages.verification.measures import MEASURES
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing.signature_file import SignatureFile
from nearkin.workflows.signing.verifying import SignatureVerifier, TooManyShingles, Verification

MIN_TRUE = 10
"""Minimum number of true pairs in a sample that decides."""
_MOST, _LEAST, _COMPARISONS = 1000, 100, 1 << 27
_PAIRS = 40_000
"""Pairs that are compared by their texts, the same number of each sampled signature."""
_PER_SIGNATURE = 40  # at least, of the pairs
MAX_SHINGLES = 1 << 25
"""Maximum number of shingles of the documents of a sample, each of 8 bytes."""
_BLOCK = 1 << 22  # words of a block of comparisons
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class SampledDistance:
    """Recall and precision by distance, in a sample."""

    n_sampled: int
    n_true: int
    criterion: str
    best: CurvePoint
    points: list[CurvePoint]


def sampled_distance(
    file: SignatureFile,
    against: SignatureFile | None,
    verification: Verification | None,
    resources: Resources,
    meter: Meter,
) -> SampledDistance | None:
    """Compare a sample of signatures with all others, and the nearest by their texts; None if it decides nothing.

    A true pair is one that ``verification`` keeps; by default one with a Jaccard similarity of 0.8 of the signed
    features. The 40 nearest of each sampled signature, or more in a smaller sample, are compared by their texts; all
    other pairs count as false.
    """
    other = against or file
    own_rows, rows = (EqualSignatures.of(one.signatures).firsts.astype(np.int64) for one in (file, other))
    if not len(own_rows) or not len(rows):
        return None
    n = min(len(own_rows), _MOST, max(_LEAST, _COMPARISONS // len(rows)))
    truth = verification or _of_features(file)
    n_pairs, verifier = _PAIRS, None
    while verifier is None:
        sample = np.sort(np.random.default_rng(0).choice(own_rows, n, replace=False))
        left, right, distance, n_within = _nearest(file, sample, other, rows, n_pairs, is_one_set=against is None)
        try:
            wanted = np.unique(left if against else np.concatenate([left, right]))
            verifier = SignatureVerifier.read(file, wanted, truth, resources, meter, MAX_SHINGLES)
            if against is not None:
                others = SignatureVerifier.read(against, np.unique(right), truth, resources, meter, MAX_SHINGLES)
                verifier, right = SignatureVerifier.joined(verifier, others), right + np.uint32(len(file.documents))
        except SourceError as error:
            meter.progress.say(f"no sample for the distance: {error}")
            return None
        except TooManyShingles as error:
            n = min(n // 2, int(0.8 * MAX_SHINGLES / error.mean) // (1 + _PER_SIGNATURE))
            n_pairs, verifier = n * _PER_SIGNATURE, None
            if not n:
                meter.progress.say("no sample for the distance: the documents are too long")
                return None
    _, is_true = verifier.verify(left, right)
    n_true = int(is_true.sum())
    if n_true < MIN_TRUE:
        meter.progress.say(f"no sample for the distance: {n_true} true pairs in a sample of {n:,}")
        return None
    bits = np.arange(len(n_within), dtype=np.float64)
    true = np.bincount(distance[is_true], minlength=len(n_within))
    is_there = (n_within > 0) & (bits < file.signatures.n_bits)
    points = [
        CurvePoint(0.0 - one.threshold, one.n_reported, one.n_true, one.precision, one.recall, one.f1)
        for one in curve_of(ScoredPairs(-bits[is_there], n_within[is_there], true[is_there]), n_true)
    ]
    best = best_of(points)
    if best is None:
        return None
    shown = [point for point in points if point.threshold <= best.threshold or point.recall < 1]
    return SampledDistance(n, n_true, truth.in_words(), best, thinned(shown, _SHOWN))


def _of_features(file: SignatureFile) -> Verification:
    features, steps = (str(file.about.parameters[name]) for name in ("features", "normalise"))
    normalise = Normalisation.parse(steps.partition(";")[0])
    return Verification(MEASURES["jaccard"], SIMILARITY, parse_shingling(features), normalise)


def _nearest(
    file: SignatureFile, sample: I64, other: SignatureFile, rows: I64, n_pairs: int, *, is_one_set: bool
) -> tuple[U32, U32, U16, I64]:
    words, theirs = file.signatures.words[sample], other.signatures.words[rows]
    n_within = np.zeros(file.signatures.n_bits + 1, np.int64)
    found: list[tuple[I64, I64, U16]] = []
    step = max(1, _BLOCK // theirs.size)
    for first in range(0, len(sample), step):
        block = words[first : first + step]
        distances = np.zeros((len(block), len(rows)), np.uint16)
        for word in range(words.shape[1]):
            distances += np.bitwise_count(block[:, word, None] ^ theirs[None, :, word])
        if is_one_set:
            distances[sample[first : first + step, None] == rows[None]] = file.signatures.n_bits
        n_within += np.bincount(distances.ravel(), minlength=len(n_within))
        k = min(n_pairs // len(sample), len(rows) - is_one_set)
        near = np.argpartition(distances, k - 1, axis=1)[:, :k] if k else np.zeros((len(block), 0), np.int64)
        left = np.repeat(sample[first : first + step], k)
        found.append((left, rows[near.ravel()], np.take_along_axis(distances, near, axis=1).ravel()))
    if is_one_set:
        n_within[-1] -= len(sample)
    left, right, distance = (np.concatenate(column) for column in zip(*found, strict=True))
    return left.astype(np.uint32), right.astype(np.uint32), distance.astype(np.uint16), n_within
