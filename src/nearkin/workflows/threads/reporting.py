"""Threads → report page."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nearkin.manifests.threads import ThreadsManifest
from nearkin.reports import pages
from nearkin.reports.threads import MailLineRow, ThreadCard, render_threads_report
from nearkin.runs.progress import Progress
from nearkin.workflows.dedup.reporting import first_exceptions
from nearkin.workflows.reading.exceptions import ExceptionRow
from nearkin.workflows.threads.judging import ThreadRow

N_THREADS = 200
N_ROWS = 100


@dataclass(slots=True)
class PageThreads:
    """The largest threads, for the page."""

    _held: list[tuple[int, int, ThreadCard]] = field(default_factory=list)

    def take(self, thread: list[ThreadRow]) -> None:
        """Add the next thread, in the order of the table."""
        size, number = thread[0].thread_size, thread[0].thread
        if len(self._held) == N_THREADS and (size, -number) < self._held[0][:2]:
            return
        entry = (size, -number, card_of(thread, N_ROWS))
        if len(self._held) < N_THREADS:
            heapq.heappush(self._held, entry)
        else:
            heapq.heappushpop(self._held, entry)

    @property
    def cards(self) -> list[ThreadCard]:
        """The threads, the largest first, the earliest first among equals."""
        return [card for _, _, card in sorted(self._held, key=lambda held: held[:2], reverse=True)]


def write_page(
    path: Path, manifest: ThreadsManifest, page: PageThreads, progress: Progress, exceptions: Sequence[ExceptionRow]
) -> str | None:
    """Write ``report.html``; see `nearkin.reports.pages.write_page`."""

    def render() -> str:
        return render_threads_report(manifest, page.cards, first_exceptions(exceptions))

    instead = "Run the command again with --overwrite to create the report."
    return pages.write_page(path, render, progress, instead=instead)


def card_of(thread: list[ThreadRow], max_rows: int) -> ThreadCard:
    """Describe a thread, with its first rows."""
    subject = next((row.subject for row in thread if row.subject), "")
    return ThreadCard(
        number=thread[0].thread,
        size=thread[0].thread_size,
        subject=subject,
        n_missing=sum(row.is_missing for row in thread),
        n_inclusive=sum(bool(row.is_inclusive) for row in thread),
        n_rows=len(thread),
        rows=tuple(_lines(thread[:max_rows])),
    )


def _lines(rows: Sequence[ThreadRow]) -> Iterator[MailLineRow]:
    """Yield the lines of a thread; a duplicate spare comes after the mail that it duplicates."""
    original = None
    for row in rows:
        if not row.is_duplicate_spare:
            original = row.name
        yield _line(row, original if row.is_duplicate_spare else None)


def _line(row: ThreadRow, spare_of: str | None) -> MailLineRow:
    return MailLineRow(
        position=row.position,
        depth=row.depth,
        name=row.name,
        message_id=row.message_id,
        subject=row.subject,
        sender=row.sender,
        sent_at=None if row.sent_at is None else row.sent_at.strftime("%Y-%m-%d %H:%M"),
        n_attachments=row.n_attachments or 0,
        linked_by=row.linked_by,
        reason=row.reason,
        is_duplicate_spare=bool(row.is_duplicate_spare),
        spare_of=spare_of,
        included_in=row.included_in,
        quotes_more=bool(row.quotes_more),
    )
