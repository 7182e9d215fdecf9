"""Commands that messages propose, with the name of the collection."""

from __future__ import annotations

import re
import shlex

_PROPOSED = re.compile(r"(\bnearkin (?:[a-z]+ )+(?:FILE --against )?)COLLECTION\b")
_PASSWORD = re.compile(r"(://[^:@/?\[]*):.*@", re.DOTALL)
"""Password of a URL, up to the last @: one that is not escaped may be in the password."""


def in_command(place: str) -> str:
    """Return a directory or URL as a shell needs it; the command says PASSWORD where one has to be put in.

    Examples
    --------
    >>> in_command("my matter"), in_command("postgresql://ada:secret@db:5433/matters")
    ("'my matter'", 'postgresql://ada:PASSWORD@db:5433/matters')
    >>> in_command("postgresql://[::1]:5433/matters")
    "'postgresql://[::1]:5433/matters'"
    """
    return shlex.quote(_PASSWORD.sub(r"\1:PASSWORD@", place))


def with_name(text: str, name: str) -> str:
    """Put the name of the collection, as a shell needs it, into proposed commands.

    Examples
    --------
    >>> with_name("Update them: nearkin groups COLLECTION --threshold 0.6", "'my matter'")
    "Update them: nearkin groups 'my matter' --threshold 0.6"
    """
    return _PROPOSED.sub(lambda found: found[1] + name, text)
