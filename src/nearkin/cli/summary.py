"""Summary of a manifest at the end of a run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.printing import Printer, say_results, table

if TYPE_CHECKING:
    from nearkin.manifests.dedup import DedupManifest
    from nearkin.reports.sentences.sentence import Sentence


def print_summary(console: Printer, manifest: DedupManifest, out: Path, more: Iterable[Sentence] = ()) -> None:
    """Print documents by reason, groups, missed pairs, ``more`` sentences, and where to look."""
    from nearkin.kernels.choosing import has_compiled
    from nearkin.reports.sentences.dedup import dedup_sentences, reason_rows

    rows = table("documents", "share", "reason", "", numbers=2)
    rows.columns[-1].style = "dim"
    for row in reason_rows(manifest):
        rows.add_row(*row)
    console.print(rows)
    console.say(dedup_sentences(manifest, has_kept=(out / "kept").exists(), has_compiled=has_compiled()))
    console.say(more)
    say_results(console, out, "documents.parquet")
