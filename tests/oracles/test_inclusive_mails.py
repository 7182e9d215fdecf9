"""Inclusive mails against a slow definition, and threads whose answer is known."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.stages.documents.mail.inclusive import (
    InclusionVerdict,
    MailContent,
    judge_inclusion,
    mail_lines,
    mail_words,
    words_of_line,
)

PIECES = [
    "yes",
    "no",
    "a b",
    "b a",
    "a b c d e f",
    "",
    "> a",
    "> a b",
    ">> yes",
    "On 5 May, X wrote:",
    "???",
    "-- ",
    "c",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=7).map("\n".join)
MAILS = st.lists(st.tuples(TEXTS, st.frozensets(st.sampled_from("xy"), max_size=2), st.booleans()), max_size=6)


def contents(mails: Sequence[tuple[str, frozenset[str], bool]], *, new_only: bool = False) -> list[MailContent]:
    return [
        MailContent(mail_words(text, is_new_text_only=new_only), attachments, is_read)
        for text, attachments, is_read in mails
    ]


def _as_one_string(text: str) -> str:
    r"""All words of a mail: | where a line begins, # for an attribution."""
    found = "|"
    for line in mail_lines(text):
        if line.part == "attribution":
            found += "#|"
        elif words := words_of_line(line.text):
            found += "".join(f" {word} " for word in words) + "|"
    return found


def _passages(text: str, *, new_only: bool) -> list[list[str]]:
    passages: list[list[str]] = []
    before: object = None
    for line in mail_lines(text):
        kind = (line.depth, line.part) if line.text else None
        if kind is None or line.part == "attribution" or (new_only and line.part != "new"):
            before = None
            continue
        if kind != before:
            passages.append([])
        passages[-1] += words_of_line(line.text)
        before = kind
    return [passage for passage in passages if passage]


def _holds(text: str, passages: Sequence[Sequence[str]]) -> bool:
    """Whether a regular expression finds the passages, whatever is between them."""
    one_each = (r"\|*".join(rf" {re.escape(word)} " for word in passage) for passage in passages)
    pattern = ".*".join(rf"\|{one}(?=\|)" for one in one_each)
    return re.search(pattern, _as_one_string(text)) is not None


def by_definition(
    mails: Sequence[tuple[str, frozenset[str], bool]], *, new_only: bool = False
) -> list[InclusionVerdict]:
    verdicts: dict[int, InclusionVerdict] = {}
    for i in reversed(range(len(mails))):
        text, attachments, is_read = mails[i]
        later = [j for j in range(len(mails) - 1, i, -1) if verdicts[j].reason is not None]
        holding = [j for j in later if _holds(mails[j][0], _passages(text, new_only=new_only))]
        complete = [j for j in holding if attachments <= mails[j][1]]
        if not is_read:
            verdicts[i] = InclusionVerdict("not read")
        elif complete:
            verdicts[i] = InclusionVerdict(None, complete[0])
        else:
            verdicts[i] = InclusionVerdict("attachment" if holding else "message")
    return [verdicts[i] for i in range(len(mails))]


@given(MAILS, st.booleans())
def test_verdicts_are_those_of_the_definition(mails: list[tuple[str, frozenset[str], bool]], new_only: bool) -> None:
    assert judge_inclusion(contents(mails, new_only=new_only)) == by_definition(mails, new_only=new_only)


@given(MAILS)
def test_everything_is_at_an_inclusive_mail(mails: list[tuple[str, frozenset[str], bool]]) -> None:
    verdicts = judge_inclusion(contents(mails))
    for (text, attachments, _), verdict in zip(mails, verdicts, strict=True):
        if verdict.reason is None:
            assert verdict.included_in is not None
            assert verdicts[verdict.included_in].reason is not None
            assert attachments <= mails[verdict.included_in][1]
            assert all(_holds(mails[verdict.included_in][0], [one]) for one in _passages(text, new_only=False))


