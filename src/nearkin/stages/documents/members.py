"""Documents inside a file, such as a mail with its attachments or the files of an archive."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nearkin.paths import STDIN
from nearkin.stages.documents.origin import Origin

BETWEEN = "!"
"""Separator between the id of a container and the name of a member."""
SENT = "sent: "
"""Beginning of the source of a document that came over the network: the rest is no path, whatever it looks like."""


def place_text(doc_id: str | None, source: str, line: int) -> str:
    """Write where a document is: ``file:line``, or the id of a document inside a file, which names it.

    A document of standard input that has no id of its own is named after its line; its place begins with this name.

    Examples
    --------
    >>> place_text("x", "in.jsonl", 248), place_text("d.zip!a.txt", "d.zip", 248)
    ('in.jsonl:248', 'd.zip!a.txt')
    >>> place_text("x", "-", 95), place_text("-:95", "-", 95), place_text(None, "-", 95)
    ('standard input, line 95', '-:95 (standard input)', '-:95 (standard input)')
    """
    if doc_id is not None and doc_id.startswith(f"{source}{BETWEEN}"):
        return doc_id
    name = f"{source}:{line}"
    return f"{name} (standard input)" if source == STDIN and doc_id in (None, name) else _line_text(source, line)


def origin_text(doc_id: str, source: str, line: int) -> str:
    """Write the file of a document beside its id: without the line if the id names the file, or the document inside it.

    Examples
    --------
    >>> origin_text("x", "in.jsonl", 248), origin_text("d.zip!a.txt", "d.zip", 248), origin_text("x", "sent: x", 1)
    ('in.jsonl:248', 'd.zip', 'sent: x')
    >>> origin_text("mail/1.eml", "mail/1.eml", 1), origin_text("-:95", "-", 95)
    ('mail/1.eml', 'standard input, line 95')
    """
    is_sent_alone = source.startswith(SENT)
    is_named = doc_id == source or doc_id.startswith(f"{source}{BETWEEN}") or is_sent_alone
    return source if is_named else _line_text(source, line)


def _line_text(source: str, line: int) -> str:
    return f"standard input, line {line}" if source == STDIN else f"{source}:{line}"


@dataclass(frozen=True, slots=True)
class InnerDocument:
    """A document of a file that may contain several.

    Parameters
    ----------
    doc_id : str
        Name of the file for the file's own text; otherwise from `MemberIds.of`.
    parent : str or None
        Id of the enclosing document, or of a container that has no text and is not a document itself.
    text : bytes or None
        Encoded in UTF-8.
    problem : str or None
        Why there is no text.
    origin : Origin or None
        Of a document that was extracted.
    """

    doc_id: str
    parent: str | None = None
    text: bytes | None = None
    problem: str | None = None
    origin: Origin | None = None


class MemberIds:
    """Ids of the documents inside one file: distinct, and the same each time that the file is read.

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
        """Return the id of a member.

        Parameters
        ----------
        parent : str
            Id of the enclosing document or container.
        name : str or None
            If empty or None, the member is named after its position.
        position : int
            Position among the members of its parent, counted from 1.
        """
        doc_id = f"{parent}{BETWEEN}{escaped(name)}" if name else f"{parent}{BETWEEN}#{position}"
        while doc_id in self._taken:
            doc_id += f"#{position}"
        self._taken.add(doc_id)
        return doc_id


def printable_id(doc_id: str) -> str:
    r"""Return an id that an Arrow string can hold: unpaired surrogates are escaped as in JSON.

    Examples
    --------
    >>> print(printable_id("lone\ud800"))
    lone\ud800
    """
    return doc_id.encode("utf-8", "backslashreplace").decode()


def escaped(name: str) -> str:
    r"""Return the name of a member for use in ids: without "!", and with unpaired surrogates as JSON writes them.

    Examples
    --------
    >>> escaped("100% sure!.txt"), escaped("a%21b"), escaped("%d \ud800")
    ('100% sure%21.txt', 'a%2521b', '%d \\ud800')
    """
    return re.sub(r"%(?=2[15])", "%25", printable_id(name)).replace(BETWEEN, "%21")
