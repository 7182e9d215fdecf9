"""The registry of formats: what each entry promises to whoever finds, reads, lists and writes files."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from docs.pages import ROOT
from nearkin.stages.documents.finding import by_suffix
from nearkin.stages.documents.formats import FORMATS, TABLES, Format, has_columns, names_with_hints
from nearkin.stages.documents.reader import Head, sniffed

PAGE = (ROOT / "docs/guides/reading.md").read_text(encoding="utf-8")
every_format = pytest.mark.parametrize("form", FORMATS.values(), ids=lambda form: form.name)


@every_format
def test_names_are_those_of_the_page(form: Format) -> None:
    (row,) = re.findall(rf"^\|[^|]*`{form.name}`.*\|$", PAGE, re.MULTILINE)
    assert all(f"`{suffix}`" in row for suffix in form.suffixes)


@every_format
def test_a_suffix_tells_one_format(form: Format) -> None:
    for suffix in form.suffixes:
        assert by_suffix(f"a/B{suffix.upper()}") == (form.name, "none")
        assert by_suffix(f"a/b{suffix}.gz") == (form.name, "gzip")


def test_help_lists_them_all() -> None:
    assert re.split(r" \([^)]*\)(?:, | or |$)|, | or ", names_with_hints())[: len(FORMATS)] == list(FORMATS)
    assert {name for name in FORMATS if not has_columns(name)} == {
        "lines", "text-lines", "file", "subrip", "wikipedia", "document", "html", "eml",
    }  # fmt: skip
    assert TABLES.items() <= FORMATS.items()


@pytest.mark.parametrize(
    ("data", "table", "name"),
    [
        (b'{"text": "a"}\n', None, "jsonl"),
        (b"PAR1{", "parquet", "parquet"),
        (b"<mediawiki>\n1\ta\n2\tb\n", None, "wikipedia"),
        (b"1\ta\n2\tb\n", None, "lines"),
        (b"1\ta\n1\tb\n", None, None),
        (b"", None, None),
    ],
)
def test_content_tells_the_format(data: bytes, table: str | None, name: str | None) -> None:
    assert sniffed(Head(data=data, compression="none", is_all=True, table=table)) == name


def test_listing_them_loads_no_array_library() -> None:
    code = "import sys, nearkin.stages.documents.formats; print({'numpy', 'pyarrow'} & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "set()\n"
