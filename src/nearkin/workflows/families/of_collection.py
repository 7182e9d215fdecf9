"""Families of a collection: its stored groups, with the relation of each member to the principal of its group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, func, select

from nearkin._version import __version__
from nearkin.collection.collection import Collection
from nearkin.collection.counting import SHINGLES
from nearkin.collection.groups.current import CollectionGroups, group
from nearkin.collection.info import documents_by_extractor
from nearkin.collection.listing.exceptions import ListedException, StoredException, listed_exceptions
from nearkin.collection.stored.documents import DocumentRow, document_rows
from nearkin.collection.stored_relations import Pair, relations_of
from nearkin.collection.tolerance import Tolerance
from nearkin.manifests.dedup import FAMILIES_OF_COLLECTION, DedupManifest, ExtractionCounts, FamilyCounts
from nearkin.paths import printable
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.run import JobRun
from nearkin.stages.differences.relating import COPY
from nearkin.stages.documents.extraction.kinds import is_ocr
from nearkin.stages.documents.members import place_text
from nearkin.stages.documents.origin import NO_TEXT
from nearkin.store.schema import documents
from nearkin.workflows.dedup.files import Delivery
from nearkin.workflows.dedup.origins import with_exceptions
from nearkin.workflows.families.reporting import PageKin, render_page
from nearkin.workflows.families.tables import Kin, write_families
from nearkin.workflows.reading.collection_exceptions import listed_exception
from nearkin.workflows.reading.exceptions import ExceptionRow, write_exceptions_in
from nearkin.workflows.reading.identity import SourceRecord
from nearkin.workflows.reading.kept_documents import source_of_collection
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources


@dataclass(frozen=True, slots=True)
class CollectionFamilies:
    """Families of a collection.

    Parameters
    ----------
    manifest : DedupManifest
    groups : CollectionGroups
        The groups that are the families, with what changed since the last call.
    """

    manifest: DedupManifest
    groups: CollectionGroups

    def to_dict(self) -> dict[str, object]:
        """Return the manifest with the changes of the groups, as JSON types."""
        groups = self.groups.to_dict()
        return {**self.manifest.as_stored(), **{name: groups[name] for name in ("is_first", "new_waves", "changes")}}


@dataclass(frozen=True, slots=True, kw_only=True)
class _FamilyMember:
    """Document of a group, as the store has it."""

    group: int
    size: int
    doc_id: str
    row: int
    content: int
    source: str
    line: int
    similarity: float
    is_principal: bool


def group_parameters(tolerance: Tolerance) -> dict[str, str | float | int]:
    """Return the criterion of the groups of a collection, named as the options of a run over files."""
    return {"measure": "jaccard", "threshold": tolerance.value, "shingle": str(SHINGLES)}


def families_of_collection(
    asked: ReadingRequest,
    out: Path,
    *,
    threshold: float | None,
    delivery: Delivery,
    resources: Resources,
    is_read_only: bool = False,
    progress: Progress | None = None,
) -> CollectionFamilies:
    """Update the groups of a collection, and write them as families; only new pairs of texts are compared.

    Parameters
    ----------
    asked : ReadingRequest
        Its input is one collection; see `nearkin.workflows.reading.request.is_one_collection`.
    out : Path
    threshold : float, optional
        That of the groups: minimum Jaccard similarity of the word 5-grams.
    delivery : Delivery
        With ``resume`` an unfinished run is replaced: its comparisons are stored in the collection.
    resources : Resources
    is_read_only : bool
        Store neither the groups nor the relations.
    progress : Progress, optional

    Raises
    ------
    InputError, RunError, ParameterError, CollectionError
        See `nearkin.errors`.
    """
    run, tolerance = JobRun(out, Meter(progress or Silent())), Tolerance.of(threshold=threshold)
    place = str(asked.inputs[0])
    if is_read_only:
        asked = replace(asked, inputs=[source_of_collection(place, is_read_only=True)])
    (source,) = asked.resolved(run.progress, without=out)
    fingerprint = {"nearkin": __version__, "command": FAMILIES_OF_COLLECTION, "groups": str(tolerance)}
    with run.claimed(fingerprint, resume=delivery.resume, overwrite=delivery.overwrite):
        page = PageKin()
        with Collection.open(place, read_only=is_read_only, progress=run.progress) as collection:
            with run.stage("group"):
                found = group(collection.opened, tolerance, threads=resources.n_threads)
            with collection.opened.store.reading() as connection:
                members = _members(connection, found)
            run.begin_results()
            with run.stage("compare", len(members), "documents") as told:
                kin = _all_kin(collection, members, told)
                write_families(run.path, page.passing(kin), pa.large_string())
            with collection.opened.store.reading() as connection:
                without_text = listed_exceptions(connection)
                counts = _counts(connection, found, without_text)
                exceptions, extraction = _exceptions(connection, without_text)
        write_exceptions_in(run.path, exceptions, [printable(source.path)], {})
        n_alone = counts["documents"] - len(found.members) - counts.get("empty", 0)
        manifest = DedupManifest(
            version=__version__,
            made_with={"numpy": np.__version__, "pyarrow": pa.__version__},
            command=FAMILIES_OF_COLLECTION,
            parameters=group_parameters(tolerance),
            inputs=(replace(SourceRecord.of(source).file, n_documents=counts["documents"]),),
            counts=counts,
            families=FamilyCounts(len(found.groups), len(found.members), n_alone, page.all_relations()),
            extraction=extraction,
        )
        if delivery.report:
            manifest = run.report(manifest, lambda facts: render_page(facts, page, exceptions=exceptions))
        return CollectionFamilies(run.finish(manifest), found)


def _members(connection: Connection, found: CollectionGroups) -> list[_FamilyMember]:
    """Return the members of all groups, the largest group first, its principal first."""
    table = found.members
    sizes = {one.number: one.n_documents for one in found.groups}
    place = {one.number: place for place, one in enumerate(found.groups)}
    numbers = table["group"].to_pylist()
    order = np.argsort([place[number] for number in numbers], kind="stable").tolist()
    names = list(zip(table["doc_id"].to_pylist(), table["version"].to_pylist(), strict=True))
    similarity, is_principal = table["jaccard"].to_pylist(), table["is_principal"].to_pylist()
    rows = _rows(connection, names)
    return [
        _FamilyMember(
            group=numbers[i],
            size=sizes[numbers[i]],
            doc_id=names[i][0],
            row=rows[names[i]].row,
            content=rows[names[i]].content,
            source=rows[names[i]].source,
            line=rows[names[i]].line,
            similarity=similarity[i],
            is_principal=is_principal[i],
        )
        for i in order
    ]


def _rows(connection: Connection, names: Sequence[tuple[str, int]]) -> dict[tuple[str, int], DocumentRow]:
    """Return the rows of documents by id and version, neither of which ever changes."""
    found = document_rows(connection, documents.c.doc_id, [doc_id for doc_id, _ in names])
    return {(one.doc_id, one.version): one for one in found}


def _all_kin(collection: Collection, members: Sequence[_FamilyMember], progress: Progress) -> Iterator[Kin]:
    """Yield the document of each member, with its relation to the principal before it."""
    pairs, principal = list[Pair](), members[0] if members else None
    for one in members:
        principal = one if one.is_principal or principal is None else principal
        if one.content != principal.content:
            pairs.append((principal.content, one.content))
    # the review screen shows the one-sided text of these pairs from what is stored
    is_stored = not collection.opened.store.access.is_read_only
    related = relations_of(collection.opened, pairs, with_one_sided=is_stored)
    for one in members:
        principal = one if one.is_principal or principal is None else principal
        comparison, inside, holding = (None if one.is_principal else COPY), 1.0, 1.0
        if one.content != principal.content:
            _, text = next(related)
            comparison = text.comparison
            inside, holding = text.containment_in_principal, text.containment_of_principal
        yield Kin(
            family=one.group,
            family_size=one.size,
            principal=principal.doc_id,
            doc_id=one.doc_id,
            name=one.doc_id,
            row=one.row,
            source=one.source,
            line=one.line,
            similarity=one.similarity,
            containment_in_principal=inside,
            containment_of_principal=holding,
            comparison=comparison,
            text_row=one.content,
            place=one.source if one.source == one.doc_id else place_text(one.doc_id, one.source, one.line),
        )
        progress.advance(1)


def _counts(connection: Connection, found: CollectionGroups, exceptions: Sequence[ListedException]) -> dict[str, int]:
    """Count the current documents, and the empty ones among them that are in no group, if there are any."""
    n_documents = int(connection.execute(select(func.count()).where(documents.c.is_current)).scalar_one())
    grouped = set(found.members["doc_id"].to_pylist())
    n_empty = sum(one.has_blank and one.exception.doc_id not in grouped for one in exceptions)
    counts = {"documents": n_documents, "groups": len(found.groups), "pairs_not_compared": found.n_not_compared}
    return {**counts, **({"empty": n_empty} if n_empty else {})}


def _exceptions(
    connection: Connection, found: Sequence[ListedException]
) -> tuple[list[ExceptionRow], ExtractionCounts | None]:
    """Return all exceptions of a collection, and how many documents were extracted, with those that are exceptions."""
    by_extractor = documents_by_extractor(connection)
    listed = [listed_exception(_of_document(one), 0) for one in found]
    if not by_extractor:
        return listed, with_exceptions(None, listed)
    n_beside = sum(one.exception.extractor is not None for one in found if not one.is_current)
    n_of_documents = sum(one.is_extracted for one in listed) - n_beside
    n_by_ocr = sum(n for extractor, n in by_extractor.items() if is_ocr(extractor))
    others = ExtractionCounts(documents=sum(by_extractor.values()) - n_of_documents, by_ocr=n_by_ocr or None)
    return listed, with_exceptions(others, listed)


def _of_document(one: ListedException) -> StoredException:
    """Return the exception of a current document without a text, also if a record with its id failed later."""
    if not one.has_blank or one.is_current:
        return one.exception
    return replace(one.exception, exception="empty", sentence=NO_TEXT)
