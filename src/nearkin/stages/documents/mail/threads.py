"""Threads: trees of mails and missing mails, in one order whatever the order of the input.

Source: Jamie Zawinski, "message threading", https://www.jwz.org/doc/threading.html. Unlike there, a mail's own headers
come before what other mails say of it, and both are taken by date, so that the order of the input changes nothing.
"""

from __future__ import annotations

import base64
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from operator import attrgetter
from typing import Literal

from nearkin.stages.documents.mail.headers import addresses_of
from nearkin.stages.documents.mail.inclusive import Quotations
from nearkin.stages.documents.members import MailHeaders

LinkSource = Literal["headers", "another mail", "subject"]
LINK_SOURCES: tuple[LinkSource, ...] = ("headers", "another mail", "subject")
"""Sources of a mail's parent: its own In-Reply-To, References or Thread-Index, References of a later mail, or
subject, date and addresses."""
DEFAULT_WINDOW = timedelta(days=14)
_BEFORE_ALL = datetime.min.replace(tzinfo=UTC)
_UNKNOWN = datetime.max.replace(tzinfo=UTC)
NodeKey = tuple[datetime, str, str]


@dataclass(frozen=True, slots=True)
class NamedMail:
    """A mail with a unique name; its duplicate spares may write the same people otherwise."""

    name: str
    headers: MailHeaders
    spares: tuple[NamedMail, ...] = ()

    @property
    def order(self) -> NodeKey:
        """Place among all mails: by date, those without a date last, then by Message-ID and name."""
        return self.headers.sent_at or _UNKNOWN, self.headers.message_id or "", self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadNode:
    """A mail of a thread, or a missing one; threads are numbered from 1, the earliest first.

    ``position`` is the place in the tree, from 1: each mail is followed by its answers, the earliest first.
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

    Parameters
    ----------
    window
        Time within which answers are linked by their subject, if their headers name no mail that is there; zero: never.
    quotations
        Of the mails that an answer may be linked to, the one whose new text it quotes most comes first, then the
        latest.
    """
    order = sorted(range(len(mails)), key=lambda number: mails[number].order)
    headers = [mail.headers for mail in mails]
    nodes, node_of = _linked_by_headers(headers, order)
    _link_by_conversation(node_of, headers, order)
    if window:
        _link_by_subject(node_of, mails, order, window, quotations)
    return [
        thread_mail for thread, root in enumerate(_sorted_roots(nodes, mails), 1) for thread_mail in _tree(thread, root)
    ]


class _Node:
    __slots__ = ("_up", "children", "copies", "key", "mail", "message_id", "parent", "source")

    def __init__(self, message_id: str | None, mail: int | None = None) -> None:
        self.message_id, self.mail = message_id, mail
        self.copies: list[int] = []
        self.parent: _Node | None = None
        self.source: LinkSource | None = None
        self.children: list[_Node] = []
        self.key: NodeKey | None = None
        self._up = self
        """A node above in the tree, if not the root: paths to the roots are shortened when they are walked."""

    @property
    def root(self) -> _Node:
        node = self
        while node._up is not node:
            node._up = node = node._up._up
        return node

    def link(self, parent: _Node, source: LinkSource) -> bool:
        """Give a root a parent; return whether that made no loop."""
        root = parent.root
        if self.parent is not None or root is self:
            return False
        self.parent, self.source, self._up = parent, source, root
        return True


def _linked_by_headers(headers: Sequence[MailHeaders], order: Sequence[int]) -> tuple[list[_Node], dict[int, _Node]]:
    nodes, node_of, known = list[_Node](), dict[int, _Node](), dict[str, _Node]()
    of_copies: dict[tuple[object, ...], _Node] = {}
    for mail in order:
        message_id, key = headers[mail].message_id, copy_key(headers[mail])
        if key is not None and key in of_copies:
            of_copies[key].copies.append(mail)
            node_of[mail] = of_copies[key]
            continue
        node = node_of[mail] = _Node(message_id, mail)
        nodes.append(node)
        if key is not None:
            of_copies[key] = node
        if message_id is not None:  # of mails that share an identifier, the earliest is the one that others refer to
            known.setdefault(message_id, node)
    chains = [(node_of[mail], ancestors_of(headers[mail])) for mail in order]
    for message_id in (identifier for _, chain in chains for identifier in chain):
        if message_id not in known:
            known[message_id] = _Node(message_id)
            nodes.append(known[message_id])
    # the latest first: where two mails claim to answer each other, the later one does
    for node, chain in reversed(chains):
        any(node.link(known[message_id], "headers") for message_id in reversed(chain))  # to the first that is possible
    for _, chain in chains:
        for above, below in pairwise(chain):
            known[below].link(known[above], "another mail")
    return nodes, node_of


