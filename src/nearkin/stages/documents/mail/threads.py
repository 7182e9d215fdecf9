"""Threads: trees of mails and missing mails, in one order whatever the order of the input."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from nearkin.stages.documents.mail.headers import addresses_of
from nearkin.stages.documents.mail.links import (
    NO_NODE,
    LinkedNodes,
    LinkSource,
    ancestors_of,
    base_subject,
    linked_by_headers,
)
from nearkin.stages.documents.mail.passages import Quotations
from nearkin.stages.documents.origin import MailHeaders

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
