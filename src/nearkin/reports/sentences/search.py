"""Sentences of ``nearkin search``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import agreeing, counted, wave_text
from nearkin.reports.sentences.sentence import Sentence, not_shown

if TYPE_CHECKING:
    from nearkin.collection.word_search.results import SearchResult


def search_sentences(found: SearchResult, wave: str | None, n_shown: int, *, is_written: bool) -> Iterator[Sentence]:
    """Count the documents, and the texts that were not searched."""
    missing = found.n_found - n_shown
    yield Sentence(
        (f" of {wave_text(wave)}" if wave is not None else "")
        + (f"; {not_shown(missing, has_out=not is_written)}" if missing else "")
        + f"; {1000 * found.elapsed_s:,.0f} ms",
        strong=f"{counted(found.n_found, 'document')} with {found.query}",
    )
    if found.ignored:
        yield Sentence(f"not searched, because it has no letter or digit: {' '.join(found.ignored)}", "warning")
    if found.n_read:
        n = counted(found.n_read, "text")
        yield Sentence(f"Read {n} from beginning to end, without stored words; this search was slower")
    if found.n_damaged:
        n = counted(found.n_damaged, "stored text")
        yield Sentence(
            f"{n} {agreeing(found.n_damaged, 'is', 'are')} damaged and could not be searched. Run nearkin fsck "
            "COLLECTION, which repairs what it can and lists the rest.",
            "damage",
        )
