"""`nearkin.plan` and `nearkin.plan_pairs`: predictions of what a search will find, and of what it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from nearkin.errors import ParameterError, is_int
from nearkin.jobs.documents import Documents, check_files_are_read, request_of, sides_of
from nearkin.jobs.places import progress_of
from nearkin.nouns import counted
from nearkin.options.declared import taking, taking_two
from nearkin.options.dedup import DedupOptions
from nearkin.options.measuring import PlanJob, PlanPairsJob, count_of
from nearkin.options.pairs import PairOptions, SideOptions
from nearkin.tabular import Tabular
from nearkin.workflows.dedup import forecast as of_corpus
from nearkin.workflows.pairing import forecast as of_pairs
from nearkin.workflows.pairing.planning import chosen
from nearkin.workflows.resources import Resources


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorpusPlan(Tabular):
    """Plan of `nearkin.dedup`, made from a sample of the corpus.

    Parameters
    ----------
    plan
        One row: kind ("bands", "rare shingles" or "sampling"), recall_at_threshold (a minimum), expected_candidates
        (number of unrelated pairs compared; null if the sample has no two different texts), exact_below, and bands,
        rows and size (slots of a sketch; null for "rare shingles"), or rate.
    n_documents, n_texts
        Number of documents in the corpus; number of distinct texts, estimated from their share in the sample.
    in_words
        The plan as a sentence.
    manifest
        All of it, as `nearkin plan corpus --json` prints it.
    """

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
    methods
        One row per method, the chosen one first: method, is_chosen, bits, distance, permutations, window, recall,
        n_comparisons, n_candidates, n_pairs, memory_bytes, core_s, elapsed_s, in_words, …
    reaches_recall
        Whether the chosen method is expected to reach the requested recall.
    manifest
        All of it, as `nearkin plan pairs --json` prints it.
    """

    methods: pa.Table
    reaches_recall: bool
    manifest: Mapping[str, Any]

    def __repr__(self) -> str:
        left, right = (counted(self.manifest[side], "document") for side in ("left", "right"))
        return f"PairsPlan({left} and {right}: {self.manifest['chosen']['in_words']})"


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


@taking(PlanJob)
def plan(documents: Documents, job: PlanJob) -> CorpusPlan:
    """Plan a run of `nearkin.dedup` from a sample of its documents: predict what it finds, and what it compares.

    Parameters
    ----------
    documents : path, table, data frame, data set or list
        A few thousand documents, drawn from the whole corpus; as for `nearkin.dedup`.
    n_documents : int or str, optional
        Number of documents in the corpus, such as 200_000_000 or "200M"; by default as in the sample.
    threshold, measure, recall, shingle, text, id, file_format, encoding, on_error, max_unreadable, max_document_size,
    text_root, extraction_limits, ocr, threads, progress
        As for `nearkin.dedup`.

    Raises
    ------
    ParameterError, DocumentError, SourceError
        As for `nearkin.dedup`.

    Examples
    --------
    >>> import nearkin
    >>> nearkin.plan([f"{i} is the number of this document, which has eight words or more" for i in range(20)])
    CorpusPlan(20 documents: ...)
    """
    progress = progress_of(job.progress)
    request = request_of(documents, job, progress=progress)
    check_files_are_read(request)
    options = job.part(DedupOptions)
    forecast = of_corpus.forecast(
        request, options, n_documents=job.n_documents, resources=Resources.of(job.threads), progress=progress
    )
    manifest: Mapping[str, Any] = of_corpus.forecast_as_stored(forecast, options)
    return CorpusPlan(
        plan=pa.Table.from_pylist([manifest["plan"]], schema=_SCHEMAS[forecast.is_sampling]),
        n_documents=forecast.n_documents,
        n_texts=forecast.n_texts,
        in_words=of_corpus.in_words(forecast, options),
        manifest=manifest,
    )


@taking_two(PlanPairsJob)
def plan_pairs(left: Documents, right: Documents, job: PlanPairsJob) -> PairsPlan:
    """Plan a run of `nearkin.pairs`: predict what each method finds, and the time and memory that it takes.

    Parameters
    ----------
    left, right : path, table, data frame, data set or list; or int
        Samples of a few thousand documents, as for `nearkin.pairs`; or two numbers of documents, for which the
        distribution of cosines is assumed.
    n_documents : (int, int), optional
        Number of documents in each corpus; by default as in the samples.
    cores : int, default 1
        CPU cores of the machine that the plan is for.
    threshold, recall, top, n_terms, min_occurrences, min_terms, agreement, stems, splits, translate, seed, method,
    bits, distance, permutations, window, ignore, ignore_numbers, table, right_language, text, id,
    left_text, right_text, left_id, right_id, file_format, encoding, on_error, max_unreadable, max_document_size,
    text_root, extraction_limits, ocr, threads, progress
        As for `nearkin.pairs`.

    Raises
    ------
    ParameterError, DocumentError, SourceError
        As for `nearkin.pairs`.

    Examples
    --------
    >>> import nearkin
    >>> planned = nearkin.plan_pairs(3_440_000, 1_470_000, threshold=0.3, recall=0.9, cores=128)
    >>> planned.methods["method"].to_pylist(), planned.reaches_recall
    (['window', 'vectors', 'signatures'], True)
    """
    options, progress = job.part(PairOptions), progress_of(job.progress)
    sampled = None
    if is_int(left) and is_int(right):
        if job.n_documents is not None or job.part(SideOptions) != SideOptions():
            raise ParameterError("Options for samples were given with two numbers of documents. Omit them.")
        question = of_pairs.question_without_samples(count_of(left), count_of(right), options, cores=job.cores)
        planned = chosen(question, options)
    else:
        sampled = of_pairs.forecast(
            sides_of(left, right, job, "plan_pairs", progress), options, n_documents=job.n_documents, cores=job.cores,
            resources=Resources.of(job.threads), progress=progress,
        )  # fmt: skip
        question, planned = sampled.question, sampled.plan
    manifest: Mapping[str, Any] = of_pairs.plan_as_stored(question, planned, sampled)
    ways = [manifest["chosen"] | {"is_chosen": True}, *(way | {"is_chosen": False} for way in manifest["alternatives"])]
    return PairsPlan(methods=pa.Table.from_pylist(ways), reaches_recall=manifest["reaches_recall"], manifest=manifest)
