"""Counts of the rows of a run, for its manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from nearkin.manifests.threads import ThreadCounts
from nearkin.stages.documents.mail.inclusive import REASONS
from nearkin.stages.documents.mail.links import LINK_SOURCES
from nearkin.workflows.threads.judging import ThreadRow
from nearkin.workflows.threads.mails import ReadMails


@dataclass(slots=True)
class ThreadTally:
    """Counts of rows, thread by thread."""

    n_threads: int = 0
    n_of_several: int = 0
    n_missing: int = 0
    n_spares: int = 0
    n_included: int = 0
    n_quoting_more: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)

    def take(self, thread: Sequence[ThreadRow]) -> None:
        """Count the rows of a thread."""
        self.n_threads += 1
        self.n_of_several += thread[0].thread_size > 1
        for row in thread:
            if row.linked_by is not None and not row.is_duplicate_spare:
                self.links[row.linked_by] += 1
            if row.is_missing:
                self.n_missing += 1
            elif row.is_duplicate_spare:
                self.n_spares += 1
            elif row.reason is not None:
                self.reasons[row.reason] += 1
            else:
                self.n_included += 1
                self.n_quoting_more += bool(row.quotes_more)

    def counts(self, read: ReadMails, *, is_of_new_text: bool) -> ThreadCounts:
        """Return the counts for the manifest."""
        n_mails, n_documents = len(read.mails), read.documents.num_rows
        return ThreadCounts(
            documents=n_documents,
            mails=n_mails,
            inside_mails=read.n_inside,
            others=n_documents - n_mails - read.n_inside,
            unreadable=read.n_unreadable,
            threads=self.n_threads,
            threads_of_several=self.n_of_several,
            missing=self.n_missing,
            inclusive=self.reasons.total(),
            duplicate_spares=self.n_spares,
            included=self.n_included,
            quoting_more=self.n_quoting_more if is_of_new_text else None,
            by_reason={reason: self.reasons[reason] for reason in REASONS},
            by_link={source: self.links[source] for source in LINK_SOURCES},
            without_message_id=sum(mail.headers.message_id is None for mail in read.mails),
            without_date=sum(mail.headers.sent_at is None for mail in read.mails),
        )
