"""Sentences about files of a collection from which no text, or only a part of it, could be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nearkin.nouns import counted
from nearkin.reports.sentences.sentence import Sentence

if TYPE_CHECKING:
    from nearkin.collection.listing.exceptions import StoredExceptions
    from nearkin.manifests.stored import DamagedFile


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
    said = exception_counts(found.n_no_text, found.n_partial, found.n_not_stored)
    yield Sentence(f"; {missing:,} not shown: {how}" * (missing > 0), strong=said)


def exception_counts(n_no_text: int, n_partial: int, n_not_stored: int = 0) -> str:
    """Count exceptions: files without a text, those with a part of it, those that were read and not stored.

    Examples
    --------
    >>> exception_counts(19, 3), exception_counts(2, 0), exception_counts(0, 1)
    ('22 exceptions (19 without text, 3 partial)', '2 exceptions (2 without text)', '1 exception (1 partial)')
    >>> exception_counts(1, 0, 2)
    '3 exceptions (1 without text, 2 not stored)'
    """
    counts = (n_no_text, "without text"), (n_partial, "partial"), (n_not_stored, "not stored")
    kinds = [f"{n:,} {kind}" for n, kind in counts if n]
    return f"{counted(n_no_text + n_partial + n_not_stored, 'exception')} ({', '.join(kinds)})"


_MAX_NAMED = 5


def damage_sentences(damaged: Sequence[DamagedFile], who: str) -> Iterator[Sentence]:
    """Name the damaged files; ``who`` says what lacks the rest, such as "The results have"."""
    for one in damaged[:_MAX_NAMED]:
        place = "" if one.line is None else f", line {one.line:,}"
        has = "None of its documents was read." if one.line == 1 else f"{who} only the documents before it."
        what = f"Incomplete: {one.path}{place}: {one.problem}. {has}"
        yield Sentence("", "damage", strong=what)
    if len(damaged) > _MAX_NAMED:
        yield Sentence("", "damage", strong=f"Incomplete: {counted(len(damaged) - _MAX_NAMED, 'more damaged file')}.")
