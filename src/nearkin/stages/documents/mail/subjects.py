"""Base subjects: subjects without prefixes of replies, forwards and mailing lists.

Source: Mark Crispin and Kenneth Murchison, "Internet Message Access Protocol - SORT and THREAD Extensions" (RFC 5256),
section 2.1, with the marks of other languages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MAX_CHARACTERS = 2000
_MARKS = (
    "re", "fwd", "fw", "aw", "antw", "antwort", "wg", "sv", "vs", "vb", "vl", "ref", "rif", "res", "enc", "rv", "tr",
    "odp", "pd", "ynt", "ilt", "doorst", "yml", "fs", "tl", "továbbítás", "vá", "回复", "回覆", "答复", "答覆", "转发",
    "轉寄", "返信", "転送", "отв", "на", "пересл",
)  # fmt: skip
_BLOB = r"\[[^\[\]]{0,200}\]\s*"
_REPLY = re.compile(
    rf"(?:{_BLOB}){{0,8}}(?:{'|'.join(_MARKS)})\s*(?:\[\d+\]|\(\d+\)|\^\d+|{_BLOB})?\s*[:：]\s*", re.IGNORECASE
)
_LEADING_BLOB = re.compile(_BLOB)
_TRAILING = re.compile(r"\s*\(fwd\)\s*$", re.IGNORECASE)
_FORWARDED = re.compile(r"\[\s*fwd?:(.*)\]$", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class BaseSubject:
    """A subject without its marks.

    Parameters
    ----------
    text : str
        Case-folded; empty if nothing but marks is there.
    is_reply : bool
        Whether there was a mark of a reply or a forward.
    """

    text: str
    is_reply: bool


def base_subject(subject: str | None) -> BaseSubject:
    """Return the base of a subject.

    Only the first 2,000 characters count.

    Examples
    --------
    >>> base_subject("AW: [ilug] Re[2]: Lease  of the mill (fwd)")
    BaseSubject(text='lease of the mill', is_reply=True)
    >>> base_subject("[Fwd: [list] Lease]"), base_subject("[list]"), base_subject(None).text
    (BaseSubject(text='lease', is_reply=True), BaseSubject(text='[list]', is_reply=False), '')
    """
    text, is_reply = " ".join((subject or "")[:_MAX_CHARACTERS].split()), False
    while True:
        text, n_trailing = _without_trailing(text)
        start, n_leading = _start_of(text)
        text, is_reply = text[start:], is_reply or bool(n_trailing or n_leading)
        found = _FORWARDED.match(text)
        if found is None:
            return BaseSubject(text.casefold(), is_reply)
        text, is_reply = found[1].strip(), True


def _without_trailing(text: str) -> tuple[str, int]:
    n = 0
    while found := _TRAILING.search(text):
        text, n = text[: found.start()], n + 1
    return text, n


def _start_of(text: str) -> tuple[int, int]:
    """Return where the base begins, and the number of marks before it."""
    start, n_marks = 0, 0
    while True:
        if found := _REPLY.match(text, start):
            start, n_marks = found.end(), n_marks + 1
        elif (found := _LEADING_BLOB.match(text, start)) and found.end() < len(text):
            if _FORWARDED.match(text, start):
                return start, n_marks
            start = found.end()
        else:
            return start, n_marks
