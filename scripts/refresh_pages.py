"""Run the console blocks of the documentation and put what they print now in place of what they printed: ``make docs``.

Blocks of Python run between them, since they may change the files that commands read; they stay as they are.
A page that leaves output out with a line of "..." keeps that line where the output begins or ends with it. What differs
from run to run is left out by itself.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from docs.pages import FENCE, name_of, pages  # noqa: E402
from docs.running import matches, run_in_shell, run_python, workplace  # noqa: E402

WIDTH = 100
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
    """What was printed, without what differs from run to run and without the ends that the page left out."""
    ran = ELAPSED.sub("; ... ms", ran)
    ran = PREDICTED_TIME.sub("(about ...)", ESTIMATE.sub("about ... comparisons", ran))
    lines = [_shortened(TIMES.sub("...", line)) for line in ran.splitlines()]
    told = output.strip().splitlines()
    if told[0] == "..." and len(told) > 1:
        first = told[1].split()[0]
        start = next((i for i, line in enumerate(lines) if line.split()[:1] == [first]), 0)
        lines = ["...", *lines[start:]]
    return "\n".join(lines) + "\n"


def _shortened(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= WIDTH else f"{line[: line.rfind(' ', 0, WIDTH - 4)]} ..."


if __name__ == "__main__":
    for path in pages():
        text = refreshed(path)
        if text != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8")
            print(f"{name_of(path)}: output of commands refreshed; read it before you commit it")
