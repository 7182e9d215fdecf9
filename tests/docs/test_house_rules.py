"""The rules of CONTRIBUTING.md that no linter knows."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.pages import ROOT

FILES = sorted((ROOT / "src").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
LINES_OF_A_FILE = 500
LINES_OF_A_FUNCTION = 60
FIELDS_BY_PLACE = 6
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "misc"}
ERRORS_OF_OTHERS = {"Exception", "RuntimeError", "OSError", "IOError", "TypeError", "ValueError", "AssertionError"}


def _places(found: Iterator[tuple[Path, int, str]]) -> list[str]:
    return [f"{path.relative_to(ROOT)}:{line}: {what}" for path, line, what in found]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the rules look at, of all files: where it is, and what of it matters.

    No nodes are kept: with so many objects every collection of garbage takes long.
    """

    functions: list[tuple[Path, int, tuple[str, int]]]
    """Names, and lines after the docstring."""
    classes: list[tuple[Path, int, tuple[str, int, str]]]
    """Names, fields that the constructor takes by place, and decorators."""
    raised: list[tuple[Path, int, str]]
    calls: list[tuple[Path, int, str]]
    """Calls of functions that have one writer or reader, as they are written."""
    warnings: list[tuple[Path, int, str]]
    """Texts that begin with the word of a warning."""


@functools.cache
def _seen() -> Seen:
    """Return what the rules look at; parsing all files takes seconds, so it is done once."""
    seen = Seen([], [], [], [], [])
    last_names = {name.rpartition(".")[2] for name in (*OF_PARQUET, *OF_DELIMITED, *OF_WORK)}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                seen.functions.append((path, node.lineno, (node.name, _n_lines(node))))
            elif isinstance(node, ast.ClassDef):
                fields = list(itertools.takewhile(_is_by_place, (one for one in node.body if _is_taken(one))))
                made = " ".join(map(ast.unparse, node.decorator_list))
                seen.classes.append((path, node.lineno, (node.name, len(fields), made)))
            elif isinstance(node, ast.Raise):
                raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                if isinstance(raised, ast.Name):
                    seen.raised.append((path, node.lineno, raised.id))
            elif isinstance(node, ast.Constant) and str(node.value).startswith("Warning: "):
                seen.warnings.append((path, node.lineno, str(node.value)))
            elif isinstance(node, ast.Call):
                last_name = getattr(node.func, "attr", getattr(node.func, "id", None))
                if last_name in last_names:
                    seen.calls.append((path, node.lineno, ast.unparse(node.func)))
    return seen


def _n_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def _lines(files: Sequence[Path] = FILES) -> Iterator[tuple[Path, int, str]]:
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield path, number, line


def test_files_are_short() -> None:
    lines = _lines([*FILES, *TESTS])
    assert not _places((path, n, "the file goes on here") for path, n, _ in lines if n == LINES_OF_A_FILE + 1)


def test_files_are_named_after_an_idea() -> None:
    assert not _places((path, 1, path.stem) for path in FILES if path.stem in NAMES_THAT_SAY_NOTHING)


def test_functions_are_short() -> None:
    def too_long() -> Iterator[tuple[Path, int, str]]:
        for path, line, (name, n_lines) in _seen().functions:
            if n_lines >= LINES_OF_A_FUNCTION:
                yield path, line, f"{name} has {n_lines} lines after its docstring"

    assert not _places(too_long())


def test_classes_have_names_of_their_own() -> None:
    def again() -> Iterator[tuple[Path, int, str]]:
        seen = dict[str, Path]()
        for path, line, (name, _, _) in _seen().classes:
            if seen.setdefault(name, path) != path:
                yield path, line, f"{name} is also a class of {seen[name].relative_to(ROOT)}"

    assert not _places(again())


