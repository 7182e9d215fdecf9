"""Links between mails by their headers: who answers whom, without loops, whatever the order of the input.

Source: Jamie Zawinski, "message threading", https://www.jwz.org/doc/threading.html. Mails that are only referenced are
nodes as well. Unlike there, a mail's own headers come before what other mails say of it, and both are taken by date, so
that the order of the input changes nothing. Copies of a mail share a node, which they all speak for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from nearkin.stages.documents.mail.headers import addresses_of
from nearkin.stages.documents.origin import MailHeaders

LinkSource = Literal["headers", "another mail", "subject"]
LINK_SOURCES: tuple[LinkSource, ...] = ("headers", "another mail", "subject")
"""Sources of a mail's parent: its own In-Reply-To and References, References of a later mail, or
subject, date and addresses."""
NO_NODE = -1


@dataclass(slots=True)
class LinkedNodes:
    """Mails and missing mails, each with its parent.

    Parameters
    ----------
    mail_of : list of int
        Number of the mail of each node, the first of its copies; -1 for a mail that is missing.
    message_id : list of str or None
    parent : list of int
        Node of the parent; -1 for roots.
    source : list of LinkSource or None
        None for roots.
    node_of : list of int
        Node of each mail.
    """

    mail_of: list[int] = field(default_factory=list)
    message_id: list[str | None] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    source: list[LinkSource | None] = field(default_factory=list)
    node_of: list[int] = field(default_factory=list)
    _up: list[int] = field(default_factory=list)
    """A node above in the tree, if not the root: paths to the roots are shortened when they are walked."""

    def add(self, message_id: str | None, mail: int = NO_NODE) -> int:
        """Add a node without a parent; return its number."""
        node = len(self.mail_of)
        self.mail_of.append(mail)
        self.message_id.append(message_id)
        self.parent.append(NO_NODE)
        self.source.append(None)
        self._up.append(node)
        return node

    def root(self, node: int) -> int:
        """Return the root of a node's tree, in nearly constant time."""
        while self._up[node] != node:
            self._up[node] = node = self._up[self._up[node]]
        return node

    def link(self, child: int, parent: int, source: LinkSource) -> bool:
        """Give a root a parent; return whether that was possible without a loop."""
        root = self.root(parent)
        if self.parent[child] != NO_NODE or root == child:
            return False
        self.parent[child], self.source[child], self._up[child] = parent, source, root
        return True


def linked_by_headers(headers: Sequence[MailHeaders], order: Sequence[int]) -> LinkedNodes:
    """Link mails by Message-ID, In-Reply-To and References.

    Parameters
    ----------
    headers : sequence of MailHeaders
    order : sequence of int
        Numbers of the mails, the earliest first.

    Examples
    --------
    >>> mails = [MailHeaders(message_id="a"), MailHeaders(message_id="c", references=("a", "b"))]
    >>> nodes = linked_by_headers(mails, [0, 1])
    >>> nodes.message_id, nodes.parent, nodes.mail_of
    (['a', 'c', 'b'], [-1, 2, 0], [0, 1, -1])
    """
    nodes, known = LinkedNodes(node_of=[NO_NODE] * len(headers)), dict[str, int]()
    of_copies: dict[tuple[object, ...], int] = {}
    for mail in order:
        own, key = headers[mail].message_id, copy_key(headers[mail])
        if key in of_copies:
            nodes.node_of[mail] = of_copies[key]
            continue
        nodes.node_of[mail] = nodes.add(own, mail)
        if key is not None:
            of_copies[key] = nodes.node_of[mail]
        if own is not None:  # of mails that share an identifier, the earliest is the one that others refer to
            known.setdefault(own, nodes.node_of[mail])
    chains = [(mail, ancestors_of(headers[mail])) for mail in order]
    for _, chain in chains:
        for one in chain:
            if one not in known:
                known[one] = nodes.add(one)
    # the latest first: where two mails claim to answer each other, the later one does
    for mail, chain in reversed(chains):
        for one in reversed(chain):
            if nodes.link(nodes.node_of[mail], known[one], "headers"):
                break
    for _, chain in chains:
        for above, below in pairwise(chain):
            nodes.link(known[below], known[above], "another mail")
    return nodes


def copy_key(headers: MailHeaders) -> tuple[object, ...] | None:
    """Return a key that copies of one mail share; None if the headers do not say enough.

    A Message-ID alone is too little, as some programs give the same one to different mails: date, sender and base
    subject must agree, too. The sender is compared by address if there is one.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> sent = datetime(2004, 1, 5, tzinfo=UTC)
    >>> mail = MailHeaders(message_id="a", sent_at=sent, sender="Ada <ada@x.org>", subject="Mill")
    >>> copy = MailHeaders(message_id="a", sent_at=sent, sender="ada@x.org", subject="[list] Mill")
    >>> copy_key(mail) == copy_key(copy), copy_key(MailHeaders(message_id="a"))
    (True, None)
    """
    if headers.message_id is None or headers.sent_at is None:
        return None
    sender = addresses_of([headers.sender]) or (headers.sender or "").casefold()
    return headers.message_id, headers.sent_at, sender, base_subject(headers.subject).text


def ancestors_of(headers: MailHeaders) -> tuple[str, ...]:
    """Return the identifiers of the ancestors that a mail names, its parent last.

    Examples
    --------
    >>> ancestors_of(MailHeaders(message_id="d", references=("a", "b", "c", "d"), in_reply_to=("b",)))
    ('a', 'c', 'b')
    """
    chain = dict.fromkeys(one for one in headers.references if one != headers.message_id)
    parent = next((one for one in headers.in_reply_to if one != headers.message_id), None)
    if parent is not None:
        chain.pop(parent, None)
        chain[parent] = None
    return tuple(chain)


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
