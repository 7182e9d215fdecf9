"""The share of an earlier mail that an answer quotes, by word 4-grams."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from nearkin.stages.documents.mail.passages import words_of_line
from nearkin.stages.documents.mail.quoting import LinePart, mail_lines

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