def test_records_of_many_fields_are_made_by_names() -> None:
    """A frozen dataclass of more than six fields takes them as keywords only."""

    def by_place() -> Iterator[tuple[Path, int, str]]:
        for path, line, (name, n_fields, made) in _seen().classes:
            if n_fields > FIELDS_BY_PLACE and "frozen=True" in made and "kw_only=True" not in made:
                yield path, line, f"{name} has {n_fields} fields: kw_only=True"

    assert not _places(by_place())


def _is_taken(field: ast.stmt) -> bool:
    """Whether the constructor takes it."""
    if not isinstance(field, ast.AnnAssign):
        return False
    return "ClassVar" not in ast.unparse(field.annotation) and "init=False" not in ast.unparse(field.value or field)


def _is_by_place(field: ast.stmt) -> bool:
    return isinstance(field, ast.AnnAssign) and ast.unparse(field.annotation) != "KW_ONLY"


def test_errors_are_ours() -> None:
    assert not _places(
        (path, line, f"raise an error of nearkin.errors, not {name}")
        for path, line, name in _seen().raised
        if name in ERRORS_OF_OTHERS
    )


def test_nothing_but_parameters_changes_a_result() -> None:
    pattern = re.compile(r"os\.environ|getenv\(")
    # where indexes and users lie is no result, nor is what a shell completes
    assert not _places(
        found for found in _lines() if pattern.search(found[2]) and found[0].name not in ("environment.py", "main.py")
    )


FORMATS = ROOT / "src/nearkin/formats"
_FUNCTIONS = ("write_table", "read_table", "ParquetWriter", "ParquetFile", "ParquetDataset", "write_to_dataset")
_MODULES = ("pq", "pyarrow.parquet", "pa.parquet")
OF_PARQUET = (*(f"{module}.{name}" for module in _MODULES for name in _FUNCTIONS), *_FUNCTIONS[2:])
OF_DELIMITED = ("csv.writer", "csv.DictWriter", "pa.csv.write_csv", "pyarrow.csv.write_csv")
OF_WORK = ("np.load", "np.save", "np.savez", "np.fromfile", "pa.memory_map", "pa.ipc.new_file", "pa.ipc.open_file")


def _calls(*names: str) -> Iterator[tuple[Path, int, str]]:
    """Calls of functions as they are written, outside of ``formats``."""
    return (one for one in _seen().calls if one[2] in names and not one[0].is_relative_to(FORMATS))


def test_parquet_has_one_writer_and_one_reader() -> None:
    """With checksums: `nearkin.formats.parquet`."""
    assert not _places(_calls(*OF_PARQUET))


def test_delimited_text_has_one_writer() -> None:
    """Which makes formulas text: `nearkin.formats.delimited`."""
    assert not _places(_calls(*OF_DELIMITED))


def test_work_of_a_run_is_sealed() -> None:
    """Arrays and batches on disk are written by `nearkin.runs`, which sees to it that a changed bit is noticed."""
    places = ("runs", "kernels", "collection", "stages/documents/readers")
    kept = [ROOT / "src/nearkin" / one for one in places]
    found = [one for one in _calls(*OF_WORK) if not any(one[0].is_relative_to(folder) for folder in kept)]
    assert not _places(one for one in found if one[0].name != "candidates.py")  # a file of columns, sealed by itself


def test_a_warning_is_one_by_its_type() -> None:
    written = (one for one in _seen().warnings if one[0].name != "wording.py")
    assert not _places(written), "make it a WarningMessage: a text that begins with the word is no warning"


def test_nothing_is_unpickled_from_a_file() -> None:
    """Ruff forbids pickle by name (S301, S403); this forbids what pickles under other names."""
    pattern = re.compile(r"allow_pickle=True|\b(?:joblib|dill|shelve|marshal|torch)\b\.|read_pickle|to_pickle")
    assert not _places(found for found in _lines() if pattern.search(found[2]))


def test_results_are_records() -> None:
    pattern = re.compile(r"\b[dD]ict\[str, Any\]")
    assert not _places(found for found in _lines() if pattern.search(found[2]))


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
