"""Families of near-duplicates in files: from arguments on a command line to a directory of results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from nearkin.manifests.dedup import DedupManifest, FamilyCounts
from nearkin.runs.progress import Progress
from nearkin.stages.differences.particulars import Original
from nearkin.stages.differences.relating import COPY, N_SHOWN, MemberComparison, compare
from nearkin.stages.features.shingles import Shingling
from nearkin.workflows.dedup.corpus import READABLE
from nearkin.workflows.dedup.files import Delivery, RunResult, Written, check_overlay, dedup_files, overlay
from nearkin.workflows.dedup.inputs import Sourced
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.outcome import NO_ROW
from nearkin.workflows.families.members import Members
from nearkin.workflows.families.reporting import PageKin, write_page
from nearkin.workflows.families.rereading import Originals, read_originals
from nearkin.workflows.families.tables import Kin, write_families
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources

PRESET = "contracts"


class FamiliesEnding:
    """Tables and page of ``nearkin families``."""

    command = "families"
    twice = "nearkin families"

    def __init__(self, delivery: Delivery) -> None:
        self._page = PageKin()
        self._delivery = delivery

    def check(self, sourced: Sourced) -> None:
        """Refuse load files of which no overlay can be made; all other input is accepted."""
        check_overlay(sourced, self._delivery)

    def write(self, found: RunResult) -> Written:
        """Write ``families.csv`` and ``families.parquet``, and the overlays."""
        overlay(found, self._delivery)
        members = Members.of(found.result)
        originals = read_originals(found, members.to_read())
        kin = self._page.passing(_all_kin(found, members, originals))
        write_families(found.directory.path, kin, found.result.places.own_ids.type)
        n_alone = int((found.result.corpus.status == READABLE).sum()) - len(members.rows)
        relations = self._page.all_relations()
        return Written(families=FamilyCounts(len(members.principals), len(members.rows), n_alone, relations))

    def report(self, found: RunResult, manifest: DedupManifest, written: Written) -> str | None:
        """Write ``report.html``."""
        with found.meter.stage("report", 0, "steps") as progress:
            path = found.directory.path / "report.html"
            return write_page(path, manifest, self._page, progress, found.result.places)


def families_files(
    asked: ReadingRequest,
    out: Path,
    *,
    threshold: float | None,
    shingle: Shingling | str | None,
    ignore: str | Path | Sequence[str] | None = None,
    ignore_numbers: bool = False,
    delivery: Delivery,
    resources: Resources,
    progress: Progress | None = None,
) -> DedupManifest:
    """Group files into families, in a directory; defaults are those of the preset "contracts".

    Returns
    -------
    DedupManifest

    Raises
    ------
    InputError, RunError, ParameterError
        See `nearkin.errors`.
    """
    options = DedupOptions.of(
        preset=PRESET, threshold=threshold, shingle=shingle, ignore=ignore, ignore_numbers=ignore_numbers
    )
    return dedup_files(
        asked, out, options, delivery=delivery, ending=FamiliesEnding(delivery), resources=resources, progress=progress,
        preset=PRESET,
    )  # fmt: skip


def _all_kin(found: RunResult, members: Members, originals: Originals) -> Iterator[Kin]:
    """Yield every document of every family, the largest family first, its principal first."""
    with found.meter.stage("compare", len(members.rows), "documents") as progress:
        for number in range(len(members.principals)):
            yield from _family(found, members, originals, number, progress)


def _family(found: RunResult, members: Members, originals: Originals, number: int, progress: Progress) -> Iterator[Kin]:
    places, outcome = found.result.places, found.result.judged.outcome
    principal = int(members.principals[number])
    rows = members.rows_of(number)
    ids, names = places.id_at(rows).to_pylist(), places.names_at(rows)
    inside, holding = members.containments(rows, principal)
    compared: dict[str, MemberComparison] = {}
    text: Original | None = None
    for i, row in enumerate(rows.tolist()):
        comparison = None if row == principal else COPY
        if row != principal and outcome.copy_of[row] != principal:
            text = text or Original(originals.text(principal))
            other = originals.text(row)
            if other not in compared:
                compared[other] = compare(
                    text,
                    Original(other),
                    containment_in_principal=float(inside[i]),
                    containment_of_principal=float(holding[i]),
                    n_shown=N_SHOWN,
                )
            comparison = compared[other]
        yield Kin(
            family=number + 1,
            family_size=len(rows),
            principal=ids[0],
            doc_id=ids[i],
            name=names[i],
            row=row,
            source=places.source_names[int(places.source[row])],
            line=int(places.line[row]),
            similarity=float(outcome.similarity[row]),
            containment_in_principal=float(inside[i]),
            containment_of_principal=float(holding[i]),
            comparison=comparison,
            text_row=row if outcome.copy_of[row] == NO_ROW else int(outcome.copy_of[row]),
            place=places.shown_place(row),
        )
        progress.advance(1)
