"""Pages of families, of threads and of passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from nearkin.manifests.dedup import FAMILIES_OF_COLLECTION, DedupManifest, FamilyCounts
from nearkin.manifests.stored import PassagesManifest, ThreadsManifest
from nearkin.reports.comparison import shown_pieces
from nearkin.reports.facts.fact import Table
from nearkin.reports.facts.jobs import (
    families_facts,
    least_of_a_passage,
    passages_facts,
    reason_meanings,
    results_table,
    threads_facts,
)
from nearkin.reports.pages import render_page
from nearkin.reports.quantities import criterion_of, grams_text, share_percent_text
from nearkin.stages.differences.relations import N_SHOWN, MemberComparison

_OPEN_FAMILIES = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """Document of a family.

    Parameters
    ----------
    family
        Number of the family; the largest is 1.
    text_row
        Row that represents all documents with the same normalised text.
    """

    family: int
    family_size: int
    principal: str | int | None
    doc_id: str | int | None
    name: str
    row: int
    source: str
    line: int
    similarity: float
    containment_in_principal: float
    containment_of_principal: float
    comparison: MemberComparison | None
    text_row: int
    place: str


@dataclass(frozen=True, slots=True)
class FamilyCard:
    """Family: its principal, the listed members, each with its exact copies, and the number of each relation.

    ``clauses`` are passages of the principal that stand in more documents than the family has.
    """

    principal: Kin
    members: tuple[tuple[Kin, tuple[Kin, ...]], ...]
    relations: Mapping[str, int]
    clauses: Table | None = None

    @property
    def told(self) -> str:
        """Name the members: ``the principal · exact copy: 7``."""
        return " · ".join(["the principal", *(f"{relation}: {n:,}" for relation, n in self.relations.items() if n)])

    @property
    def n_listed(self) -> int:
        """Number of listed documents besides the principal."""
        return sum(1 + len(copies) for _, copies in self.members)


def render_families_report(
    manifest: DedupManifest,
    *,
    cards: Sequence[FamilyCard],
    rules: Mapping[str, str],
    problems: Table,
    exceptions: Table | None = None,
) -> str:
    """Render ``report.html`` of a finished run; equal arguments give equal bytes."""
    totals = manifest.families or FamilyCounts()
    rule_rows = [(f"{totals.relations.get(name, 0):,}", name, rule) for name, rule in rules.items()]
    return render_page(
        "families.html.j2",
        script="families.js",
        filters={"spaced": shown_pieces, "least_percent": partial(share_percent_text, digits=1)},
        facts=manifest,
        summary=tuple(families_facts(manifest)),
        criterion=criterion_of(manifest),
        totals=totals,
        is_of_collection=manifest.command == FAMILIES_OF_COLLECTION,
        shingles=_shingles(manifest),
        cards=cards,
        n_open=_OPEN_FAMILIES,
        most_shown=N_SHOWN,
        relations=totals.relations,
        rules=Table(("members", "relation", "rule"), rule_rows, 1),
        problems=problems,
        exceptions=exceptions,
    )


def _shingles(manifest: DedupManifest) -> str:
    if manifest.command == FAMILIES_OF_COLLECTION:
        from nearkin.collection.relations import RELATION_SHINGLES  # files need no collection

        return grams_text(str(RELATION_SHINGLES))
    return grams_text(manifest.parameters.get("shingle"))


_OPEN_THREADS = 3
_DEEPEST = 12
"""Depth from which on lines are not indented any further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailLineRow:
    """Mail or missing mail, as a row of ``threads.parquet`` describes it."""

    position: int
    depth: int
    name: str | None
    message_id: str | None
    subject: str | None
    sender: str | None
    sent_at: str | None
    n_attachments: int
    linked_by: str | None
    reason: str | None
    is_duplicate_spare: bool
    spare_of: str | None
    included_in: str | None
    quotes_more: bool
    is_other_subject: bool
    bcc: str | None

    @property
    def indent(self) -> int:
        """Steps by which the line is indented."""
        return min(self.depth, _DEEPEST)

    @property
    def is_missing(self) -> bool:
        """Whether the mail is missing."""
        return self.name is None

    @property
    def reason_in_words(self) -> str:
        """The reason for which the mail is inclusive."""
        return reason_meanings(is_of_new_text=False)[self.reason] if self.reason else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadCard:
    """Thread; ``rows`` has the first of its ``n_rows`` lines."""

    number: int
    size: int
    subject: str
    n_missing: int
    n_inclusive: int
    n_rows: int
    rows: tuple[MailLineRow, ...]


def render_threads_report(
    manifest: ThreadsManifest, cards: Sequence[ThreadCard], exceptions: Table | None = None
) -> str:
    """Render ``report.html`` of a finished run; equal arguments give equal bytes."""
    is_of_new_text = bool(manifest.parameters.get("new_text_only"))
    return render_page(
        "threads.html.j2",
        script="threads.js",
        facts=manifest,
        totals=manifest.counts,
        is_of_new_text=is_of_new_text,
        reasons_in_words=reason_meanings(is_of_new_text=is_of_new_text),
        summary=tuple(threads_facts(manifest)),
        results=results_table(manifest),
        cards=cards,
        exceptions=exceptions,
        n_open=_OPEN_THREADS,
    )


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
    items: Table,
    exceptions: Table | None = None,
) -> str:
    """Render ``report.html`` of a finished run; equal arguments give equal bytes.

    Parameters
    ----------
    groups, items : Table
        Shares of the groups of ``--within``, and items of the other set; without rows if there are none.
    """
    return render_page(
        "passages.html.j2", facts=manifest, summary=tuple(passages_facts(manifest)),
        least=least_of_a_passage(manifest), frequent=frequent, longest=longest, groups=groups, items=items,
        exceptions=exceptions,
    )  # fmt: skip
