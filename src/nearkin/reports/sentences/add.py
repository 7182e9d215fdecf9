"""Sentences of ``nearkin add``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nearkin.nouns import agreeing, counted
from nearkin.reports.sentences.exceptions import damage_sentences
from nearkin.reports.sentences.sentence import Sentence

if TYPE_CHECKING:
    from nearkin.collection.loads.adding import Added
    from nearkin.manifests.stored import DamagedFile


def add_sentences(added: Added, damaged: Sequence[DamagedFile]) -> Iterator[Sentence]:
    """Count the documents of a wave, and those that are exceptions."""
    changed = f"{added.n_new_versions:,} changed"
    if added.n_new_versions:
        changed += " (their older texts are kept as versions: nearkin history)"
    yield Sentence(
        f", {added.n_new:,} new, {changed}, {added.n_unchanged:,} unchanged; "
        f"{counted(added.n_contents, 'new distinct text')}",
        strong=f"{added.wave}: {counted(added.n_documents, 'document')}",
    )
    if n := added.n_exceptions:
        stored = f", of which {added.n_problems:,} {agreeing(added.n_problems, 'is', 'are')} not stored"
        listed = "" if added.is_dry_run else ": nearkin exceptions COLLECTION"
        yield Sentence(f"{counted(n, 'exception')}{stored * (added.n_problems > 0)}{listed}", "warning")
    yield from damage_sentences(damaged, "The wave has")
    if added.is_dry_run:
        yield Sentence("Nothing was stored, because of --dry-run.", "warning")
