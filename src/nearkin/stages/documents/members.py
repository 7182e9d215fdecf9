"""Documents inside a file: a mail and its attachments, the files of an archive."""

from __future__ import annotations

import re
from dataclasses import dataclass

BETWEEN = "!"
"""Stands between the id of a container and the name of what is inside."""


@dataclass(frozen=True, slots=True)
class InnerDocument:
    """A document of a file that may hold several.

    Parameters
    ----------
    doc_id : str
        The name of the file where it is the file's own text, else as `MemberIds.of` gives it.
    parent : str or None
        The id of what it is inside of: a document, or a container without a text, of which there is no document.
    text : bytes or None
        In UTF-8.
    problem : str or None
        Why there is no text.
    """

    doc_id: str
    parent: str | None = None
    text: bytes | None = None
    problem: str | None = None


class MemberIds:
    """Ids of the documents inside one file: different ones, the same whenever the file is read.

    Examples
    --------
    >>> ids = MemberIds()
    >>> mail = ids.of("archive.zip", "mails/a.eml", 1)
    >>> [mail, ids.of(mail, "scan.pdf", 1), ids.of(mail, "scan.pdf", 2), ids.of(mail, None, 3)]
    ['archive.zip!mails/a.eml', 'archive.zip!mails/a.eml!scan.pdf', 'archive.zip!mails/a.eml!scan.pdf#2', \
'archive.zip!mails/a.eml!#3']
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, parent: str, name: str | None, position: int) -> str:
        """The id of a member.

        Parameters
        ----------
        parent : str
            The id of what it is inside of.
        name : str or None
            Empty or None where it has none: it is called after its position.
        position : int
            Among the members of its parent, counted from 1.
        """
        doc_id = f"{parent}{BETWEEN}{escaped(name)}" if name else f"{parent}{BETWEEN}#{position}"
        while doc_id in self._taken:
            doc_id += f"#{position}"
        self._taken.add(doc_id)
        return doc_id


def printable_id(doc_id: str) -> str:
    r"""An id as a string of Arrow can hold it: an unpaired surrogate is escaped, as JSON does it.

    Examples
    --------
    >>> print(printable_id("lone\ud800"))
    lone\ud800
    """
    return doc_id.encode("utf-8", "backslashreplace").decode()


def escaped(name: str) -> str:
    r"""The name of a member as ids have it: without "!", and with unpaired surrogates as JSON writes them.

    Examples
    --------
    >>> escaped("100% sure!.txt"), escaped("a%21b"), escaped("%d \ud800")
    ('100% sure%21.txt', 'a%2521b', '%d \\ud800')
    """
    return re.sub(r"%(?=2[15])", "%25", printable_id(name)).replace(BETWEEN, "%21")
