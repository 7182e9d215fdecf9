"""The rules of CONTRIBUTING.md that no linter knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from docs.pages import ROOT

FILES = sorted((ROOT / "src").rglob("*.py"))
LINES_OF_A_FILE = 500
LINES_OF_A_FUNCTION = 60
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "misc"}
ERRORS_OF_OTHERS = {"Exception", "RuntimeError", "OSError", "IOError", "TypeError", "ValueError", "AssertionError"}


def _places(found: Iterator[tuple[Path, int, str]]) -> list[str]:
    return [f"{path.relative_to(ROOT)}:{line}: {what}" for path, line, what in found]


def _nodes() -> Iterator[tuple[Path, ast.AST]]:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            yield path, node


def _lines() -> Iterator[tuple[Path, int, str]]:
    for path in FILES:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield path, number, line


def test_files_are_short() -> None:
    assert not _places((path, n, "the file goes on here") for path, n, _ in _lines() if n == LINES_OF_A_FILE + 1)


def test_files_are_named_after_an_idea() -> None:
    assert not _places((path, 1, path.stem) for path in FILES if path.stem in NAMES_THAT_SAY_NOTHING)


def test_functions_are_short() -> None:
    def too_long() -> Iterator[tuple[Path, int, str]]:
        for path, node in _nodes():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) is not None else node.body
                n_lines = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
                if n_lines >= LINES_OF_A_FUNCTION:
                    yield path, node.lineno, f"{node.name} has {n_lines} lines after its docstring"

    assert not _places(too_long())


def test_errors_are_ours() -> None:
    def foreign() -> Iterator[tuple[Path, int, str]]:
        for path, node in _nodes():
            if isinstance(node, ast.Raise) and node.exc is not None:
                raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                if isinstance(raised, ast.Name) and raised.id in ERRORS_OF_OTHERS:
                    yield path, node.lineno, f"raise an error of nearkin.errors, not {raised.id}"

    assert not _places(foreign())


def test_nothing_but_parameters_changes_a_result() -> None:
    pattern = re.compile(r"os\.environ|getenv\(")
    assert not _places(found for found in _lines() if pattern.search(found[2]))


def test_results_are_records() -> None:
    pattern = re.compile(r"\b[dD]ict\[str, Any\]")
    assert not _places(found for found in _lines() if pattern.search(found[2]))
