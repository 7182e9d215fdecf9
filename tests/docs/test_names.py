"""Options and names of columns that pages show in running text are those of the program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from docs.pages import ROOT, name_of, pages, prose
from nearkin.cli.main import app

_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_FOREIGN = {"--build-arg", "--network", "--data", "--data-checksums", "--no-privileges", "--pairs"}
"""Options of other programs, and of the scripts beside Nearkin."""
_OF_POSTGRESQL = {"pg_dump", "pg_stat_statements", "application_name"}


def options(command: click.Command, name: str = "nearkin") -> Iterator[str]:
    context = click.Context(command, info_name=name)
    for one in command.params:
        yield from (*one.opts, *one.secondary_opts)
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from options(found, inner)


@pytest.fixture(scope="module")
def known() -> set[str]:
    return {*options(app), *_FOREIGN, "--help"}


@pytest.fixture(scope="module")
def written() -> set[str]:
    """Names in the source, the examples, the benchmarks and the labs."""
    folders = ("src", "examples", "benchmarks", "labs", "scripts")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*") if file.suffix in (".py", ".j2", ".sql")]
    return {name for file in files for name in _NAME.findall(file.read_text(encoding="utf-8"))}


USER_PAGES = [
    page for page in pages() if {"guides", "tutorials"} & {*page.parts} or page.name in ("README.md", "CHANGELOG.md")
]


@pytest.mark.parametrize(
    "page",
    [page for page in USER_PAGES if page.parent.name != "benchmarks" and page.stem != "coming-from"],
    ids=name_of,
)
def test_names_in_running_text_exist(page: Path, known: set[str], written: set[str]) -> None:
    code = _CODE.findall(prose(page))
    foreign = [one for one in code if re.match(r"(?!nearkin\b)[a-z]+ [a-z-]+ ", one)]
    own = [one for one in code if one not in foreign]
    assert {option for one in own for option in _OPTION.findall(one)} - known == set()
    names = {name for one in own for name in _NAME.findall(one) if one == name and not name.startswith("nearkin_")}
    assert names - written - _OF_POSTGRESQL == set()
