"""`nearkin.families`, `nearkin.threads` and `nearkin.passages`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa

from nearkin.jobs.documents import Documents, check_files_are_read, other_set_of, request_of
from nearkin.jobs.places import TablesOfRun, Where, directory_for, progress_of
from nearkin.nouns import counted
from nearkin.options.declared import taking
from nearkin.options.dedup import Delivery
from nearkin.options.families import FamiliesJob, MailOptions, PassageDelivery, PassageOptions, PassagesJob, ThreadsJob
from nearkin.workflows.dedup.files import dedup_files
from nearkin.workflows.families.files import FamiliesEnding
from nearkin.workflows.passages.job import COMMAND as PASSAGES
from nearkin.workflows.passages.job import passages_files
from nearkin.workflows.resources import Resources
from nearkin.workflows.threads.job import COMMAND as THREADS
from nearkin.workflows.threads.job import thread_files


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FamiliesResult(TablesOfRun):
    """Result of `nearkin.families`.

    Parameters
    ----------
    members
        One row per document of a group, the largest group and in each the principal first: family, role, principal, id,
        similarity, relation, filled_in, the first lines that differ, …
    documents, pairs, groups
        As in the result of `nearkin.dedup`.
    """

    commands = ("families",)
    files = MappingProxyType({"members": "families"})
    members: pa.Table
    documents: pa.Table
    pairs: pa.Table
    groups: pa.Table

    def __repr__(self) -> str:
        counts = self.manifest["families"]
        groups = counted(counts["families"], "form group")
        return f"FamiliesResult({groups} of {counted(counts['documents'], 'document')}; {counts['alone']:,} alone)"


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
    request = request_of(documents, job, progress=progress)
    check_files_are_read(request)
    with directory_for(job.out, "families") as directory:
        manifest = dedup_files(
            request, directory, job.search(), delivery=job.part(Delivery), ending=FamiliesEnding(),
            resources=resources, progress=progress,
        )  # fmt: skip
        return FamiliesResult.read(directory, manifest.as_stored(), None if job.out is None else directory)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ThreadsResult(TablesOfRun):
    """Result of `nearkin.threads`.

    Parameters
    ----------
    mails
        One row per mail and per missing mail, sorted by thread and by position in its tree: thread, position, depth,
        id, parent_mail, subject, sent_at, is_inclusive, reason, included_in, …
    """

    commands = (THREADS,)
    files = MappingProxyType({"mails": THREADS})
    mails: pa.Table

    def __repr__(self) -> str:
        counts = self.manifest["counts"]
        threads, mails = counted(counts["threads"], "thread"), counted(counts["mails"], "mail")
        return f"ThreadsResult({threads} of {mails}; {counts['inclusive']:,} inclusive, {counts['missing']:,} missing)"


@taking(ThreadsJob)
def threads(mails: Where | Iterable[Where], job: ThreadsJob) -> ThreadsResult:
    r"""Group mails into threads, and mark the inclusive mails, which have text or an attachment that no later mail has.

    Parameters
    ----------
    mails : path or list of paths
        Files, folders and archives with mails. Strings in a list are paths: a text in memory has no headers.
    window_days, new_text_only
        As on the command line.
    out, file_format, encoding, on_error, max_unreadable, max_document_size, text_root, extraction_limits, ocr, report,
    overwrite, progress
        As for `nearkin.dedup`.

    Raises
    ------
    ParameterError, DocumentError, SourceError, OutputExistsError, OutputError
        As for `nearkin.dedup`; or there is no mail.

    Examples
    --------
    >>> import nearkin, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> head = "From: ada@example.org\nDate: 5 Jan 2004 {}:00 +0000\n"
    >>> _ = (folder / "a.eml").write_text(head.format(10) + "Message-ID: <a@x>\n\nIs it sold?")
    >>> _ = (folder / "b.eml").write_text(head.format(11) + "In-Reply-To: <a@x>\n\nNo.\n> Is it sold?")
    >>> found = nearkin.threads(folder)
    >>> found, found.mails["reason"].to_pylist()
    (ThreadsResult(1 thread of 2 mails; 1 inclusive, 0 missing), [None, 'message'])
    """
    progress = progress_of(job.progress)
    request = request_of(_files(mails), job, progress=progress)
    check_files_are_read(request)
    with directory_for(job.out, THREADS) as directory:
        manifest = thread_files(
            request, directory, job.part(MailOptions), overwrite=job.overwrite, report=job.report, progress=progress
        )
        return ThreadsResult.read(directory, manifest.as_stored(), None if job.out is None else directory)


def _files(mails: Where | Iterable[Where]) -> Documents:
    if (
        not isinstance(mails, Iterable)
        or isinstance(mails, str | bytes | Mapping)
        or hasattr(mails, "__arrow_c_stream__")
    ):
        return mails
    return [Path(mail) if isinstance(mail, str) else mail for mail in mails]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PassagesResult(TablesOfRun):
    """Result of `nearkin.passages`.

    Parameters
    ----------
    passages
        One row per occurrence: passage, id, row, start and end in characters, start_byte and end_byte in UTF-8, words,
        occurrences, documents, is_first, is_own_repetition.
    documents
        One row per document: n_passages, repeated_share, copied_share, own_share, …
    """

    commands = (PASSAGES,)
    passages: pa.Table
    documents: pa.Table

    def __repr__(self) -> str:
        counts = self.manifest["counts"]
        passages, documents = counted(counts["passages"], "passage"), counted(counts["documents"], "document")
        return f"PassagesResult({passages} in {counts['with_passages']:,} of {documents})"


@taking(PassagesJob)
def passages(documents: Documents, job: PassagesJob) -> PassagesResult:
    """Find runs of words that stand in several places, within documents or in several.

    Parameters
    ----------
    documents : path, table, data frame, data set or list
        As for `nearkin.dedup`.
    against : path, table, data frame, data set or list, optional
        Another set of documents, which count as earlier: only passages that stand in both sets are found. With ``out``,
        ``contamination.parquet`` has scores.
    min_words, min_lines, within, boilerplate, cut, drop_over, annotate
        As on the command line; all but the first two with ``out``.
    store : bool
        Store the passages in the collection that ``documents`` names, for `Collection.passages`.
    text, id, against_text, against_id, out, file_format, encoding, on_error, max_unreadable, max_document_size,
    text_root, extraction_limits, ocr, threads, memory, report, overwrite, progress
        As for `nearkin.dedup`.

    Raises
    ------
    ParameterError, DocumentError, SourceError, OutputExistsError, OutputError
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
    request = request_of(documents, job, progress=progress)
    others = None if job.against is None else other_set_of(request, job.against, job, progress)
    check_files_are_read(request, others)
    with directory_for(job.out, PASSAGES) as directory:
        manifest = passages_files(
            request, directory, job.part(PassageOptions), against=others, delivery=job.part(PassageDelivery),
            resources=resources, progress=progress,
        )  # fmt: skip
        return PassagesResult.read(directory, manifest.as_stored(), None if job.out is None else directory)
