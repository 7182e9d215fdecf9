"""Passages of mails: words of a paragraph, and whether all of them occur in another mail in the same order.

A passage is a run of lines without an empty line between, all quoted equally often. Quote marks, white space, line
breaks, punctuation and attribution lines do not count; capitals do. In the other mail the words of a passage must
follow one another without a gap, from the beginning of a line to the end of one, so that a short answer is not found
inside a sentence.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby

import numpy as np

from nearkin.kernels.characters import ALONE, FORMAT, MARK, SPACE, character_classes
from nearkin.stages.documents.mail.quoting import LinePart, MailLine, mail_lines

N_KEY_WORDS = 5
"""Words by which passages are looked up."""
GAP = -1
"""Number that stands for an attribution line, which no passage crosses."""
_MARKUP = "<>|=~^`"
"""Symbols that mail programs add around links, emphasis and quotations; other symbols are words."""
_DRAWN = "-_=*~#.+|<> \t"


class WordNumbers:
    """Numbers of words, for fast comparison."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def numbers(self, words: Iterable[str]) -> list[int]:
        """Return the number of each word; a new word gets the next number."""
        known = self._numbers
        return [known.setdefault(word, len(known)) for word in words]


@dataclass(frozen=True, slots=True)
class MailWords:
    """Words of a mail as numbers.

    Parameters
    ----------
    words : tuple of int
        All words in order, with `GAP` for attribution lines.
    starts : tuple of int
        Positions in ``words`` at which lines begin, ascending.
    passages : tuple of tuple of int
        Passages to look for in other mails.
    quoted : tuple of tuple of int
        Quoted passages that are not among these.
    """

    words: tuple[int, ...]
    starts: tuple[int, ...]
    passages: tuple[tuple[int, ...], ...]
    quoted: tuple[tuple[int, ...], ...] = ()


def mail_words(text: str, vocabulary: WordNumbers, *, is_new_text_only: bool = False) -> MailWords:
    r"""Return the words of a mail and its passages.

    Parameters
    ----------
    text : str
    vocabulary : WordNumbers
        Shared by all mails that are compared.
    is_new_text_only : bool, default False
        Whether quoted text and signature are no passages.

    Examples
    --------
    >>> found = mail_words("I agree.\n\n> Is it sold?\n> Or let?", WordNumbers())
    >>> found.words, found.starts, found.passages
    ((0, 1, 2, 3, 4, 5, 6), (0, 2, 5), ((0, 1), (2, 3, 4, 5, 6)))
    """
    lines = mail_lines(unicodedata.normalize("NFKC", text))
    words, starts = list[int](), list[int]()
    passages, quoted = list[tuple[int, ...]](), list[tuple[int, ...]]()
    for (_, part), some in groupby(lines, key=_passage_key):
        if part == "attribution":
            words.append(GAP)
            continue
        begin = len(words)
        for line in some:
            if found := words_of_line(line.text):
                starts.append(len(words))
                words += vocabulary.numbers(found)
        if len(words) > begin and (part == "new" or not is_new_text_only):
            passages.append(tuple(words[begin:]))
        elif len(words) > begin and part == "quoted":
            quoted.append(tuple(words[begin:]))
    return MailWords(tuple(words), tuple(starts), tuple(passages), tuple(quoted))


def _passage_key(line: MailLine) -> tuple[int, str]:
    """Return a key that the lines of one passage share; an empty line separates passages."""
    return (line.depth, line.part) if line.text else (-1, "empty")


def words_of_line(line: str) -> list[str]:
    """Return the words of a line; a line of signs, such as "???", is a word, unless it is a drawn rule.

    Examples
    --------
    >>> words_of_line("Don't, 東京 👍 (50 €) <b>"), words_of_line("???"), words_of_line("-----")
    (['Don', 't', '東', '京', '👍', '50', '€', 'b'], ['???'], [])
    """
    pattern, ignored = _word_pattern()
    found = pattern.findall(line if line.isascii() else line.translate(ignored))
    if found:
        return found
    signs = line.strip(_DRAWN)
    return [signs] if signs else []


