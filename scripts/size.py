"""The size of the house: code by room, imports, docstrings, tests, labs, pages, commands and options: ``make size``.

Code is every line with a token, without docstrings, comments and blank lines.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_WITH_ROOMS = ("stages", "workflows")
"""Packages whose packages are rooms of their own."""


def main() -> None:
    """Print the table of rooms and the sums."""
    by_room = rooms()
    print(f"{'room':<28}{'files':>7}{'code':>9}{'functions':>11}{'classes':>9}{'docstring words':>17}")
    for name, sizes in sorted(by_room.items(), key=lambda item: -item[1]["code"]):
        columns = ("files", "code", "functions", "classes", "words")
        print(f"{name:<28}" + "".join(f"{sizes[key]:>{width},}" for key, width in zip(columns, (7, 9, 11, 9, 17))))
    print()
    for label, value in totals(by_room).items():
        print(f"{label:<28}{value:>16}")


def rooms() -> dict[str, Counter[str]]:
    """The size of each room of the product."""
    by_room: dict[str, Counter[str]] = {}
    package = ROOT / "src" / "nearkin"
    for path in package.rglob("*.py"):
        by_room.setdefault(_room(path.relative_to(package)), Counter()).update(size_of(path))
    return by_room


def totals(by_room: dict[str, Counter[str]]) -> dict[str, str]:
    """The sums, in the words of the summary."""
    product = sum_of(by_room.values())
    tests, labs = (sum_of(map(size_of, (ROOT / name).rglob("*.py"))) for name in ("tests", "labs"))
    reference = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    return {
        "files": f"{product['files']:,}",
        "lines of code": f"{product['code']:,}",
        "imports among them": f"{product['imports'] / product['code']:.1%}",
        "words of docstrings": f"{product['words']:,}",
        "lines of tests": f"{tests['code']:,}",
        "lines of labs": f"{labs['code']:,}",
        "words of docs": f"{words_of_docs():,}",
        "commands": f"{len(re.findall('^## nearkin .', reference, re.MULTILINE)):,}",
        "options": f"{len(set(re.findall('^[|] `(--[a-z0-9-]+)', reference, re.MULTILINE))):,}",
    }


def sum_of(sizes: Iterable[Counter[str]]) -> Counter[str]:
    """The sum of some sizes."""
    total = Counter[str]()
    for size in sizes:
        total.update(size)
    return total


def size_of(path: Path) -> Counter[str]:
    """Lines of code and of imports, words of docstrings, functions and classes of a file."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    size = Counter(files=1)
    imports: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.update(_lines(node))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size["functions"] += 1
        elif isinstance(node, ast.ClassDef):
            size["classes"] += 1
        docstring = _docstring(node)
        if docstring is not None:
            lines.difference_update(_lines(docstring))
            size["words"] += len(ast.literal_eval(docstring.value).split())
    size["code"], size["imports"] = len(lines), len(lines & imports)
    return size


def words_of_docs() -> int:
    """Words of all pages of docs."""
    return sum(len(page.read_text(encoding="utf-8").split()) for page in (ROOT / "docs").rglob("*.md"))


def _docstring(node: ast.AST) -> ast.Expr | None:
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or not node.body:
        return None
    first = node.body[0]
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return first if is_text else None


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _room(path: Path) -> str:
    if len(path.parts) == 1:
        return "(top files)"
    return "/".join(path.parts[:2]) if path.parts[0] in _WITH_ROOMS and len(path.parts) > 2 else path.parts[0]


if __name__ == "__main__":
    main()
