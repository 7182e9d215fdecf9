"""Page of threads: trees of mails with missing mails; inclusive mails are marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nearkin.manifests.threads import ThreadsManifest
from nearkin.reports.facts.fact import Table
from nearkin.reports.facts.jobs import reason_meanings, results_table, threads_facts
from nearkin.reports.pages import render_page

_OPEN_THREADS = 3
_DEEPEST = 12
"""Depth from which on lines are not indented any further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailLineRow:
    """Mail or missing mail, as a row of ``threads.parquet`` describes it."""

    position: int
    depth: int
    name: str | None
    message_id: str | None
    subject: str | None
    sender: str | None
    sent_at: str | None
    n_attachments: int
    linked_by: str | None
    reason: str | None
    is_duplicate_spare: bool
    spare_of: str | None
    included_in: str | None
    quotes_more: bool
    is_other_subject: bool
    bcc: str | None

    @property
    def indent(self) -> int:
        """Steps by which the line is indented."""
        return min(self.depth, _DEEPEST)

    @property
    def is_missing(self) -> bool:
        """Whether the mail is missing."""
        return self.name is None

    @property
    def reason_in_words(self) -> str:
        """The reason for which the mail is inclusive."""
        return reason_meanings(is_of_new_text=False)[self.reason] if self.reason else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadCard:
    """Thread; ``rows`` has the first of its ``n_rows`` lines."""

    number: int
    size: int
    subject: str
    n_missing: int
    n_inclusive: int
    n_rows: int
    rows: tuple[MailLineRow, ...]


def render_threads_report(
    manifest: ThreadsManifest, cards: Sequence[ThreadCard], exceptions: Table | None = None
) -> str:
    """Render ``report.html`` of a finished run; equal arguments give equal bytes."""
    is_of_new_text = bool(manifest.parameters.get("new_text_only"))
    return render_page(
        "threads.html.j2",
        script="threads.js",
        facts=manifest,
        totals=manifest.counts,
        is_of_new_text=is_of_new_text,
        reasons_in_words=reason_meanings(is_of_new_text=is_of_new_text),
        summary=tuple(threads_facts(manifest)),
        results=results_table(manifest),
        cards=cards,
        exceptions=exceptions,
        n_open=_OPEN_THREADS,
    )
