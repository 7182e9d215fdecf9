"""Texts that are known, through every format: nothing is lost, nothing is added; floors are lowered only on purpose."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest

from extraction_files import extracted, text_of, written
from generator import office_files as make
from made_up_prose import Prose

PROSE = Prose(19)
PARAGRAPHS = [PROSE.text(40) for _ in range(30)]
PARAGRAPHS[3] += " Größe, façade, naïve – “quoted” €5 & <b>not bold</b>"
HEADERS = {"From": "Ada <ada@b.org>", "To": "bo@c.org", "Subject": "Rain", "Message-ID": "<1@b.org>"}
PAGE = "<html><body>{}</body></html>"


def html(paragraphs: list[str]) -> bytes:
    told = "".join(f"<p>{one.replace('&', '&amp;').replace('<', '&lt;')}</p>\n" for one in paragraphs)
    return f"<!DOCTYPE html><html><head><title>x</title><style>p {{}}</style></head><body>{told}</body></html>".encode()


def mail(paragraphs: list[str]) -> bytes:
    return make.mail(HEADERS, "\n\n".join(paragraphs))


MADE: dict[str, tuple[Callable[[list[str]], bytes], float]] = {
    # name: how it is made, the least agreement of words
    "a.docx": (make.docx, 1.0),
    "a.xlsx": (lambda told: make.xlsx([[one] for one in told]), 0.99),
    "a.pptx": (make.pptx, 1.0),
    "a.odt": (make.odt, 1.0),
    "a.rtf": (make.rtf, 1.0),
    "a.pdf": (make.pdf, 1.0),
    "a.html": (html, 1.0),
    "a.eml": (mail, 1.0),
    "a.zip": (lambda told: make.zipped({"one.txt": "\n\n".join(told)}), 1.0),
}


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def agreement(a: str, b: str) -> float:
    """Dice's measure of the words, with repeats."""
    one, other = words(a), words(b)
    return 2 * (one & other).total() / (one.total() + other.total())


@pytest.mark.parametrize("name", MADE)
def test_every_format_gives_the_text_that_was_written(pool, tmp_path, name):
    how, floor = MADE[name]
    (found,) = extracted(pool, written(tmp_path, {name: how(PARAGRAPHS)})).values()
    told = text_of(found)
    assert agreement(told, "\n".join(PARAGRAPHS)) >= floor
    assert found.origin is not None
    assert found.origin.exception is None
    order = [told.find(one.split()[0] + " " + one.split()[1]) for one in PARAGRAPHS]
    assert order == sorted(order)
    assert -1 not in order
