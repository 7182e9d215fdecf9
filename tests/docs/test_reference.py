"""What the documentation says about the code is what the code says about itself."""

from __future__ import annotations

import inspect
import re
import runpy

from docs.pages import ROOT, blocks, pages, prose
from nearkin import errors
from nearkin.collection.groups.members import MEMBERS_SCHEMA
from nearkin.collection.results import DOCUMENT, SIMILARITIES
from nearkin.options.dedup import PRESETS, DedupOptions

SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))


def test_cli_reference_is_what_the_commands_say() -> None:
    write_reference = runpy.run_path(str(ROOT / "scripts/cli_reference.py"))["reference"]
    stored = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    assert stored == write_reference(), "docs/reference/cli.md is out of date. Run: make docs"


def test_tables_are_what_the_schema_says() -> None:
    write_tables = runpy.run_path(str(ROOT / "scripts/schema_page.py"))["page"]
    stored = (ROOT / "docs/reference/tables.md").read_text(encoding="utf-8")
    assert stored == write_tables(stored), "docs/reference/tables.md is out of date. Run: make docs"


def test_the_guide_names_every_column_of_similar_and_groups() -> None:
    page = (ROOT / "docs/guides/collections.md").read_text(encoding="utf-8")
    _, *tables = [text.partition("\n\n")[0] for text in page.split("| column of `--out` |")]
    named = [
        re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in table.splitlines()[2:])) for table in tables
    ]
    columns = [[one.name for one in (*DOCUMENT, *SIMILARITIES)], MEMBERS_SCHEMA.names]
    assert [sorted(names) for names in named] == [sorted(names) for names in columns]


def test_glossary_names_what_the_code_has() -> None:
    page = prose(ROOT / "docs/glossary.md")
    in_code = [m[1] for m in re.finditer(r"^### .+\n((?:`\w+`(?:, )?)+)\. ", page, re.MULTILINE)]
    names = [name for line in in_code for name in re.findall(r"`(\w+)`", line)]
    assert len(names) > 15
    missing = [name for name in names if not re.search(rf"\b{name}\b", SOURCE) and f"{name}.json" not in SOURCE]
    assert not missing


def test_architecture_draws_the_tree_that_is_there() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    tree = page.split("## The tree")[1].split("```")[1]
    drawn = set(re.findall(r"^  (\w+)(?:/|\.py) ", tree, re.MULTILINE))
    paths = [
        *(ROOT / "src/nearkin").glob("*.py"),
        *(path.parent for path in (ROOT / "src/nearkin").glob("*/__init__.py")),
    ]
    assert drawn == {path.stem for path in paths} - {"__init__", "__main__", "_lazy", "_version"}


def test_exit_codes_are_those_of_the_errors() -> None:
    page = (ROOT / "docs/guides/exit-codes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \|.*\| ([^|]*) \|$", page, re.MULTILINE)
    said = {name: int(code) for code, cell in rows for name in re.findall(r"`(\w+Error)`", cell)}
    ours = {
        name: kind.exit_code
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.NearkinError)
    }
    assert said == ours


def test_presets_are_those_of_the_code() -> None:
    page = (ROOT / "docs/guides/choose-threshold-and-shingle.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:`(\w+)`|none) \| (.+) \|$", page, re.MULTILINE)
    said = {name: cells.split(" | ") for name, cells in rows}
    ours = {}
    for name in ("", *PRESETS):
        words = DedupOptions(preset=name or None).in_words()
        ours[name] = [str(words[option]) for option in ("threshold", "shingle", "group", "keep", "normalise")]
    assert said == ours


def test_error_tree_is_drawn_as_it_is() -> None:
    drawn = re.findall(r"(\w+Error)\b", str(errors.__doc__).split("::")[1].split("A message says")[0])
    ours = {name for name, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Exception)}
    builtin = {"ValueError", "ImportError", "KeyError", "MemoryError"}
    assert set(drawn) - builtin == ours - {"NearkinError"} | {"NearkinError"}


def test_pages_import_what_is_public() -> None:
    code = "\n".join(block.text for page in pages() for block in blocks(page, "python"))
    modules = re.findall(r"\b(?:from|import) nearkin\.([\w.]+)", code)
    assert modules
    assert set(modules) <= {"results", "signatures", "spark"}


def test_every_decision_is_in_the_list() -> None:
    folder = ROOT / "docs/decisions"
    listed = (folder / "README.md").read_text(encoding="utf-8")
    missing = [path.name for path in folder.glob("[0-9]*.md") if f"]({path.name})" not in listed]
    assert not missing


def test_the_gallery_links_to_every_live_page() -> None:
    pages = runpy.run_path(str(ROOT / "scripts/example_pages.py"))["PAGES"]
    gallery = (ROOT / "docs/gallery.md").read_text(encoding="utf-8")
    assert re.findall(r'href="live/(\w+)\.html"', gallery) == list(pages)
