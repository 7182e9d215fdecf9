"""Code points in place of characters that readers cannot see.

A document under review may contain characters that change the reading direction, move a terminal's cursor or are
invisible. Printed unchanged, they could make a page show something that the text does not say.
"""

from __future__ import annotations

import re

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


def _shown(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found.group()):04X}⟩"
