"""Fields of forms with texts of users, such as ids: HTML changes line breaks, so a text with one is sent escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote, unquote

from markupsafe import Markup

_ESCAPED = ".escaped"
"""End of the name of a field whose value has % escapes; no parameter of a page has a dot in its name."""
_BREAK = re.compile(r"[\r\n]")


def named_value(name: str, value: object) -> Markup:
    r"""Return the attributes ``name`` and ``value`` of a field whose value arrives unchanged.

    Examples
    --------
    >>> print(named_value("id", "50% & more"))
    name="id" value="50% &amp; more"
    >>> print(named_value("id", "two\nlines"))
    name="id.escaped" value="two%0Alines"
    """
    text = str(value)
    if _BREAK.search(text):
        name, text = name + _ESCAPED, quote(text)
    return Markup('name="{}" value="{}"').format(name, text)


def unescaped(sent: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    r"""Return the names and values of fields as they were given to ``named_value``.

    Examples
    --------
    >>> unescaped([("id", "50%25"), ("id.escaped", "two%0Alines")])
    [('id', '50%25'), ('id', 'two\nlines')]
    """
    return [
        (name.removesuffix(_ESCAPED), unquote(value)) if name.endswith(_ESCAPED) else (name, value)
        for name, value in sent
    ]
