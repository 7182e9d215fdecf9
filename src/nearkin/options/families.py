"""Options of form groups and of threads of mails."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from nearkin.options.declared import Option, Options, Same, option
from nearkin.options.dedup import DedupOptions, IgnoringOptions, shingling
from nearkin.options.reading import FileOptions, ReadingOptions
from nearkin.options.running import OVERLAY, ResourceOptions, RunOptions

if TYPE_CHECKING:
    from nearkin.stages.features.shingles import Shingling

_searched = partial(option, panel="What is a near-duplicate")


class FamiliesJob(ResourceOptions, IgnoringOptions, ReadingOptions, RunOptions):
    """Options of ``nearkin families``."""

    threshold: Same[float | None] = _searched(
        kind=float, above=0, maximum=1,
        help="Minimum similarity to the principal, above 0 and up to 1; for a collection, the threshold of its "
        "groups. [default: 0.6; for a collection 0.5]",
    )  # fmt: skip
    shingle: Option[Shingling | None, Shingling | str] = _searched(
        parse=shingling,
        help="words:N, chars:N or code:N. If given, the stored groups and decisions of a collection are not used. "
        "[default: words:3]",
    )  # fmt: skip
    overlay: Same[str | None] = OVERLAY

    def search(self) -> DedupOptions:
        """Return the options of the search."""
        return self.part(DedupOptions, preset="contracts")


class MailOptions(Options):
    """Options that decide, together with the mails, which threads are found and which mails are inclusive."""

    window_days: Same[float] = option(
        14.0, minimum=0, maximum=3650, metavar="DAYS", panel="Threads",
        help="Maximum number of days between an answer and the mail to which it is joined by subject, if its headers "
        "name no mail in the input; the two must share an address. 0 turns this off.",
    )  # fmt: skip
    new_text_only: Same[bool] = option(
        False, panel="Threads",
        help="Compare only the new text of a mail with later ones, without quoted text and signature. These are found "
        "by plain rules, which can be wrong. Some quoted text may then be in none of the inclusive mails.",
    )  # fmt: skip

    def in_words(self) -> dict[str, object]:
        """Return the options for the manifest."""
        return {"window_days": self.window_days, "new_text_only": self.new_text_only}


class ThreadsJob(MailOptions, FileOptions, RunOptions):
    """Options of ``nearkin threads``."""
