"""Literal sentences in the terms of the field; docstrings that begin with a noun phrase or a verb."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from docs.pages import ROOT

PACKAGE = ROOT / "src" / "nearkin"
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists())
STORED = ("crowded", "crowds")
"""Beginnings of names in work folders, which stay."""
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
    *(ROOT / folder / "README.md" for folder in ("benchmarks", "benchmarks/evidence", "examples")),
]
SCRIPTS = [path for folder in ("scripts", "examples", "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))]
BANNED = re.compile(
    r"""\b(
        (?:is|are|was|were|be|been)\ told | tells?\ of | nobody's | anew | likewise
        | at\ the\ (?:most|least)
        | for\ want\ of | goe?s?\ on\ behind | got\ over | of\ which\ nothing | one\ a\ (?:processor|core)
        | what\ to\ stay\ under | hang\ together | strangers? | crowd(?:s|ed|ing)? | imposed | reckoned
        | half\ a\ character
        | go(?:es)?\ by | went\ by
        | normaliz(?:ation|ed|ing)  # "normalis…"; normalize is a function of libraries
        | are\ taken\ for | but\ for | whoever | whatever\ else | the\ more\ so | at\ a\ loss | as\ they\ came
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Phrases that have to be read twice, words for which the field has a term of its own, and another spelling."""
"""Words with which neither a noun phrase begins nor a sentence that says what a function does."""
"""Words with which a noun phrase begins: a function does something."""


def _python_of(room: str) -> list[Path]:
    place = PACKAGE / room
    return [place] if place.suffix else sorted(place.rglob("*.py"))


@dataclass(frozen=True, slots=True)
class Worded:
    """The words of a file, with their lines."""

    strings: list[tuple[int, str]]
    """Every string, docstrings and the parts of f-strings included."""
    docstrings: list[tuple[int, str]]
    """Those below constants and fields included."""
    of_functions: list[tuple[int, str]]
    """The docstrings of functions that are no properties."""


@functools.cache
def _worded(path: Path) -> Worded:
    """Return the words of a file for all tests: parsing every file takes seconds."""
    worded = Worded([], [], [])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and not node.value.startswith(STORED):
                worded.strings.append((node.lineno, node.value))
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = (getattr(node, "lineno", 1), ast.get_docstring(node) or "")
            worded.docstrings.append(docstring)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_property(node):
                worded.of_functions.append(docstring)
        body = getattr(node, "body", None)
        for owner, below in itertools.pairwise(body) if isinstance(body, list) else ():
            if isinstance(owner, ast.Assign | ast.AnnAssign) and isinstance(below, ast.Expr):
                text = below.value.value if isinstance(below.value, ast.Constant) else None
                if isinstance(text, str):
                    worded.docstrings.append((below.lineno, text))
    return worded


def _found(path: Path, line: int, text: str) -> Iterator[str]:
    for found in BANNED.finditer(" ".join(text.split())):
        yield f"{path.relative_to(ROOT)}:{line}: {found[0]!r}"


@pytest.mark.parametrize("room", ROOMS)
def test_strings_are_plain(room: str) -> None:
    strings = ((path, line, text) for path in _python_of(room) for line, text in _worded(path).strings)
    places = [one for found in strings for one in _found(*found)]
    templates = sorted((PACKAGE / room).rglob("*.j2")) if (PACKAGE / room).is_dir() else []
    places += [
        one
        for path in templates
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for one in _found(path, number, text)
    ]
    assert not places, "\n".join(places)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_scripts_are_plain(script: Path) -> None:
    places = [one for line, text in _worded(script).strings for one in _found(script, line, text)]
    assert not places, "\n".join(places)


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(one).endswith("property") for one in node.decorator_list)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_are_plain(page: Path) -> None:
    lines = enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
    places = [one for number, line in lines for one in _found(page, number, line)]
    assert not places, "\n".join(places)
