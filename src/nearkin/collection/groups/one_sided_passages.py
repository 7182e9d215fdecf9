"""Text that only one has of a member of a group and its principal, in words and as an excerpt."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from nearkin.nouns import counted
from nearkin.stages.differences.one_sided import Excerpt, excerpt, first_passages, joined
from nearkin.stages.differences.relating import MemberComparison
from nearkin.stages.differences.words import count_words

_AN_EXCERPT = 400
"""Maximum number of characters of an excerpt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSidedPassages:
    """Passages that only one has of a member of a group and its principal.

    Parameters
    ----------
    doc_id : str
        Of the member.
    n_words : int
        Number of words that only this one has.
    passages : tuple of str
        All of them, as they are in the text.
    negations : tuple of str
        English negations among them that the other text does not have there, such as "not".
    n_words_left_out : int
        Number of words that are not in the passages, since these end after 1,000,000 characters or are `shortened`.
    is_whole : bool
        False if the texts were too long to be compared to the end.
    negations_at : tuple of (int, int)
        Passages with a negation: the number of each, from 0, and the place of its first negation.
    n_words_moved : int
        Number of words that both texts have, in different places; only of a member that "adds" passages.
    """

    doc_id: str
    n_words: int
    passages: tuple[str, ...]
    negations: tuple[str, ...] = ()
    n_words_left_out: int = 0
    is_whole: bool = True
    negations_at: tuple[tuple[int, int], ...] = ()
    n_words_moved: int = 0

    def amount(self) -> str:
        """Return the number of words, and the negations among them, unless the passages are just these.

        Examples
        --------
        >>> OneSidedPassages(doc_id="a", n_words=3, passages=("is not due",), negations=("not",)).amount()
        '3 words, among them "not"'
        >>> OneSidedPassages(doc_id="a", n_words=1, passages=("not",), negations=("not",)).amount()
        '1 word'
        >>> print(OneSidedPassages(doc_id="a", n_words=1, passages=("'t",), negations=("can't",)).amount())
        1 word, in "can't"
        """
        words = counted(self.n_words, "word")
        if not self.negations or {one.lower() for one in self.passages} == set(self.negations):
            return words
        quoted = ", ".join(f'"{one}"' for one in self.negations)
        return f"{words}, {'among them' if self.n_words > len(self.negations) else 'in'} {quoted}"

    def excerpt(self, most: int = _AN_EXCERPT) -> Excerpt:
        """Return the first passages, those with a negation before the others."""
        return excerpt(self.passages, self.negations_at, self.n_words, most)

    def shortened(self, most: int) -> OneSidedPassages:
        """Return the same with about the first ``most`` characters of the passages, those with a negation first."""
        if sum(map(len, self.passages)) <= most:
            return self
        first = first_passages(self.passages, self.negations_at, most)
        n_left_out = max(0, self.n_words - sum(map(count_words, first.passages)))
        return replace(self, passages=first.passages, negations_at=first.negations_at, n_words_left_out=n_left_out)

    def in_words(self, verb: str) -> str:
        """Return them as one line of text: the member "adds" them, or "lacks" them.

        Examples
        --------
        >>> OneSidedPassages(doc_id="lease, signed", n_words=2, passages=("Ada", "Kern")).in_words("adds")
        'lease, signed adds 2 words: Ada … Kern'
        >>> OneSidedPassages(doc_id="lease", n_words=0, passages=(), n_words_moved=20).in_words("adds")
        'lease has 20 words in another place'
        """
        moved = f"has {counted(self.n_words_moved, 'word')} in another place" if self.n_words_moved else ""
        line = f"{self.doc_id} {moved or verb}"
        if self.n_words:
            line += f", and {verb}" if moved else ""
            line += f" {self.amount()}: {joined(self.passages)}"
        if self.n_words_left_out:
            line += f" … and {counted(self.n_words_left_out, 'more word')} that this file leaves out"
        return line if self.is_whole else f"{line} (the texts are too long to be compared to the end)"

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return asdict(self)


def passages_added(doc_id: str, comparison: MemberComparison) -> OneSidedPassages | None:
    """Return what a member has and the principal lacks, or has in another place; None if that is no word."""
    n_words = comparison.judgement.measured.n_words_only_in_member
    found = _passages(doc_id, n_words, comparison, 1)
    return found if found is None or found.n_words or found.n_words_moved else None


def passages_lacked(doc_id: str, comparison: MemberComparison) -> OneSidedPassages | None:
    """Return what the principal has and a member lacks; None if that is no word."""
    n_words = comparison.judgement.measured.n_words_only_in_principal
    found = _passages(doc_id, n_words, comparison, 0)
    return replace(found, n_words_moved=0) if found is not None and found.n_words else None


def _passages(doc_id: str, n_words: int, comparison: MemberComparison, side: int) -> OneSidedPassages | None:
    if not n_words or comparison.one_sided is None:
        return None
    found = comparison.one_sided[side]
    return OneSidedPassages(
        doc_id=doc_id,
        n_words=n_words - found.n_words_moved,
        passages=found.passages,
        negations=found.negations,
        n_words_left_out=found.n_words_left_out,
        is_whole=comparison.is_whole,
        negations_at=found.negations_at,
        n_words_moved=found.n_words_moved,
    )
