"""Options of threading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from nearkin.errors import ParameterError
from nearkin.stages.documents.mail.threads import DEFAULT_WINDOW

MAX_DAYS = 3650


@dataclass(frozen=True, slots=True)
class ThreadOptions:
    """Options that decide, together with the mails, which threads are found and which mails are inclusive.

    Parameters
    ----------
    window_days : float
        Maximum number of days between an answer that names no other mail and a mail with the same subject to which it
        is joined; 0 turns this off.
    new_text_only : bool
        Whether only the new text of a mail, without quoted text and signature lines, must occur in a later mail.
    """

    window_days: float = DEFAULT_WINDOW.days
    new_text_only: bool = False

    def __post_init__(self) -> None:
        days = self.window_days
        if not isinstance(days, int | float) or isinstance(days, bool) or not 0 <= days <= MAX_DAYS:
            raise ParameterError.of("window_days", f"a number from 0 to {MAX_DAYS:,}", days)
        if not isinstance(self.new_text_only, bool):
            raise ParameterError.of("new_text_only", "True or False", self.new_text_only)

    @property
    def window(self) -> timedelta:
        """The days as a span of time."""
        return timedelta(days=self.window_days)

    def in_words(self) -> Mapping[str, object]:
        """Return the options for the manifest."""
        return {"window_days": self.window_days, "new_text_only": self.new_text_only}