@cache
def _word_pattern() -> tuple[re.Pattern[str], dict[int, None]]:
    """Return the pattern of a word, and the characters that are ignored inside of words."""
    classes = character_classes()
    is_between = np.array([unicodedata.category(chr(i))[0] in "PZC" for i in range(0x3000)])
    between = (classes == SPACE) | (classes == FORMAT)
    between[: len(is_between)] |= is_between
    for character in _MARKUP:
        between[ord(character)] = True
    for start, end in ((0x3000, 0x3004), (0x3008, 0x3021), (0xFE10, 0xFE70), (0xFF01, 0xFF10)):
        between[start:end] = True  # punctuation of East Asia
    alone, marks = _ranges(classes == ALONE), _ranges(classes == MARK)
    rest = _ranges(between | (classes == ALONE))
    pattern = re.compile(f"[{alone}][{marks}]*|[^{rest}]+")
    return pattern, dict.fromkeys(np.flatnonzero(classes == FORMAT).tolist())


def _ranges(mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> str:
    """Return code points as the inside of a regular expression's brackets."""
    inside = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    return "".join(f"\\U{start:08x}-\\U{end - 1:08x}" for start, end in inside.reshape(-1, 2).tolist())


class PassagePlaces:
    """Places in a mail at which passages may begin and end."""

    def __init__(self, mail: MailWords) -> None:
        self._words = mail.words
        gaps = [at for at, word in enumerate(mail.words) if word == GAP]
        self._ends = frozenset((*mail.starts, *gaps, len(mail.words)))
        self._at: dict[tuple[int, ...], list[int]] = {}
        for start in mail.starts:
            for n in range(1, N_KEY_WORDS + 1):
                self._at.setdefault(mail.words[start : start + n], []).append(start)

    def first_words(self) -> Iterable[tuple[int, ...]]:
        """Return the one to five words after each beginning, each once."""
        return self._at.keys()

    def last_words(self) -> Iterable[tuple[int, ...]]:
        """Return the one to five words before each end, each once."""
        words = self._words
        return {words[max(0, end - n) : end] for end in self._ends for n in range(1, N_KEY_WORDS + 1)}

    def hold(self, passages: Sequence[tuple[int, ...]]) -> bool:
        """Whether all passages occur here, in this order."""
        position = 0
        for passage in passages:
            found = self.find(passage, position)
            if found is None:
                return False
            position = found + len(passage)
        return True

    def find(self, passage: tuple[int, ...], position: int) -> int | None:
        """Return the first place of a passage after a position; None if it does not occur there."""
        n = len(passage)
        starts = self._at.get(passage[:N_KEY_WORDS], [])
        for start in starts[bisect_left(starts, position) :]:
            if start + n in self._ends and self._words[start : start + n] == passage:
                return start
        return None


_N_WORDS = 4
_N_HELD = 1 << 11
Grams = frozenset[tuple[str, ...]]


class Quotations:
    r"""Shares of mails that other mails quote.

    Parameters
    ----------
    text_of : callable
        Returns the text of a mail by its number.

    Examples
    --------
    >>> texts = ["Is the old mill still for sale?", "Who wants it?", "Ada!\n> Is the old mill still\n> for sale?"]
    >>> quotations = Quotations(texts.__getitem__)
    >>> quotations.share(2, 0), quotations.share(2, 1)
    (1.0, 0.0)
    """

    def __init__(self, text_of: Callable[[int], str]) -> None:
        self._grams = lru_cache(maxsize=_N_HELD)(lambda mail: _grams_of(text_of(mail)))

    def share(self, answer: int, earlier: int) -> float:
        """Return the share of the earlier mail's new text that the answer quotes, in [0, 1]."""
        quoted, _ = self._grams(answer)
        _, new = self._grams(earlier)
        return len(quoted & new) / max(1, len(new))


def _grams_of(text: str) -> tuple[Grams, Grams]:
    """Return the word 4-grams of the quoted and of the new text of a mail."""
    words: dict[LinePart, list[str]] = {"quoted": [], "new": []}
    for line in mail_lines(text):
        if line.part in words:
            words[line.part] += words_of_line(line.text)
    quoted, new = (
        frozenset(tuple(words[part][i : i + _N_WORDS]) for i in range(len(words[part]) - _N_WORDS + 1))
        for part in ("quoted", "new")
    )
    return quoted, new
