"""Run the console blocks of the documentation and put what they print now in place of what they printed: ``make docs``.

Blocks of Python run between them, since they may change the files that commands read; they stay as they are.
Lines that are still right stay as they are, also where a page wraps them, or leaves a part out with "...". In new
lines, what differs from run to run is left out, and long ones are wrapped.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from docs.pages import FENCE, name_of, pages  # noqa: E402
from docs.running import matches, run_in_shell, run_python, workplace  # noqa: E402

WIDTH = 100
_MOST = 6
"""Maximum number of lines that are one line on the other side."""
TIMES = re.compile(r"^[\d.,]+ m?s[,.] .*", re.MULTILINE)
ESTIMATE = re.compile(r"about [\d,]+ comparisons")
ELAPSED = re.compile(r"; [\d,]+ ms$", re.MULTILINE)
PREDICTED_TIME = re.compile(r"\(about [\d.,]+ \w+\)")


def refreshed(page: Path) -> str:
    """The page with the output of its commands as it is now."""
    with tempfile.TemporaryDirectory() as name:
        folder = workplace(Path(name))
        names: dict[str, object] = {"__name__": "page"}

        def block(fence: re.Match[str]) -> str:
            if fence[1] == "python":
                with contextlib.chdir(folder):
                    run_python(fence[2], name_of(page), 0, names)
            if fence[1] != "console":
                return fence[0]
            parts = re.split(r"^(\$ .*(?:(?<=\\)\n.*)*)\n", fence[2], flags=re.MULTILINE)
            told = [parts[0]]
            for command, output in zip(parts[1::2], parts[2::2], strict=True):
                ran = run_in_shell(command[2:].replace("\\\n", " "), folder)
                told += [command + "\n", output if not output.strip() or matches(output, ran) else _retold(output, ran)]
            return f"```console\n{''.join(told)}```"

        return FENCE.sub(block, page.read_text(encoding="utf-8"))


def _retold(output: str, ran: str) -> str:
    """Return the output with new lines only where it differs from what was printed.

    Lines that still match stay as they are: those that a hand has wrapped or cut, and "..." for lines left out. Of all
    ways to do so, the one is taken that replaces the fewest lines.
    """
    said, came = output.rstrip().splitlines(), ran.splitlines()
    ways = _Ways(said, came)
    told, i, j = list[str](), 0, 0
    while (i, j) != (len(said), len(came)):
        step = ways.best(i, j)
        told += step.lines
        i, j = i + step.n_said, j + step.n_came
    return "\n".join(told) + (output[len(output.rstrip()) :] or "\n")


class _Step(NamedTuple):
    """Lines of a page and printed lines, and the lines that the page gets for them."""

    cost: int
    n_said: int
    n_came: int
    lines: list[str]


class _Ways:
    """The ways in which the lines of a page and the printed ones belong together, from any place to the end."""

    def __init__(self, said: list[str], came: list[str]) -> None:
        self._said, self._came = said, came
        self._costs: dict[tuple[int, int], int] = {(len(said), len(came)): 0}
        for i in range(len(said), -1, -1):
            for j in range(len(came), -1, -1):
                if (i, j) not in self._costs:
                    step = self.best(i, j)
                    self._costs[i, j] = self._cost(i, j, step)

    def best(self, i: int, j: int) -> _Step:
        """Return the first step from a place of the cheapest way."""
        return min(self._steps(i, j), key=lambda step: self._cost(i, j, step))

    def _cost(self, i: int, j: int, step: _Step) -> int:
        return step.cost + self._costs[i + step.n_said, j + step.n_came]

    def _steps(self, i: int, j: int) -> Iterator[_Step]:
        said, came = self._said, self._came
        if i < len(said) and said[i].strip() == "...":
            yield _Step(0, 1, 0, [said[i]])
            if j < len(came):
                yield _Step(0, 0, 1, [])
        for n_said in range(1, min(_MOST, len(said) - i) + 1):
            for n_came in range(1, min(_MOST, len(came) - j) + 1):
                lines = said[i : i + n_said]
                if "..." not in map(str.strip, lines) and matches("\n".join(lines), "\n".join(came[j : j + n_came])):
                    yield _Step(0, n_said, n_came, lines)
        if i < len(said) and j < len(came):
            yield _Step(2, 1, 1, _without_times(came[j]))
        if i < len(said):
            yield _Step(3, 1, 0, [])
        if j < len(came):
            yield _Step(3, 0, 1, _without_times(came[j]))


def _without_times(line: str) -> list[str]:
    """Return a printed line without what differs from run to run, wrapped if it is long."""
    line = TIMES.sub("...", ELAPSED.sub("; ... ms", line))
    line = PREDICTED_TIME.sub("(about ...)", ESTIMATE.sub("about ... comparisons", line)).rstrip()
    if len(line) <= WIDTH:
        return [line]
    inner = len(line) - len(line.lstrip())
    return textwrap.wrap(
        line, WIDTH, subsequent_indent=" " * inner, break_long_words=False, break_on_hyphens=False, tabsize=1
    )


if __name__ == "__main__":
    for path in pages():
        text = refreshed(path)
        if text != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8")
            print(f"{name_of(path)}: output of commands refreshed; read it before you commit it")
