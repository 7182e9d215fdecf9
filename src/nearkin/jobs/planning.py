"""`nearkin.plan`: a prediction of what a search will find, and of the time and memory that it takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, overload

import pyarrow as pa

from nearkin.arguments import checking_arguments
from nearkin.errors import ParameterError, is_int, is_number
from nearkin.jobs.documents import (
    DocumentReading,
    Documents,
    check_files_are_read,
    check_two_sides,
    readable_sides,
)
from nearkin.jobs.places import Listener, Where, progress_of
from nearkin.nouns import counted
from nearkin.options.dedup import DedupOptions
from nearkin.options.pairs import Method, PairOptions
from nearkin.paths import path_of
from nearkin.planning.pairs.costs import FEW_TERMS, Costs
from nearkin.runs.progress import Progress
from nearkin.stages.documents.rules import OnError, ReadingRules
from nearkin.stages.features.shingles import Shingling
from nearkin.stages.verification.measures import MeasureName
from nearkin.tabular import Histogram, Tabular
from nearkin.workflows.dedup import forecast as of_corpus
from nearkin.workflows.pairing import forecast as of_pairs
from nearkin.workflows.pairing.inputs import PairInput
from nearkin.workflows.pairing.planning import plan_without_documents
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources

_MAX_DOCUMENTS = 10**12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorpusPlan(Tabular):
    """Plan of `nearkin.dedup`, made from a sample of the corpus.

    Parameters
    ----------
    plan : pyarrow.Table
        One row: kind ("bands", "rare shingles" or "sampling"), recall_at_threshold (a minimum), expected_candidates
        (number of unrelated pairs compared; null if the sample has no two different texts), exact_below, and bands,
        rows and size (slots of a sketch; null for "rare shingles"), or rate.
    n_documents, n_texts : int
        Number of documents in the corpus; number of distinct texts, estimated from their share in the sample.
    in_words : str
        The plan as a sentence.
    manifest : mapping
        All of it, as `nearkin plan corpus --json` prints it.
    """

    tables: ClassVar[tuple[str, ...]] = ("plan",)
    plan: pa.Table
    n_documents: int
    n_texts: int
    in_words: str
    manifest: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"CorpusPlan({counted(self.n_documents, 'document')}: {self.in_words})"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairsPlan(Tabular):
    """Plan of `nearkin.pairs`.

    Parameters
    ----------
    methods : pyarrow.Table
        One row per method, the chosen one first: method, is_chosen, bits, distance, permutations, window, recall,
        n_comparisons, n_candidates, n_pairs, memory_bytes, core_s, elapsed_s, in_words, …
    reaches_recall : bool
        Whether the chosen method is expected to reach the requested recall.
    manifest : mapping
        All of it, as `nearkin plan pairs --json` prints it.
    """

    tables: ClassVar[tuple[str, ...]] = ("methods",)
    methods: pa.Table
    reaches_recall: bool
    manifest: Mapping[str, Any]

    def _bars(self) -> Histogram:
        names, seconds = (self.methods[name].to_pylist() for name in ("method", "elapsed_s"))
        return Histogram("seconds by method", dict(zip(names, seconds)))

    def __repr__(self) -> str:
        left, right = (counted(self.manifest[side], "document") for side in ("left", "right"))
        return f"PairsPlan({left} and {right}: {self.manifest['chosen']['in_words']})"


@overload
def plan(
    documents: Documents,
    other: None = None,
    *,
    n_documents: int | None = None,
    threshold: float | None = None,
    recall: float | None = None,
    measure: MeasureName | None = None,
    shingle: Shingling | str | None = None,
    text: str | None = None,
    id: str | None = None,
    on_error: OnError = "skip-documents",
    max_unreadable: float | str = 0.5,
    max_document_size: int | str = "64MiB",
    threads: int = 0,
    progress: Listener | None = None,
) -> CorpusPlan: ...


@overload
def plan(
    documents: Documents,
    other: Documents,
    *,
    n_documents: int | None = None,
    n_other: int | None = None,
    threshold: float | None = None,
    recall: float | None = None,
    terms: tuple[float, float] | None = None,
    table: Where | None = None,
    left_language: str | None = None,
    right_language: str | None = None,
    method: Method = "auto",
    bits: int | None = None,
    distance: int | None = None,
    permutations: int | None = None,
    window: int | None = None,
    cores: int = 1,
    speed: float | Literal["this"] = 1.0,
    text: str | None = None,
    id: str | None = None,
    left_text: str | None = None,
    right_text: str | None = None,
    on_error: OnError = "skip-documents",
    max_unreadable: float | str = 0.5,
    max_document_size: int | str = "64MiB",
    threads: int = 0,
    progress: Listener | None = None,
) -> PairsPlan: ...


@checking_arguments
def plan(
    documents: Documents,
    other: Documents | None = None,
    *,
    n_documents: int | None = None,
    threshold: float | None = None,
    recall: float | None = None,
    text: str | None = None,
    id: str | None = None,
    on_error: OnError = "skip-documents",
    max_unreadable: float | str = 0.5,
    max_document_size: int | str = "64MiB",
    threads: int = 0,
    progress: Listener | None = None,
    **given: Any,
) -> CorpusPlan | PairsPlan:
    """Plan a run of `nearkin.dedup` or, with ``other``, of `nearkin.pairs`: predict what it finds and costs.

    Parameters
    ----------
    documents, other : path, table, data frame, data set or list; or int
        Samples of a few thousand documents, as for `nearkin.dedup`. With ``other``, two numbers of documents are
        enough; the distribution of cosines is then assumed.
    n_documents, n_other : int, optional
        Number of documents in the corpus, or in both corpora; by default as in the samples.
    threshold, recall : float, optional
        Minimum similarity of a pair, and the share of these pairs to find, as for the job.
    measure, shingle : optional
        Only without ``other``; as for `nearkin.dedup`.
    method, bits, distance, permutations, window, table, left_language, right_language, left_text, right_text : optional
        Only with ``other``; as for `nearkin.pairs`.
    terms : (float, float), optional
        Only for numbers of documents: mean number of terms of a vector, left and right; default: 100.
    cores : int, default 1
        Only with ``other``: CPU cores of the machine that the plan is for.
    speed : float or "this", default 1.0
        Only with ``other``: speed of that machine relative to the one on which the costs were measured; "this" measures
        this machine, which takes a second.
    text, id, on_error, max_unreadable, max_document_size, threads, progress
        As for `nearkin.dedup`.

    Raises
    ------
    ParameterError, DocumentError, SourceError
        As for `nearkin.dedup`; or a parameter belongs to the other kind of plan.

    Examples
    --------
    >>> import nearkin
    >>> nearkin.plan([f"{i} is the number of this document, which has eight words or more" for i in range(20)])
    CorpusPlan(20 documents: ...)
    >>> planned = nearkin.plan(3_440_000, 1_470_000, threshold=0.3, recall=0.9, cores=128)
    >>> planned.methods["method"].to_pylist(), planned.reaches_recall
    (['window', 'vectors', 'signatures'], True)
    """
    listening, rules = progress_of(progress), ReadingRules.of(on_error, max_unreadable, max_document_size)
    resources, side = Resources(threads), DocumentReading(None, "utf-8", rules, listening)
    _check_count(n_documents, "n_documents")
    if other is None:
        chosen = _checked(given, ("measure", "shingle"), "a plan of nearkin.dedup")
        options = DedupOptions.of({"threshold": threshold, "recall": recall, **chosen})
        if is_int(documents):
            raise ParameterError.of("documents", "a sample of the corpus unless there is 'other'", documents)
        request = side.request(documents, text=text, id=id)
        check_files_are_read(request)
        return _corpus_plan(request, options, n_documents, resources, listening)
    chosen = {
        **_checked(given, _OF_PAIRS, "a plan of nearkin.pairs"),
        **{name: value for name, value in (("threshold", threshold), ("recall", recall)) if value is not None},
    }
    return _pairs_plan((documents, other), n_documents, chosen, side, (text, id), resources)


_OF_SEARCH = ("threshold", "recall", "method", "bits", "distance", "permutations", "window")
_OF_MACHINE = ("cores", "speed")
_OF_SAMPLES = ("table", "left_language", "right_language", "left_text", "right_text")
_OF_PAIRS = (*_OF_SEARCH, *_OF_MACHINE, *_OF_SAMPLES, "terms", "n_other")


def _checked(given: Mapping[str, Any], names: tuple[str, ...], kind: str) -> dict[str, object]:
    if unknown := [name for name in given if name not in names]:
        raise ParameterError(f"{kind} has no parameter {unknown[0]!r}; it has {', '.join(names)}.")
    return dict(given)


_SCHEMAS = {
    True: pa.schema({
        "kind": pa.string(), "rate": pa.float64(), "recall_at_threshold": pa.float64(),
        "expected_candidates": pa.float64(), "exact_below": pa.int64(),
    }),
    False: pa.schema({
        "kind": pa.string(), "bands": pa.int64(), "rows": pa.int64(), "recall_at_threshold": pa.float64(),
        "expected_candidates": pa.float64(), "exact_below": pa.int64(), "size": pa.int64(),
    }),
}  # fmt: skip
"""Columns of `CorpusPlan.plan`, with and without sampled shingles."""


def _corpus_plan(
    asked: ReadingRequest, options: DedupOptions, n_documents: int | None, resources: Resources, progress: Progress
) -> CorpusPlan:
    told = of_corpus.forecast(asked, options, n_documents=n_documents, resources=resources, progress=progress)
    manifest: Mapping[str, Any] = of_corpus.forecast_as_stored(told, options)
    return CorpusPlan(
        plan=pa.Table.from_pylist([manifest["plan"]], schema=_SCHEMAS[told.is_sampling]),
        n_documents=told.n_documents,
        n_texts=told.n_texts,
        in_words=of_corpus.in_words(told, options),
        manifest=manifest,
    )


def _pairs_plan(
    sides: tuple[Documents, Documents],
    n_documents: int | None,
    chosen: Mapping[str, Any],
    side: DocumentReading,
    columns: tuple[str | None, str | None],
    resources: Resources,
) -> PairsPlan:
    options = PairOptions(**{name: chosen[name] for name in _OF_SEARCH if chosen.get(name) is not None})
    cores, costs = _machine(chosen)
    counts = n_documents, chosen.get("n_other")
    _check_count(counts[1], "n_other")
    if is_int(sides[0]) and is_int(sides[1]):
        for one, name in zip(sides, ("documents", "other")):
            _check_count(one, name)
        of_samples = {"text": columns[0], "id": columns[1], "n_documents": counts[0], "n_other": counts[1]}
        of_samples |= {name: chosen.get(name) for name in _OF_SAMPLES}
        if wrong := [name for name, value in of_samples.items() if value is not None]:
            raise ParameterError("is about samples. Got two numbers of documents.", parameter=wrong[0])
        terms = _terms(chosen.get("terms"))
        question = of_pairs.question_without_samples(*sides, options, terms=terms, cores=cores, costs=costs)
        return _planned(of_pairs.plan_as_stored(question, plan_without_documents(question, options), None))
    for one, name in zip(sides, ("documents", "other")):
        if is_int(one):
            raise ParameterError.of(name, "a sample, as on the other side, or both sides numbers", one)
    if chosen.get("terms") is not None:
        raise ParameterError("is measured on the samples: omit it.", parameter="terms")
    text, id = columns
    sides = readable_sides(*sides, names=("documents", "other"))
    given = PairInput(
        side.request(sides[0], "left", text=text, id=id, own_text=chosen.get("left_text")),
        side.request(sides[1], "right", text=text, id=id, own_text=chosen.get("right_text")),
        path_of(chosen["table"], "table") if chosen.get("table") is not None else None,
        chosen.get("left_language"), chosen.get("right_language"),
    )  # fmt: skip
    check_two_sides(*sides, given, "plan")
    check_files_are_read(given.left, given.right)
    told = of_pairs.forecast(
        given, options, n_left=counts[0], n_right=counts[1], cores=cores, costs=costs, resources=resources,
        progress=side.progress,
    )  # fmt: skip
    return _planned(of_pairs.plan_as_stored(told.question, told.plan, told))


def _planned(manifest: Mapping[str, Any]) -> PairsPlan:
    ways = [manifest["chosen"] | {"is_chosen": True}, *(one | {"is_chosen": False} for one in manifest["alternatives"])]
    methods = pa.Table.from_pylist(ways)
    return PairsPlan(methods=methods, reaches_recall=manifest["reaches_recall"], manifest=manifest)


def _machine(chosen: Mapping[str, Any]) -> tuple[int, Costs | None]:
    cores, speed = chosen.get("cores", 1), chosen.get("speed", 1.0)
    if not is_int(cores) or cores < 1:
        raise ParameterError.of("cores", "an int >= 1", cores)
    if speed == "this":
        return cores, None
    if not is_number(speed) or not 0 < speed < math.inf:
        raise ParameterError.of("speed", 'a number > 0, or "this"', speed)
    return cores, Costs().scaled(speed)


def _terms(given: object) -> tuple[float, float]:
    if given is None:
        return FEW_TERMS, FEW_TERMS
    if not isinstance(given, tuple | list) or len(given) != 2 or not all(is_number(n) and 0 < n < 1e6 for n in given):
        raise ParameterError.of("terms", "two numbers > 0 and < 1,000,000", given)
    return given[0], given[1]


def _check_count(given: object, name: str) -> None:
    if given is not None and (not is_int(given) or not 1 <= given <= _MAX_DOCUMENTS):
        raise ParameterError.of(name, f"an int from 1 to {_MAX_DOCUMENTS:,}", given)
