"""Links by subject, date and addresses, for mails whose headers name no available mail."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from nearkin.stages.documents.mail.headers import addresses_of
from nearkin.stages.documents.mail.links import NO_NODE, LinkedNodes, ancestors_of
from nearkin.stages.documents.mail.quotations import Quotations
from nearkin.stages.documents.mail.subjects import base_subject
from nearkin.stages.documents.origin import MailHeaders

_MOST_TRIED = 64
"""Earlier mails of a subject that are tried, the latest first."""
_MOST_COMPARED = 16
"""Number of these mails whose text is compared with the quoted text."""
_START = datetime.min.replace(tzinfo=UTC)


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
            start = max(bisect_left(before.times, _minus(sent_at, window)), end - _MOST_TRIED)
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


def _minus(moment: datetime, window: timedelta) -> datetime:
    try:
        return moment - window
    except OverflowError:
        return _START
