"""``nearkin families``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearkin.cli.options import (
    FamilyShingle,
    FamilyThreshold,
    Inputs,
    Json,
    Memory,
    Out,
    Overwrite,
    Quiet,
    Resume,
    Threads,
)
from nearkin.cli.reading_options import ReadingOptions
from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.console import Console

HELP = """
Group contracts into families of near-duplicates: signed and unsigned copies, one form with different parties, \
versions. Each member is told with its similarity to the principal of its family, what kind of relation it has, and \
the first lines that differ.

[bold]Examples[/]

  nearkin families dataroom/ --out families

  nearkin families contracts.parquet --text body --id file --threshold 0.7 --out families
"""


def families(
    inputs: Inputs,
    out: Out,
    *,
    reading: ReadingOptions,
    threshold: FamilyThreshold = None,
    shingle: FamilyShingle = None,
    as_json: Json = False,
    quiet: Quiet = False,
    resume: Resume = False,
    overwrite: Overwrite = False,
    threads: Threads = 0,
    memory: Memory = "2GiB",
) -> None:
    """Group contracts into families."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell, warn_of_report
    from nearkin.workflows.dedup.files import Delivery
    from nearkin.workflows.families.files import families_files
    from nearkin.workflows.resources import Resources

    asked = reading.request(inputs)
    delivery = Delivery(resume, overwrite)
    resources = Resources.of(threads, memory)
    with bars_shown(is_quiet=quiet or as_json) as bars:
        manifest = families_files(
            asked, out, threshold=threshold, shingle=shingle, delivery=delivery, resources=resources, progress=bars
        )
    warn_of_report(manifest, is_silent=quiet or as_json)
    tell(lambda: manifest, lambda console: _show(console, manifest, out), as_json=as_json, quiet=quiet)


def _show(console: Console, manifest: Mapping[str, Any], out: Path) -> None:
    """Members by relation, what stands alone, where to look."""
    from nearkin.cli.printing import shown, table
    from nearkin.cli.summary import print_warnings

    counts, found = manifest["counts"], manifest["families"]
    n_members = found["documents"] - found["families"]
    rows = table("members", "share", "relation to the principal", numbers=2)
    for relation, n in found["relations"].items():
        rows.add_row(f"{n:,}", f"{n / max(1, n_members):.1%}", relation)
    console.print(rows)
    console.print(
        f"[bold]{counted(counts['documents'], 'document')}: {found['documents']:,} in "
        f"{counted(found['families'], 'family', 'families')}[/], {found['alone']:,} like no other at "
        f"{manifest['parameters']['measure']} ≥ {manifest['parameters']['threshold']} on "
        f"{manifest['parameters']['shingle']}"
        + "".join(f", {counts[name]:,} {name}" for name in ("empty", "unreadable") if counts[name]),
        highlight=False,
    )
    print_warnings(console, manifest, out)
    total_s = sum(stage["elapsed_s"] for stage in manifest["stages"])
    rate = counts["documents"] / total_s if total_s else 0
    console.print(f"{total_s:.1f} s, {counted(round(rate), 'document')} per second", highlight=False)
    start = out / "report.html" if (out / "report.html").exists() else out / "families.csv"
    console.print(f"Results in [bold]{shown(out)}[/]; start with {shown(start)}", highlight=False, soft_wrap=True)
