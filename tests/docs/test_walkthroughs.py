"""The commands and the Python of each page run, from top to bottom, and print what the page says they print.

"..." on a page stands for anything, as in doctests; runs of white space count as one space.
"""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.pages import ROOT, Block, blocks, commands, name_of, pages

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SAID_ONCE = "· first run on this machine"  # kernels are compiled once, and the pages do not count on being that run
WALKED = [page for page in pages() if blocks(page, "console", "python")]


@pytest.mark.parametrize("page", WALKED, ids=name_of)
def test_page_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page, "console", "python"):
        if block.language == "console":
            _run_console(page, block, tmp_path)
        else:
            _run_python(page, block, names)


def _run_console(page: Path, block: Block, folder: Path) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")},
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(folder / "home"),
        "COLUMNS": "100",
        "LANG": "C.UTF-8",
    }
    for command in commands(block):
        ran = subprocess.run(
            ["bash", "-c", command.text],
            cwd=folder,
            env=environment,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        where = f"{name_of(page)}:{command.line}: $ {command.text}"
        assert ran.returncode == 0 or "\n[exit code " in f"\n{command.output}", f"{where}\n{ran.stdout}"
        lines = [line for line in ran.stdout.splitlines() if not line.startswith(SAID_ONCE)]
        came = "\n".join(lines) + (f"\n[exit code {ran.returncode}]" if ran.returncode else "")
        if command.output.strip():
            matches = doctest.OutputChecker().check_output(command.output.strip() + "\n", came.strip() + "\n", OPTIONS)
            assert matches, f"{where}\n--- the page says\n{command.output}\n--- it printed\n{came}"


def _run_python(page: Path, block: Block, names: dict[str, object]) -> None:
    name = f"{name_of(page)}:{block.line}"
    if ">>> " not in block.text:
        exec(compile(block.text, name, "exec"), names)
        return
    example = doctest.DocTestParser().get_doctest(block.text, names, name, name, block.line)
    said: list[str] = []
    results = doctest.DocTestRunner(optionflags=OPTIONS).run(example, out=said.append, clear_globs=False)
    names.update(example.globs)
    assert not results.failed, "".join(said)
