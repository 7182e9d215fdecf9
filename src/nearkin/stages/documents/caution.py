"""Message about a probable mistake in reading documents."""

from __future__ import annotations


class Caution(str):
    """Message about a probable mistake; the command line shows it as a warning after the work.

    Other receivers of progress may treat it as any other message.

    Examples
    --------
    >>> Caution("Standard input looks like CSV and was read as one text")
    'Standard input looks like CSV and was read as one text'
    """

    __slots__ = ()
