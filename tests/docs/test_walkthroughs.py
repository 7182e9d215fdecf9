"""The commands and the Python of each page run, from top to bottom, and print what the page says they print.

"..." on a page stands for anything, as in doctests; runs of white space count as one space. Where a command that fails
is meant to, the page shows its exit code as "[exit code 3]". ``make docs`` puts the output of today onto the pages.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.pages import Block, blocks, commands, name_of, pages
from docs.running import matches, run_in_shell, run_python, workplace

WALKED = [page for page in pages() if blocks(page, "console", "python")]


@pytest.mark.parametrize("page", WALKED, ids=name_of)
def test_page_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace(tmp_path))
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page, "console", "python"):
        if block.language == "console":
            _run_console(page, block, tmp_path)
        else:
            failed = run_python(block.text, f"{name_of(page)}:{block.line}", block.line, names)
            assert not failed, failed


def _run_console(page: Path, block: Block, folder: Path) -> None:
    for command in commands(block):
        came = run_in_shell(command.text, folder)
        where = f"{name_of(page)}:{command.line}: $ {command.text}"
        assert "[exit code" not in came or "[exit code" in command.output, f"{where}\n{came}"
        if command.output.strip():
            ways = "Run: make docs"
            assert matches(command.output, came), (
                f"{where}\n- the page says\n{command.output}\n- it printed\n{came}\n{ways}"
            )
