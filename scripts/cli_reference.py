"""Write docs/reference/cli.md from the commands themselves: ``make docs``."""

from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

HEAD = """# Command line reference

Written by `make docs` from the commands themselves; `make check` fails when it is out of date. See also
[exit codes](../guides/exit-codes.md) and the [glossary](../glossary.md). Every command takes `--help`; those that
print a result take `--json` and `--quiet`.
"""


_SHARED = "Options of several commands"
_OF_ALL = ("`-h`, `--help`", "`--json`", "`--quiet`, `-q`")


def reference() -> str:
    """The whole page."""
    from nearkin.cli.main import app

    context = app.make_context("nearkin", [], resilient_parsing=True)
    commands = list(_commands(app, context))
    n_commands = Counter(row for command, own in commands for row in _rows(command, own))
    by_name = {_name(row): row for row, n in reversed(n_commands.most_common()) if n > 1}  # the usual text of each
    shared = set(by_name.values())
    sections = [line for command, own in commands for line in _section(command, own, shared)]
    ending = [f"## {_SHARED}\n", *_table([row for row in n_commands if row in shared])]
    return "\n".join([HEAD, *sections, *ending]).rstrip() + "\n"


def _commands(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """A command, then those under it."""
    yield command, context
    for one in _inner(command, context):
        yield from _commands(one, click.Context(one, info_name=one.name, parent=context))


def _inner(command: click.Command, context: click.Context) -> list[click.Command]:
    names = command.list_commands(context) if isinstance(command, click.Group) else []
    inner = [command.get_command(context, name) for name in names]
    return [one for one in inner if one is not None and not one.hidden]


def _section(command: click.Command, context: click.Context, shared: set[str]) -> Iterator[str]:
    """The section of a command, with its own options, and the names of those that others have, too."""
    yield f"## {context.command_path}\n"
    arguments = [_metavar(one) for one in command.params if isinstance(one, click.Argument)]
    takes = ["COMMAND", "..."] if isinstance(command, click.Group) else arguments
    yield f"```\n{' '.join([context.command_path, '[OPTIONS]', *takes])}\n```\n"
    if command.help:
        yield _markdown(inspect.cleandoc(command.help)) + "\n"
    lines = [
        f"- [`{one.name}`](#{_anchor(f'{context.command_path} {one.name}')}): {one.short_help}"
        for one in _inner(command, context)
    ]
    if lines:
        yield "\n".join(lines) + "\n"
    rows = _rows(command, context)
    yield from _table([row for row in rows if row not in shared])
    if names := [_name(row).split(",")[0].split()[0] for row in rows if row in shared and _name(row) not in _OF_ALL]:
        yield f"[Also](#{_anchor(_SHARED)}): {', '.join(names)}.\n"


def _rows(command: click.Command, context: click.Context) -> list[str]:
    """A row for each argument and option, in the order in which the help shows them."""
    panels: dict[str, list[str]] = {}
    for parameter in command.get_params(context):
        if not getattr(parameter, "hidden", False):
            panels.setdefault(getattr(parameter, "panel", ""), []).append(_row(parameter))
    return [row for rows in panels.values() for row in rows]


def _name(row: str) -> str:
    return re.split(r"(?<!\\)[|]", row)[1].strip()


def _table(rows: list[str]) -> Iterator[str]:
    if rows:
        yield "\n".join(["| | |", "|---|---|", *rows])
        yield ""


def _row(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option):
        names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
        takes = "" if parameter.is_flag or parameter.count else f" {_metavar(parameter)}".replace("|", "\\|")
    else:
        names, takes = f"`{_metavar(parameter)}`", ""
    says, _, default = " ".join((parameter.help or "").split()).partition(" [default: ")
    default = default.removesuffix("]") or _default(parameter)
    return f"| {names}{takes} | {_cell(says)}{f' Default: {_cell(default)}.' if default else ''} |"


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
