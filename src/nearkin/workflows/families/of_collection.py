"""Families of a collection: its stored groups, with the relation of each member to the principal of its group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten

import pyarrow as pa
from sqlalchemy import Connection, func, select

from nearkin.collection.collection import Collection
from nearkin.collection.counting import SHINGLES
from nearkin.collection.groups.current import CollectionGroups, group
from nearkin.collection.info import documents_by_extractor
from nearkin.collection.listing.exceptions import ListedException, StoredException, listed_exceptions
from nearkin.collection.relations import Pair, relations_of
from nearkin.collection.stored.documents import document_rows
from nearkin.collection.tolerance import Tolerance
from nearkin.manifests.dedup import FAMILIES_OF_COLLECTION, DedupManifest, FamilyCounts
from nearkin.manifests.stored import ExtractionCounts
from nearkin.options.dedup import Delivery
from nearkin.paths import printable
from nearkin.reports.facts.fact import Table
from nearkin.reports.families import Kin
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.run import JobRun
from nearkin.stages.differences.relations import COPY
from nearkin.stages.documents.members import NO_TEXT, is_ocr, place_text
from nearkin.store.schema import documents
from nearkin.workflows.dedup.row_places import extraction_counts
from nearkin.workflows.families.tables import PageKin, render_page, write_families
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.rereading import input_file, seen, source_of_collection
from nearkin.workflows.reading.texts import (
    EXCEPTIONS_FILE,
    ExceptionRow,
    exception_lines,
    listed_exception,
    write_exceptions,
)
from nearkin.workflows.resources import Resources

_N_CLAUSES, _MAX_OF_CLAUSE = 5, 300


@dataclass(frozen=True, slots=True)
class CollectionFamilies:
    """Families of a collection, and what changed since the last call."""

    manifest: DedupManifest
    groups: CollectionGroups

    def to_dict(self) -> dict[str, object]:
        """Return the manifest with the changes of the groups, as JSON types."""
        groups = self.groups.to_dict()
        return {**self.manifest.as_stored(), **{name: groups[name] for name in ("is_first", "new_waves", "changes")}}


def families_of_collection(
    request: ReadingRequest,
    out: Path,
    *,
    threshold: float | None,
    delivery: Delivery,
    resources: Resources,
    is_read_only: bool = False,
    progress: Progress | None = None,
) -> CollectionFamilies:
    """Update the groups of a collection, and write them as families; only new pairs of texts are compared.

    With ``resume`` an unfinished run is replaced: its comparisons are stored in the collection.
    """
    run, tolerance = JobRun(out, Meter(progress or Silent())), Tolerance.of(threshold=threshold)
    place = str(request.inputs[0])
    if is_read_only:
        request = replace(request, inputs=[source_of_collection(place, is_read_only=True)])
    (source,) = request.found(run.progress, without=out).sources
    fingerprint = {"command": FAMILIES_OF_COLLECTION, "groups": str(tolerance)}
    with run.claimed(fingerprint, resume=delivery.resume, overwrite=delivery.overwrite):
        page = PageKin()
        with Collection.open(place, read_only=is_read_only, progress=run.progress) as collection:
            with run.stage("group"):
                grouped = group(collection.opened, tolerance, threads=resources.n_threads)
            with collection.opened.store.reading() as connection:
                kin = _kin(connection, grouped)
            with run.stage("compare", len(kin), "documents") as stage_progress:
                write_families(run.results, page.passing(_compared(collection, kin, stage_progress)), pa.large_string())
            page.clauses = _clauses(collection, page)
            with collection.opened.store.reading() as connection:
                without_text = listed_exceptions(connection)
                counts = _counts(connection, grouped, without_text)
                exceptions, extraction = _exceptions(connection, without_text)
        lines = exception_lines(exceptions, [printable(source.path)], {})
        write_exceptions(run.results / EXCEPTIONS_FILE, lines)
        n_alone = counts["documents"] - len(grouped.members) - counts.get("empty", 0)
        manifest = DedupManifest(
            command=FAMILIES_OF_COLLECTION,
            # named as the options of a run over files
            parameters={"measure": "jaccard", "threshold": tolerance.value, "shingle": str(SHINGLES)},
            inputs=(replace(input_file(seen(source)), n_documents=counts["documents"]),),
            counts=counts,
            families=FamilyCounts(len(grouped.groups), len(grouped.members), n_alone, page.all_relations()),
            extraction=extraction,
        )
        if delivery.report:
            manifest = run.report(manifest, lambda facts: render_page(facts, page, exceptions=exceptions))
        return CollectionFamilies(run.finish(manifest), grouped)


def _kin(connection: Connection, groups: CollectionGroups) -> list[Kin]:
    place = {record.number: place for place, record in enumerate(groups.groups)}
    names = list(zip(groups.members["doc_id"].to_pylist(), groups.members["version"].to_pylist(), strict=True))
    rows = {
        (record.doc_id, record.version): record
        for record in document_rows(connection, documents.c.doc_id, [doc_id for doc_id, _ in names])
    }
    kin, principal = list[Kin](), None
    members = sorted(zip(groups.members.to_pylist(), names, strict=True), key=lambda member: place[member[0]["group"]])
    for member, name in members:
        row = rows[name]
        principal = row.doc_id if member["is_principal"] or principal is None else principal
        kin.append(
            Kin(
                family=member["group"],
                family_size=groups.groups[place[member["group"]]].n_documents,
                principal=principal,
                doc_id=row.doc_id,
                name=row.doc_id,
                row=row.row,
                source=row.source,
                line=row.line,
                similarity=member["jaccard"],
                containment_in_principal=1.0,
                containment_of_principal=1.0,
                comparison=None if member["is_principal"] else COPY,
                text_row=row.content,
                place=row.source if row.source == row.doc_id else place_text(row.doc_id, row.source, row.line),
            )
        )
    return kin


def _compared(collection: Collection, kin: Sequence[Kin], progress: Progress) -> Iterator[Kin]:
    pairs, principal = list[Pair](), 0
    for relative in kin:
        principal = relative.text_row if relative.comparison is None else principal
        if relative.text_row != principal:
            pairs.append((principal, relative.text_row))
    related = relations_of(collection.opened, pairs)
    for relative in kin:
        principal = relative.text_row if relative.comparison is None else principal
        if relative.text_row == principal:
            yield relative
        else:
            _, text = next(related)
            yield replace(
                relative,
                comparison=text.comparison,
                containment_in_principal=text.containment_in_principal,
                containment_of_principal=text.containment_of_principal,
            )
        progress.advance(1)


def _clauses(collection: Collection, page: PageKin) -> dict[int, Table]:
    """Return for each family on the page the stored passages of its principal that stand in more documents."""
    tables = dict[int, Table]()
    for (principal, *_), _ in page.families:
        name = str(principal.doc_id)
        passages = sorted(collection.passages(name).passages, key=lambda passage: -passage.n_documents)
        text = collection.text(name) if passages else ""
        rows = [
            (f"{passage.n_documents:,}", shorten(text[passage.start : passage.end], _MAX_OF_CLAUSE, placeholder=" …"))
            for passage in passages[:_N_CLAUSES]
            if passage.n_documents > principal.family_size
        ]
        if rows:
            tables[principal.family] = Table(("documents", "clause of the principal"), rows, 1)
    return tables


def _counts(connection: Connection, groups: CollectionGroups, exceptions: Sequence[ListedException]) -> dict[str, int]:
    n_documents = int(connection.execute(select(func.count()).where(documents.c.is_current)).scalar_one())
    grouped = set(groups.members["doc_id"].to_pylist())
    n_empty = sum(exception.has_blank and exception.exception.doc_id not in grouped for exception in exceptions)
    counts = {"documents": n_documents, "groups": len(groups.groups), "pairs_not_compared": groups.n_not_compared}
    return {**counts, **({"empty": n_empty} if n_empty else {})}


def _exceptions(
    connection: Connection, exceptions: Sequence[ListedException]
) -> tuple[list[ExceptionRow], ExtractionCounts | None]:
    by_extractor = documents_by_extractor(connection)
    listed = [listed_exception(_of_document(entry), 0) for entry in exceptions]
    counts = extraction_counts(None, listed)
    if not by_extractor:
        return listed, counts
    n_beside = sum(entry.exception.extractor is not None for entry in exceptions if not entry.is_current)
    n_by_ocr = sum(n for extractor, n in by_extractor.items() if is_ocr(extractor))
    n_documents = sum(by_extractor.values()) + n_beside
    return listed, replace(counts or ExtractionCounts(), documents=n_documents, by_ocr=n_by_ocr or None)


def _of_document(exception: ListedException) -> StoredException:
    if not exception.has_blank or exception.is_current:
        return exception.exception
    return replace(exception.exception, exception="empty", sentence=NO_TEXT)
