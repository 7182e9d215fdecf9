"""``nearkin plan`` of a corpus to clean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.cli.plan_words import Machine
    from nearkin.planning.cluster_needs import ClusterNeeds
    from nearkin.planning.corpus_forecast import CorpusForecast
    from nearkin.stages.documents.rules import ReadingRules
    from nearkin.workflows.dedup.options import DedupOptions


class Chosen(TypedDict):
    """Options of ``nearkin dedup``; None: its default."""

    threshold: float | None
    recall: float | None
    shingle: str | None
    measure: str | None


def plan_corpus(
    documents: str | None,
    sample: Sequence[str],
    text: str | None,
    chosen: Chosen,
    rules: ReadingRules,
    machine: Machine,
    engine: str,
    *,
    as_json: bool,
) -> None:
    """Plan the search of a corpus by a sample of it, and tell the plan."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.plan_cluster import summary_of
    from nearkin.cli.plan_words import parse_count
    from nearkin.cli.printing import tell
    from nearkin.workflows.dedup.forecast import forecast
    from nearkin.workflows.dedup.on_spark.forecast import cluster_needs
    from nearkin.workflows.dedup.options import DedupOptions
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.resources import Resources

    if not sample:
        raise typer.BadParameter("--sample is needed: some thousands of documents of the corpus.")
    n_documents = None if documents is None else parse_count(documents, "--documents")
    options = DedupOptions.of(**chosen)
    with bars_shown(is_quiet=as_json) as bars:
        told = forecast(
            ReadingRequest(sample, text=text, rules=rules),
            options,
            n_documents=n_documents,
            resources=Resources(),
            progress=bars,
        )
    needs = cluster_needs(told, options, machine.cores) if engine == "spark" else None
    tell(
        lambda: _summary(told, options) | summary_of(needs),
        lambda console: _show(console, told, options, needs, machine.cores),
        as_json=as_json,
    )


def _summary(told: CorpusForecast, options: DedupOptions) -> dict[str, object]:
    from nearkin.workflows.dedup.plans import plan_as_stored

    return {
        "documents": told.n_documents,
        "distinct_texts": told.n_texts,
        "parameters": options.in_words(),
        "plan": plan_as_stored(told.plan),
        "keys_of_bands_a_text": told.n_band_keys,
        "other_keys_a_text": told.n_other_keys,
        "sample": {
            "documents": told.n_sampled,
            "compared": len(told.sample.sizes),
            "mean_shingles": told.sample.mean_size,
            "document_bytes": told.document_bytes,
        },
    }


def _show(
    console: Console, told: CorpusForecast, options: DedupOptions, needs: ClusterNeeds | None, n_cores: int
) -> None:
    from nearkin.cli.plan_cluster import show_needs
    from nearkin.cli.printing import say
    from nearkin.reports.sentences.plan_corpus import corpus_plan_sentences
    from nearkin.workflows.dedup.plans import describe_plan

    say(console, corpus_plan_sentences(told, describe_plan(told.plan, options)))
    show_needs(console, needs, n_cores, told.n_documents)
