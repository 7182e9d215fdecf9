"""`nearkin.families`: contracts in form groups, each member with its relation to the principal of its group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from nearkin.jobs.documents import Documents, check_files_are_read, request_of
from nearkin.jobs.places import Where, directory_for, manifest_in, progress_of, table_in
from nearkin.nouns import counted
from nearkin.options.declared import taking
from nearkin.options.dedup import Delivery
from nearkin.options.families import FamiliesJob
from nearkin.paths import path_of
from nearkin.tabular import Histogram, Tabular, counts_of
from nearkin.workflows.families.files import families_files
from nearkin.workflows.resources import Resources


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FamiliesResult(Tabular):
    """Result of `nearkin.families`.

    Parameters
    ----------
    members
        One row per document of a group, the largest group and in each the principal first: family, role, principal, id,
        similarity, relation, filled_in, the first lines that differ, …
    documents, pairs, groups
        As in the result of `nearkin.dedup`.
    """

    tables: ClassVar[tuple[str, ...]] = ("members", "documents", "pairs", "groups")
    members: pa.Table
    documents: pa.Table
    pairs: pa.Table
    groups: pa.Table
    manifest: Mapping[str, Any]
    out: Path | None

    @classmethod
    def open(cls, directory: Where) -> FamiliesResult:
        """Read the results of `nearkin families`, without their input."""
        place = path_of(directory, "directory")
        return _result(place, manifest_in(place, ("families",)), place)

    def _bars(self) -> Histogram:
        return counts_of(self.members["relation"], "members by relation")

    def __repr__(self) -> str:
        found = self.manifest["families"]
        groups = counted(found["families"], "form group")
        return f"FamiliesResult({groups} of {counted(found['documents'], 'document')}; {found['alone']:,} alone)"


@taking(FamiliesJob)
def families(documents: Documents, job: FamiliesJob) -> FamiliesResult:
    """Group contracts into form groups: signed and unsigned copies, one form with different parties, and versions.

    Parameters
    ----------
    documents : path, table, data frame, data set or list
        As for `nearkin.dedup`.
    threshold, shingle
        As on the command line.
    text, id, out, file_format, encoding, on_error, max_unreadable, max_document_size, text_root, extraction_limits,
    ocr, ignore, ignore_numbers, overlay, report, overwrite, threads, memory, progress
        As for `nearkin.dedup`.

    Raises
    ------
    ParameterError, DocumentError, SourceError, OutputExistsError, OutputError
        As for `nearkin.dedup`.

    Examples
    --------
    >>> import nearkin
    >>> lease = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord."
    >>> found = nearkin.families([("form", lease), ("signed", lease + " Signed by both."), ("menu", "Soup and bread.")])
    >>> found.members.select(["id", "role"]).to_pylist()
    [{'id': 'signed', 'role': 'principal'}, {'id': 'form', 'role': 'member'}]
    """
    progress, resources = progress_of(job.progress), Resources.of(job.threads, job.memory)
    request = request_of(documents, job, columns=(job.text, job.id), progress=progress)
    check_files_are_read(request)
    with directory_for(job.out, "families") as directory:
        manifest = families_files(
            request, directory, job.search(), delivery=job.part(Delivery), resources=resources, progress=progress
        )
        return _result(directory, manifest.as_stored(), None if job.out is None else directory)


def _result(directory: Path, manifest: Mapping[str, Any], out: Path | None) -> FamiliesResult:
    members, documents, pairs, groups = (
        table_in(directory, name) for name in ("families", "documents", "pairs", "groups")
    )
    return FamiliesResult(members=members, documents=documents, pairs=pairs, groups=groups, manifest=manifest, out=out)
