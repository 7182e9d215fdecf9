"""Sentence of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nearkin.nouns import agreeing, counted

if TYPE_CHECKING:
    from nearkin.collection.listing.exceptions import StoredExceptions
    from nearkin.manifests.stored import DamagedFile


Tone = Literal["plain", "quiet", "warning", "damage"]


def not_shown(what: str | int, *, has_out: bool = True) -> str:
    """Count the rows that a list omits, and say how to see them; ``has_out``: the command has --out, not used yet.

    Examples
    --------
    >>> not_shown(1_200), not_shown("3 groups", has_out=False)
    ('1,200 not shown; raise --limit, or use --out for all', '3 groups not shown; raise --limit')
    """
    said = f"{what:,}" if isinstance(what, int) else what
    return f"{said} not shown; raise --limit" + ", or use --out for all" * has_out


@dataclass(frozen=True, slots=True)
class Sentence:
    """Unescaped text of an answer, with names of documents in it; the code that shows it must escape it.

    Parameters
    ----------
    text : str
    tone : {"plain", "quiet", "warning", "damage"}, default "plain"
        "quiet" for details that few need, "warning" for what the answer lacks, "damage" for damaged data.
    strong : str, default ""
        Beginning of the sentence, shown in bold.
    """

    text: str
    tone: Tone = "plain"
    strong: str = ""

    @property
    def is_warning(self) -> bool:
        """Whether ``--quiet`` prints it: the one definition of a warning among the sentences of answers."""
        return self.tone in ("warning", "damage")

    def __str__(self) -> str:
        """Return the whole sentence."""
        return self.strong + self.text


def missing_sentences(name: str, missing: str | None) -> Iterator[Sentence]:
    """Warn about a text that is only a part of the text of its file; no sentence if ``missing`` is None."""
    if missing is not None:
        yield Sentence(f"Only a part of {name} was read: {missing}", "warning")


def contradiction_sentences(contradiction: str | None) -> Iterator[Sentence]:
    """Warn that stored texts make decisions contradict one another."""
    if contradiction is not None:
        yield Sentence(f"Groups can no longer be computed. {contradiction}", "warning")


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
    """Count exceptions: files without a text, those with a part of it, those not stored because of their id or size.

    Examples
    --------
    >>> exception_counts(19, 3), exception_counts(2, 0), exception_counts(0, 1)
    ('22 exceptions (19 without text, 3 partial)', '2 exceptions (2 without text)', '1 exception (1 partial)')
    >>> exception_counts(1, 0, 2)
    '3 exceptions (1 without text, 2 not stored because of their id or size)'
    """
    because = f"not stored because of {agreeing(n_not_stored, 'its', 'their')} id or size"
    counts = (n_no_text, "without text"), (n_partial, "partial"), (n_not_stored, because)
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
