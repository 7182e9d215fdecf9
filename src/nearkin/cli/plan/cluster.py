"""Output of a plan about a Spark cluster."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.planning.cluster_needs import ClusterNeeds


def summary_of(needs: ClusterNeeds | None) -> dict[str, object]:
    """Return the needs as JSON types; empty without a cluster."""
    return {} if needs is None else {"spark": asdict(needs) | {"shuffled_bytes": needs.shuffled_bytes}}


def show_needs(console: Printer, needs: ClusterNeeds | None, n_cores: int, n_documents: int) -> None:
    """Print the shuffled data, memory and disk space; nothing without a cluster."""
    if needs is None:
        return
    from nearkin.cli.printing import table
    from nearkin.reports.quantities import size_text
    from nearkin.reports.sentences.plan.cluster import cluster_sentences, shuffled_sentence

    console.print()
    console.say([shuffled_sentence(n_cores)])
    rows = table("stage", "data", "bytes per document", "total")
    for column in rows.columns[2:]:
        column.justify = "right"
    for one in needs.shuffles:
        rows.add_row(one.stage, one.carries, f"{one.size_bytes / n_documents:,.1f}", size_text(one.size_bytes))
    rows.add_row("all", "", f"{needs.shuffled_bytes / n_documents:,.1f}", size_text(needs.shuffled_bytes), style="bold")
    console.print(rows)
    console.say(cluster_sentences(needs, n_cores))
