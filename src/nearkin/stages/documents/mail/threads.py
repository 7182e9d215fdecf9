"""Threads: trees of mails and missing mails, in one order whatever the order of the input.

Source: Jamie Zawinski, "message threading", https://www.jwz.org/doc/threading.html. Mails that are only referenced are
nodes as well. Unlike there, a mail's own headers come before what other mails say of it, and both are taken by date, so
that the order of the input changes nothing. Copies of a mail share a node, which they all speak for.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Literal

from nearkin.stages.documents.mail.headers import addresses_of
from nearkin.stages.documents.mail.inclusive import Quotations
from nearkin.stages.documents.members import MailHeaders

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


DEFAULT_WINDOW = timedelta(days=14)
_BEFORE_ALL = datetime.min.replace(tzinfo=UTC)
_UNKNOWN = datetime.max.replace(tzinfo=UTC)
NodeKey = tuple[datetime, str, str]


@dataclass(frozen=True, slots=True)
class NamedMail:
    """A mail to be threaded.

    Parameters
    ----------
    name : str
        Unique.
    headers : MailHeaders
    """

    name: str
    headers: MailHeaders

    @property
    def order(self) -> NodeKey:
        """Place among all mails: by date, those without a date last, then by Message-ID and name."""
        return self.headers.sent_at or _UNKNOWN, self.headers.message_id or "", self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadNode:
    """A mail of a thread, or a missing one.

    Parameters
    ----------
    thread : int
        Number of the thread, from 1; the earliest is 1.
    position : int
        Place in the tree, from 1: each mail is followed by its answers, the earliest first.
    depth : int
        0 for a root.
    mail : int or None
        Number of the mail; None if it is missing.
    copies : tuple of int
        Other mails with the same Message-ID, date, sender and base subject: they have the same place.
    message_id : str or None
    parent : int or None
        Position of the parent.
    source : {"headers", "another mail", "subject"} or None
        How the parent is known; None for a root.
    """

    thread: int
    position: int
    depth: int
    mail: int | None
    copies: tuple[int, ...] = ()
    message_id: str | None
    parent: int | None
    source: LinkSource | None

    @property
    def mails(self) -> tuple[int, ...]:
        """The mail and its copies; none if it is missing."""
        return () if self.mail is None else (self.mail, *self.copies)


def thread_mails(
    mails: Sequence[NamedMail], window: timedelta = DEFAULT_WINDOW, quotations: Quotations | None = None
) -> list[ThreadNode]:
    """Return all threads, one after another, each in the order of its tree.

    A mail that no mail refers to and that refers to none is a thread by itself. A missing mail is one that others
    refer to; it is in the tree wherever a mail is below it.

    Parameters
    ----------
    mails : sequence of NamedMail
        Without duplicate spares.
    window : timedelta, default 14 days
    quotations : Quotations, optional
        See `link_by_subject`.

    Examples
    --------
    >>> mails = [NamedMail("x", MailHeaders(message_id="c", references=("a", "b"))),
    ...     NamedMail("y", MailHeaders(message_id="a"))]
    >>> [(node.position, node.depth, node.message_id, node.mail) for node in thread_mails(mails)]
    [(1, 0, 'a', 1), (2, 1, 'b', None), (3, 2, 'c', 0)]
    """
    order = sorted(range(len(mails)), key=lambda number: mails[number].order)
    headers = [mail.headers for mail in mails]
    nodes = linked_by_headers(headers, order)
    link_by_subject(nodes, headers, order, window, quotations)
    children, roots = _sorted_trees(nodes, mails)
    copies: dict[int, list[int]] = {}
    for mail in order:
        if nodes.mail_of[node := nodes.node_of[mail]] != mail:
            copies.setdefault(node, []).append(mail)
    found: list[ThreadNode] = []
    for thread, root in enumerate(roots, 1):
        _add_tree(found, thread, root, nodes, children, copies)
    return found


def _sorted_trees(nodes: LinkedNodes, mails: Sequence[NamedMail]) -> tuple[list[list[int]], list[int]]:
    """Return the children of each node and all roots, each by date; a missing mail has the earliest date below it.

    Missing mails without a mail below them are left out: a refused link may leave some.
    """
    children: list[list[int]] = [[] for _ in nodes.parent]
    roots = list[int]()
    for node, above in enumerate(nodes.parent):
        (roots if above == NO_NODE else children[above]).append(node)
    downwards = list(roots)
    for node in downwards:  # grows while it is read
        downwards += children[node]
    keys: dict[int, NodeKey] = {}
    for node in reversed(downwards):
        children[node] = sorted((one for one in children[node] if one in keys), key=keys.__getitem__)
        mail = nodes.mail_of[node]
        if mail != NO_NODE:
            keys[node] = mails[mail].order
        elif children[node]:
            keys[node] = (keys[children[node][0]][0], nodes.message_id[node] or "", "")
    return children, sorted((root for root in roots if root in keys), key=keys.__getitem__)


def _add_tree(
    found: list[ThreadNode], thread: int, root: int, nodes: LinkedNodes,
    children: Sequence[Sequence[int]], copies: Mapping[int, Sequence[int]],
) -> None:  # fmt: skip
    before = len(found)
    waiting: list[tuple[int, int, int | None]] = [(root, 0, None)]
    while waiting:
        node, depth, parent = waiting.pop()
        position = len(found) - before + 1
        mail = nodes.mail_of[node]
        found.append(
            ThreadNode(
                thread=thread,
                position=position,
                depth=depth,
                mail=None if mail == NO_NODE else mail,
                copies=tuple(copies.get(node, ())),
                message_id=nodes.message_id[node],
                parent=parent,
                source=nodes.source[node],
            )
        )
        waiting += [(one, depth + 1, position) for one in reversed(children[node])]


def reading_order(
    nodes: Sequence[ThreadNode], mails: Sequence[NamedMail], size_of: Callable[[int], tuple[int, ...]] | None = None
) -> list[int]:
    """Return the mails of one thread, the earliest first, each after the one it answers even if its date is wrong.

    Parameters
    ----------
    nodes : sequence of ThreadNode
        Those of one thread, in their order.
    mails : sequence of NamedMail
    size_of : callable, optional
        Size of a mail: of the copies of one mail, the smallest comes first, so that a larger one can include it.
    """
    times: list[datetime] = []
    for node in nodes:
        above = _BEFORE_ALL if node.parent is None else times[node.parent - 1]
        own = None if node.mail is None else mails[node.mail].headers.sent_at
        times.append(above if own is None else max(own, above))
    order = sorted(range(len(nodes)), key=lambda place: (times[place], place))
    found: list[int] = []
    for place in order:
        one = nodes[place]
        found += sorted(one.mails, key=size_of) if one.copies and size_of is not None else one.mails
    return found


_MOST_TRIED = 64
"""Earlier mails of a subject that are tried, the latest first."""
_MOST_COMPARED = 16
"""Number of these mails whose text is compared with the quoted text."""


@dataclass(slots=True)
class _Earlier:
    """Mails of a subject in the order of their dates."""

    times: list[datetime] = field(default_factory=list)
    mails: list[int] = field(default_factory=list)


def link_by_subject(
    nodes: LinkedNodes,
    headers: Sequence[MailHeaders],
    order: Sequence[int],
    window: timedelta,
    quotations: Quotations | None = None,
) -> None:
    """Link answers to the earlier mail that fits best, if their headers name no available mail.

    These are mails that name no ancestors, and missing mails at the top of a tree, for which the earliest mail below
    speaks. That mail must be marked as a reply or a forward by its subject, and an earlier mail must have the same base
    subject, have been sent at most ``window`` before, and share an address with it.

    Parameters
    ----------
    nodes : LinkedNodes
    headers : sequence of MailHeaders
    order : sequence of int
        Numbers of the mails, the earliest first.
    window : timedelta
        Zero: nothing is linked.
    quotations : Quotations, optional
        Of the mails that fit, the one of whose new text the answer quotes the largest share comes first, then the
        latest.
    """
    if not window:
        return
    earlier: dict[str, _Earlier] = {}
    addresses: dict[int, frozenset[str]] = {}
    spoken_for: set[int] = set()

    def addresses_at(mail: int) -> frozenset[str]:
        if mail not in addresses:
            one = headers[mail]
            addresses[mail] = addresses_of([one.sender, one.to, one.cc])
        return addresses[mail]

    for mail in order:
        sent_at, base = headers[mail].sent_at, base_subject(headers[mail].subject)
        if sent_at is None:
            break  # mails without a date come last
        top = nodes.root(nodes.node_of[mail])
        is_first = top not in spoken_for
        spoken_for.add(top)
        if not base.text:
            continue
        before = earlier.setdefault(base.text, _Earlier())
        is_missing = nodes.mail_of[top] == NO_NODE
        if (
            base.is_reply
            and is_first
            and (is_missing or (nodes.mail_of[top] == mail and not ancestors_of(headers[mail])))
        ):
            end = bisect_left(before.times, sent_at)
            start = max(bisect_left(before.times, sent_at - window), end - _MOST_TRIED)
            fitting = [
                other
                for other in reversed(before.mails[start:end])
                if not addresses_at(mail).isdisjoint(addresses_at(other))
            ]
            for other in _best_first(mail, fitting, quotations):
                if nodes.link(top, nodes.node_of[other], "subject"):
                    break
        before.times.append(sent_at)
        before.mails.append(mail)


def _best_first(mail: int, fitting: Sequence[int], quotations: Quotations | None) -> Sequence[int]:
    """Return the mails sorted by the share that is quoted, the largest first; only the latest mails are compared."""
    if quotations is None or len(fitting) < 2:
        return fitting
    compared = fitting[:_MOST_COMPARED]
    return [*sorted(compared, key=lambda other: -quotations.share(mail, other)), *fitting[_MOST_COMPARED:]]
