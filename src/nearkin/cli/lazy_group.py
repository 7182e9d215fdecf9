"""Groups of commands whose list is plain text; a command is imported only when it is typed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from nearkin.cli.command_line import CommandLine


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """Location of a command, and its line in a list of commands.

    Parameters
    ----------
    name : str
        The word that is typed.
    summary : str
    module : str
        Below ``nearkin.cli``.
    help : str
        Name of the help text in the module.
    work : str
        Name of the function, or the `CommandLine`, in the module; that of the command if empty.
    """

    name: str
    summary: str
    module: str
    help: str = "HELP"
    work: str = ""

    def load(self) -> Any:
        """Import the command."""
        module = import_module(f"nearkin.cli.{self.module}")
        work = getattr(module, self.work or self.name.replace("-", "_"))
        if isinstance(work, CommandLine):
            loaded: Any = typer.main.get_group(work)
        else:
            line = CommandLine(add_completion=False)
            line.command(self.name, help=getattr(module, self.help), short_help=self.summary)(work)
            loaded = typer.main.get_command(line)
        loaded.name, loaded.short_help = self.name, self.summary
        return loaded


Panels = Mapping[str, Sequence[CommandEntry]]


class LazyCommands(Mapping[str, Any]):
    """Commands by name, each imported when it is first looked up.

    Examples
    --------
    >>> commands = LazyCommands([CommandEntry("dedup", "Find copies", "dedup")])
    >>> list(commands), commands["dedup"].short_help
    (['dedup'], 'Find copies')
    """

    def __init__(self, entries: Sequence[CommandEntry]) -> None:
        self._entries = {one.name: one for one in entries}
        self._loaded: dict[str, TyperCommand | TyperGroup] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = self._entries[name].load()
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class PlainGroup(TyperGroup):
    """Group whose help is plain text: importing rich takes longer than everything else that the list needs."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, help, commands and options."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_options(ctx, formatter)
        self.format_epilog(ctx, formatter)


class LazyGroup(PlainGroup):
    """A group of lazy commands, in panels; a subclass names them."""

    panels: ClassVar[Panels] = {}

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = LazyCommands([one for some in self.panels.values() for one in some])  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the commands without importing them."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each panel."""
        for panel, entries in self.panels.items():
            with formatter.section(panel):
                formatter.write_dl([(one.name, one.summary) for one in entries])
