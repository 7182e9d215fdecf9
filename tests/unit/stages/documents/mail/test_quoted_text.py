"""New text, quoted text, attributions and signatures of mails."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.stages.documents.mail.inclusive import mail_lines

REPLY = "I agree.\nLet us sign."
QUOTED = "> Shall we sign?\n> Ada"


def new_in(text: str) -> str:
    return "\n".join(line.text for line in mail_lines(text) if line.part == "new").strip()


@pytest.mark.parametrize(
    "attribution",
    [
        "On Mon, 5 Jan 2004 10:00, Ada wrote:",
        "On Monday, 5 January 2004, Ada Lovelace\n<ada@example.org> wrote:",
        "Am Mo., 5. Jan. 2004 um 10:00 Uhr schrieb Ada <ada@example.org>:",
        "Le 5 janv. 2004 à 10:00, Ada <ada@example.org> a écrit :",
        "El 5/1/2004, Ada <ada@example.org> escribió:",
        "Ada Lovelace wrote:",
        "Ada Lovelace schrieb am 5.1.2004:",
        "Den 5 jan. 2004 skrev Ada:",
    ],
)
def test_answers_above_and_below(attribution: str) -> None:
    assert new_in(f"{REPLY}\n\n{attribution}\n{QUOTED}\n") == REPLY
    assert new_in(f"{attribution}\n{QUOTED}\n\n{REPLY}\n") == REPLY
    assert new_in(f"{attribution}\n\n{QUOTED}\nYes.\n> When?\nToday.\n") == "Yes.\nToday."


@pytest.mark.parametrize(
    "head",
    [
        "-----Original Message-----\nFrom: Ada\nSent: Monday\nTo: Bo\nSubject: Lease",
        "-----Ursprüngliche Nachricht-----\nVon: Ada\nGesendet: Montag",
        "From: Ada <ada@example.org>\nSent: Monday, January 5, 2004 10:00\nTo: Bo\nSubject: Lease",
        "*Von:* Ada\n*Gesendet:* Montag\n*An:* Bo",
        "---------- Forwarded message ----------\nFrom: Ada",
        "On Mon, Jan 5, 2004 at 10:00 AM Ada <ada@example.org> wrote:",
        "Begin forwarded message:",
    ],
)
def test_earlier_mails_below_without_marks(head: str) -> None:
    assert new_in(f"{REPLY}\n\n{head}\n\nShall we sign?\n\nAda") == REPLY


def test_an_answer_below_unmarked_quotes_is_not_lost() -> None:
    for head in ("On 5 Jan 2004, Ada wrote:", "-----Original Message-----\nFrom: Ada"):
        assert REPLY in new_in(f"{head}\n\n# Shall we sign?\n\n{REPLY}")


@pytest.mark.parametrize(
    ("signature", "is_one"),
    [
        ("-- \nAda\n+1 555", True),
        ("--\nAda", True),
        ("_______________________________________________\nA mailing list\nhttp://lists.example.org/", True),
        ("Sent from my phone", True),
        ("Von meinem Telefon gesendet", True),
        ("- first item\n- second item", False),
        ("Thanks,\nAda", False),
        ("______________\nAda", False),
    ],
)
def test_signatures(signature: str, is_one: bool) -> None:
    assert (new_in(f"{REPLY}\n\n{signature}\n") == REPLY) is is_one
    quoted = f"{REPLY}\n\n{signature}\n\nOn 5 Jan 2004, Ada wrote:\n{QUOTED}"
    if signature.startswith("--"):
        assert new_in(quoted) == REPLY


@pytest.mark.parametrize(
    "text",
    [
        "As Ada wrote: we sign today.",
        "She said the following:\nwe sign today.",
        "From: here to there is far",
        "On Friday:\nnothing.",
        "Subject: to contract\nFrom: the seller",
    ],
)
def test_prose_is_new_text(text: str) -> None:
    assert new_in(text) == text


def test_quote_marks_of_several_programs() -> None:
    lines = mail_lines(">> two\n> > two\n>one\nJM> initials\n  > set in\na > b\n")
    assert [(line.depth, line.text) for line in lines] == [
        (2, "two"), (2, "two"), (1, "one"), (1, "initials"), (1, "set in"), (0, "a > b"),
    ]  # fmt: skip


@given(st.text(st.sampled_from("> \n-_:aOnwrote<@1From"), max_size=300))
def test_no_line_is_lost(text: str) -> None:
    found = mail_lines(text)
    assert [line.text for line in found] == [
        one.strip() if not line.depth else line.text for one, line in zip(text.splitlines(), found, strict=True)
    ]
    assert all((line.depth > 0) <= (line.part != "new") for line in found)
