"""Words and numbers for people: decimals that are never rounded towards equality, hidden characters, warnings."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal


def share_text(value: float | None, digits: int = 3) -> str:
    """Write a similarity or a probability, never rounded up: only 1 itself is written as 1.

    Examples
    --------
    >>> share_text(0.79999), share_text(0.9999), share_text(1.0), share_text(None)
    ('0.799', '0.999', '1.000', '–')
    """
    return "–" if value is None else _decimal_text(value, digits, ROUND_FLOOR)


def distance_text(value: float | None, digits: int = 4) -> str:
    """Write a distance, never rounded down: only 0 itself is written as 0.

    Examples
    --------
    >>> distance_text(0.02341), distance_text(0.0000001)
    ('0.0235', '0.0001')
    """
    return "–" if value is None else _decimal_text(value, digits, ROUND_CEILING)


def rounded_down(value: float, digits: int) -> float:
    """Round a share down; a value within 1e-12 of a decimal is that decimal: sums of shares are off by some 1e-16.

    Examples
    --------
    >>> rounded_down(0.99999, 4), rounded_down(1 - 1e-15, 4), rounded_down(1 - 0.1 - 0.1, 2)
    (0.9999, 1.0, 0.8)
    """
    return float(_decimal_text(round(float(value), 12), digits, ROUND_FLOOR))


def _decimal_text(value: float | Decimal, digits: int, rounding: str) -> str:
    """Write a float with a fixed number of digits, rounded from its shortest decimal form."""
    exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
    return str(exact.quantize(Decimal(1).scaleb(-digits), rounding))


_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control codes, but not tab and line feed
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # invisible blanks and breaks
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks, overrides and isolates
    "\u180e\u200b\u2028\u2029\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb"  # zero-width spaces, breaks, annotations
    "\ud800-\udfff\ufffe\uffff"  # surrogates and non-characters: no file can contain them
    "\U000e0000-\U000e007f"  # invisible tags
    "]"
)


_BREAKS = re.compile("[\t\n]")


def reveal_line(text: str) -> str:
    r"""Reveal hidden characters, tab and line feed included, so that an id cannot imitate other rows.

    Examples
    --------
    >>> print(reveal_line("lease\n2 documents like it"))
    lease⟨U+000A⟩2 documents like it
    """
    return _BREAKS.sub(_shown, reveal(text))


def reveal(text: str) -> str:
    r"""Write each hidden character as its code point between angle brackets.

    Joiners that some scripts need (U+200C and U+200D), tab and line feed stay.

    Examples
    --------
    >>> print(reveal("pay \u202e001\u202c now"))
    pay ⟨U+202E⟩001⟨U+202C⟩ now
    """
    return _HIDDEN.sub(_shown, text)


def _shown(character: re.Match[str]) -> str:
    return f"⟨U+{ord(character.group()):04X}⟩"


_WORD = "Warning: "


class WarningMessage(str):
    """Message of progress that ``--quiet`` prints, too; its text begins with "Warning: ".

    Examples
    --------
    >>> WarningMessage("mails: not followed: a link")
    'Warning: mails: not followed: a link'
    """

    __slots__ = ()

    def __new__(cls, text: str) -> WarningMessage:
        """Make the warning of a text, which may begin with the word already."""
        return super().__new__(cls, _WORD + text.removeprefix(_WORD))


def is_warning(message: str) -> bool:
    """Whether ``--quiet`` prints a message of progress."""
    return isinstance(message, WarningMessage)


def labelled(label: str, message: str) -> str:
    """Put a label before a message; a warning stays one, and still begins with "Warning: "."""
    text = message.removeprefix(_WORD) if isinstance(message, WarningMessage) else message
    return type(message)(f"{label}: {text}")


def restored(message: str) -> str:
    """Return a message that was stored as text: a warning is one again."""
    return WarningMessage(message) if message.startswith(_WORD) else message
