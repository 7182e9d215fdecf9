"""`nearkin.dedup`: exact copies and near-duplicates, of files or of documents in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from nearkin.errors import ParameterError
from nearkin.jobs.documents import (
    Documents,
    check_files_are_read,
    only,
    other_set_of,
    paths_of,
    readable_twice,
    request_of,
)
from nearkin.jobs.places import TablesOfRun, directory_for, progress_of, table_in
from nearkin.options.declared import taking
from nearkin.options.dedup import DedupJob, DedupOptions, Delivery
from nearkin.runs.progress import LabelledProgress
from nearkin.workflows.dedup.files import OTHER_SET, dedup_files
from nearkin.workflows.dedup.manifest import counts_in_words
from nearkin.workflows.resources import Resources


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DedupResult(TablesOfRun):
    """Result of `nearkin.dedup`.

    Parameters
    ----------
    documents
        One row per document: id, name, row, group, is_principal, similarity_to_principal, copy_of, keep, reason, …
    pairs
        Every verified pair at or above the threshold: id_a, id_b, row_a, row_b, jaccard, containment_a_in_b, …
    groups
        One row per group of at least two documents; empty for a run with ``against``.
    against
        One row per document of ``against``: row (numbered after those of ``documents``), result, n_documents (that
        match it), most_similar, most_similar_row (in ``documents``), similarity, …
    kept
        The documents to keep. For documents in files: their rows of ``documents``.
    manifest
        Parameters, counts, the plan, and the resources used by each stage.
    out
        Directory of the results, if one was given.
    """

    commands = ("dedup", "regroup")
    documents: pa.Table
    pairs: pa.Table
    groups: pa.Table
    against: pa.Table | None
    kept: Any

    @classmethod
    def read(cls, directory: Path, manifest: Mapping[str, Any], out: Path | None, **more: Any) -> Self:
        """Read the tables of a run."""
        tables: Mapping[str, Any] = {name: table_in(directory, name) for name in ("documents", "pairs", "groups")}
        documents = tables["documents"]
        return cls(
            **tables, manifest=manifest, out=out,
            against=table_in(directory, "against") if manifest.get("against_counts") is not None else None,
            kept=only(more.get("in_memory", documents), documents["keep"].to_numpy()),
        )  # fmt: skip

    def keep(self, documents: Documents) -> Any:
        """Return the documents to keep, in the type of the given documents.

        Parameters
        ----------
        documents : table, data frame, data set or list
            Those of the run in the same order, for example with more columns.

        Raises
        ------
        ParameterError
            There are more or fewer documents than in the run, or paths were given.
        """
        if paths_of(documents) is not None:
            raise ParameterError.of("documents", "documents in memory", type(documents).__name__)
        return only(readable_twice(documents), self.documents["keep"].to_numpy())

    def __repr__(self) -> str:
        return f"DedupResult({counts_in_words(self.manifest['counts'])})"


@taking(DedupJob)
def dedup(documents: Documents, job: DedupJob) -> DedupResult:
    """Find exact copies and near-duplicates. Every reported pair is verified: it has its exact similarity.

    Parameters
    ----------
    documents : path, table, data frame, data set or list
        A string or `pathlib.Path` names a file, a folder, a glob, a collection or results of a run; a list with a
        `pathlib.Path` in it names several. In memory: a pyarrow Table, a pandas or polars DataFrame, a Hugging Face
        `datasets.Dataset`, other data with the Arrow PyCapsule interface, a `Collection`, or a list of str, of (id,
        text) or of dict. Strings in a list are texts, and are refused if the first 20 are all names of files.
    text, id : str, optional
        Column names; guessed if not given. Documents in memory without ids are named ``table:1``, ``table:2``, …
    against : like ``documents``, optional
        Drop the documents that match one of these; ``documents`` are then not compared with each other.
    out : path, optional
        Directory for the results, as `nearkin dedup` writes them. By default no files remain.
    file_format, encoding, max_document_size, text_root, extraction_limits, ocr
        As on the command line, for documents in files. ``extraction_limits`` is a mapping, such as ``{"time": 300}``.
    carry : sequence of str
        For files only: columns of the input that are copied into ``documents``; the report counts by their values.
    progress : callable or Progress, optional
        Receives messages and the names of stages, for example ``print``.
    ignore : path or list of str, optional
        File of passages that do not count, or a list of them in the syntax of its lines.
    against_text, against_id, preset, threshold, measure, recall, shingle, normalise, ignore_numbers, seed, group, keep,
    keep_apart, attachments, drop, min_shared, on_error, max_unreadable, threads, memory, write_kept, annotate, report,
    overlay, overwrite
        As on the command line.

    Raises
    ------
    ParameterError
        A parameter is invalid, or the documents have no accepted type.
    DocumentError, SourceError
        Too many or all documents are unreadable, or one is and ``on_error`` is "stop"; or a file or column is missing.
    OutputExistsError, OutputError
        ``out`` is not free, or cannot be written.

    Examples
    --------
    >>> import nearkin
    >>> said = ["to be or not to be that is the question", "To be, or not to be: that is the question!"]
    >>> result = nearkin.dedup([*said, "something else"])
    >>> result.kept
    ['To be, or not to be: that is the question!', 'something else']
    >>> result.documents["reason"].to_pylist()
    ['near-duplicate', 'unique', 'too short']
    """
    progress = progress_of(job.progress)
    resources = Resources.of(job.threads, job.memory)
    documents = readable_twice(documents)
    others = None if job.against is None else readable_twice(job.against, "against")
    in_memory = {} if paths_of(documents) is not None else {"in_memory": documents}
    mine = progress if others is None else LabelledProgress("INPUT", progress)
    request, other_request = request_of(documents, job, keep_column=job.keep.column, progress=mine), None
    if others is not None:
        other_request = other_set_of(request, others, job, LabelledProgress(OTHER_SET, progress))
    check_files_are_read(request, other_request)
    with directory_for(job.out, "dedup") as directory:
        manifest = dedup_files(
            request, directory, job.part(DedupOptions), against=other_request, resources=resources, progress=progress,
            delivery=job.part(Delivery),
        )  # fmt: skip
        return DedupResult.read(directory, manifest.as_stored(), None if job.out is None else directory, **in_memory)
