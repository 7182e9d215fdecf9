"""Sentences about files of a collection from which no text, or only a part of it, could be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import agreeing, counted
from nearkin.reports.sentences.sentence import Sentence

if TYPE_CHECKING:
    from nearkin.collection.listing.exceptions import StoredExceptions


def exceptions_sentences(
    found: StoredExceptions, limit: int, *, is_filtered: bool, is_written: bool, has_documents: bool
) -> Iterator[Sentence]:
    """Count the exceptions, and say how to see the others."""
    if not found.exceptions:
        none = "No exceptions: every document gave its text."
        if is_filtered:
            none = "No exceptions meet these conditions."
        elif not has_documents:
            none = "The collection has no documents."
        yield Sentence(none)
        return
    missing = len(found.exceptions) - limit
    how = "--limit" if is_written else "--limit, --out"
    yield Sentence(
        f": {without_text(found.n_no_text, found.n_partial)}" + (f"; {missing:,} not shown: {how}" * (missing > 0)),
        strong=counted(len(found.exceptions), "exception"),
    )


def without_text(n_no_text: int, n_partial: int, *, n_blank: int = 0) -> str:
    """Count exceptions without a text and with a part of it; ``n_blank`` of those without a text are stored.

    Examples
    --------
    >>> without_text(3, 1), without_text(0, 2)
    ('3 gave no text, 1 gave only a part of its text', '2 gave only a part of their text')
    >>> without_text(6, 0, n_blank=1), without_text(2, 0, n_blank=2)
    ('6 gave no text (1 is stored as an empty document)', '2 gave no text (2 are stored as empty documents)')
    """
    stored = agreeing(n_blank, "is stored as an empty document", "are stored as empty documents")
    parts = [f"{n_no_text:,} gave no text" + f" ({n_blank:,} {stored})" * (n_blank > 0)] * (n_no_text > 0)
    parts += [f"{n_partial:,} gave only a part of {agreeing(n_partial, 'its', 'their')} text"] * (n_partial > 0)
    return ", ".join(parts)
