"""Write docs/reference/cli.md from the commands themselves: ``make docs``."""

from __future__ import annotations

import enum
import inspect
import sys
import typing
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

HEAD = """# Command line reference

Written by `make docs` from the commands themselves; `make check` fails when it is out of date. What the exit codes
mean is in [exit codes](../guides/exit-codes.md), what the words mean in the [glossary](../glossary.md).
"""


def reference() -> str:
    """The whole page."""
    from nearkin.cli import app

    root = typer.main.get_command(app)
    return "\n".join([HEAD, *_sections(root, typer.Context(root, info_name="nearkin"))]).rstrip() + "\n"


def _sections(command: TyperCommand | TyperGroup, context: typer.Context) -> Iterator[str]:
    """The section of a command, then those of the commands under it."""
    yield f"## {context.command_path}\n"
    yield f"```\n{' '.join(command.get_usage(context).removeprefix('Usage: ').split())}\n```\n"
    if command.help:
        yield inspect.cleandoc(command.help.split("\f")[0]) + "\n"
    if isinstance(command, TyperGroup):
        inner = [command.get_command(context, name) for name in command.list_commands(context)]
        shown = [one for one in inner if one is not None and not one.hidden]
        yield "\n".join(
            f"- [`{one.name}`](#{_anchor(f'{context.command_path} {one.name}')}): {_first(one)}" for one in shown
        )
        yield ""
    yield from _tables(command, context)
    if isinstance(command, TyperGroup):
        for one in shown:
            yield from _sections(one, typer.Context(one, info_name=one.name, parent=context))


def _tables(command: TyperCommand | TyperGroup, context: typer.Context) -> Iterator[str]:
    """A table for each panel of the options, in the order in which the help shows them."""
    panels: dict[str, list[str]] = {}
    for parameter in command.get_params(context):
        if getattr(parameter, "hidden", False):
            continue
        is_argument = isinstance(parameter, TyperArgument)
        panel = getattr(parameter, "rich_help_panel", None) or ("Arguments" if is_argument else "Options")
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
    says = " ".join((getattr(parameter, "help", None) or "").split())
    return f"| {names}{takes} | {_cell(says)} | {_cell(_default(parameter))} |"


def _metavar(parameter: TyperArgument | TyperOption) -> str:
    """What an option takes: the choices, else the kind of value."""
    if parameter.metavar:
        return parameter.metavar
    annotation = parameter.type_descriptor.annotation
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return " or ".join(f"`{choice.value}`" for choice in annotation)
    if typing.get_origin(annotation) is typing.Literal:
        return " or ".join(f"`{choice}`" for choice in typing.get_args(annotation))
    if isinstance(parameter, TyperArgument):
        return f"{str(parameter.name).upper()}{'...' if parameter.nargs != 1 else ''}"
    return {int: "N", float: "X", Path: "PATH"}.get(annotation, "TEXT")


def _plain(choice: object) -> str:
    return str(getattr(choice, "value", choice))


def _default(parameter: TyperArgument | TyperOption) -> str:
    shown = getattr(parameter, "show_default", None)
    if isinstance(shown, str):
        return shown
    default = parameter.default
    if parameter.required or default is None or default is False or callable(default) or default == ():
        return ""
    return f"`{_plain(default)}`"


def _first(command: TyperCommand | TyperGroup) -> str:
    """The first sentence of a command's help."""
    return " ".join((command.help or "").split("\n\n")[0].split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


if __name__ == "__main__":
    Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
