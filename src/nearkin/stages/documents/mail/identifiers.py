"""Message identifiers in headers, damaged ones included.

Sources: Peter Resnick, "Internet Message Format" (RFC 5322), section 3.6.4; Jamie Zawinski, "message threading",
https://www.jwz.org/doc/threading.html, on the content of In-Reply-To.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_BRACKETED = re.compile(r"<([^<>]*)>")
_MESSAGE_FROM = re.compile(
    r"\b(?:message|mail|note|letter)\b[^<>]{0,40}\bfrom\b(?:(?!\bof\b)[^<>]){0,200}<[^<>]*>", re.IGNORECASE
)
_AROUND = "<>()[]\"',;:"


def message_id_of(values: Iterable[str]) -> str | None:
    """Return the first identifier of the headers Message-ID; None if there is none.

    Examples
    --------
    >>> message_id_of(["  ", "<a@b>"]), message_id_of(["a@b (comment)"]), message_id_of(["<>"])
    ('a@b', 'a@b', None)
    """
    for value in values:
        if found := _bracketed(value):
            return found[0]
        if words := value.replace("<", " ").replace(">", " ").split():
            return words[0].strip(_AROUND) or None
    return None


def references_of(values: Iterable[str]) -> tuple[str, ...]:
    r"""Return the identifiers of all headers References in order, each once.

    An identifier that was folded in the middle is joined; one without angle brackets counts if it contains ``@``.

    Examples
    --------
    >>> references_of(["<a@b><c\r\n d@e>  f@g, <a@b>", "<cut@off"])
    ('a@b', 'cd@e', 'f@g', 'cut@off')
    """
    found: dict[str, None] = {}
    for value in values:
        end = 0
        for match in _BRACKETED.finditer(value):
            found |= dict.fromkeys(_bare(value[end : match.start()]))
            found |= dict.fromkeys(_bracketed(match[0]))
            end = match.end()
        found |= dict.fromkeys(_bare(value[end:]))
    return tuple(found)


def in_reply_to_of(values: Iterable[str], addresses: Collection[str]) -> tuple[str, ...]:
    """Return the identifiers of all headers In-Reply-To in order, each once.

    The header may also be prose, such as ``Message from Ada <ada@example.org> of Monday <1@example.org>``. Addresses in
    it would connect all answers to one person, so they are left out.

    Parameters
    ----------
    values : iterable of str
    addresses : collection of str
        Addresses in other headers of the mail, in lower case.

    Examples
    --------
    >>> in_reply_to_of(["Message from Ada <ada@example.org> of Monday <1@example.org>"], [])
    ('1@example.org',)
    >>> in_reply_to_of(["<ada@example.org>'s message"], ["ada@example.org"]), in_reply_to_of(["1@example.org"], [])
    ((), ('1@example.org',))
    """
    found: dict[str, None] = {}
    for value in values:
        own = _bracketed(_MESSAGE_FROM.sub(" ", value))
        if not own and "<" not in value and len(value.split()) == 1:
            own = _bare(value)
        found |= dict.fromkeys(one for one in own if one.lower() not in addresses)
    return tuple(found)


def _bracketed(value: str) -> list[str]:
    joined = ["".join(inside.split()) for inside in _BRACKETED.findall(value)]
    return [one for one in joined if one]


def _bare(value: str) -> list[str]:
    if "@" not in value:
        return []
    words = (word.strip(_AROUND) for word in value.replace("<", " ").replace(">", " ").replace(",", " ").split())
    return [word for word in words if "@" in word.strip("@")]
