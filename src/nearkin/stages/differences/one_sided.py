"""Text that only one of two texts has, complete, with the negations in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nearkin.stages.differences.aligning import WordDifference
from nearkin.stages.differences.kinds import is_negation
from nearkin.stages.differences.wording import Word, Wording
from nearkin.stages.differences.words import count_words

MAX_CHARACTERS = 1_000_000
"""Maximum number of characters that are kept of one side; the negations are named in any case."""


@dataclass(frozen=True, slots=True)
class OneSidedText:
    """Text that only one of two texts has.

    Parameters
    ----------
    passages : tuple of str
        In text order, with single spaces.
    negations : tuple of str
        English negations of which this text has more at a difference, such as "not" or "isn't"; each once.
    n_words_left_out : int
        Number of words beyond the limit of 1,000,000 characters, which are not among the passages.
    """

    passages: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()
    n_words_left_out: int = 0


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Beginning of the passages of a side.

    Parameters
    ----------
    text : str
    n_words_left : int
        Number of words that are not in it.
    """

    text: str
    n_words_left: int


def one_sided_texts(a: Wording, b: Wording, differences: Sequence[WordDifference]) -> tuple[OneSidedText, OneSidedText]:
    """Return what only the first text has, and what only the second one has.

    Examples
    --------
    >>> from nearkin.stages.differences.aligning import align
    >>> a, b = Wording("the tenant shall not pay the rent"), Wording("the lessee shall pay the rent")
    >>> for one in one_sided_texts(a, b, align(a, b).differences):
    ...     print(one.passages, one.negations)
    ('tenant', 'not') ('not',)
    ('lessee',) ()
    """
    more_a = (word for one in differences for word in _more_negations(a, one.a, b, one.b))
    more_b = (word for one in differences for word in _more_negations(b, one.b, a, one.a))
    return _side(a, (one.a for one in differences), more_a), _side(b, (one.b for one in differences), more_b)


def excerpt(passages: Iterable[str], negations: Sequence[str], n_words: int, most: int) -> Excerpt:
    """Return the first passages, those with a negation before the others, cut after at most some characters.

    Parameters
    ----------
    passages : iterable of str
    negations : sequence of str
    n_words : int
        Number of words of all passages, and of what they leave out.
    most : int
        Maximum number of characters.

    Examples
    --------
    >>> excerpt(("new word", "a longer passage", "not"), ("not",), 6, 16)
    Excerpt(text='not … new word …', n_words_left=3)
    >>> excerpt(("Ada", "Kern"), (), 2, 16)
    Excerpt(text='Ada … Kern', n_words_left=0)
    """
    ordered = sorted(passages, key=lambda one: not _has_one(one, negations))
    whole = " … ".join(ordered)
    if len(whole) <= most and not (n_left := n_words - sum(map(count_words, ordered))):
        return Excerpt(whole, n_left)
    shown = _cut(whole, most - 2).rstrip(" …")
    return Excerpt(f"{shown} …", n_words - count_words(shown))


def _has_one(passage: str, negations: Sequence[str]) -> bool:
    words = {word.strip(".,;:!?()[]\"'").lower() for word in passage.split()}
    return not words.isdisjoint(negations)


def _side(own: Wording, differences: Iterable[Sequence[Word]], negations: Iterable[str]) -> OneSidedText:
    passages, n_left_out, n_characters = list[str](), 0, 0
    for words in differences:
        if not words:
            continue
        text = " ".join(own.text[words[0].start : words[-1].end].split())
        kept = _cut(text, MAX_CHARACTERS - n_characters)
        n_left_out += count_words(text) - count_words(kept)
        n_characters += len(kept)
        if kept:
            passages.append(kept)
    return OneSidedText(tuple(passages), tuple(dict.fromkeys(negations)), n_left_out)


def _cut(text: str, most: int) -> str:
    """Return the beginning of a text, up to the end of a word; of a word that is too long, its beginning."""
    if len(text) <= most:
        return text
    return text[: max(0, most + 1)].rpartition(" ")[0] or text[: max(0, most)]


def _more_negations(own: Wording, words: Sequence[Word], other: Wording, others: Sequence[Word]) -> list[str]:
    """Return the negations of which one side of a difference has more, as they are written, in lower case."""
    mine, theirs = _negations(own, words), _negations(other, others)
    more = Counter(form for form, _ in mine) - Counter(form for form, _ in theirs)
    return [written for form, written in mine if form in more]


def _negations(own: Wording, words: Sequence[Word]) -> list[tuple[str, str]]:
    """Return the negations among some words: the form that is compared (n't is not), and as it is written."""
    found = list[tuple[str, str]]()
    for word in words:
        if not word.is_word or not is_negation(own.text, word):
            continue
        start = word.start
        while word.core == "t" and start and not own.text[start - 1].isspace():  # isn't: from its beginning
            start -= 1
        form = "not" if word.core in ("t", "cannot") else word.core
        found.append((form, own.text[start : word.end].lower().lstrip("([\"'")))
    return found
