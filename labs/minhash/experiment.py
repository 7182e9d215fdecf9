"""The whole experiment on one corpus, with its results in one record."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from labs.minhash.copies import Copies, count_copies
from labs.minhash.corpus import FirstDocuments, TitledRequest, read_first
from labs.minhash.lengths import LengthEffects, compare_lengths
from labs.minhash.published import PUBLISHED
from labs.minhash.sentences import SentencePair, compare_sentences
from labs.minhash.truth import BANDINGS, AllPairsTruth, compare_all
from nearkin.errors import ParameterError
from nearkin.nouns import counted
from nearkin.records import F64
from nearkin.runs.progress import Progress
from nearkin.stages.features.shingles import Characters
from nearkin.stages.search.exhaustive import all_pairs
from nearkin.stages.verification.overlap import verify
from nearkin.workflows.resources import Resources

SHINGLE = Characters(5)
NEAR_THRESHOLD, HIGH_THRESHOLD = 0.75, 0.9
N_SKETCHES = 10
MAX_DOCUMENTS = 20_000
_CURVE_POINTS = 201


@dataclass(frozen=True, slots=True)
class Curve:
    """The S-curve of one banding over `MinhashResults.similarities`."""

    bands: int
    rows: int
    probabilities: F64


@dataclass(frozen=True, slots=True, kw_only=True)
class MinhashResults:
    """All measurements.

    Parameters
    ----------
    documents : FirstDocuments
    sentences : tuple of SentencePair
    similarities : float64 array, shape (n_points,)
        The x values of the curves.
    curves : tuple of Curve
    truth : AllPairsTruth
    copies : Copies
    lengths : LengthEffects
    elapsed_s : float
        Since the first byte was read.
    """

    documents: FirstDocuments
    sentences: tuple[SentencePair, ...]
    similarities: F64
    curves: tuple[Curve, ...]
    truth: AllPairsTruth
    copies: Copies
    lengths: LengthEffects
    elapsed_s: float


def run(files: TitledRequest, n_documents: int, *, resources: Resources, progress: Progress) -> MinhashResults:
    """Repeat the article's experiment on the first documents of a corpus.

    Parameters
    ----------
    files : TitledRequest
    n_documents : int
        2 to `MAX_DOCUMENTS`; every pair of them is compared.
    resources : Resources
    progress : Progress

    Raises
    ------
    ParameterError, SourceError
    """
    if not 2 <= n_documents <= MAX_DOCUMENTS:
        raise ParameterError.of("documents", f"an int from 2 to {MAX_DOCUMENTS}", n_documents)
    started, threads = time.perf_counter(), resources.n_threads
    documents = read_first(files, n_documents, progress)
    if len(documents) < n_documents:
        progress.say(f"the corpus has only {counted(len(documents), 'document')} with a text; all are used")
    sets = SHINGLE.sets(documents.texts)
    truth = compare_all(sets, range(N_SKETCHES), high_threshold=HIGH_THRESHOLD, threads=threads, progress=progress)
    n_first = min(PUBLISHED.n_first, len(documents))
    copies = count_copies(truth.similar, n_first, NEAR_THRESHOLD, _pairs_without_last(documents, n_first))
    progress.start("lengths", 0, "steps")
    lengths = compare_lengths(documents.texts, truth.similar, NEAR_THRESHOLD)
    progress.finish()
    similarities = np.linspace(0.0, 1.0, _CURVE_POINTS)
    curves = tuple(Curve(b.bands, b.rows, b.probability(similarities)) for b in BANDINGS)
    return MinhashResults(
        documents=documents,
        sentences=compare_sentences(),
        similarities=similarities,
        curves=curves,
        truth=truth,
        copies=copies,
        lengths=lengths,
        elapsed_s=time.perf_counter() - started,
    )


def _pairs_without_last(documents: FirstDocuments, n_first: int) -> int:
    """Count pairs at or above the threshold if the last shingle of each text is dropped, as in the article's code."""
    shortened = [text[:-1] for text in documents.texts.slice(0, n_first).to_pylist()]
    sets = SHINGLE.sets(pa.array(shortened, pa.large_string()))
    blocks = (verify(pairs, sets.hashes, sets.offsets[:-1], sets.offsets[1:]) for pairs in all_pairs(len(sets)))
    return sum(int((block.jaccard >= NEAR_THRESHOLD).sum()) for block in blocks)
