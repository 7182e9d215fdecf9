"""Words of the parts of an office file that are missing in the text that was extracted.

The comparison is by words, not by place: xberg puts notes and headers where they are not in the XML.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

MIN_MISSING = 3
"""Least number of words of a part whose loss is reported: a reference to a note may join two words, a mark of a
bibliography is not shown. Of the files of Apache Tika, no part that is read lacks more than two."""
_MISSING_SHARE = 0.002
_MIN_LETTERS = 8
"""Letters of a paragraph from which on it is looked for without its spaces."""
_MAX_LETTERS = 1 << 31
"""Letters that are searched for paragraphs, in all parts of a file together: about two seconds."""
_ESCAPED = re.compile("_x[0-9A-Fa-f]{4}_")
"""A character of a cell that XML does not allow, such as the carriage return ``_x000D_``; xberg writes it or not."""
_WORD = re.compile(r"[^\W_]+")
_SPACES = b" \t\n\r"


class TextToFind:
    """Extracted text, in which the words of the parts of a file are looked for; each is found once.

    Examples
    --------
    >>> text = TextToFind("It was a dark night. It was.")
    >>> text.holds([b"It was a dark", b"night."]), text.n_missing(["It was."]), text.n_missing(["It was cold."])
    (True, 0, 3)
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._squeezed = text.encode("utf-8", "replace").translate(None, _SPACES)
        self._words: Counter[str] | None = None
        self._letters = ""
        self._at = 0
        self._n_letters_left = _MAX_LETTERS
        self._n_seen: Counter[str] = Counter()
        self._n_there: dict[str, int] = {}
        self._taken: list[bytes] = []

    def holds(self, pieces: list[bytes], *, take: bool = True) -> bool:
        """Whether all pieces of a part are there, in UTF-8, one behind the other, spaces aside: the quick answer.

        What lies between them belongs to other parts.
        """
        whole = b"".join(pieces).translate(None, _SPACES)
        at = self._squeezed.find(whole)
        if at < 0:
            return self._holds_in_order(pieces, take=take)
        if take and whole:
            self._squeezed = b"\n".join([self._squeezed[:at], self._squeezed[at + len(whole) :]])
            self._taken += pieces
        return True

    def _holds_in_order(self, pieces: list[bytes], *, take: bool) -> bool:
        at, left, squeezed = 0, [], self._squeezed
        for piece in pieces:
            part = piece.translate(None, _SPACES)
            found = squeezed.find(part, at)
            if found < 0:
                return False
            if found > at:
                left.append(squeezed[at:found])
            at = found + len(part)
        if take:
            self._squeezed = b"\n".join([*left, squeezed[at:]])
            self._taken += pieces
        return True

    def n_missing(self, paragraphs: list[str], *, take: bool = True) -> int:
        """Return how many words of a part are missing; 0 if so few are that they say nothing."""
        left = self._words_left()
        told = _words("\n".join(paragraphs))
        missing = Counter({one: lack for one, n in told.items() if (lack := n - max(0, left[one])) > 0})
        if take:
            left.subtract(told - missing)
        if _is_little(missing, told):
            return 0
        missing -= self._joined(paragraphs, missing)
        return 0 if _is_little(missing, told) else missing.total()

    def takes(self, line: str) -> bool:
        """Whether all words of a line are there and were not those of a part; they are taken then."""
        left, told = self._words_left(), _words(line)
        if not told:
            return self._has_signs(line)
        is_there = all(left[word] >= n for word, n in told.items())
        if is_there:
            left.subtract(told)
        return is_there

    def takes_joined(self, paragraphs: list[str]) -> bool:
        """Whether all paragraphs are there, one behind the other, without spaces between them; they are taken then."""
        joined = "".join(paragraphs)
        letters = _letters(joined)
        if len(letters) < _MIN_LETTERS:
            return self.takes(joined)
        self._words_left()
        if self._n_letters_left < 0:
            return False
        self._n_seen[letters] += 1
        return self._has_another(letters)

    def _has_signs(self, line: str) -> bool:
        """Whether a line without words is there, and was not looked for as often."""
        signs = line.encode("utf-8", "replace").translate(None, _SPACES)
        told = signs.decode()
        if told not in self._n_there:
            self._n_letters_left -= len(self._squeezed)
            self._n_there[told] = self._squeezed.count(signs) if self._n_letters_left >= 0 else 0
        self._n_seen[told] += 1
        return not told or self._n_there[told] >= self._n_seen[told]

    def knows(self, line: str) -> bool:
        """Whether all words of a line are there, in whatever part."""
        return self._words_left().keys() >= _words(line).keys()

    def _words_left(self) -> Counter[str]:
        """Return the words that are not those of a part yet; the counter is changed by those who find some."""
        if self._words is None:
            self._words = _words(self._text)
            self._letters = _letters(self._squeezed.decode())
        if self._taken:
            self._words.subtract(_words(b"\n".join(self._taken).decode()))
            self._taken = []
        return self._words

    def _joined(self, paragraphs: list[str], missing: Counter[str]) -> Counter[str]:
        """Return the missing words of paragraphs that are there with other spaces."""
        found: Counter[str] = Counter()
        for one in paragraphs:
            words = _words(one)
            lost = words & missing
            letters = _letters(one)
            if not lost or len(letters) < _MIN_LETTERS:
                continue
            if self._n_letters_left < 0:
                break
            self._n_seen[letters] += 1
            if self._has_another(letters):
                found += lost
        return found

    def _has_another(self, letters: str) -> bool:
        """Whether the text has the letters of a paragraph once more; most paragraphs are in the order of the text."""
        n_seen = self._n_seen[letters]
        if n_seen == 1:
            at = self._letters.find(letters, self._at)
            self._n_letters_left -= (at if at >= 0 else len(self._letters)) - self._at
            if at < 0:
                end = self._at + len(letters) - 1
                at = self._letters.find(letters, 0, end)
                self._n_letters_left -= at if at >= 0 else end
            self._at = at + len(letters) if at >= 0 else self._at
            return at >= 0
        if letters not in self._n_there:
            self._n_there[letters] = self._letters.count(letters)
            self._n_letters_left -= len(self._letters)
        return self._n_there[letters] >= n_seen


def _is_little(missing: Counter[str], told: Counter[str]) -> bool:
    """Whether so few words of a part are missing that they say nothing: all of a part are, unless they are numbers."""
    most = max(MIN_MISSING - 1, int(told.total() * _MISSING_SHARE))
    is_all = missing == told and any(map(str.isalpha, missing))
    return missing.total() <= most and not is_all


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(_folded(text)))


def _letters(text: str) -> str:
    return "".join(_WORD.findall(_folded(text)))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", _ESCAPED.sub(" ", text)).casefold()
