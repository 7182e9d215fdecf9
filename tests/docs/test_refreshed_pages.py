"""``make docs``: what is right on a page stays as it is written there."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from docs.pages import ROOT
from docs.running import matches

REFRESH = runpy.run_path(str(ROOT / "scripts/refresh_pages.py"))
LONG = " ".join(f"word{i}" for i in range(30))


@pytest.mark.parametrize(
    ("said", "ran", "told"),
    [
        ("one\ntwo\nthree\n", "one\n2\nthree", "one\n2\nthree\n"),
        ("a line that is\n  wrapped by hand\nold\n", "a line that is wrapped by hand\nnew", None),
        ("left out ...\nold\n", "left out by hand\nnew", "left out ...\nnew\n"),
        ("first\n...\nlast\nold\n", "first\nb\nc\nlast\nnew", "first\n...\nlast\nnew\n"),
        ("...\nlast\nold\n", "a\nb\nlast\nnew", "...\nlast\nnew\n"),
        ("first\n...\nold\n", "first\nb\nc\nnew", "first\n...\nnew\n"),
        ("gone\nkept\n\n", "kept\nadded", "kept\nadded\n\n"),
        ("from ... to\nold\n", "from\nmany\nlines\nto\nnew", "from ... to\nnew\n"),
        ("12 documents; 4 ms\n", "13 documents; 5 ms", "13 documents; ... ms\n"),
    ],
)
def test_only_lines_that_differ_are_replaced(said: str, ran: str, told: str | None) -> None:
    retold = REFRESH["_retold"](said, ran)
    assert retold == (said.replace("old", "new") if told is None else told)
    assert matches(retold, ran)


def test_a_long_new_line_is_wrapped_and_not_cut() -> None:
    retold = REFRESH["_retold"]("old\n", LONG)
    assert retold.split() == LONG.split()
    assert max(map(len, retold.splitlines())) <= REFRESH["WIDTH"]


def test_a_page_is_refreshed_once(tmp_path: Path) -> None:
    """The second time nothing changes; blocks that are right never do."""
    page = tmp_path / "page.md"
    right = f"$ echo {LONG}\n" + LONG.replace(" word15", "\n    word15").replace("word20 ", "...\n") + "\n"
    wrong = f"$ printf 'same line\\n%s\\n' '{LONG}'\nsame\n   line\nold\n"
    page.write_text(
        f"A page.\n\n```console\n{right}```\n\n```console\n{wrong}\n$ echo end\nend\n```\n", encoding="utf-8"
    )
    first = REFRESH["refreshed"](page)
    assert right in first
    assert "\nsame\n   line\nword0 word1" in first
    assert "\n\n$ echo end\nend\n" in first
    page.write_text(first, encoding="utf-8")
    assert REFRESH["refreshed"](page) == first
