"""What a plan tells of a Spark cluster."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.planning.cluster_needs import ClusterNeeds

_HEAP_BYTES = 1 << 30
"""Of Java, for each core."""
_CORES = 4
"""Of an executor, at most: more of them share one Java's heap and its disks."""


def summary_of(needs: ClusterNeeds | None) -> dict[str, object]:
    """For a program; nothing if no cluster was asked about."""
    return {} if needs is None else {"spark": asdict(needs) | {"shuffled_bytes": needs.shuffled_bytes}}


def show_needs(console: Console, needs: ClusterNeeds | None, n_cores: int, n_documents: int) -> None:
    """What passes between tasks, then what memory and disks hold; nothing if no cluster was asked about."""
    if needs is None:
        return
    from nearkin.cli.printing import table
    from nearkin.reports.quantities import size_text

    def say(text: str) -> None:
        console.print(text, highlight=False, soft_wrap=True)

    say(f"\n[bold]On Spark, {counted(n_cores, 'core')}[/], before Spark compresses it, is shuffled:")
    rows = table("stage", "what is sent", "bytes per document", "in all")
    for column in rows.columns[2:]:
        column.justify = "right"
    for one in needs.shuffles:
        rows.add_row(one.stage, one.carries, f"{one.size_bytes / n_documents:,.1f}", size_text(one.size_bytes))
    rows.add_row("all", "", f"{needs.shuffled_bytes / n_documents:,.1f}", size_text(needs.shuffled_bytes), style="bold")
    console.print(rows)
    if needs.pair_bytes:
        say(f"Each pair of near-duplicates adds about {size_text(needs.pair_bytes)}.")
    cores = min(n_cores, _CORES)
    python, java = (-(-cores * n_bytes // (1 << 30)) for n_bytes in (needs.core_bytes, _HEAP_BYTES))
    say(
        f"Up to {counted(needs.n_tasks, 'task')} per stage. Memory: {size_text(needs.core_bytes)} of Python and "
        f"{size_text(_HEAP_BYTES)} of Java for each core; the driver's Python {size_text(needs.driver_bytes)}."
    )
    say(
        f"With {counted(cores, 'core')} per executor: --conf spark.executor.cores={cores} --conf "
        f"spark.executor.memory={java}g --conf spark.executor.memoryOverhead={python}g"
    )
    say(
        f"Disk: {size_text(needs.folder_bytes)} in the folder that all machines see; in spark.local.dir, on all "
        f"machines together, {size_text(needs.shuffled_bytes)}."
    )
