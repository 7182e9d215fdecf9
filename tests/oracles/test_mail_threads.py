"""Threads of mails against a slow definition, known trees, and every order of the input."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from nearkin.stages.documents.mail.inclusive import Quotations
from nearkin.stages.documents.mail.threads import (
    BaseSubject,
    NamedMail,
    ThreadNode,
    ancestors_of,
    base_subject,
    conversation_of,
    reading_order,
    thread_mails,
)
from nearkin.stages.documents.members import MailHeaders

START = datetime(2004, 1, 5, tzinfo=UTC)
IDS = [f"m{i}" for i in range(9)]
SUBJECTS = ["lease", "Re: lease", "AW: [x] Lease", "mill", "Fwd: mill", "", None, "Re:"]
ADDRESSES = ["ada@x", "bo@x", "cy@x", None]
CONVERSATIONS = [None, "", "AQ", *(base64.b64encode(bytes([1]) * (22 + 5 * n)).decode() for n in (0, 1, 2, 4))]
WINDOW = timedelta(days=3)


@st.composite
def some_mails(draw: st.DrawFn) -> list[NamedMail]:
    n = draw(st.integers(0, 9))
    few = st.lists(st.sampled_from(IDS), max_size=4).map(tuple)
    return [
        NamedMail(
            f"n{i}",
            MailHeaders(
                message_id=draw(st.sampled_from([*IDS, None])),
                references=draw(few),
                in_reply_to=draw(few),
                subject=draw(st.sampled_from(SUBJECTS)),
                sent_at=draw(st.sampled_from([None, *(START + timedelta(days=d) for d in range(6))])),
                sender=draw(st.sampled_from(ADDRESSES)),
                to=draw(st.sampled_from(ADDRESSES)),
                thread_index=draw(st.sampled_from(CONVERSATIONS)),
                thread_topic=draw(st.sampled_from([None, None, "lease"])),
            ),
        )
        for i in range(n)
    ]


def shape(nodes: Sequence[ThreadNode], mails: Sequence[NamedMail]) -> list[tuple[object, ...]]:
    """What a user sees of the threads, by the names of mails."""
    return [
        (one.thread, one.position, one.depth, one.parent, one.message_id, one.source,
         None if one.mail is None else tuple(mails[mail].name for mail in one.mails))
        for one in nodes
    ]  # fmt: skip


def copies_by_definition(mail: NamedMail, ordered: Sequence[NamedMail]) -> list[NamedMail]:
    own = mail.headers
    return [
        other
        for other in ordered
        if other is mail
        or (
            own.message_id
            and own.sent_at
            and (own.message_id, own.sent_at) == (other.headers.message_id, other.headers.sent_at)
            and base_subject(own.subject).text == base_subject(other.headers.subject).text
        )
    ]


def topic_by_definition(headers: MailHeaders) -> BaseSubject:
    own, topic = base_subject(headers.subject), base_subject(headers.thread_topic)
    if not topic.text:
        return own
    return BaseSubject(topic.text, own.is_reply or topic.text != own.text)


def parents_by_definition(mails: Sequence[NamedMail], window: timedelta) -> dict[str, tuple[str, str]]:
    """The parent of each mail (``n0``) and each missing mail (``m0``), by the rules as they are written, slowly."""
    ordered = sorted(mails, key=lambda mail: mail.order)
    first_copy = {mail.name: copies_by_definition(mail, ordered)[0].name for mail in ordered}
    bearer = {mail.headers.message_id: first_copy[mail.name] for mail in reversed(ordered) if mail.headers.message_id}
    parents: dict[str, tuple[str, str]] = {}

    def top_of(name: str) -> str:
        while name in parents:
            name = parents[name][0]
        return name

    def link(child: str, parent: str, source: str) -> bool:
        above = parent
        while above != child and above in parents:
            above = parents[above][0]
        if above == child or child in parents:
            return False
        parents[child] = parent, source
        return True

    chains = [(first_copy[mail.name], [bearer.get(one, one) for one in ancestors_of(mail.headers)]) for mail in ordered]
    for name, chain in reversed(chains):
        any(link(name, one, "headers") for one in reversed(chain))
    for _, chain in chains:
        for i in range(1, len(chain)):
            link(chain[i], chain[i - 1], "another mail")
    indexes = [(first_copy[mail.name], conversation_of(mail.headers.thread_index), mail) for mail in ordered]
    for name, index, mail in indexes:
        if not index:
            continue
        top = top_of(name)
        if not top.startswith("m") and (top != mail.name or ancestors_of(mail.headers)):
            continue
        nearest = [
            other for end in range(len(index) - 5, 21, -5) for other, its, _ in indexes if its and its == index[:end]
        ]
        earliest = next(other for other, its, _ in indexes if its[:22] == index[:22])
        any(link(top, one, "headers") for one in [*dict.fromkeys(nearest), top_of(earliest)])
    spoken_for: set[str] = set()
    for mail in ordered:
        own, name = mail.headers, first_copy[mail.name]
        if own.sent_at is None:
            continue
        top = top_of(name)
        is_first, base = top not in spoken_for, topic_by_definition(own)
        spoken_for.add(top)
        is_lost = top.startswith("m") or (top == name and not ancestors_of(own))
        if not is_lost or not is_first or not base.is_reply or not base.text:
            continue
        earlier = [
            first_copy[other.name]
            for other in ordered
            if other.headers.sent_at
            and own.sent_at - window <= other.headers.sent_at < own.sent_at
            and topic_by_definition(other.headers).text == base.text
            and {own.sender, own.to} & {other.headers.sender, other.headers.to} - {None}
        ]
        any(link(top, one, "subject") for one in reversed(earlier))
    return parents


@given(some_mails())
def test_parents_are_those_of_the_definition(mails: list[NamedMail]) -> None:
    nodes = thread_mails(mails, WINDOW)
    expected = parents_by_definition(mails, WINDOW)
    of_position = {(one.thread, one.position): one for one in nodes}

    def called(one: ThreadNode) -> str:
        return str(one.message_id) if one.mail is None else mails[one.mail].name

    found = {
        called(one): (called(of_position[one.thread, one.parent]), one.source)
        for one in nodes
        if one.parent is not None
    }
    ordered = sorted(mails, key=lambda mail: mail.order)
    for one in nodes:
        if one.mail is not None:
            assert [mails[mail] for mail in one.mails] == copies_by_definition(mails[one.mail], ordered)
    shown = {copies_by_definition(mail, ordered)[0].name for mail in mails}
    waiting = list(shown)
    for name in waiting:  # missing mails count if there is a mail below them
        if name in expected and expected[name][0] not in shown:
            shown.add(expected[name][0])
            waiting.append(expected[name][0])
    assert found == {child: parent for child, parent in expected.items() if child in shown}
    assert {called(one) for one in nodes} == shown


@given(some_mails(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_changes_nothing(mails: list[NamedMail], chance: random.Random) -> None:
    shuffled = list(mails)
    chance.shuffle(shuffled)
    assert shape(thread_mails(shuffled, WINDOW), shuffled) == shape(thread_mails(mails, WINDOW), mails)


@given(some_mails())
def test_every_mail_is_in_one_place_below_its_parent(mails: list[NamedMail]) -> None:
    nodes = thread_mails(mails, WINDOW)
    assert sorted(mail for one in nodes for mail in one.mails) == list(range(len(mails)))
    stack: list[ThreadNode] = []
    for before, one in zip([None, *nodes], nodes, strict=False):
        if before is None or before.thread != one.thread:
            assert (one.depth, one.position, one.parent, one.source) == (0, 1, None, None)
            stack = []
        del stack[one.depth :]
        assert one.position == (1 if not stack else before.position + 1)  # type: ignore[union-attr]
        assert one.parent == (stack[-1].position if stack else None)
        stack.append(one)


@given(some_mails())
def test_mails_are_read_after_those_they_answer(mails: list[NamedMail]) -> None:
    nodes = thread_mails(mails, WINDOW)
    for thread in {one.thread for one in nodes}:
        own = [one for one in nodes if one.thread == thread]
        order = reading_order(own, mails)
        assert sorted(order) == sorted(mail for one in own for mail in one.mails)
        place = {mail: i for i, mail in enumerate(order)}
        for one in own:
            above = one
            while above.parent is not None:
                above = own[above.parent - 1]
                if above.mail is not None and one.mail is not None:
                    assert place[above.mail] < place[one.mail]


def test_trees_that_are_known_are_found() -> None:
    """Trees whose mails carry all, the last, or none of their references; some mails are missing."""
    chance = random.Random(19)
    for _ in range(30):
        n = chance.randint(1, 40)
        parent = [None, *(chance.randrange(i) for i in range(1, n))]
        chains: list[tuple[str, ...]] = [()]
        for i in range(1, n):
            chains.append((*chains[parent[i]], f"id{parent[i]}"))  # type: ignore[index]
        mails = []
        for i in range(n):
            style = chance.choice(("all", "last", "reply"))
            references = {"all": chains[i], "last": chains[i][-1:], "reply": ()}[style]
            headers = MailHeaders(
                message_id=f"id{i}",
                references=references,
                in_reply_to=chains[i][-1:] if style == "reply" else (),
                sent_at=START + timedelta(hours=i),
            )
            mails.append(NamedMail(f"mail {i}", headers))
        chance.shuffle(mails)
        nodes = thread_mails(mails)
        assert {one.thread for one in nodes} == {1}
        for one in nodes:
            number = int(str(one.message_id)[2:])
            above = None if one.parent is None else int(str(nodes[one.parent - 1].message_id)[2:])
            assert above == parent[number]


def test_a_missing_mail_connects_its_answers() -> None:
    mails = [
        NamedMail(name, MailHeaders(message_id=name, in_reply_to=("gone",), sent_at=START + timedelta(hours=i)))
        for i, name in enumerate("ab")
    ]
    assert shape(thread_mails(mails), mails) == [
        (1, 1, 0, None, "gone", None, None), (1, 2, 1, 1, "a", "headers", ("a",)), (1, 3, 1, 1, "b", "headers", ("b",)),
    ]  # fmt: skip


def test_subjects_link_only_answers_near_in_time_between_the_same_people() -> None:
    def mail(name: str, subject: str, day: int, sender: str = "ada@x", **more: object) -> NamedMail:
        sent_at = START + timedelta(days=day)
        return NamedMail(name, MailHeaders(subject=subject, sent_at=sent_at, sender=sender, **more))  # type: ignore[arg-type]

    first = mail("first", "Lease", 0)
    cases = {
        "answer": (mail("x", "Re: Lease", 1), True),
        "the same subject again": (mail("x", "Lease", 1), False),
        "too late": (mail("x", "Re: Lease", 30), False),
        "earlier": (mail("x", "Re: Lease", -1), False),
        "other people": (mail("x", "Re: Lease", 1, "dot@x"), False),
        "answers a missing one": (mail("x", "Re: Lease", 1, references=("other",)), True),
        "answers a missing one, other people": (mail("x", "Re: Lease", 1, "dot@x", references=("other",)), False),
    }
    for case, (other, is_linked) in cases.items():
        found = thread_mails([other, first])
        assert (max(one.thread for one in found) == 1) is is_linked, case
    assert max(one.thread for one in thread_mails([first, cases["answer"][0]], timedelta(0))) == 2


def test_of_several_mails_with_the_subject_the_quoted_one_is_answered() -> None:
    def mail(name: str, subject: str, hour: int) -> NamedMail:
        return NamedMail(name, MailHeaders(subject=subject, sent_at=START + timedelta(hours=hour), sender="ada@x"))

    mails = [mail("first", "Lease", 0), mail("other", "Lease", 1), mail("answer", "Re: Lease", 2)]
    texts = ["Who is to sign the lease of the mill?", "When does the lease of the mill end?", ""]
    for quoted, parent in (
        ("Who is to sign the lease", "first"),
        ("When does the lease of the mill", "other"),
        ("", "other"),
    ):
        texts[2] = f"Nobody knows.\n> {quoted}"
        nodes = thread_mails(mails, quotations=Quotations(texts.__getitem__))
        (answer,) = (one for one in nodes if one.mail == 2)
        above = next(one for one in nodes if one.thread == answer.thread and one.position == answer.parent)
        assert above.mail is not None
        assert mails[above.mail].name == parent


def _answering(n: int, references_of: Callable[[int], tuple[str, ...]]) -> list[NamedMail]:
    mails = [
        NamedMail(
            str(i),
            MailHeaders(
                message_id=f"<{i}>",
                references=references_of(i),
                subject="Re: same",
                sender="a@x",
                sent_at=START + timedelta(seconds=i),
            ),
        )
        for i in range(n)
    ]
    random.Random(1).shuffle(mails)
    return mails


def test_long_and_wide_threads_end() -> None:
    """Nothing is recursive or quadratic: one chain, one star, no references at all, mails that answer the next one."""
    shapes = {
        "chain": lambda i: (f"<{i - 1}>",) if i else (),
        "star": lambda i: ("<0>",) if i else (),
        "subjects": lambda i: (),
        "each to the next": lambda i: (f"<{i + 1}>",),
    }
    for name, of in shapes.items():
        nodes = thread_mails(_answering(3_000, of))
        assert len([node for node in nodes if node.mail is not None]) == 3_000, name
