"""Audits of the collection by letters and by wording: measured by a job, and kept in memory until the service ends."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from nearkin.collection.decisions.document_state import StoredState
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.tolerance import Tolerance
from nearkin.reports.quantities import share_percent_text
from nearkin.runs.progress import Progress
from nearkin.workflows.auditing.audited import Audited, AuditOptions
from nearkin.workflows.auditing.collection import audit_opened
from nearkin.workflows.resources import Resources

AUDITED = (Tolerance.of("letters"), Tolerance.of("words"))
"""Searches that are audited, each at its usual tolerance."""


@dataclass(frozen=True, slots=True)
class MadeAudits:
    """Audits as they were measured.

    Parameters
    ----------
    state : StoredState
        State of the documents then.
    made_at : str
        UTC, ISO 8601.
    audits : sequence of Audited
        By letters and by wording.
    """

    state: StoredState
    made_at: str
    audits: Sequence[Audited]

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {"made_at": self.made_at, "audits": [one.to_dict() for one in self.audits]}


class CurrentAudits:
    """The latest audits of a collection.

    Parameters
    ----------
    opened : OpenedCollection
    """

    def __init__(self, opened: OpenedCollection) -> None:
        self._opened, self._lock = opened, threading.Lock()
        self._made: MadeAudits | None = None

    @property
    def made(self) -> MadeAudits | None:
        """The audits; None before there are any."""
        with self._lock:
            return self._made

    def are_outdated(self, made: MadeAudits) -> bool:
        """Whether documents were added, replaced, removed or erased since the audits."""
        with self._opened.store.reading() as connection:
            return StoredState.now(connection) != made.state

    def measure(self, progress: Progress) -> str:
        """Audit by letters and by wording, and report the recall."""
        with self._opened.store.reading() as connection:
            state = StoredState.now(connection)
        threads = Resources().n_threads
        options = [AuditOptions(tolerance=one, threads=threads) for one in AUDITED]
        audits = [audit_opened(self._opened, one, progress) for one in options]
        made = MadeAudits(state, datetime.now(UTC).isoformat(timespec="seconds"), audits)
        with self._lock:
            self._made = made
        return "; ".join(_in_words(name, one) for name, one in zip(("letters", "wording"), audits, strict=True))


def _in_words(name: str, one: Audited) -> str:
    recall = one.estimate.recall
    return f"recall by {name}: {'not known' if recall is None else share_percent_text(recall)}"
