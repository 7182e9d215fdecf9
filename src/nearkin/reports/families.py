"""Page of families: each with its principal, and the relation of every member to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from nearkin.errors import MissingExtraError
from nearkin.manifests.dedup import FAMILIES_OF_COLLECTION, DedupManifest, FamilyCounts
from nearkin.nouns import counted
from nearkin.reports.comparison.page import ShownPiece, shown_pieces
from nearkin.reports.dedup.page import DocId, ProblemRow, ShownException
from nearkin.reports.facts.fact import Table
from nearkin.reports.facts.jobs import families_facts
from nearkin.reports.pages import PageScript, report_environment
from nearkin.reports.quantities import criterion_of, grams_text, share_percent_text
from nearkin.stages.differences.comparison import Piece
from nearkin.stages.differences.relating import DifferenceInContext

_OPEN_FAMILIES = 1
_LONGEST_RUN = 60
_MIN_SHARED = 0.5  # of the shorter side of a difference, in characters, to be marked word by word


@dataclass(frozen=True, slots=True)
class CopyRow:
    """Document with the same text as another."""

    doc_id: DocId
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberCard:
    """Member of a family, with fields of ``families.parquet``, its first differences and its exact copies."""

    doc_id: DocId
    where: str
    similarity: float
    containment_in_principal: float
    containment_of_principal: float
    relation: str
    filled_in: str
    n_differences: int
    n_words_only_in_principal: int
    n_words_only_in_member: int
    n_particulars: int
    is_whole: bool
    differences: tuple[DifferenceInContext, ...] = ()
    copies: tuple[CopyRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyCard:
    """Family; ``members`` has the listed members, and ``relations`` counts all of them."""

    number: int
    size: int
    principal: DocId
    where: str
    relations: Mapping[str, int]
    members: tuple[MemberCard, ...]

    @property
    def told(self) -> str:
        """Name the members: ``the principal · 7 exact copies``."""
        counts = [
            counted(n, relation, "exact copies") if relation == "exact copy" else f"{n:,} {relation}"
            for relation, n in self.relations.items()
        ]
        return " · ".join(["the principal", *counts])

    @property
    def n_listed(self) -> int:
        """Number of listed documents besides the principal."""
        return sum(1 + len(member.copies) for member in self.members)


@dataclass(frozen=True, slots=True)
class ShownDifference:
    """Difference as the page shows it."""

    segments: tuple[ShownPiece, ...]
    line_principal: int
    line_member: int


def render_families_report(
    manifest: DedupManifest,
    *,
    cards: Sequence[FamilyCard],
    rules: Mapping[str, str],
    problems: Sequence[ProblemRow],
    n_problems: int,
    exceptions: Sequence[ShownException] = (),
) -> str:
    """Render ``report.html`` of a finished run; equal arguments give equal bytes.

    Parameters
    ----------
    rules : Mapping
        Each relation with the rule that decides it, in the order in which they are tried.
    problems, exceptions : sequences
        The first of them.
    """
    totals = manifest.families or FamilyCounts()
    rule_rows = [(f"{totals.relations.get(name, 0):,}", name, rule) for name, rule in rules.items()]
    is_of_collection = manifest.command == FAMILIES_OF_COLLECTION
    try:
        environment = report_environment()
        environment.filters |= {
            "marked": _marked,
            "least_percent": partial(share_percent_text, digits=1),
        }
        template = environment.get_template("families.html.j2")
        return template.render(
            facts=manifest,
            summary=tuple(families_facts(manifest)),
            criterion=criterion_of(manifest),
            totals=totals,
            is_of_collection=is_of_collection,
            shingles=_shingles(manifest),
            cards=cards,
            n_open=_OPEN_FAMILIES,
            relations=totals.relations,
            rules=Table(("members", "relation", "rule"), rule_rows, 1),
            problems=problems,
            n_problems=n_problems,
            exceptions=exceptions,
            script=PageScript.named("families.js"),
        )
    except ImportError as error:
        raise MissingExtraError.of("report.html", "report") from error


def _shingles(manifest: DedupManifest) -> str:
    if manifest.command == FAMILIES_OF_COLLECTION:
        from nearkin.collection.relations import RELATION_SHINGLES  # files need no collection

        return grams_text(str(RELATION_SHINGLES))
    return grams_text(manifest.parameters.get("shingle"))


def _marked(one: DifferenceInContext) -> ShownDifference:
    return ShownDifference(shown_pieces(_pieces(one)), one.line_principal, one.line_member)


def _pieces(one: DifferenceInContext) -> list[Piece]:
    from nearkin.stages.differences.marking import mark_differences

    lead = " " if one.before and not one.before[-1].isspace() else ""
    principal, member = one.principal.text, one.member.text
    found = [Piece("equal", one.before)]
    marks: tuple[Piece, ...] = ()
    if principal and member:
        marks = mark_differences(principal, member, context_words=_LONGEST_RUN, max_run=_LONGEST_RUN)
        n_shared = sum(len(mark.text) for mark in marks if mark.kind == "equal")
        if n_shared < _MIN_SHARED * min(len(principal), len(member)):
            marks = ()  # words that are shared by chance would tear both sides apart
    for i, mark in enumerate(marks):
        needs_space = mark.kind == "only_b" and i > 0 and marks[i - 1].kind == "only_a"
        text = mark.text if mark.text[:1].isspace() or not needs_space else f" {mark.text}"
        found.append(Piece(mark.kind, text))
    if not marks:
        found += [Piece("only_a", lead + principal)] if principal else []
        found += [Piece("only_b", (" " if principal else lead) + member)] if member else []
    if n_cut := one.principal.n_words_cut:
        found.append(Piece("gap", f"{counted(n_cut, 'more word')} of the principal"))
    if n_cut := one.member.n_words_cut:
        found.append(Piece("gap", f"{counted(n_cut, 'more word')} of this document"))
    found.append(Piece("equal", one.after + (" …" if one.is_after_cut else "")))
    return [piece for piece in found if piece.text]
