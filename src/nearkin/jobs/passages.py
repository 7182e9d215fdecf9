"""`nearkin.passages`: runs of words that stand in several places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from nearkin.jobs.documents import Documents, check_files_are_read, inputs_of, request_of
from nearkin.jobs.places import Where, directory_for, manifest_in, progress_of, table_in
from nearkin.nouns import counted
from nearkin.options.declared import taking
from nearkin.options.passages import PassageDelivery, PassageOptions, PassagesJob
from nearkin.paths import path_of
from nearkin.tabular import Histogram, Tabular, histogram
from nearkin.workflows.passages.job import COMMAND, passages_files
from nearkin.workflows.reading.request import columns_named
from nearkin.workflows.resources import Resources


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PassagesResult(Tabular):
    """Result of `nearkin.passages`.

    Parameters
    ----------
    passages
        One row per occurrence: passage, id, row, start and end in characters, start_byte and end_byte in UTF-8, words,
        occurrences, documents, is_first, is_own_repetition.
    documents
        One row per document: n_passages, repeated_share, copied_share, own_share, …
    """

    tables: ClassVar[tuple[str, ...]] = ("passages", "documents")
    passages: pa.Table
    documents: pa.Table
    manifest: Mapping[str, Any]
    out: Path | None

    @classmethod
    def open(cls, directory: Where) -> PassagesResult:
        """Read the results of `nearkin passages`, without their input."""
        place = path_of(directory, "directory")
        return _result(place, manifest_in(place, (COMMAND,)), place)

    def _bars(self) -> Histogram:
        return histogram(self.documents["repeated_share"], "documents by their share of repeated characters")

    def __repr__(self) -> str:
        found = self.manifest["counts"]
        passages, documents = counted(found["passages"], "passage"), counted(found["documents"], "document")
        return f"PassagesResult({passages} in {found['with_passages']:,} of {documents})"


@taking(PassagesJob)
def passages(documents: Documents, job: PassagesJob) -> PassagesResult:
    """Find runs of words that stand in several places, within documents or in several.

    Parameters
    ----------
    documents : path, table, data frame, data set or list
        As for `nearkin.dedup`.
    against : path, table, data frame, data set or list, optional
        Another set of documents, which count as earlier: only passages that stand in both sets are found.
    min_words, within, boilerplate, cut, cut_own, drop_over, annotate
        As on the command line; all but ``min_words`` with ``out``.
    text, id, against_text, against_id, out, file_format, encoding, on_error, max_unreadable, max_document_size,
    text_root, extraction_limits, ocr, threads, memory, report, overwrite, progress
        As for `nearkin.dedup`.

    Examples
    --------
    >>> import nearkin
    >>> footer = "All rights reserved by the editors of this paper."
    >>> found = nearkin.passages([("a", f"Rain today. {footer}"), ("b", f"{footer} Sun tomorrow.")], min_words=5)
    >>> found.passages.select(["id", "start", "end", "words"]).to_pylist()
    [{'id': 'a', 'start': 12, 'end': 60, 'words': 9}, {'id': 'b', 'start': 0, 'end': 48, 'words': 9}]
    """
    progress, resources = progress_of(job.progress), Resources.of(job.threads, job.memory)
    request = request_of(documents, job, columns=(job.text, job.id), progress=progress)
    others = None
    if job.against is not None:
        others = request.of_other_set((), job.against_text, job.against_id)
        with columns_named(others.named):
            others = replace(
                others,
                inputs=inputs_of(job.against, name="against", text=others.text, id=others.doc_id, progress=progress),
            )
    check_files_are_read(request, others)
    with directory_for(job.out, COMMAND) as directory:
        manifest = passages_files(
            request, directory, job.part(PassageOptions), against=others, delivery=job.part(PassageDelivery),
            resources=resources, progress=progress,
        )  # fmt: skip
        return _result(directory, manifest.as_stored(), None if job.out is None else directory)


def _result(directory: Path, manifest: Mapping[str, Any], out: Path | None) -> PassagesResult:
    passages, documents = (table_in(directory, name) for name in ("passages", "documents"))
    return PassagesResult(passages=passages, documents=documents, manifest=manifest, out=out)
