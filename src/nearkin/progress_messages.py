"""Messages of progress that are warnings."""

from __future__ import annotations

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
    """Whether ``--quiet`` prints a message of progress.

    Examples
    --------
    >>> is_warning(WarningMessage("mails: not followed: a link")), is_warning("text column: 'body'")
    (True, False)
    """
    return isinstance(message, WarningMessage)


def labelled(label: str, message: str) -> str:
    """Put a label before a message; a warning stays one, and still begins with "Warning: ".

    Examples
    --------
    >>> labelled("other set", WarningMessage("mails: not followed: a link")), labelled("other set", "2 files")
    ('Warning: other set: mails: not followed: a link', 'other set: 2 files')
    """
    text = message.removeprefix(_WORD) if isinstance(message, WarningMessage) else message
    return type(message)(f"{label}: {text}")


def restored(message: str) -> str:
    """Return a message that was stored as text: a warning is one again.

    Examples
    --------
    >>> is_warning(restored("Warning: a.gz: the gzip stream is truncated")), is_warning(restored("text column: 'body'"))
    (True, False)
    """
    return WarningMessage(message) if message.startswith(_WORD) else message
