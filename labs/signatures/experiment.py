"""The whole experiment on one corpus, with its results in one record."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from labs.corpus import RawDocuments, read_raw
from labs.experiment import Claim
from labs.signatures.advice import COMPELLING_BITS, Advice, advise
from labs.signatures.apart import AROUND, Apart, measure_apart
from labs.signatures.confusion import Confusions, DistinctTexts, confusions
from labs.signatures.drift import Drifts, measure_drift
from labs.signatures.methods import KINDS, WEIGHTED, sign_all
from labs.signatures.paper_way import PaperWays, time_paper_way
from labs.signatures.retrieval import Retrieval, evaluate_all
from labs.signatures.shape import claims
from labs.signatures.timing import Timings, time_documents
from labs.signatures.truth import (
    BY_CHARACTERS,
    BY_WORDS,
    CHARACTER_THRESHOLD,
    WORD_THRESHOLD,
    SimilarPairs,
    similar_pairs,
    word_sets,
)
from labs.signatures.uniqueness import NeighbourCounts, Uniqueness, all_neighbour_counts, all_uniqueness
from nearkin.errors import ParameterError
from nearkin.nouns import counted
from nearkin.runs.progress import Progress
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources

MAX_DOCUMENTS = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureResults:
    """All measurements.

    Parameters
    ----------
    documents : RawDocuments
    n_distinct : int
        Number of distinct texts, on which retrieval is measured.
    n_occurrences, n_features : int
        Features of all documents, counting repeats; distinct features of the collection.
    uniqueness : tuple of Uniqueness
    neighbours : tuple of NeighbourCounts
    n_true : mapping of str to int
        Number of similar pairs, by each truth.
    retrievals : tuple of Retrieval
    apart : tuple of Apart
        Distances between the signatures of near-duplicates.
    drifts : Drifts
    timings : Timings
    paper_ways : PaperWays
    confusions : tuple of Confusions
        Errors of the recommended signature, and of the one that the article recommends.
    claims : tuple of Claim
    advice : Advice
    elapsed_s : float
        Since the first byte was read.
    """

    documents: RawDocuments
    n_distinct: int
    n_occurrences: int
    n_features: int
    uniqueness: tuple[Uniqueness, ...]
    neighbours: tuple[NeighbourCounts, ...]
    n_true: Mapping[str, int]
    retrievals: tuple[Retrieval, ...]
    apart: tuple[Apart, ...]
    drifts: Drifts
    timings: Timings
    paper_ways: PaperWays
    confusions: tuple[Confusions, ...]
    claims: tuple[Claim, ...]
    advice: Advice
    elapsed_s: float

    def unique(self, key: str, bits: int) -> Uniqueness:
        """Return the result for a kind and a length."""
        return next(one for one in self.uniqueness if (one.key, one.bits) == (key, bits))

    def retrieval(self, key: str, bits: int, truth: str = BY_CHARACTERS) -> Retrieval:
        """Return the result for a kind and a length, against a truth."""
        return next(one for one in self.retrievals if (one.key, one.bits, one.truth) == (key, bits, truth))


def run(files: ReadingRequest, n_documents: int, *, resources: Resources, progress: Progress) -> SignatureResults:
    """Repeat the article's experiment on the first documents of a corpus.

    Parameters
    ----------
    files : ReadingRequest
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
    documents = read_raw(files, n_documents, progress)
    n_read = len(documents) + documents.n_without_text
    if n_read < n_documents:
        progress.say(f"the corpus has only {counted(n_read, 'document')}; all are used")
    signed = sign_all(documents.texts, threads=threads, progress=progress)
    unique = all_uniqueness(signed)
    neighbours = all_neighbour_counts(signed, KINDS, threads=threads, progress=progress)
    rows = documents.distinct
    sets = signed.sets.where(np.isin(np.arange(len(documents)), rows))
    texts = DistinctTexts(documents.ids.take(pa.array(rows)), documents.texts.take(pa.array(rows)), sets)
    about = similar_pairs(texts.sets, CHARACTER_THRESHOLD - AROUND, threads=threads, progress=progress)
    apart = measure_apart({key: packed[rows] for key, packed in signed.packed.items()}, about)
    truths = _truths(texts, about, threads, progress)
    retrievals = evaluate_all(signed, rows, truths, threads=threads, progress=progress)
    drifts = measure_drift(signed, rows, truths, threads=threads, progress=progress)
    timings = time_documents(documents.texts, signed.n_occurrences, signed.statistics, progress)
    paper_ways = time_paper_way(documents.texts, signed.n_occurrences, signed.statistics, timings, progress)
    advice = advise(retrievals, unique, timings, drifts)
    confused = tuple(
        confusions(key, signed.packed[key, bits][rows], texts, truths[BY_CHARACTERS], threads=threads)
        for key, bits in dict.fromkeys([(advice.kind.key, advice.bits), (WEIGHTED.key, COMPELLING_BITS)])
    )
    return SignatureResults(
        documents=documents,
        n_distinct=len(rows),
        n_occurrences=int(signed.n_occurrences.sum()),
        n_features=len(signed.statistics.hashes),
        uniqueness=unique,
        neighbours=neighbours,
        n_true={name: len(pairs) for name, pairs in truths.items()},
        retrievals=retrievals,
        apart=apart,
        drifts=drifts,
        timings=timings,
        paper_ways=paper_ways,
        confusions=confused,
        claims=claims(unique, neighbours, len(documents)),
        advice=advice,
        elapsed_s=time.perf_counter() - started,
    )


def _truths(texts: DistinctTexts, about: SimilarPairs, threads: int, progress: Progress) -> dict[str, SimilarPairs]:
    """Return the similar pairs, by characters as for signatures and by words as for dedup.

    ``about`` are all pairs that are similar by characters, and some that are slightly less similar.
    """
    by_words = word_sets(texts.texts)
    return {
        BY_CHARACTERS: about.at_least(CHARACTER_THRESHOLD),
        BY_WORDS: similar_pairs(by_words, WORD_THRESHOLD, threads=threads, progress=progress),
    }
