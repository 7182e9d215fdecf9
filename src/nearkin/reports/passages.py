"""Page of passages that stand in several places, in their surroundings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nearkin.manifests.passages import PassagesManifest
from nearkin.reports.facts.fact import Table
from nearkin.reports.facts.jobs import passages_facts
from nearkin.reports.pages import render_page


@dataclass(frozen=True, slots=True, kw_only=True)
class PassagePlace:
    """Occurrence of a passage in its document, with the characters before and after it."""

    name: str
    start: int
    before: str
    passage: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPassage:
    """Passage with its first places, of which the first one has its most frequent words."""

    number: int
    n_words: int
    n_occurrences: int
    n_documents: int
    places: tuple[PassagePlace, ...]


def render_passages_report(
    manifest: PassagesManifest,
    *,
    frequent: Sequence[ShownPassage],
    longest: Sequence[ShownPassage],
    groups: Table,
    exceptions: Table | None = None,
) -> str:
    """Render ``report.html`` of a finished run; equal arguments give equal bytes.

    Parameters
    ----------
    groups : Table
        Shares of the groups of ``--within``; without rows if there are none.
    """
    return render_page(
        "passages.html.j2", facts=manifest, summary=tuple(passages_facts(manifest)), frequent=frequent,
        longest=longest, groups=groups, exceptions=exceptions,
    )  # fmt: skip
