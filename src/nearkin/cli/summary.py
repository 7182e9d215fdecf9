"""A manifest as the table at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from nearkin.cli.printing import table

_MOST_DAMAGED = 5
_WHAT = (
    ("unique", "unique", "like no other, or its group's principal"),
    ("too_short", "too short", "less than a shingle, like no other"),
    ("exact_copy", "exact copy", "same text once normalised"),
    ("near_duplicate", "near-duplicate", "verified, up from the threshold"),
    ("empty", "empty", "no text: nobody's twin"),
    ("unreadable", "unreadable", "see problems.parquet"),
)


def print_summary(console: Console, manifest: Mapping[str, Any], out: Path) -> None:
    """Documents by reason, groups, what may have been missed, where to look."""
    counts, parameters = manifest["counts"], manifest["parameters"]
    rows = table("documents", "share", "reason", "", numbers=2)
    rows.columns[-1].style = "dim"
    for key, name, meaning in _WHAT:
        if counts[key] or key in ("unique", "exact_copy", "near_duplicate"):
            rows.add_row(f"{counts[key]:,}", f"{counts[key] / max(1, counts['documents']):.1%}", name, meaning)
    console.print(rows)
    console.print(
        f"[bold]{counts['documents']:,} documents: {counts['kept']:,} kept, {counts['dropped']:,} dropped[/]",
        highlight=False,
    )
    print_warnings(console, manifest, out)
    console.print(
        f"{counts['groups']:,} groups, from {counts['pairs_of_exact_copies']:,} exact copies and {counts['pairs']:,} "
        f"verified pairs at {parameters['measure']} ≥ {parameters['threshold']} on {parameters['shingle']}"
        + (f"; {counts['bridges_refused']:,} bridges between groups refused" if counts["bridges_refused"] else ""),
        highlight=False,
    )
    if "plan" in manifest:
        _print_plan(console, manifest)
    looked = f"{out}/report.html" if (out / "report.html").exists() else f"{out}/documents.parquet"
    console.print(
        f"Results in [bold]{escape(str(out))}[/]; start with {escape(looked)}", highlight=False, soft_wrap=True
    )


def print_warnings(console: Console, manifest: Mapping[str, Any], out: Path) -> None:
    """What to know about documents of the input."""
    who = "The results and the kept corpus have" if (out / "kept").exists() else "The results have"
    warn_of_damage(console, manifest.get("damaged_files", ()), who)
    n_unreadable, n_problems = manifest["counts"]["unreadable"], sum(manifest["problems"].values())
    if n_unreadable:
        console.print(f"[yellow]{n_unreadable:,} could not be read; why stands in problems.parquet", highlight=False)
    if n_problems > n_unreadable:
        console.print(
            f"[yellow]{n_problems - n_unreadable:,} have an id that was used before: they have names of their own",
            highlight=False,
        )


def warn_of_damage(console: Console, damaged: Sequence[Mapping[str, Any]], who: str) -> None:
    """Files of which only a part was used; ``who`` says what lacks the rest, such as "The results have"."""
    for one in damaged[:_MOST_DAMAGED]:
        place = f", line {one['line']:,}" if "line" in one else ""
        console.print(
            f"[bold red]Incomplete: {escape(str(one['path']))}{place}: {escape(str(one['problem']))}. {who} only what "
            "comes before.",
            highlight=False,
            soft_wrap=True,
        )
    if len(damaged) > _MOST_DAMAGED:
        console.print(
            f"[bold red]Incomplete: {len(damaged) - _MOST_DAMAGED:,} more files are damaged.", highlight=False
        )


def _print_plan(console: Console, manifest: Mapping[str, Any]) -> None:
    plan, counts = manifest["plan"], manifest["counts"]
    of_search = " of the search" if manifest.get("command") == "regroup" else ""
    if counts.get("pairs_not_compared"):
        console.print(
            f"[yellow]How many pairs were missed is not known: up to {counts['pairs_not_compared']:,} pairs of texts "
            "that share a key with very many others were not compared; each such text was compared with the first "
            "of its kind.",
            highlight=False,
        )
    else:
        console.print(
            f"Predicted recall at the threshold{of_search} {plan['recall_at_threshold']:.2%}; pairs missed, estimated "
            f"from those found: {manifest['estimated_missed_pairs']:,.1f}",
            highlight=False,
        )
    total_s = sum(stage["elapsed_s"] for stage in manifest["stages"])
    peak = max((stage["peak_memory_bytes"] for stage in manifest["stages"]), default=0)
    rate = counts["documents"] / total_s if total_s else 0
    console.print(
        f"{total_s:.1f} s, {rate:,.0f} documents a second, at most {peak / 2**20:,.0f} MiB of memory", highlight=False
    )
