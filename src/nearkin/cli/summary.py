"""A manifest as the table at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from nearkin.cli.printing import shown, table
from nearkin.nouns import counted
from nearkin.workflows.dedup.options import criterion_text

_MOST_DAMAGED = 5
_WHAT = (
    ("unique", "unique", "no match, or chosen from its group"),
    ("too_short", "too short", "less than a shingle, no match"),
    ("exact_copy", "exact copy", "same text once normalised"),
    ("near_duplicate", "near-duplicate", "verified, up from the threshold"),
    ("overlap", "overlap", "contains a document of the other set, or shares shingles with it"),
    ("empty", "empty", "no text: nobody's twin"),
    ("unreadable", "unreadable", "see problems.parquet"),
)


def print_summary(console: Console, manifest: Mapping[str, Any], out: Path) -> None:
    """Documents by reason, groups, what may have been missed, where to look."""
    counts, parameters = manifest["counts"], manifest["parameters"]
    rows = table("documents", "share", "reason", "", numbers=2)
    rows.columns[-1].style = "dim"
    for key, name, meaning in _WHAT:
        if counts.get(key) or key in ("unique", "exact_copy", "near_duplicate"):
            rows.add_row(f"{counts[key]:,}", f"{counts[key] / max(1, counts['documents']):.1%}", name, meaning)
    console.print(rows)
    console.print(
        f"[bold]{counted(counts['documents'], 'document')}: {counts['kept']:,} kept, {counts['dropped']:,} dropped[/]",
        highlight=False,
    )
    print_warnings(console, manifest, out)
    n_bridges = counts["bridges_refused"]
    bridges = f"; {counted(n_bridges, 'bridge')} between groups refused" if n_bridges else ""
    console.print(
        f"{counted(counts['groups'], 'group')}, from "
        f"{counted(counts['pairs_of_exact_copies'], 'exact copy', 'exact copies')} and "
        f"{counted(counts['pairs'], 'verified pair')} {'with' if 'min_shared' in parameters else 'at'} "
        f"{criterion_text(parameters)}{bridges}",
        highlight=False,
    )
    if "against_counts" in manifest:
        _print_against(console, manifest["against_counts"], parameters)
    if "plan" in manifest:
        _print_plan(console, manifest)
    looked = f"{out}/report.html" if (out / "report.html").exists() else f"{out}/documents.parquet"
    console.print(f"Results in [bold]{shown(out)}[/]; start with {shown(looked)}", highlight=False, soft_wrap=True)


def _print_against(console: Console, counts: Mapping[str, int], parameters: Mapping[str, object]) -> None:
    """How much of the other set has a match, and what cannot be found."""
    console.print(
        f"Other set: {counted(counts['documents'], 'document')}, {counts['match']:,} with a match in INPUT; "
        "see against.parquet",
        highlight=False,
    )
    is_looked_for = "min_shared" in parameters or parameters.get("drop") in ("containing", "either")
    if (n_short := counts["too_short"]) and is_looked_for:
        least = parameters.get("min_shared") or 1
        shingles = "one shingle" if least == 1 else f"{least} shingles"
        console.print(
            f"[yellow]{counted(n_short, 'document')} of the other set {'is' if n_short == 1 else 'are'} shorter than "
            f"{shingles} ({parameters['shingle']}) and can only match a whole document of INPUT. To find them inside "
            "longer documents, use a shorter --shingle.",
            highlight=False,
        )
    if n_unreadable := counts["unreadable"]:
        console.print(
            f"[yellow]Could not read {counted(n_unreadable, 'document')} of the other set; see problems.parquet.",
            highlight=False,
        )


def print_warnings(console: Console, manifest: Mapping[str, Any], out: Path) -> None:
    """What to know about documents of the input."""
    who = "The results and the kept corpus have" if (out / "kept").exists() else "The results have"
    warn_of_damage(console, manifest.get("damaged_files", ()), who)
    n_unreadable, n_problems = manifest["counts"]["unreadable"], sum(manifest["problems"].values())
    if n_unreadable:
        console.print(f"[yellow]{n_unreadable:,} could not be read; why stands in problems.parquet", highlight=False)
    n_repeated, n_without = n_problems - n_unreadable, manifest.get("without_id", 0)
    if n_repeated or n_without:
        console.print(
            f"[yellow]Documents that repeat an id: {n_repeated:,}; without an id: {n_without:,}. Join tables by row "
            "number (row, group_row, row_a, …), not by id",
            highlight=False,
            soft_wrap=True,
        )


def warn_of_damage(console: Console, damaged: Sequence[Mapping[str, Any]], who: str) -> None:
    """Files of which only a part was used; ``who`` says what lacks the rest, such as "The results have"."""
    for one in damaged[:_MOST_DAMAGED]:
        place = f", line {one['line']:,}" if "line" in one else ""
        console.print(
            f"[bold red]Incomplete: {shown(str(one['path']))}{place}: {shown(str(one['problem']))}. {who} only what "
            "comes before.",
            highlight=False,
            soft_wrap=True,
        )
    if len(damaged) > _MOST_DAMAGED:
        console.print(
            f"[bold red]Incomplete: {counted(len(damaged) - _MOST_DAMAGED, 'more damaged file')}.", highlight=False
        )


def _print_plan(console: Console, manifest: Mapping[str, Any]) -> None:
    plan, counts = manifest["plan"], manifest["counts"]
    of_search = " of the search" if manifest.get("command") == "regroup" else ""
    if counts.get("pairs_not_compared"):
        console.print(
            "[yellow]The number of missed pairs is not known: up to "
            f"{counted(counts['pairs_not_compared'], 'pair')} of texts that share a key with very many others were "
            "not compared; each such text was compared with the first of them only.",
            highlight=False,
        )
    else:
        at = "the threshold" if "min_shared" not in manifest["parameters"] else "one shared shingle"
        console.print(
            f"Predicted recall at {at}{of_search} {plan['recall_at_threshold']:.2%}; pairs missed, estimated "
            f"from those found: {manifest['estimated_missed_pairs']:,.1f}",
            highlight=False,
        )
    total_s = sum(stage["elapsed_s"] for stage in manifest["stages"])
    peak = max((stage["peak_memory_bytes"] for stage in manifest["stages"]), default=0)
    rate = counts["documents"] / total_s if total_s else 0
    console.print(
        f"{total_s:.1f} s, {counted(round(rate), 'document')} per second, at most {peak / 2**20:,.0f} MiB of memory"
        f"{_beyond_the_limit(manifest.get('memory'))}",
        highlight=False,
    )


def _beyond_the_limit(memory: Mapping[str, int] | None) -> str:
    """Why a run took more than ``--memory``, where it did.

    Examples
    --------
    >>> told = {"limit_bytes": 256 << 20, "before_bytes": 150 << 20, "peak_bytes": 390 << 20}
    >>> _beyond_the_limit(told | {"longest_document_characters": 9})
    ' (--memory 256 MiB, and 150 MiB of Python and its libraries)'
    """
    if memory is None or memory["peak_bytes"] <= memory["limit_bytes"]:
        return ""
    from nearkin.stages.features.shingles import MOST_BYTES_PER_CHARACTER

    limit, before = memory["limit_bytes"], memory["before_bytes"]
    told = f"--memory {limit / 2**20:,.0f} MiB, and {before / 2**20:,.0f} MiB of Python and its libraries"
    if memory["peak_bytes"] <= limit + before:
        return f" ({told})"
    longest = memory["longest_document_characters"]
    if longest * MOST_BYTES_PER_CHARACTER > limit:
        return f" ({told}; the longest document, of {counted(longest, 'character')}, is compared whole)"
    return f" ({told}; compiled code, mapped files and what each thread holds come on top)"
