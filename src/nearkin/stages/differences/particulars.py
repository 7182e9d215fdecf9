"""Particulars of a form: names, numbers, dates, signatures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from nearkin.stages.differences.words import BLANK, Word, Wording, count_words
from nearkin.stages.number_words import DATE_WORDS, NUMBER_WORDS


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


PARTIES = _list(
    """inc incorporated corp corporation co company llc lp llp ltd limited plc gmbh ag sa bv nv na fsb trust bank
    partnership liability association he she his her him hers himself herself mr mrs ms dr esq jr sr ii iii iv"""
)
"""Words used with the names of parties: kinds of companies, titles, pronouns."""
SIGNING = _list(
    """by name title its date dated signed signature sign witness witnessed attest attested notary s seal president
    chairman secretary treasurer director officer chief executive vice senior general counsel manager member board
    committee ceo cfo coo individually duly authorized printed print"""
)
"""Words of signature lines."""
JOINING = _list("a an the of and or for to at on in day this de la von van der as")
"""Words that occur within names, dates and sums and indicate neither."""

TURNING = _list("not no nor never none neither cannot without unless except only may must shall should can could")
"""Words that change the meaning of a sentence."""

Kind = Literal["name", "number", "date", "joining", "other"]

_MAX_READ = 4_000_000  # characters examined for the spelling of words
_ANY_WORD = re.compile(r"[^\W\d_]+")
_WITHIN_SENTENCE = re.compile(r"(?<=[\w,] )[^\W\d_]+")
_TAGS = ("<PAGE>", "<page>")
_SENTENCE_END = re.compile(r"[.!?:;]\W*$|\n\s*\n\s*$")


@dataclass(frozen=True, slots=True)
class Spelling:
    """Spelling of the words of a text.

    Parameters
    ----------
    small : frozenset of str
        Words that begin with a lower-case letter somewhere, so they are not names.
    within : frozenset of str
        Words that begin with a capital inside a sentence, in lower case.
    """

    small: frozenset[str]
    within: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Spelling:
        """Examine the first four million characters.

        Examples
        --------
        >>> spelling = Spelling.of("The tenant, Ada Kern, pays. Rent is due.")
        >>> sorted(spelling.within), sorted(spelling.small)
        (['ada', 'kern'], ['due', 'is', 'pays', 'tenant'])
        """
        text = text[:_MAX_READ]
        found = set(_ANY_WORD.findall(text))
        return cls(
            frozenset(word for word in found if word[0].islower()),
            frozenset(word.lower() for word in set(_WITHIN_SENTENCE.findall(text)) if word[0].isupper()),
        )


@dataclass(frozen=True)
class Original(Wording):
    """Original text, with cached results."""

    @cached_property
    def spelling(self) -> Spelling:
        """Spelling of its words."""
        return Spelling.of(self.text)

    @cached_property
    def n_words(self) -> int:
        """Number of its words."""
        return count_words(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Words of one text at a difference.

    Parameters
    ----------
    n_words : int
        Number of words, without joining words.
    n_names, n_numbers, n_dates, n_other : int
        Numbers of names of persons, parties and places; of numbers and sums; of months and weekdays; of other words.
    n_joining : int
    n_blanks : int
    is_signing : bool
        Whether there is a "/s/", a word of signature lines, or a date.
    n_signing, n_turning : int
        Numbers, among the other words, of words of signature lines, and of words that change the meaning of a sentence.
    """

    n_words: int
    n_names: int
    n_numbers: int
    n_dates: int
    n_other: int
    n_joining: int
    n_blanks: int
    n_signing: int
    n_turning: int
    is_signing: bool

    @property
    def n_particulars(self) -> int:
        """Number of words that fill in a form."""
        return self.n_words - self.n_other

    @property
    def is_open(self) -> bool:
        """Whether nothing stands here, or a blank with at most the beginning of a date or a number."""
        return self.n_names == self.n_other == 0 and (self.n_words == 0 or self.n_blanks > 0)


def look_at(words: Sequence[Word], text: str, spellings: Sequence[Spelling]) -> Side:
    """Classify the words of one side of a difference.

    Parameters
    ----------
    words : sequence of Word
        Words of ``text``.
    text : str
    spellings : sequence of Spelling
        Spellings of both texts: a word in lower case in either is not a name.
    """
    plain = [word for word in words if word.is_word]
    kinds = _with_name_parts([_kind(word, text, spellings) for word in plain], plain, text)
    n_blanks = sum(word.core == BLANK for word in words)
    if not n_blanks and set(kinds) == {"joining"}:  # "and" for "or" is not part of a name or a date
        kinds = ["other"] * len(kinds)
    n_of = Counter(kinds)
    rest = [word.core for word, kind in zip(plain, kinds, strict=True) if kind == "other"]
    n_signing = sum(core in SIGNING for core in rest)
    return Side(
        n_words=len(plain) - n_of["joining"],
        n_names=n_of["name"],
        n_numbers=n_of["number"],
        n_dates=n_of["date"],
        n_other=n_of["other"],
        n_joining=n_of["joining"],
        n_blanks=n_blanks,
        n_signing=n_signing,
        n_turning=sum(core in TURNING for core in rest),
        is_signing=n_signing > 0 or n_of["date"] > 0 or "/s/" in "".join(word.core for word in words),
    )


def _kind(word: Word, text: str, spellings: Sequence[Spelling]) -> Kind:
    core, is_capital = word.core, text[word.start].isupper()
    if core in DATE_WORDS and is_capital:
        return "date"
    if core in NUMBER_WORDS or any(character.isdigit() for character in core):
        return "number"
    if len(core) == 1:
        around = text[word.start - 1 : word.start] + text[word.end : word.end + 1]
        if around == "()":
            return "number"  # of a clause
        if is_capital and around.endswith("."):
            return "name"  # an initial
    if core in JOINING or text[word.start - 1 : word.end + 1] in _TAGS:
        return "joining"
    if core in PARTIES:
        return "name"
    if not is_capital or core in SIGNING or any(core in one.small for one in spellings):
        return "other"
    if any(core in one.within for one in spellings):
        return "name"
    return "other" if _SENTENCE_END.search(text, max(0, word.start - 20), word.start) else "name"


def _with_name_parts(kinds: list[Kind], words: Sequence[Word], text: str) -> list[Kind]:
    """Mark a capitalised word beside part of a name as part of it, even a common word: Larry D. Key."""
    result = kinds.copy()
    for i, word in enumerate(words):
        if kinds[i] != "other" or word.core in SIGNING or not text[word.start].isupper():
            continue
        beside = [j for j in (i - 1, i + 1) if 0 <= j < len(words) and kinds[j] == "name"]
        if any(text[min(words[j].end, word.end) : max(words[j].start, word.start)].strip(". ") == "" for j in beside):
            result[i] = "name"
    return result
