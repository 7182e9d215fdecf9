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


def is_warning(message: str) -> bool:
    """Whether ``--quiet`` prints a message of progress: the one definition of a warning among these messages.

    Examples
    --------
    >>> is_warning("Warning: mails: not followed: a link"), is_warning("text column: 'body'")
    (True, False)
    """
    return isinstance(message, Caution) or message.startswith("Warning: ")
