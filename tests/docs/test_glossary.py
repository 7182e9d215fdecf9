"""The glossary says of words what the kernels do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest

from docs.pages import ROOT
from nearkin.kernels.words import split_words
from nearkin.stages.documents.normalisation import Normalisation
from unit.kernels.agreeing import served_by

PAGE = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|U([0-9a-f]{8}))")


def read(cell: str) -> str:
    """A cell as text: what cannot be seen stands there as an escape."""
    return ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), cell)


def examples() -> list[tuple[str, list[str]]]:
    section = PAGE[PAGE.index("### word\n") : PAGE.index("### shingle\n")]
    rows = re.findall(r"^\| `(.+?)` \| ?(.*?) ?\|$", section, re.MULTILINE)
    return [(read(text), [read(word) for word in re.findall(r"`(.+?)`", words)]) for text, words in rows]


Kind = Literal["plain", "compiled"]


def words_by(kind: Kind, text: str) -> list[str]:
    data = np.frombuffer(text.encode() or b"\0", np.uint8)
    with served_by(kind):
        words, offsets, _ = split_words(data, np.array([0, len(text.encode())]))
    whole = words.tobytes()
    return [whole[a:b].decode() for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]


def test_there_are_examples() -> None:
    assert len(examples()) > 15


@pytest.mark.parametrize(
    ("text", "words"), examples(), ids=lambda value: ascii(value) if isinstance(value, str) else ""
)
@pytest.mark.parametrize("kind", ["plain", "compiled"])
def test_words_are_those_of_the_table(text: str, words: list[str], kind: Kind) -> None:
    (normalised,) = Normalisation().apply(pa.array([text], pa.large_string())).to_pylist()
    assert words_by(kind, normalised) == words


def test_the_scripts_named_are_those_of_the_classes() -> None:
    """Each script of the list, by a letter of it, is one word a letter; Hangul, Tangut and others are not."""
    letters = {
        "Han": "語本", "Hiragana": "あい", "Katakana": "アイ", "Bopomofo": "ㄅㄆ", "Thai": "กข", "Lao": "ກຂ",
        "Khmer": "កខ", "Myanmar": "ကခ", "Tai": "ᥐᥑ", "Tibetan": "ཀཁ", "Javanese": "ꦏꦐ", "Balinese": "ᬅᬇ",
        "Yi": "ꀀꀁ", "Nüshu": "\U0001b170\U0001b171",
    }  # fmt: skip
    listed = re.search(r"each a word by themselves: (.*?)\. Their digits", PAGE, re.DOTALL)
    assert listed is not None
    assert [name.strip() for name in listed[1].replace("\n", " ").split(",")] == list(letters)
    for name, text in letters.items():
        assert words_by("plain", text) == list(text), name
    for text in ("\U00017000\U00017001", "한국", "नम", "аб", "אב", "اب", "ሀለ"):
        assert words_by("plain", text) == [text]


def test_no_term_is_defined_twice() -> None:
    terms = re.findall(r"^### (.+)$", PAGE, re.MULTILINE)
    assert len(terms) == len(set(terms))
    assert Path(ROOT / "docs/glossary.md").exists()


def test_words_with_one_meaning_are_defined() -> None:
    """Words that other tools use in several meanings, or that a reader of messages looks up."""
    words = {
        "verify", "check", "fsck", "audit", "align", "signature", "family", "form group", "collection", "corpus",
        "group", "principal", "profile", "run", "row", "plan", "partition", "shuffle", "skewed key",
        "unrelated pair", "n-gram", "shingle", "sketch", "recall", "precision",
    }  # fmt: skip
    assert words <= set(re.findall(r"^### (.+)$", PAGE, re.MULTILINE))
