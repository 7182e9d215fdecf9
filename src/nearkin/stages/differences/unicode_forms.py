"""Passages that differ only in the Unicode form of their characters: ``½`` and ``1⁄2``, ``％`` and ``%``."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from nearkin.stages.differences.wording import Word, folded
from nearkin.stages.differences.words import find_tokens

_SAME_NUMBER = ("", "<wide>", "<font>")  # decompositions that leave a digit what it is


def is_other_form(text_a: str, text_b: str) -> bool:
    r"""Whether two passages are the same words and signs after NFKC, in lower case, and mean the same numbers.

    A superscript or a fraction beside a digit is another number than its plain form: 10⁵ is not 105. The
    words of m² and m2 are the same, although their numbers are not; see :func:`.signs.amounts_in`.

    Examples
    --------
    >>> is_other_form("½ cup", "1\N{FRACTION SLASH}2 cup"), is_other_form("12 m²", "12 m2"), is_other_form("10⁵", "105")
    (True, True, False)
    """
    if text_a.isascii() and text_b.isascii():
        return False
    one, other = folded(text_a), folded(text_b)
    if "".join(one.split()) != "".join(other.split()) or _joins_numbers(text_a) or _joins_numbers(text_b):
        return False
    return [found.group() for found in find_tokens(one)] == [found.group() for found in find_tokens(other)]


def is_other_form_of(a: Sequence[Word], b: Sequence[Word], text_a: str, text_b: str) -> bool:
    """Whether two runs of words are the same words in another Unicode form."""
    if not a or not b or "".join(word.core for word in a) != "".join(word.core for word in b):
        return False
    return is_other_form(text_a[a[0].start : a[-1].end], text_b[b[0].start : b[-1].end])


def _joins_numbers(text: str) -> bool:
    """Whether NFKC makes one number of two digits that are written differently, such as ``10⁵`` or ``2½``."""
    return any(
        one.isnumeric() and other.isnumeric() and _written_as(one) != _written_as(other)
        for one, other in pairwise(text)
        if not (one.isascii() and other.isascii())
    )


def _written_as(digit: str) -> str:
    kind = unicodedata.decomposition(digit).partition(" ")[0]
    return "" if kind in _SAME_NUMBER else kind
