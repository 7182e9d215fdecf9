"""Sentences of ``nearkin threads``: threads, missing mails, and inclusive mails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import agreeing, counted
from nearkin.reports.sentences.cost import speed_text, total_s
from nearkin.reports.sentences.damage import damage_sentences
from nearkin.reports.sentences.dedup import extraction_sentence
from nearkin.reports.sentences.sentence import Sentence

if TYPE_CHECKING:
    from nearkin.manifests.threads import ThreadsManifest


def reason_meanings(*, is_of_new_text: bool) -> dict[str, str]:
    """Return for each reason why a mail is inclusive what it means; ``is_of_new_text``: only its own words count."""
    return {
        "message": f"no later mail of the thread holds all of its {'own words' if is_of_new_text else 'text'}",
        "attachment": f"{'its own words occur' if is_of_new_text else 'the text occurs'} in a later mail, "
        "an attachment does not",
        "not read": "the text is unreadable or incomplete",
    }


def result_rows(told: ThreadsManifest) -> Iterator[tuple[str, str, str, str]]:
    """Rows of the table of results: number of mails, share, result, meaning."""
    found, is_of_new_text = told.counts, bool(told.parameters.get("new_text_only"))
    meanings = reason_meanings(is_of_new_text=is_of_new_text)
    rows = [(n, f"inclusive: {reason}", meanings[reason]) for reason, n in found.by_reason.items()]
    whole = "all its own words are" if is_of_new_text else "all of it is"
    rows.append((found.included, "not inclusive", f"{whole} in a later mail, word for word"))
    rows.append((found.duplicate_spares, "duplicate spare", "same headers, text and attachments as another mail"))
    for n, result, meaning in rows:
        if n or result != "inclusive: not read":
            yield f"{n:,}", f"{n / max(1, found.mails):.1%}", result, meaning


def _of_several(n_of_several: int, n_threads: int) -> str:
    """Count the threads with several mails.

    Examples
    --------
    >>> _of_several(3, 3), _of_several(1, 1), _of_several(2, 3), _of_several(0, 3)
    (', each with several mails', '', ', 2 of them with several mails', ', each with one mail')
    """
    if n_threads <= 1:  # the number of mails says it
        return ""
    if n_of_several in (0, n_threads):
        return f", each with {'several mails' if n_of_several else 'one mail'}"
    return f", {n_of_several:,} of them with several mails"


def _other_exceptions(told: ThreadsManifest) -> str:
    """Say what the exceptions without text are that are not among the unread documents."""
    without_text = 0 if told.extraction is None else told.extraction.unread + told.extraction.others
    if (n := without_text - told.counts.unreadable) <= 0:
        return ""
    what = "is empty" if n == 1 else "are empty"
    if any(one.end_row is not None for one in told.inputs):  # only a collection refuses to store documents
        what += ", or was not stored" if n == 1 else ", or were not stored"
    others = "the other one" if n == 1 else f"the other {n:,}"
    return f"; {others} without text in exceptions.csv {what}"


def threads_sentences(told: ThreadsManifest, *, has_compiled: bool = False) -> Iterator[Sentence]:
    """Count threads and missing mails, and add remarks about the input."""
    found = told.counts
    yield Sentence(
        _of_several(found.threads_of_several, found.threads),
        strong=f"{counted(found.mails, 'mail')}: {counted(found.threads, 'thread')}",
    )
    if found.missing:
        yield Sentence(
            f"{counted(found.missing, 'mail')} {agreeing(found.missing, 'is', 'are')} missing: others refer to "
            f"{agreeing(found.missing, 'it', 'them')}"
        )
    if n := found.quoting_more:
        yield Sentence(
            "Not inclusive, although quoting text that is in no inclusive mail of the thread: "
            f"{counted(n, 'mail')} (quotes_more in threads.parquet)",
            "warning",
        )
    if by_subject := found.by_link.get("subject", 0):
        yield Sentence(f"Joined by subject, date and addresses, not by headers: {by_subject:,}")
    yield from damage_sentences(told.damaged_files or (), "The results have")
    if told.extraction is not None:
        yield extraction_sentence(told.extraction)
    if found.others:
        are = agreeing(found.others, "is neither a mail nor inside one", "are neither mails nor inside one")
        yield Sentence(f"Skipped {counted(found.others, 'document')} that {are}", "warning")
    if found.others and found.unreadable:
        unread = f"Of all {counted(found.documents, 'document')}, {found.unreadable:,} could not be read"
        yield Sentence(f"{unread}{_other_exceptions(told)}", "warning")
    yield Sentence(speed_text(total_s(told.stages), found.documents, has_compiled=has_compiled))