_MOST_TRIED = 64
"""Earlier mails of a subject that are tried, the latest first."""
_MOST_COMPARED = 16
"""Number of these mails whose text is compared with the quoted text."""


def _link_by_subject(
    node_of: dict[int, _Node], mails: Sequence[NamedMail], order: Sequence[int], window: timedelta,
    quotations: Quotations | None,
) -> None:  # fmt: skip
    headers = [mail.headers for mail in mails]

    @cache
    def addresses_at(mail: int) -> frozenset[str]:
        same = [headers[mail], *(spare.headers for spare in mails[mail].spares)]
        return addresses_of([people for message in same for people in (message.sender, message.to, message.cc)])

    times, earlier = dict[str, list[datetime]](), dict[str, list[int]]()  # of each subject, in the order of the dates
    spoken_for: set[_Node] = set()
    for mail in order:
        sent_at, base, top = headers[mail].sent_at, _topic(headers[mail]), node_of[mail].root
        if sent_at is None:
            break  # mails without a date come last
        is_first = top not in spoken_for
        spoken_for.add(top)
        if not base.text:
            continue
        before = times.setdefault(base.text, [])
        is_open = top.mail is None or (top.mail == mail and not ancestors_of(headers[mail]))
        if base.is_reply and is_first and is_open:
            end = bisect_left(before, sent_at)
            start = max(bisect_left(before, sent_at - window), end - _MOST_TRIED)
            candidates = reversed(earlier.get(base.text, [])[start:end])
            fitting = [other for other in candidates if not addresses_at(mail).isdisjoint(addresses_at(other))]
            if quotations is not None and len(fitting) > 1:
                shares = {other: quotations.share(mail, other) for other in fitting[:_MOST_COMPARED]}
                fitting.sort(key=lambda other: -shares.get(other, -1.0))
            any(top.link(node_of[other], "subject") for other in fitting)  # to the first that is possible
        before.append(sent_at)
        earlier.setdefault(base.text, []).append(mail)


def _topic(headers: MailHeaders) -> BaseSubject:
    subject, first = base_subject(headers.subject), base_subject(headers.thread_topic)
    return BaseSubject(first.text, subject.is_reply or subject.text != first.text) if first.text else subject


def _sorted_roots(nodes: Sequence[_Node], mails: Sequence[NamedMail]) -> list[_Node]:
    roots = list[_Node]()
    for node in nodes:
        (roots if node.parent is None else node.parent.children).append(node)
    downwards = list(roots)
    for node in downwards:  # grows while it is read
        downwards += node.children
    for node in reversed(downwards):
        node.children = _by_key(node.children)
        if node.mail is not None:
            node.key = mails[node.mail].order
        elif node.children and (first := node.children[0].key) is not None:
            node.key = (first[0], node.message_id or "", "")
    return _by_key(roots)


def _by_key(nodes: Sequence[_Node]) -> list[_Node]:
    return sorted((node for node in nodes if node.key is not None), key=attrgetter("key"))


def _tree(thread: int, root: _Node) -> Iterator[ThreadNode]:
    position, waiting = 0, list[tuple[_Node, int, int | None]]([(root, 0, None)])
    while waiting:
        node, depth, parent = waiting.pop()
        position += 1
        yield ThreadNode(
            thread=thread, position=position, depth=depth, mail=node.mail, copies=tuple(node.copies),
            message_id=node.message_id, parent=parent, source=node.source,
        )  # fmt: skip
        waiting += [(child, depth + 1, position) for child in reversed(node.children)]


