"""Families → ``families.parquet`` and ``families.csv``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from nearkin.formats.delimited import SheetWriter
from nearkin.manifests.dedup import DedupManifest
from nearkin.reports.facts.fact import Table
from nearkin.reports.families import FamilyCard, Kin, render_families_report
from nearkin.reports.pages import problems_table
from nearkin.runs.files import published
from nearkin.runs.tables import write_rows
from nearkin.stages.differences.relations import COPY, RELATIONS, RULES
from nearkin.wording import reveal, share_text
from nearkin.workflows.dedup.reporting import first_exceptions
from nearkin.workflows.reading.texts import ExceptionRow


def schema(id_type: pa.DataType) -> pa.Schema:
    """Return the columns of both files, in their order."""
    text, whole, number = pa.large_string(), pa.int64(), pa.float64()
    return pa.schema(
        [
            ("family", whole), ("family_size", whole), ("role", text), ("principal", id_type), ("id", id_type),
            ("name", text), ("row", whole), ("source", text), ("line", whole), ("similarity", number),
            ("containment_in_principal", number),
            ("containment_of_principal", number), ("relation", text), ("filled_in", text), ("n_differences", whole),
            ("n_words_only_in_principal", whole), ("n_words_only_in_member", whole), ("n_particulars", whole),
            ("is_compared_whole", pa.bool_()), ("first_difference_principal", text),
            ("first_difference_member", text), ("line_principal", whole), ("line_member", whole),
        ]
    )  # fmt: skip


def write_families(folder: Path, kin: Iterable[Kin], id_type: pa.DataType) -> None:
    """Write ``families.parquet`` and ``families.csv``, a row for each document of a family."""
    columns = schema(id_type)
    # the byte order mark shows spreadsheets that it is UTF-8
    with published(folder / "families.csv") as aside, open(aside, "w", encoding="utf-8-sig", newline="") as file:
        lines = SheetWriter(file, line_end="\r\n")
        lines.write(columns.names)

        def rows() -> Iterator[tuple[object, ...]]:
            for relative in kin:
                row = _row(relative)
                lines.write(_cell(value) for value in row)
                yield row

        write_rows(folder / "families.parquet", columns, rows())


def _row(kin: Kin) -> tuple[object, ...]:
    head = (kin.family, kin.family_size, "principal" if kin.comparison is None else "member", kin.principal)
    place = (kin.doc_id, kin.name, kin.row, kin.source, kin.line)
    measures = (kin.similarity, kin.containment_in_principal, kin.containment_of_principal)
    if kin.comparison is None:
        return (*head, *place, *measures, *(None,) * 11)
    judgement, first = kin.comparison.judgement, kin.comparison.first
    counts = judgement.measured
    return (
        *head, *place, *measures, judgement.relation, judgement.filled_in or None, counts.n_differences,
        counts.n_words_only_in_principal, counts.n_words_only_in_member, counts.n_particulars, kin.comparison.is_whole,
        *((first.principal, first.member, first.line_principal, first.line_member) if first else (None,) * 4),
    )  # fmt: skip


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return float(share_text(value, 6))
    return reveal(value) if isinstance(value, str) else value


NO_PROBLEMS = problems_table((), 0)
N_FAMILIES = 200
N_MEMBERS = 50


class PageKin:
    """Documents shown on the page, with the number of members by their relation, and clauses by family."""

    def __init__(self) -> None:
        self.clauses: Mapping[int, Table] = {}
        self.families: list[tuple[list[Kin], Counter[str]]] = []
        self._n_by_relation: Counter[str] = Counter()

    def passing(self, kin: Iterable[Kin]) -> Iterator[Kin]:
        """Yield all documents, in the order of the table, and keep what the page shows of them."""
        n_families = 0
        for relative in kin:
            relation = None if relative.comparison is None else relative.comparison.judgement.relation
            n_families += relation is None
            if relation is None and n_families <= N_FAMILIES:
                self.families.append(([relative], Counter()))
            elif relation is not None:
                self._n_by_relation[relation] += 1
                if n_families <= N_FAMILIES:
                    shown, n_by_relation = self.families[-1]
                    n_by_relation[relation] += 1
                    shown += [relative] if len(shown) <= N_MEMBERS else []
            yield relative

    def all_relations(self) -> dict[str, int]:
        """Return the number of members of each relation, of those that passed."""
        return {relation: self._n_by_relation[relation] for relation in RELATIONS}


def render_page(
    manifest: DedupManifest,
    page: PageKin,
    *,
    problems: Table = NO_PROBLEMS,
    exceptions: Sequence[ExceptionRow],
) -> str:
    """Return ``report.html``."""
    return render_families_report(
        manifest,
        cards=[_card(kin, counts, page.clauses) for kin, counts in page.families],
        rules=RULES,
        problems=problems,
        exceptions=first_exceptions(exceptions),
    )


def _card(kin: list[Kin], counts: Counter[str], clauses: Mapping[int, Table]) -> FamilyCard:
    """Return a card with the members grouped by text; copies of the principal come last, as they need no reading."""
    principal, *members = kin
    by_text: dict[tuple[bool, int], list[Kin]] = {}
    for member in members:
        by_text.setdefault((member.comparison is COPY, member.text_row), []).append(member)
    grouped = sorted(by_text.items(), key=lambda item: item[0][0])
    return FamilyCard(
        principal,
        tuple((first, tuple(copies)) for _, (first, *copies) in grouped),
        {relation: counts[relation] for relation in RELATIONS},
        clauses.get(principal.family),
    )
