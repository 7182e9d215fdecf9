"""The whole experiment on one corpus, with its results in one record."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

from labs.corpus import RawDocuments, read_raw
from labs.experiment import Claim
from labs.range_search.algorithms import tau_0
from labs.range_search.claims import claims
from labs.range_search.projections import Searches, rows_of, search_all, search_in_every_way
from labs.range_search.published import GAMMAS
from labs.range_search.similarity import Alikeness, Bounds, compare_texts
from nearkin import nouns
from nearkin.errors import ParameterError, SourceError
from nearkin.records import F64, I64, LetterVectors
from nearkin.runs.progress import Progress
from nearkin.stages.features.letters import MIN_LETTERS, Alphabet, LetterCounts
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources

MAX_DOCUMENTS = 10_000_000
MAX_SEED = 2**32 - 1
_TEXTS_AT_A_TIME = 1 << 12


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeSearchPlan:
    """Parameters of the experiment.

    Parameters
    ----------
    n_documents : int
        Number of documents from the corpus, 2 to `MAX_DOCUMENTS`.
    n_queries : int
        Number drawn from the counted documents, at least 1; all if there are fewer.
    alphabet : {"latin", "universal"}
    tau : float, optional
        Above 0; `tau_0` by default.
    seed : int
        Seed of the queries, the projections and the sample of matches.
    bounds : Bounds
        Limits of the comparison of texts.

    Raises
    ------
    ParameterError
    """

    n_documents: int = 100_000
    n_queries: int = 500
    alphabet: Alphabet = "latin"
    tau: float | None = None
    seed: int = 0
    bounds: Bounds = field(default_factory=Bounds)

    def __post_init__(self) -> None:
        rules: tuple[tuple[str, float, bool, str], ...] = (
            ("documents", self.n_documents, 2 <= self.n_documents <= MAX_DOCUMENTS, f"from 2 to {MAX_DOCUMENTS}"),
            ("queries", self.n_queries, self.n_queries >= 1, ">= 1"),
            ("seed", self.seed, 0 <= self.seed <= MAX_SEED, f"from 0 to {MAX_SEED}"),
            ("pairs", self.bounds.max_matches, self.bounds.max_matches >= 1, ">= 1"),
            ("longest", self.bounds.longest, self.bounds.longest >= 1, ">= 1"),
        )
        for name, value, is_kept, rule in rules:
            if not is_kept:
                raise ParameterError.of(name, f"an int {rule}", value)
        if self.tau is not None and not 0 < self.tau < math.inf:
            raise ParameterError.of("tau", "above 0, and finite", self.tau)
        LetterCounts(self.alphabet)

    @property
    def half_width(self) -> float:
        """Half-width of the range around a projection, as a share of the search radius."""
        return self.factor / math.sqrt(LetterCounts(self.alphabet).n_dimensions)

    @property
    def factor(self) -> float:
        """τ: the given value, or τ₀."""
        return tau_0() if self.tau is None else self.tau


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedLetters:
    """Documents by their letter counts.

    Parameters
    ----------
    n_counted : int
        Number of documents that can be found and used as queries.
    n_few_letters : int
        Number with fewer than 20 letters and digits: omitted.
    n_other_letters : int
        Number omitted because most of their letters, or all but fewer than 20, have no place in the vector.
    mean_letters, median_letters, max_letters : float
        Over the counted documents.
    """

    n_counted: int
    n_few_letters: int
    n_other_letters: int
    mean_letters: float
    median_letters: float
    max_letters: float

    @classmethod
    def of(cls, vectors: LetterVectors) -> CountedLetters:
        """Make the counts from the vectors of all documents with a text."""
        is_few = vectors.n_counted + vectors.n_others < MIN_LETTERS
        letters: F64 = vectors.n_counted[vectors.is_counted].astype(np.float64)
        if not len(letters):
            raise SourceError(
                f"The experiment needs a document with at least {MIN_LETTERS} letters or digits, at least half of them "
                "in the alphabet (--alphabet). There is none."
            )
        return cls(
            n_counted=len(letters),
            n_few_letters=int(is_few.sum()),
            n_other_letters=int((~is_few & ~vectors.is_counted).sum()),
            mean_letters=float(letters.mean()),
            median_letters=float(np.median(letters)),
            max_letters=float(letters.max()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeSearchResults:
    """All measurements.

    Parameters
    ----------
    plan : RangeSearchPlan
    documents : RawDocuments
    counted : CountedLetters
    queries : int64 array, shape (n_queries,)
        Rows of the queries, ascending.
    searches : Searches
        Tables 1 and 2, Figure 2.
    exhaustive_seconds : float
        Mean time of a query that compares every document.
    alikes : tuple of Alikeness
        Figure 1, one record per tolerance.
    claims : tuple of Claim
    elapsed_s : float
        Since the first byte was read.
    """

    plan: RangeSearchPlan
    documents: RawDocuments
    counted: CountedLetters
    queries: I64
    searches: Searches
    exhaustive_seconds: float
    alikes: tuple[Alikeness, ...]
    claims: tuple[Claim, ...]
    elapsed_s: float


def run(
    files: ReadingRequest, plan: RangeSearchPlan, *, resources: Resources, progress: Progress
) -> RangeSearchResults:
    """Repeat the paper's experiments on the first documents of a corpus.

    Raises
    ------
    SourceError
        Nothing can be read, fewer than two documents have a text, or none has enough letters.
    """
    started, threads = time.perf_counter(), resources.n_threads
    documents = read_raw(files, plan.n_documents, progress)
    n_read = len(documents) + documents.n_without_text
    if n_read < plan.n_documents:
        progress.say(f"the corpus has only {nouns.counted(n_read, 'document')}; all are used")
    vectors = _count(documents, plan.alphabet, progress)
    counted = CountedLetters.of(vectors)
    queries = draw_queries(vectors, plan.n_queries, plan.seed)
    asked = rows_of(vectors, queries)
    truth = search_all(vectors, asked, GAMMAS, threads=threads, progress=progress)
    searches = search_in_every_way(
        vectors, asked, truth, tau=plan.factor, seed=plan.seed, threads=threads, progress=progress
    )
    alikes = compare_texts(
        documents.texts, documents.first_with_text, queries, truth, plan.bounds,
        seed=plan.seed, progress=progress,
    )  # fmt: skip
    return RangeSearchResults(
        plan=plan,
        documents=documents,
        counted=counted,
        queries=queries,
        searches=searches,
        exhaustive_seconds=float(truth.seconds.mean()),
        alikes=alikes,
        claims=claims(searches, alikes),
        elapsed_s=time.perf_counter() - started,
    )


def draw_queries(vectors: LetterVectors, n_queries: int, seed: int) -> I64:
    """Draw distinct rows of counted documents at random, ascending; all if there are no more."""
    rows = np.flatnonzero(vectors.is_counted)
    if len(rows) <= n_queries:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, n_queries, replace=False))


def _count(documents: RawDocuments, alphabet: Alphabet, progress: Progress) -> LetterVectors:
    """Return the vectors of all documents."""
    counts = LetterCounts(alphabet)
    progress.start("count letters", len(documents), "documents")
    parts = []
    for start in range(0, len(documents), _TEXTS_AT_A_TIME):
        parts.append(counts.count(documents.texts.slice(start, _TEXTS_AT_A_TIME)))
        progress.advance(len(parts[-1]))
    progress.finish()
    return LetterVectors(
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.is_counted for part in parts]),
        np.concatenate([part.n_counted for part in parts]),
        np.concatenate([part.n_others for part in parts]),
        counts.fingerprint,
    )