def reading_order(
    nodes: Sequence[ThreadNode], mails: Sequence[NamedMail], size_of: Callable[[int], tuple[int, ...]] | None = None
) -> list[int]:
    """Return the mails of one thread, the earliest first, each after the one it answers even if its date is wrong."""
    times: list[datetime] = []
    for node in nodes:
        above = _BEFORE_ALL if node.parent is None else times[node.parent - 1]
        sent_at = None if node.mail is None else mails[node.mail].headers.sent_at
        times.append(above if sent_at is None else max(sent_at, above))
    order = sorted(range(len(nodes)), key=lambda place: (times[place], place))
    mail_numbers: list[int] = []
    for place in order:
        current = nodes[place]
        mail_numbers += sorted(current.mails, key=size_of) if current.copies and size_of is not None else current.mails
    return mail_numbers


def copy_key(headers: MailHeaders) -> tuple[object, ...] | None:
    """Return a key that copies of one mail share; None if the headers do not say enough.

    A Message-ID alone is too little, as some programs give the same one to different mails: date and base subject must
    agree, too.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> sent = datetime(2004, 1, 5, tzinfo=UTC)
    >>> mail = MailHeaders(message_id="a", sent_at=sent, sender="Ada <ada@x.org>", subject="Mill")
    >>> copy = MailHeaders(message_id="a", sent_at=sent, sender="/O=X/CN=ADA", subject="[list] Mill")
    >>> copy_key(mail) == copy_key(copy), copy_key(MailHeaders(message_id="a"))
    (True, None)
    """
    if headers.message_id is None or headers.sent_at is None:
        return None
    return headers.message_id, headers.sent_at, base_subject(headers.subject).text


def ancestors_of(headers: MailHeaders) -> tuple[str, ...]:
    """Return the identifiers of the ancestors that a mail names, its parent last."""
    chain = dict.fromkeys(reference for reference in headers.references if reference != headers.message_id)
    for parent in [identifier for identifier in headers.in_reply_to if identifier != headers.message_id][-1:]:
        chain.pop(parent, None)
        chain[parent] = None
    return tuple(chain)


_FIRST_BYTES, _ANSWER_BYTES = 22, 5
_MAX_ANSWERS = 500  # a longer index is none: each answer above is looked up


def conversation_of(thread_index: str | None) -> bytes:
    """Return a Thread-Index as bytes: 22 of the first mail, and 5 more for each answer.

    Source: Microsoft, [MS-OXOMSG], PidTagConversationIndex.
    """
    try:
        index = base64.b64decode(thread_index or "", validate=True)
    except ValueError:
        return b""
    n_answers, rest = divmod(len(index) - _FIRST_BYTES, _ANSWER_BYTES)
    return index if rest == 0 and 0 <= n_answers <= _MAX_ANSWERS else b""


def _link_by_conversation(node_of: dict[int, _Node], headers: Sequence[MailHeaders], order: Sequence[int]) -> None:
    """Link what no header links by the conversation of Exchange: to the nearest mail above, else to the top."""
    indexes = {mail: index for mail in order if (index := conversation_of(headers[mail].thread_index))}
    above, tops = dict[bytes, _Node](), dict[bytes, _Node]()
    for mail, index in indexes.items():
        above.setdefault(index, node_of[mail])
        tops.setdefault(index[:_FIRST_BYTES], node_of[mail])
    for mail, index in indexes.items():
        top = node_of[mail].root
        if top.mail is not None and (top.mail != mail or ancestors_of(headers[mail])):
            continue
        ends = range(len(index) - _ANSWER_BYTES, _FIRST_BYTES - 1, -_ANSWER_BYTES)
        nearest = [above[index[:end]] for end in ends if index[:end] in above]
        any(top.link(node, "headers") for node in [*nearest, tops[index[:_FIRST_BYTES]].root])


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
    """A subject without its marks, case-folded; ``is_reply`` for one of a reply or a forward."""

    text: str
    is_reply: bool


def base_subject(subject: str | None) -> BaseSubject:
    """Return the base of the first 2,000 characters of a subject."""
    text, is_reply = " ".join((subject or "")[:_MAX_CHARACTERS].split()), False
    while True:
        if occurrence := _TRAILING.search(text):
            text, is_reply = text[: occurrence.start()], True
        elif occurrence := _REPLY.match(text):
            text, is_reply = text[occurrence.end() :], True
        elif occurrence := _FORWARDED.match(text):
            text, is_reply = occurrence[1].strip(), True
        elif (occurrence := _LEADING_BLOB.match(text)) and occurrence.end() < len(text):
            text = text[occurrence.end() :]
        else:
            return BaseSubject(text.casefold(), is_reply)
