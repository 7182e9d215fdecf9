"""The whole experiment, with its results in one record."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from labs.cross_lingual import signature_error, signature_recall, windows
from labs.cross_lingual.documents import ParallelColumns, ParallelDocuments, read_parallel, read_translated, spread_rows
from labs.cross_lingual.projecting import (
    CountedTranslations,
    Projected,
    gloss,
    in_one_language,
    projected,
    translated_side,
)
from labs.cross_lingual.published import THRESHOLD
from labs.cross_lingual.signature_error import SignatureErrors
from labs.cross_lingual.signature_recall import Scans
from labs.cross_lingual.windows import Windows
from nearkin.engines.local import map_ordered
from nearkin.errors import ParameterError, SourceError
from nearkin.kernels.terms import products
from nearkin.nouns import counted
from nearkin.options.pairs import PairOptions
from nearkin.planning.pairs.search import PairSearch
from nearkin.records import F64, I64, Bool
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.stages.translation.table import TranslationTable
from nearkin.workflows.pairing.searching import search
from nearkin.workflows.pairing.tables import Ranked, Terms
from nearkin.workflows.pairing.vectors import PairVectors
from nearkin.workflows.resources import Resources

MAX_DOCUMENTS, MAX_SEED = 100_000, 2**32 - 1
VARIANTS: tuple[tuple[str, str, PairOptions], ...] = (
    ("projection", "projection", PairOptions()),
    ("no-agreement", "… without agreement of both directions", PairOptions(agreement=0.0)),
    ("no-stems", "… without stems", PairOptions(stems=False)),
    ("no-splits", "… without splitting compounds", PairOptions(splits=False)),
    ("once", "… with words of one occurrence", PairOptions(min_occurrences=1)),
)
"""Key, label, and options of `nearkin pairs`."""
GLOSS, TRANSLATED = ("gloss", "gloss, word by word"), ("translated", "the given translation")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossLingualPlan:
    """Parameters of the experiment.

    Parameters
    ----------
    documents : tuple of Path
        Files of documents and their translations.
    tables : tuple of Path
        One translation table for all files, or one for each.
    columns : ParallelColumns
    translated : Path, optional
        File with ids, and the left texts in the right language.
    most : int
        Maximum number of documents taken from each file, at equal distances.
    seed : int
        Seed of the signatures and orders.

    Raises
    ------
    ParameterError
    """

    documents: tuple[Path, ...]
    tables: tuple[Path, ...]
    columns: ParallelColumns
    translated: Path | None = None
    most: int = 5000
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, least, most in (
            ("documents", self.most, 2, MAX_DOCUMENTS),
            ("seed", self.seed, 0, MAX_SEED),
        ):
            if not least <= value <= most:
                raise ParameterError.of(name, f"an int from {least} to {most}", value)
        if len(self.tables) not in (1, len(self.documents)):
            raise ParameterError(
                f"--table must be given once for all inputs, or once for each of them in the same order: "
                f"{len(self.documents)} times. Got {len(self.tables)} instead."
            )


@dataclass(frozen=True, slots=True)
class TranslationWay:
    """A method of comparing documents across languages.

    Parameters
    ----------
    key, label : str
    finding : Finding
    share_unknown : float
        Share of the words on the left that stay untranslated; NaN if nothing is projected.
    """

    key: str
    label: str
    finding: Finding
    share_unknown: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SetResults:
    """Measurements on one file.

    Parameters
    ----------
    name : str
        Name of the file, without directory and suffix if that is unambiguous.
    documents : ParallelDocuments
        Documents that were used.
    n_given : int
        Number of rows with both texts, before the selection.
    table : TranslationTable
    ways : tuple of TranslationWay
        The first is the projection.
    examples : tuple of Example
    """

    name: str
    documents: ParallelDocuments
    n_given: int
    table: TranslationTable
    ways: tuple[TranslationWay, ...]
    examples: tuple[Example, ...]

    @property
    def finding(self) -> Finding:
        """Results of the projection."""
        return self.ways[0].finding

    def way(self, key: str) -> TranslationWay | None:
        """Return the results of a method, if it was used."""
        return next((way for way in self.ways if way.key == key), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossLingualResults:
    """All measurements.

    Parameters
    ----------
    columns : ParallelColumns
    seed : int
    sets : tuple of SetResults
    largest : SetResults
        Set on which the measurements below were made.
    errors : SignatureErrors
        Errors on its left side.
    scans : Scans
    windows : Windows or None
        None if no pair is at the threshold.
    elapsed_s : float
    """

    columns: ParallelColumns
    seed: int
    sets: tuple[SetResults, ...]
    largest: SetResults
    errors: SignatureErrors
    scans: Scans
    windows: Windows | None
    elapsed_s: float


def run(plan: CrossLingualPlan, *, resources: Resources, progress: Progress) -> CrossLingualResults:
    """Read the files and run the experiment.

    Raises
    ------
    SourceError
        A file or a table cannot be used.
    FingerprintError
        A table has words that were split by another method.
    ParameterError
        No document of a file has enough terms.
    """
    translated = {} if plan.translated is None else read_translated(plan.translated, plan.columns, progress)
    tables = {path: TranslationTable.read(path) for path in dict.fromkeys(plan.tables)}
    of_documents = plan.tables if len(plan.tables) > 1 else plan.tables * len(plan.documents)
    given = [
        (read_parallel(path, plan.columns, progress), tables[table])
        for path, table in zip(plan.documents, of_documents, strict=True)
    ]
    if translated and not any(one in translated for documents, _ in given for one in documents.ids.to_pylist()):
        raise SourceError(
            f"{plan.translated}: none of its {counted(len(translated), 'id')} occurs among the documents. Name the "
            "column with --id."
        )
    return measure(
        given, plan.columns, translated, most=plan.most, seed=plan.seed, resources=resources, progress=progress
    )


def measure(
    given: Sequence[tuple[ParallelDocuments, TranslationTable]],
    columns: ParallelColumns,
    translated: Mapping[str, str],
    *,
    most: int,
    seed: int,
    resources: Resources,
    progress: Progress,
) -> CrossLingualResults:
    """Run the experiment on documents in memory, each set with its table.

    Raises
    ------
    SourceError, FingerprintError, ParameterError
        See `run`.
    """
    started = time.perf_counter()
    counted = [
        CountedTranslations.of(documents.spread(most), table, (columns.left, columns.right))
        for documents, table in given
    ]
    sizes = [len(one.documents) for one in counted]
    largest = sizes.index(max(sizes))
    sets, kept = [], []
    progress.start("compare", len(counted) * (len(VARIANTS) + 1), "steps")
    for name, one, (documents, _) in zip(_names(counted), counted, given, strict=True):
        made, own = _set_results(name, one, len(documents), translated, resources.n_threads, progress)
        sets.append(made)
        kept.append(own)
    progress.finish()
    vectors, threads = kept[largest].vectors, resources.n_threads
    progress.start("signatures", 0, "steps")
    errors = signature_error.measure(vectors.left, vectors.words, vectors.hashes, seed=seed)
    truth = search(vectors, PairSearch("vectors"), THRESHOLD, seed=seed, threads=threads, meter=Meter(Silent()))
    scans = signature_recall.measure(vectors, truth, seed=seed, threads=threads)
    progress.finish()
    slid = windows.measure(vectors, truth, seed=seed, resources=resources, progress=progress)
    elapsed_s = time.perf_counter() - started
    return CrossLingualResults(
        columns=columns,
        seed=seed,
        sets=tuple(sets),
        largest=sets[largest],
        errors=errors,
        scans=scans,
        windows=slid,
        elapsed_s=elapsed_s,
    )


def _names(counted: Sequence[CountedTranslations]) -> list[str]:
    """Return a short name for each set, or the full name if short ones are ambiguous."""
    given = [one.documents.name for one in counted]
    short = [Path(name).name.partition(".")[0] or name for name in given]
    return [given[i] if short.count(name) > 1 else name for i, name in enumerate(short)]


def _set_results(
    name: str,
    counted: CountedTranslations,
    n_given: int,
    translated: Mapping[str, str],
    threads: int,
    progress: Progress,
) -> tuple[SetResults, Projected]:
    ways, projections = [], []
    for key, label, options in VARIANTS:
        own = projected(counted, options)
        ways.append(
            TranslationWay(key, label, find(own.vectors, threads), own.vectors.left_facts.ways.get("unknown", 0.0))
        )
        projections.append(own)
        progress.advance(1)
    sides = [(GLOSS, gloss(counted))]
    if any(one in translated for one in counted.documents.ids.to_pylist()):
        sides.append((TRANSLATED, translated_side(counted, translated)))
    for (key, label), left in sides:
        vectors = in_one_language(left, counted.right, PairOptions())
        ways.append(TranslationWay(key, label, find(vectors, threads), float("nan")))
    progress.advance(1)
    first = projections[0]
    return SetResults(
        name=name,
        documents=counted.documents,
        n_given=n_given,
        table=counted.table,
        ways=tuple(ways),
        examples=examples(counted, first),
    ), first


N_EXAMPLES, N_SIMILAR, N_TERMS = 8, 3, 5


@dataclass(frozen=True, slots=True)
class Similar:
    """A document on the right: its id, the cosine, and its terms, each with its source word if that differs."""

    doc_id: str
    cosine: float
    is_translation: bool
    terms: tuple[tuple[str, str | None], ...]

    @property
    def terms_in_words(self) -> str:
        """Terms as `nearkin pairs` prints them."""
        return ", ".join(term if left is None else f"{left} = {term}" for term, left in self.terms)


@dataclass(frozen=True, slots=True)
class Example:
    """A document on the left, the most similar ones on the right, and the rank of its translation."""

    doc_id: str
    rank: int
    similar: tuple[Similar, ...]


def examples(counted: CountedTranslations, own: Projected) -> tuple[Example, ...]:
    """Select documents with a vector at equal distances."""
    vectors = own.vectors
    compared = np.flatnonzero((vectors.left.sizes > 0) & (vectors.right.sizes > 0))
    rows = compared[spread_rows(len(compared), N_EXAMPLES)]
    if not len(rows):
        return ()
    block = cosine_block(vectors, rows)
    order = np.argsort(-block, axis=1, kind="stable")  # in a tie the earlier row comes first
    ranks = np.argmax(order == rows[:, None], axis=1) + 1
    best = order[:, :N_SIMILAR]
    n = best.shape[1]
    left, right = np.repeat(rows, n), best.ravel()
    cosines = np.take_along_axis(block, best, axis=1).ravel()
    pairs = Ranked(left, right, cosines, np.tile(np.arange(1, n + 1), len(rows)).astype(np.int32))
    terms = Terms(vectors, (counted.left, counted.right), own.translation, N_TERMS)
    found = terms.of(pairs, slice(0, len(pairs))).to_pylist()
    ids = counted.documents.ids.to_pylist()
    similar = [
        Similar(
            ids[other], float(cosine), int(row) == int(other), tuple((one["term"], one["left_term"]) for one in terms)
        )
        for row, other, cosine, terms in zip(left.tolist(), right.tolist(), cosines, found, strict=True)
    ]
    return tuple(
        Example(ids[row], int(rank), tuple(one for one in similar[i * n : (i + 1) * n] if one.cosine > 0))
        for i, (row, rank) in enumerate(zip(rows.tolist(), ranks, strict=True))
    )


EDGES = tuple(round(0.1 * i, 1) for i in range(11))
"""Width of the bins of Figure 1."""
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_PAIRS_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True)
class Finding:
    """Comparison of each document on the left with all on the right; the two documents of a row are translations.

    Parameters
    ----------
    is_compared : bool array, shape (n_documents,)
        Whether both documents of a row have a vector.
    cosines : float64 array, shape (n_documents,)
        Cosine of each document with its translation; 0 if one has no vector.
    ranks : int64 array, shape (n_documents,)
        Rank of the translation among all on the right, from 1; in a tie the earlier row comes first. 0 if one
        has no vector.
    n_near : int64 array, shape (n_thresholds,)
        Number of all pairs at or above each of `THRESHOLDS`.
    """

    is_compared: Bool
    cosines: F64
    ranks: I64
    n_near: I64

    @property
    def n_compared(self) -> int:
        """Number of documents with a vector on both sides."""
        return int(self.is_compared.sum())

    @property
    def counts(self) -> I64:
        """Number of cosines in each bin of `EDGES`; 1 counts in the last."""
        counts: I64 = np.histogram(self.cosines[self.is_compared], EDGES)[0].astype(np.int64)
        return counts

    @property
    def mean_cosine(self) -> float:
        """Mean cosine of documents with their translations."""
        return float(self.cosines[self.is_compared].mean()) if self.n_compared else float("nan")

    @property
    def n_first(self) -> int:
        """Number of documents whose translation is the most similar document."""
        return int((self.ranks == 1).sum())

    @property
    def share_first(self) -> float:
        """Share of these among all documents, including those without a vector."""
        return self.n_first / len(self.ranks)

    @property
    def reciprocal_rank(self) -> float:
        """Mean of 1 / rank, 0 for documents without a vector."""
        return float((self.is_compared / np.maximum(self.ranks, 1)).mean())

    def share_from(self, low: float, high: float) -> float:
        """Return the share of cosines from ``low`` to below ``high``."""
        own = self.cosines[self.is_compared]
        return float(((own >= low) & (own < high)).mean()) if len(own) else float("nan")

    def recall(self, threshold: float) -> float:
        """Return the share of known pairs at or above a threshold."""
        return float((self.cosines >= threshold).mean())

    def precision(self, threshold: float) -> float:
        """Return the share of known pairs among all pairs at one of `THRESHOLDS`; others may be similar too."""
        n_near = int(self.n_near[THRESHOLDS.index(threshold)])
        return float((self.cosines >= threshold).sum()) / n_near if n_near else float("nan")


def find(vectors: PairVectors, threads: int) -> Finding:
    """Compare every document on the left with every document on the right."""
    n, n_right = len(vectors.left), len(vectors.right)
    step = max(1, _PAIRS_AT_ONCE // n_right)
    starts = range(0, n, step)
    is_compared = (vectors.left.sizes > 0) & (vectors.right.sizes > 0)

    def work(first: int) -> tuple[F64, I64, I64]:
        rows = np.arange(first, min(first + step, n))
        block = cosine_block(vectors, rows)
        own = block[np.arange(len(rows)), rows]
        is_before = (block > own[:, None]) | ((block == own[:, None]) & (np.arange(n_right) < rows[:, None]))
        near = np.array([int((block >= threshold).sum()) for threshold in THRESHOLDS])
        return own, is_before.sum(axis=1) + 1, near

    parts = list(map_ordered(work, starts, threads=threads))
    cosines = np.where(is_compared, np.concatenate([own for own, _, _ in parts]), 0.0)
    ranks = np.where(is_compared, np.concatenate([rank for _, rank, _ in parts]), 0).astype(np.int64)
    return Finding(is_compared, cosines, ranks, np.sum([near for _, _, near in parts], axis=0).astype(np.int64))


def cosine_block(vectors: PairVectors, rows: I64) -> F64:
    """Return the cosines of some documents on the left with all on the right, shape (n_rows, n_right)."""
    n_right = len(vectors.right)
    pairs = np.repeat(rows, n_right), np.tile(np.arange(n_right), len(rows))
    cosines = products(vectors.left.sparse, vectors.right.sparse, pairs, vectors.n_terms)
    return np.minimum(cosines, 1.0).reshape(len(rows), n_right)  # lengths of vectors are 1 only to 7 digits
