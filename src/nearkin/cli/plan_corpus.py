"""``nearkin plan`` of a corpus to clean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

import typer

from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.cli.plan_words import Machine
    from nearkin.planning.cluster_needs import ClusterNeeds
    from nearkin.stages.documents.rules import ReadingRules
    from nearkin.workflows.dedup.forecast import Forecast
    from nearkin.workflows.dedup.options import DedupOptions

_FEW = 300
"""Texts that are compared, at least, wherever there are as many."""


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


def _summary(told: Forecast, options: DedupOptions) -> dict[str, object]:
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


def _show(console: Console, told: Forecast, options: DedupOptions, needs: ClusterNeeds | None, n_cores: int) -> None:
    from nearkin.cli.plan_cluster import show_needs
    from nearkin.cli.plan_words import many_text, share_text
    from nearkin.planning.search import BandPlan
    from nearkin.workflows.dedup.plans import describe_plan

    def say(text: str) -> None:
        console.print(text, highlight=False, soft_wrap=True)

    n_compared, each = len(told.sample.sizes), told.plan.expected_candidates / told.n_documents
    say(
        f"[bold]{counted(told.n_documents, 'document')}[/] like the {told.n_sampled:,} of the sample; compared "
        f"{n_compared:,} of these with one another: {counted(round(told.sample.mean_size), 'shingle')} per document"
    )
    say(f"{describe_plan(told.plan, options)}.")
    if isinstance(told.plan, BandPlan) and told.n_other_keys:
        say(
            f"{share_text(told.share_by_bands)} of the texts are found by bands, the others, which are shorter than a "
            f"sketch, by their rare shingles: {told.n_other_keys:,.1f} per text, mean of all. How many unrelated "
            "pairs those find is not predicted: the estimate treats all texts as if bands found them."
        )
    say(
        f"[dim]Unrelated pairs grow quadratically; from {many_text(len(told.sample.similarity))} of the sample: "
        f"{many_text(told.plan.expected_candidates)}, {each:,.1f} per document. Another sample may give another "
        "number. Near-duplicates are not predicted.[/]"
    )
    if n_compared < _FEW:
        say(
            "[yellow]The sample is too small for a good estimate: use some thousands of documents, drawn from "
            "the whole corpus.[/]"
        )
    show_needs(console, needs, n_cores, told.n_documents)
