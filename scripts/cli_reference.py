"""Write docs/reference/cli.md from the commands themselves: ``make docs``."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

HEAD = """# Command line reference

Written by `make docs` from the commands themselves; `make check` fails when it is out of date. See also
[exit codes](../guides/exit-codes.md) and the [glossary](../glossary.md).
"""


def reference() -> str:
    """The whole page."""
    from nearkin.cli.main import app

    root = typer.main.get_command(app)
    return "\n".join([HEAD, *_sections(root, typer.Context(root, info_name="nearkin"))]).rstrip() + "\n"


def _sections(command: TyperCommand | TyperGroup, context: typer.Context) -> Iterator[str]:
    """The section of a command, then those of the commands under it."""
    yield f"## {context.command_path}\n"
    arguments = [_metavar(one) for one in command.params if isinstance(one, TyperArgument)]
    takes = ["COMMAND", "..."] if isinstance(command, TyperGroup) else arguments
    yield f"```\n{' '.join([context.command_path, '[OPTIONS]', *takes])}\n```\n"
    if command.help:
        yield _markdown(inspect.cleandoc(command.help)) + "\n"
    if isinstance(command, TyperGroup):
        inner = [command.get_command(context, name) for name in command.list_commands(context)]
        shown = [one for one in inner if one is not None and not one.hidden]
        lines = [
            f"- [`{one.name}`](#{_anchor(f'{context.command_path} {one.name}')}): {one.short_help}" for one in shown
        ]
        if lines:
            yield "\n".join(lines) + "\n"
    yield from _tables(command, context)
    if isinstance(command, TyperGroup):
        for one in shown:
            yield from _sections(one, typer.Context(one, info_name=one.name, parent=context))


def _tables(command: TyperCommand | TyperGroup, context: typer.Context) -> Iterator[str]:
    """A table for each panel of the options, in the order in which the help shows them."""
    panels: dict[str, list[str]] = {}
    for parameter in command.get_params(context):
        if parameter.hidden:
            continue
        is_argument = isinstance(parameter, TyperArgument)
        panel = parameter.rich_help_panel or ("Arguments" if is_argument else "Options")
        panels.setdefault(panel, []).append(_row(parameter))
    for panel, rows in panels.items():
        yield f"**{panel}**\n"
        yield "\n".join(["| | | default |", "|---|---|---|", *rows])
        yield ""


def _row(parameter: TyperArgument | TyperOption) -> str:
    if isinstance(parameter, TyperOption):
        names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
        takes = "" if parameter.is_flag or parameter.count else f" {_metavar(parameter)}"
    else:
        names, takes = f"`{_metavar(parameter)}`", ""
    says, _, default = " ".join((parameter.help or "").split()).partition(" [dim]default: ")
    default = default.removesuffix("[/]") or _default(parameter)
    return f"| {names}{takes} | {_cell(says)} | {_cell(default)} |"


def _metavar(parameter: TyperArgument | TyperOption) -> str:
    """What an option takes: the choices, else the kind of value."""
    if parameter.metavar:
        return parameter.metavar
    choices = getattr(parameter.type, "choices", None)
    if choices:
        return " or ".join(f"`{_plain(choice)}`" for choice in choices)
    if isinstance(parameter, TyperArgument):
        return f"{str(parameter.name).upper()}{'...' if parameter.nargs != 1 else ''}"
    kind = parameter.type.name.removesuffix(" range")
    return {"int": "N", "float": "X", "path": "PATH"}.get(kind, "TEXT")


def _plain(choice: object) -> str:
    return str(getattr(choice, "value", choice))


def _default(parameter: TyperArgument | TyperOption) -> str:
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    default = parameter.default
    if parameter.required or default is None or default is False or callable(default) or default == ():
        return ""
    if default is True and parameter.secondary_opts:
        return f"`{parameter.opts[0]}`"
    return f"`{_plain(default)}`"


def _markdown(text: str) -> str:
    """Help as rich shows it, as Markdown: bold stays bold, indented lines become a block."""
    text = re.sub(r"\[bold\](.*?)\[/\]", r"**\1**", text)
    parts = re.split(r"((?:^  .*\n?\n?)+)", text, flags=re.MULTILINE)
    return "".join(f"```sh\n{_unindented(one)}\n```" if i % 2 else _with_options(one) for i, one in enumerate(parts))


def _unindented(block: str) -> str:
    return "\n".join(line.strip() for line in block.splitlines() if line.strip())


def _with_options(text: str) -> str:
    """Set the names of options as code, so that they can be copied."""
    return re.sub(r"(?<![\w`*-])--[a-z][a-z-]*[a-z]", r"`\g<0>`", text)


def _cell(text: str) -> str:
    return _with_options(text.replace("|", "\\|").replace("<", "&lt;"))


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


if __name__ == "__main__":
    Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
