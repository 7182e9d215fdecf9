"""Commands that messages propose, with the name of the collection, for pages."""

from __future__ import annotations

import re

_PROPOSED = re.compile(r"(\bnearkin (?:[a-z]+ )+(?:FILE --against )?)COLLECTION\b")


def with_name(text: str, name: str) -> str:
    """Put the name of the collection, as a shell needs it, into proposed commands.

    Examples
    --------
    >>> with_name("Update them: nearkin groups COLLECTION --threshold 0.6", "'my matter'")
    "Update them: nearkin groups 'my matter' --threshold 0.6"
    """
    return _PROPOSED.sub(lambda found: found[1] + name, text)
