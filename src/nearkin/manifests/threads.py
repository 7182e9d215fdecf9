"""Manifest of ``nearkin threads``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nearkin.manifests.dedup import ExtractionCounts
from nearkin.manifests.stored import DamagedFile, HowRead, InputFile, Manifest, Stored
from nearkin.stages.documents.source import NotRead


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadCounts(Stored):
    """Numbers of documents, threads and mails by result.

    Parameters
    ----------
    mails, inside_mails, others
        Mails that are not attached to others; documents inside of these mails; the rest of the documents.
    inclusive, duplicate_spares, included
        Mails by result; the three together are all mails.
    quoting_more
        With ``new_text_only``: mails that are not inclusive and quote text that is in no inclusive mail of their
        thread.
    by_link
        Mails and missing mails that answer another one, by how that is known.
    """

    documents: int = 0
    mails: int = 0
    inside_mails: int = 0
    others: int = 0
    unreadable: int = 0
    threads: int = 0
    threads_of_several: int = 0
    missing: int = 0
    inclusive: int = 0
    duplicate_spares: int = 0
    included: int = 0
    quoting_more: int | None = None
    by_reason: Mapping[str, int] = field(default_factory=dict)
    by_link: Mapping[str, int] = field(default_factory=dict)
    other_subject: int = 0
    without_message_id: int = 0
    without_date: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadsManifest(Manifest):
    """``manifest.json`` of a run of threads."""

    command: str = "threads"
    inputs: tuple[InputFile, ...] = ()
    encoding: str | None = None
    reading: HowRead | None = None
    counts: ThreadCounts = field(default_factory=ThreadCounts)
    extraction: ExtractionCounts | None = None
    damaged_files: tuple[DamagedFile, ...] | None = None
    not_read: tuple[NotRead, ...] | None = None
