"""Families → report page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from nearkin.manifests.dedup import DedupManifest
from nearkin.reports.dedup.page import ProblemRow
from nearkin.reports.families import CopyRow, FamilyCard, MemberCard, render_families_report
from nearkin.stages.differences.relating import COPY
from nearkin.stages.differences.relations import RELATIONS, RULES
from nearkin.workflows.dedup.reporting import first_exceptions
from nearkin.workflows.families.tables import Kin
from nearkin.workflows.reading.exceptions import ExceptionRow

N_FAMILIES = 200
N_MEMBERS = 50


@dataclass(slots=True)
class PageKin:
    """Documents shown on the page, and the number of others by their relation."""

    families: list[list[Kin]] = field(default_factory=list)
    relations: list[Counter[str]] = field(default_factory=list)
    n_families: int = 0
    n_by_relation: Counter[str] = field(default_factory=Counter)

    def passing(self, kin: Iterable[Kin]) -> Iterator[Kin]:
        """Yield all documents, in the order of the table, and keep what the page shows of them."""
        for one in kin:
            self._take(one)
            yield one

    def all_relations(self) -> dict[str, int]:
        """Return the number of members of each relation, of those that passed."""
        return {relation: self.n_by_relation[relation] for relation in RELATIONS}

    def _take(self, one: Kin) -> None:
        if one.comparison is None:
            self.n_families += 1
        else:
            self.n_by_relation[one.comparison.judgement.relation] += 1
        if self.n_families > N_FAMILIES:
            return
        if one.comparison is None:
            self.families.append([one])
            self.relations.append(Counter())
            return
        self.relations[-1][one.comparison.judgement.relation] += 1
        if len(self.families[-1]) <= N_MEMBERS:
            self.families[-1].append(one)


def render_page(
    manifest: DedupManifest,
    page: PageKin,
    *,
    problems: Sequence[ProblemRow] = (),
    n_problems: int = 0,
    exceptions: Sequence[ExceptionRow],
) -> str:
    """Return ``report.html``."""
    return render_families_report(
        manifest,
        cards=[_card(kin, counts) for kin, counts in zip(page.families, page.relations, strict=True)],
        rules=RULES,
        problems=problems,
        n_problems=n_problems,
        exceptions=first_exceptions(exceptions),
    )


def _card(kin: list[Kin], counts: Counter[str]) -> FamilyCard:
    principal, *members = kin
    return FamilyCard(
        number=principal.family,
        size=principal.family_size,
        principal=principal.name,
        where=principal.place,
        relations={relation: counts[relation] for relation in RELATIONS if counts[relation]},
        members=tuple(_rows(members)),
    )


def _rows(members: list[Kin]) -> Iterator[MemberCard]:
    """Yield the members, grouped by text; exact copies of the principal come last because they need no reading."""
    by_text: dict[tuple[bool, int], list[Kin]] = {}
    for one in members:
        by_text.setdefault((one.comparison is COPY, one.text_row), []).append(one)
    for _, (first, *others) in sorted(by_text.items(), key=lambda item: item[0][0]):
        yield _member(first, tuple(CopyRow(one.name, one.place) for one in others))


def _member(one: Kin, copies: tuple[CopyRow, ...]) -> MemberCard:
    comparison = one.comparison or COPY
    judgement = comparison.judgement
    found = judgement.measured
    return MemberCard(
        doc_id=one.name,
        where=one.place,
        similarity=one.similarity,
        containment_in_principal=one.containment_in_principal,
        containment_of_principal=one.containment_of_principal,
        relation=judgement.relation,
        filled_in=judgement.filled_in,
        n_differences=found.n_differences,
        n_words_only_in_principal=found.n_words_only_in_principal,
        n_words_only_in_member=found.n_words_only_in_member,
        n_particulars=found.n_particulars,
        is_whole=comparison.is_whole,
        differences=comparison.shown,
        copies=copies,
    )
