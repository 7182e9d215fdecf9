"""Write docs/reference/cli.md from the commands themselves: ``make docs``."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

HEAD = """# Command line reference

Written by `make docs` from the commands themselves; `make check` fails when it is out of date. See also
[exit codes](../guides/exit-codes.md) and the [glossary](../glossary.md).
"""


def reference() -> str:
    """The whole page."""
    from nearkin.cli.main import app

    return "\n".join([HEAD, *_sections(app, app.make_context("nearkin", [], resilient_parsing=True))]).rstrip() + "\n"


def _sections(command: click.Command, context: click.Context) -> Iterator[str]:
    """The section of a command, then those of the commands under it."""
    yield f"## {context.command_path}\n"
    arguments = [_metavar(one) for one in command.params if isinstance(one, click.Argument)]
    takes = ["COMMAND", "..."] if isinstance(command, click.Group) else arguments
    yield f"```\n{' '.join([context.command_path, '[OPTIONS]', *takes])}\n```\n"
    if command.help:
        yield _markdown(inspect.cleandoc(command.help)) + "\n"
    if isinstance(command, click.Group):
        inner = [command.get_command(context, name) for name in command.list_commands(context)]
        shown = [one for one in inner if one is not None and not one.hidden]
        lines = [
            f"- [`{one.name}`](#{_anchor(f'{context.command_path} {one.name}')}): {one.short_help}" for one in shown
        ]
        if lines:
            yield "\n".join(lines) + "\n"
    yield from _tables(command, context)
    if isinstance(command, click.Group):
        for one in shown:
            yield from _sections(one, click.Context(one, info_name=one.name, parent=context))


def _tables(command: click.Command, context: click.Context) -> Iterator[str]:
    """A table for each panel of the options, in the order in which the help shows them."""
    panels: dict[str, list[str]] = {}
    for parameter in command.get_params(context):
        if getattr(parameter, "hidden", False):
            continue
        is_argument = isinstance(parameter, click.Argument)
        panel = getattr(parameter, "panel", "Arguments" if is_argument else "Options")
        panels.setdefault(panel, []).append(_row(parameter))
    for panel, rows in panels.items():
        yield f"**{panel}**\n"
        yield "\n".join(["| | | default |", "|---|---|---|", *rows])
        yield ""


def _row(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option):
        names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
        takes = "" if parameter.is_flag or parameter.count else f" {_metavar(parameter)}"
    else:
        names, takes = f"`{_metavar(parameter)}`", ""
    says, _, default = " ".join((parameter.help or "").split()).partition(" [default: ")
    default = default.removesuffix("]") or _default(parameter)
    return f"| {names}{takes} | {_cell(says)} | {_cell(default)} |"


def _metavar(parameter: click.Parameter) -> str:
    """What an option takes: its metavar, else the kind of value."""
    if parameter.metavar:
        return parameter.metavar
    kind = parameter.type.name.removesuffix(" range")
    return {"integer": "N", "float": "X", "path": "PATH"}.get(kind, "TEXT")


def _default(parameter: click.Parameter) -> str:
    default = parameter.to_info_dict()["default"]
    if parameter.required or default is None or default is False:
        return ""
    if default is True and parameter.secondary_opts:
        return f"`{parameter.opts[0]}`"
    return f"`{default}`"


def _markdown(text: str) -> str:
    """Help as Markdown: the heading of examples is bold, indented lines become a block."""
    text = re.sub(r"^(Examples?):$", r"**\1**", text, flags=re.MULTILINE)
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
