"""Every command that the documentation shows exists, with its options; pages say how to install other libraries."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from docs.pages import Command, blocks, commands, name_of, nearkin_arguments, pages, prose


def shown() -> list[object]:
    found: list[tuple[Path, Command]] = []
    for page in pages():
        for block in blocks(page, "sh", "console"):
            found += [(page, command) for command in commands(block) if nearkin_arguments(command.text)]
    return [pytest.param(command.text, id=f"{name_of(page)}:{command.line}") for page, command in found]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_pages_say_how_to_install_what_nearkin_does_not(library: str) -> None:
    needs = re.compile(rf"import {library}|to_{library}\(")
    needing = [page for page in pages() if any(needs.search(block.text) for block in blocks(page, "python"))]
    assert needing
    install = re.compile(rf"pip install [\w ]*{library}")
    assert [name_of(page) for page in needing if not install.search(prose(page))] == []


@pytest.mark.parametrize("line", shown())
def test_commandsparse(line: str) -> None:
    from nearkin.cli.main import app

    for arguments in nearkin_arguments(line):
        parse(app, "nearkin", arguments)


def parse(command: click.Command, name: str, arguments: list[str], parent: click.Context | None = None) -> None:
    """Do what the command line does before it runs anything."""
    if isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
        here = click.Context(command, info_name=name, parent=parent, **command.context_settings)
        inner = command.get_command(here, arguments[0])
        assert inner is not None, f"{name} has no command {arguments[0]!r}"
        parse(inner, arguments[0], arguments[1:], here)
        return
    try:
        command.make_context(name, list(arguments), parent=parent)
    except click.exceptions.Exit:  # --help, --version
        pass
    except Exception as error:  # noqa: BLE001  whatever click raises
        pytest.fail(f"nearkin {' '.join(arguments)}: {error}")
