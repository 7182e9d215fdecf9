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


def plain_float(text: str) -> float | None:
    """Return a number, or None if the text is no plain number.

    Examples
    --------
    >>> [plain_float(text) for text in ("0.5", "1_0", "half")]
    [0.5, None, None]
    """
    try:
        return float(text) if is_plain_number(text) else None
    except ValueError:
        return None


def plain_int(text: str) -> int | None:
    """Return a whole number, or None if the text is no plain whole number.

    Examples
    --------
    >>> [plain_int(text) for text in ("10", "1_0", "0.5")]
    [10, None, None]
    """
    try:
        return int(text) if is_plain_number(text) else None
    except ValueError:  # also of a number with thousands of digits
        return None
