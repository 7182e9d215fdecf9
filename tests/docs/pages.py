"""The pages of the documentation, taken apart: links, headings, fenced blocks, commands."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w*|\{[\w-]+\})\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, its text, and the line of the page that it begins on."""

    language: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Command:
    """A command that a block shows, and the output under it."""

    text: str
    output: str
    line: int


def pages() -> list[Path]:
    """All pages that are ours and written by hand."""
    folders = ("*.md", "docs/**/*.md", "examples/*.md", "benchmarks/*.md", "labs/**/*.md")
    found = [path for pattern in folders for path in ROOT.glob(pattern)]
    return sorted(path for path in found if path.is_file())


def name_of(path: Path) -> str:
    """The page as the repository names it."""
    return path.relative_to(ROOT).as_posix()


def blocks(page: Path, *languages: str) -> list[Block]:
    """The fenced blocks of a page, of these languages if any are named."""
    text = page.read_text(encoding="utf-8")
    found = [Block(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in FENCE.finditer(text)]
    return [block for block in found if not languages or block.language in languages]


def line_of(page: Path, heading: str) -> int:
    """The line of a heading of a page."""
    return page.read_text(encoding="utf-8").splitlines().index(heading) + 1


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """What a link may name after "#", made from the headings as code hosts make it."""
    names = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in HEADING.findall(prose(page)))
    return {re.sub(r"[^\w\- ]", "", name).strip().replace(" ", "-") for name in names}


def commands(block: Block) -> list[Command]:
    """The commands of a block: in "console" those after "$", with their output; in "sh" every line is one."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language == "sh":
        return [Command(line.strip(), "", block.line) for line in lines if line.strip()]
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return [Command(command, "\n".join(output), block.line) for command, output in found]


def nearkin_arguments(line: str) -> list[list[str]]:
    """The arguments of every call of nearkin in a line of shell.

    >>> nearkin_arguments("zcat a.gz | nearkin dedup - --out b > log || echo no  # try")
    [['dedup', '-', '--out', 'b']]
    """
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    calls: list[list[str]] = []
    inside = False
    for token in lexer:
        if set(token) <= set("|&;<>()"):
            inside = False
        elif inside:
            calls[-1].append(token)
        elif token == "nearkin":
            calls.append([])
            inside = True
    return calls
