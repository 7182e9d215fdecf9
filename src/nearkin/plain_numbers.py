"""Numbers as people write them: digits from 0 to 9."""

from __future__ import annotations


def is_plain_number(text: str) -> bool:
    """Whether a text has nothing that only Python takes for a part of a number.

    Examples
    --------
    >>> [is_plain_number(text) for text in ("10", "-0.5", "1e3", "1_0", "٣", "0_0.5")]
    [True, True, True, False, False, False]
    """
    return text.isascii() and "_" not in text
