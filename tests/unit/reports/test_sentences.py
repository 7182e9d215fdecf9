from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

import nearkin.reports.sentences
from nearkin.cli.printing import Printer
from nearkin.reports.sentences.sentence import Sentence, Tone

FOLDER = Path(nearkin.reports.sentences.__file__).parent


def printed(*sentences: Sentence) -> str:
    out = io.StringIO()
    Printer(file=out).say(sentences)
    return out.getvalue()


@pytest.mark.parametrize("tone", ["plain", "quiet", "warning", "damage"])
def test_a_sentence_is_a_line_whatever_its_tone(tone: Tone) -> None:
    one = Sentence("; 2 more are like it", tone, strong="lease is here already")

    assert str(one) == "lease is here already; 2 more are like it"
    assert printed(one, one) == f"{one}\n" * 2


def test_names_in_a_sentence_neither_steer_the_terminal_nor_end_the_line() -> None:
    said = printed(Sentence(": [red]x[/] :warning:", strong="a\x1b[31m\nb\tc\u202e"))

    assert said == "a⟨U+001B⟩[31m⟨U+000A⟩b⟨U+0009⟩c⟨U+202E⟩: [red]x[/] :warning:\n"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_sentences_have_no_colours(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert not [mark for mark in _marks() if mark in text]


def _marks() -> Iterator[str]:
    for name in ("bold", "dim", "red", "yellow", "green", "/"):
        yield f"[{name}]"
