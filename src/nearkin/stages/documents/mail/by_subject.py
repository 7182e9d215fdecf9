"""Links by subject, date and addresses, for answers whose headers name no other mail."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from nearkin.stages.documents.mail.headers import addresses_of
from nearkin.stages.documents.mail.links import NO_NODE, LinkedNodes, ancestors_of
from nearkin.stages.documents.mail.subjects import base_subject
from nearkin.stages.documents.origin import MailHeaders

_MOST_TRIED = 64
"""Earlier mails of a subject that are tried, the latest first."""
_NEVER = datetime.max.replace(tzinfo=UTC)


def link_by_subject(
    nodes: LinkedNodes, headers: Sequence[MailHeaders], order: Sequence[int], window: timedelta
) -> None:
    """Link answers that name no other mail to the latest earlier mail that fits.

    A mail is linked if its headers name no ancestors, no other mail names its parent, its subject is marked as a reply
    or a forward, and an earlier mail has the same base subject, was sent at most ``window`` before, and shares an
    address with it.

    Parameters
    ----------
    nodes : LinkedNodes
    headers : sequence of MailHeaders
    order : sequence of int
        Numbers of the mails, the earliest first.
    window : timedelta
        Zero: nothing is linked.
    """
    if not window:
        return
    bases = [base_subject(one.subject) for one in headers]
    by_base: dict[str, list[int]] = {}
    for mail in order:
        if headers[mail].sent_at is not None and bases[mail].text:
            by_base.setdefault(bases[mail].text, []).append(mail)
    addresses: dict[int, frozenset[str]] = {}

    def addresses_at(mail: int) -> frozenset[str]:
        if mail not in addresses:
            one = headers[mail]
            addresses[mail] = addresses_of([one.sender, one.to, one.cc])
        return addresses[mail]

    for mails in by_base.values():
        times = [headers[mail].sent_at or _NEVER for mail in mails]
        for place, mail in enumerate(mails):
            node = nodes.node_of[mail]
            if not bases[mail].is_reply or nodes.parent[node] != NO_NODE or ancestors_of(headers[mail]):
                continue
            first = max(bisect_left(times, _earliest(times[place], window)), place - _MOST_TRIED)
            for other in reversed(mails[first : bisect_left(times, times[place])]):
                if not addresses_at(mail).isdisjoint(addresses_at(other)) and nodes.link(
                    node, nodes.node_of[other], "subject"
                ):
                    break


def _earliest(moment: datetime, window: timedelta) -> datetime:
    try:
        return moment - window
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)