QUESTION = "Dear Bo,\n\nIs the mill by the brook sold, or is it still\nto be let from May on?\n\nAda"
ANSWER = "It is let."


def reasons(*texts: str, new_only: bool = False) -> list[str | None]:
    mails = [(text, frozenset[str](), True) for text in texts]
    return [one.reason for one in judge_inclusion(contents(mails, new_only=new_only))]


def quoted(text: str, mark: str = "> ") -> str:
    return "\n".join(f"{mark}{line}".rstrip() for line in text.splitlines())


@pytest.mark.parametrize(
    "answer",
    [
        f"{ANSWER}\n\nOn 5 May 2004, Ada wrote:\n{quoted(QUESTION)}\n",
        f"On 5 May 2004, Ada wrote:\n{quoted(QUESTION)}\n\n{ANSWER}",
        f"{ANSWER}\n\n-----Original Message-----\nFrom: Ada\nSent: Monday\nSubject: Mill\n\n{QUESTION}",
        # answered in between, wrapped anew
        f"> Dear Bo,\n>\n> Is the mill by the brook sold, or is it\nstill to be let\n> from May on?\n\n{ANSWER}\n>Ada",
        quoted(f"{ANSWER}\n{quoted(QUESTION)}", ">"),
    ],
)
def test_an_answer_that_quotes_everything_includes_the_question(answer: str) -> None:
    assert reasons(QUESTION, answer) == [None, "message"]


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER,
        f"{ANSWER}\n{quoted(QUESTION).replace('brook', 'river')}",
        f"{ANSWER}\n{quoted(QUESTION).replace('> Ada', '')}",
        f"{ANSWER}\n{quoted(QUESTION).replace('by the brook', 'by the [cut] brook')}",
        f"{ANSWER}\n> Ada\n\n> Is the mill by the brook sold, or is it still to be let from May on?\n\n> Dear Bo,",
    ],
)
def test_an_answer_that_changes_anything_does_not(answer: str) -> None:
    assert reasons(QUESTION, answer) == ["message", "message"]


def test_a_short_answer_is_not_found_inside_a_sentence() -> None:
    assert reasons("No", "I have no idea. No is no answer.") == ["message", "message"]
    assert reasons("No.", "Why?\n> No") == [None, "message"]
    assert reasons("👍", "Thanks", "???") == ["message"] * 3
    assert reasons("???", "> ???\nYes") == [None, "message"]


def test_signatures_and_quotes_count_unless_only_new_text_does() -> None:
    first = "Is it sold?\n-- \nAda\nMill Lane 1"
    second = "No.\n> Is it sold?"
    assert reasons(first, second) == ["message", "message"]
    assert reasons(first, second, new_only=True) == [None, "message"]
    third = "Why?\n> No."
    assert reasons(first, second, third) == ["message"] * 3
    # the second is in the third, which does not have the first
    assert reasons(first, second, third, new_only=True) == ["message", None, "message"]


def test_attachments_must_be_there_too() -> None:
    mails = [("plan", frozenset("p"), True), ("> plan\nok", frozenset(), True), ("> plan\nok?", frozenset("pq"), True)]
    assert [one.reason for one in judge_inclusion(contents(mails[:2]))] == ["attachment", "message"]
    assert judge_inclusion(contents(mails))[0] == InclusionVerdict(None, 2)


def test_long_threads_take_seconds() -> None:
    """Answers that quote everything before them, and mails made from one template."""
    started = time.process_time()
    texts = ["Mail 0 says this"]
    for i in range(1, 200):
        texts.append(f"Mail {i} says this\n\n{quoted(texts[-1])}")
    assert reasons(*texts) == [None] * 199 + ["message"]
    chance = random.Random(3)
    template = [f"Report of the day\n\nAll is well at place {chance.random()}.\n\nThe office" for _ in range(2000)]
    assert reasons(*template) == ["message"] * 2000
    assert time.process_time() - started < 20
