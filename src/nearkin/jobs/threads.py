"""`nearkin.threads`: mails in threads, the missing mails, and the inclusive mails."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from nearkin.jobs.documents import Documents, check_files_are_read, request_of
from nearkin.jobs.places import Where, directory_for, manifest_in, progress_of, table_in
from nearkin.nouns import counted
from nearkin.options.declared import taking
from nearkin.options.families import MailOptions, ThreadsJob
from nearkin.paths import path_of
from nearkin.tabular import Histogram, Tabular, counts_of
from nearkin.workflows.threads.job import COMMAND, thread_files


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ThreadsResult(Tabular):
    """Result of `nearkin.threads`.

    Parameters
    ----------
    mails
        One row per mail and per missing mail, sorted by thread and by position in its tree: thread, position, depth,
        id, parent_mail, subject, sent_at, is_inclusive, reason, included_in, …
    """

    tables: ClassVar[tuple[str, ...]] = ("mails",)
    mails: pa.Table
    manifest: Mapping[str, Any]
    out: Path | None

    @classmethod
    def open(cls, directory: Where) -> ThreadsResult:
        """Read the results of `nearkin threads`, without their input."""
        place = path_of(directory, "directory")
        return cls(mails=table_in(place, COMMAND), manifest=manifest_in(place, (COMMAND,)), out=place)

    def _bars(self) -> Histogram:
        return counts_of(self.mails["reason"], "inclusive mails by reason")

    def __repr__(self) -> str:
        found = self.manifest["counts"]
        threads, mails = counted(found["threads"], "thread"), counted(found["mails"], "mail")
        return f"ThreadsResult({threads} of {mails}; {found['inclusive']:,} inclusive, {found['missing']:,} missing)"


@taking(ThreadsJob)
def threads(mails: Where | Iterable[Where], job: ThreadsJob) -> ThreadsResult:
    r"""Group mails into threads, and mark the inclusive mails, which have text or an attachment that no later mail has.

    Parameters
    ----------
    mails
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
    request = request_of(_files(mails), job, columns=(None, None), progress=progress)
    check_files_are_read(request)
    with directory_for(job.out, COMMAND) as directory:
        manifest = thread_files(
            request, directory, job.part(MailOptions), overwrite=job.overwrite, report=job.report, progress=progress
        )
        place = None if job.out is None else directory
        return ThreadsResult(mails=table_in(directory, COMMAND), manifest=manifest.as_stored(), out=place)


def _files(mails: Where | Iterable[Where]) -> Documents:
    if (
        not isinstance(mails, Iterable)
        or isinstance(mails, str | bytes | Mapping)
        or hasattr(mails, "__arrow_c_stream__")
    ):
        return mails
    return [Path(one) if isinstance(one, str) else one for one in mails]
