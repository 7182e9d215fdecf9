"""Options of form groups, threads of mails, and passages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from nearkin.options.declared import Option, Options, Same, option
from nearkin.options.dedup import AgainstOptions, DedupOptions, IgnoringOptions, shingling
from nearkin.options.reading import FileOptions, ReadingOptions
from nearkin.options.running import OVERLAY, RESUME, ResourceOptions, ResultOptions, RunOptions

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
        help="Maximum number of days between an answer and the mail to which it is joined by subject; 0 turns this "
        "off.",
    )  # fmt: skip
    new_text_only: Same[bool] = option(
        False, panel="Threads",
        help="Compare only the new text of a mail with later ones, without quoted text and signature, which are found "
        "by plain rules.",
    )  # fmt: skip

    def in_words(self) -> dict[str, object]:
        """Return the options for the manifest."""
        return {"window_days": self.window_days, "new_text_only": self.new_text_only}


class ThreadsJob(MailOptions, FileOptions, RunOptions):
    """Options of ``nearkin threads``."""


_found = partial(option, panel="Passages")
_output = partial(option, panel="Output", needs="out")


class PassageOptions(Options):
    """Options that decide, together with the documents, which passages are found, and what is done with them."""

    min_words: Same[int] = _found(
        50, minimum=2, maximum=10_000,
        help="Minimum number of words of a passage; 20 suits contracts and mail.",
    )  # fmt: skip
    min_lines: Same[int | None] = _found(
        kind=int, minimum=2, maximum=10_000,
        help="Compare lines instead of words, such as 8 lines of code: minimum number of lines of a passage.",
    )  # fmt: skip
    within: Same[str | None] = _found(
        metavar="COLUMN",
        help="Column of the input with a group, such as site or meta.sender, for --boilerplate. [default: all "
        "documents are one group]",
    )  # fmt: skip
    boilerplate: Same[float] = _found(
        0.3, minimum=0, maximum=1, metavar="SHARE",
        help="Propose passages that stand in more than this share of the documents of a group in boilerplate.txt, for "
        "dedup --ignore.",
    )  # fmt: skip
    cut: Same[bool] = _output(
        False, help="Also write the documents without passages that stand in an earlier document, into cut/."
    )
    drop_over: Same[float | None] = _output(
        kind=float, minimum=0, maximum=1, metavar="SHARE",
        help="Also write the documents of which at most this share of the characters stands in earlier documents, "
        "into kept/.",
    )  # fmt: skip
    annotate: Same[bool] = _output(False, help="Also write all records with their passages, into annotated/.")
    store: Same[bool] = option(
        False, panel="Output",
        help="Store the passages in the COLLECTION that is the input; they replace those stored before.",
    )  # fmt: skip

    def in_words(self) -> dict[str, object]:
        """Return the options for the manifest."""
        values = {name: value for name, value in self.given().items() if value is not None and value is not False}
        return {name: value for name, value in values.items() if name != "min_words" or self.min_lines is None}

    @property
    def length(self) -> int:
        """Minimum number of words, or of lines, of a passage."""
        return self.min_words if self.min_lines is None else self.min_lines


class PassageDelivery(ResultOptions):
    """What to do with existing results."""

    resume: Same[bool] = RESUME


class PassagesJob(ResourceOptions, PassageOptions, AgainstOptions, ReadingOptions, RunOptions):
    """Options of ``nearkin passages``."""

    against: Option[Any, Any] = option(
        panel="Input", kind=list,
        help="Find only passages that stand both in INPUT and here: files, a collection, or results of nearkin dedup. "
        "They count as earlier than INPUT. Repeatable.",
    )  # fmt: skip
