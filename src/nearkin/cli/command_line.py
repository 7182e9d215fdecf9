"""Help in panels, checked file names, errors that name options, groups that load lazily."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

import click

from nearkin.errors import NearkinError
from nearkin.options.declared import ARGUMENTS, PYTHON, Option, Options
from nearkin.paths import check_input, check_output

_OUTPUTS = ("out", "kept", "cache")
"""Options and arguments that name what is written, by parameter."""
_PLACES = ("collection", "place")
"""Parameters that are a directory or a URL."""
_NO_FILES = ("ids", "conf", "documents", "query")
"""Lists of strings that are not file names. All other lists and all paths are."""
COLLECTION_URLS = ("postgresql://", "postgres://")
_LAST = ("Output", "The run", "The engine", "Options")
"""Panels at the end of the help, in this order."""
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_READ: ContextVar[tuple[str | Path, ...]] = ContextVar("read", default=())
"""Files and directories that the running command reads, as they were typed."""


class _WithPanels(click.Command):
    """Command whose help shows its options in panels, and its examples as they are typed."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for paragraph in (self.help or "").strip().split("\n\n"):
            formatter.write_paragraph()
            with formatter.indentation():
                if paragraph.startswith(" "):
                    formatter.write(f"{paragraph}\n")
                else:
                    formatter.write_text(paragraph)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                panel = getattr(parameter, "panel", "Options")
                panels.setdefault(panel, []).append(record)
        for panel in sorted(panels, key=lambda panel: panel in _LAST and 1 + _LAST.index(panel)):
            with formatter.section(panel):
                formatter.write_dl(panels[panel])


class PanelOption(click.Option):
    """Option that stands in a panel of the help."""

    def __init__(self, *declared: Any, panel: str, **settings: Any) -> None:
        super().__init__(*declared, **settings)
        self.panel = panel


def parameter_of(name: str, declared: Option[Any, Any]) -> click.Parameter:
    """Return the parameter of a declared option; its record gives it the default."""
    kind = declared.kind if declared.kind in (int, float, bool) and declared.parse is None else str
    type_ = click.Path(path_type=Path) if declared.kind is Path else kind
    is_told = kind is bool or declared.panel == ARGUMENTS or "[default: " in declared.help
    default = "" if is_told or declared.default in (None, (), "") else f" [default: {declared.default}]"
    make: Callable[..., click.Parameter] = partial(
        click.Argument if declared.panel == ARGUMENTS else PanelOption,
        help=declared.help + default, type=type_, metavar=declared.metavar, required=declared.required,
    )  # fmt: skip
    are_many = declared.kind is list
    if declared.panel == ARGUMENTS:
        return make([name], nargs=-1 if are_many else 1)
    names = declared.names or (f"--{name.replace('_', '-')}",)
    if kind is bool:
        both = f"{names[0]}/--no-{names[0].removeprefix('--')}"
        return make([name, *([both] if declared.default else names)], panel=declared.panel, is_flag=True, default=None)
    return make([name, *names], panel=declared.panel, multiple=are_many, nargs=2 if declared.kind is tuple else 1)


class Command(_WithPanels):
    """Command made from a function, whose parameter is a record of options; see `nearkin.options.declared`.

    >>> from nearkin.options.declared import Same, argument, option
    >>> class Walk(Options):
    ...     place: Same[str] = argument("PLACE", help="Where to.")
    ...     steps: Same[int] = option(1, minimum=1, help="Number of steps.")
    >>> def walk(job: Walk) -> None:
    ...     print(f"{job.place}: {job.steps}")
    >>> Command("walk", walk, help="Walk.").main(["home", "--steps", "3"], standalone_mode=False)
    home: 3
    """

    def __init__(self, name: str, function: Callable[..., Any], *, help: str, summary: str = "") -> None:
        (taken,) = inspect.signature(function, eval_str=True).parameters.values()
        record: type[Options] = taken.annotation
        declared = {key: option for key, option in record.declared().items() if option.panel != PYTHON}
        lists = [key for key, option in declared.items() if option.kind is list]

        def work(**values: Any) -> Any:
            values |= {key: list(values[key] or ()) or None for key in lists if key in values}
            _check_places(values)
            _READ.set(tuple(_read(values)))
            return function(record(**values))

        parameters = [parameter_of(key, option) for key, option in declared.items()]
        parameters.sort(
            key=lambda option: isinstance(option, click.Argument) and option.nargs == -1
        )  # it takes all that follow
        super().__init__(
            name, callback=work, params=parameters, help=help, short_help=summary, context_settings=SETTINGS
        )

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error names its option in place of the parameter."""
        try:
            return super().invoke(ctx)
        except NearkinError as error:
            if error.parameter is not None:
                error.parameter = self._option_of(error.parameter) or error.parameter
            raise

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; of an unknown option, which may be an id that begins with a dash, say how to pass it."""
        try:
            self._check_repeated(ctx, args)
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if not error.possibilities and any(isinstance(param, click.Argument) for param in self.params):
                error.message += " Write -- before an argument that begins with a dash."  # type: ignore[misc]
            raise

    def _check_repeated(self, ctx: click.Context, args: Sequence[str]) -> None:
        """Refuse a second value of an option that takes one; click would take the last without a word."""
        _, _, typed = self.make_parser(ctx).parse_args(args=[*args])
        for parameter in typed:
            is_single = isinstance(parameter, click.Option) and not parameter.multiple and not parameter.is_flag
            if is_single and typed.count(parameter) > 1:
                raise click.UsageError(
                    f"{max(parameter.opts, key=len)} takes one value. Got {typed.count(parameter)}.", ctx
                )

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Name the arguments by their metavars."""
        arguments = [param for param in self.params if isinstance(param, click.Argument)]
        names = [(argument.make_metavar(ctx), argument.required) for argument in arguments]
        pieces = [name if is_required or name.startswith("[") else f"[{name}]" for name, is_required in names]
        return [self.options_metavar or "", *pieces]

    def _option_of(self, parameter: str) -> str | None:
        """Spell a parameter as on the command line: ``threshold`` as ``--threshold``, ``inputs`` as ``INPUT``."""
        spellings = {f"--{parameter.replace('_', '-')}", f"--{parameter.removeprefix('n_').replace('_', '-')}"}
        for param in self.params:
            is_option = isinstance(param, click.Option)
            if is_option and (param.name == parameter or not spellings.isdisjoint(param.opts)):
                return max(param.opts, key=len)
            if not is_option and param.name == parameter:
                return (param.metavar or parameter.upper()).removesuffix("...")
        return None


def _check_places(values: Mapping[str, object]) -> None:
    for name, value in values.items():
        for place in _places(name, value):
            if name in _OUTPUTS:
                check_output(place, f"--{name}")
            elif not str(place).startswith(COLLECTION_URLS):
                check_input(place)


def places_read() -> tuple[str | Path, ...]:
    """Return the files and directories among the arguments and options of the running command."""
    return _READ.get()


def _read(values: Mapping[str, object]) -> Iterator[str | Path]:
    for name, value in values.items():
        if name not in _OUTPUTS:
            yield from _places(name, value)
        if name in _PLACES and isinstance(value, str) and not value.startswith(COLLECTION_URLS):
            yield value


def _places(name: str, value: object) -> Iterator[str | Path]:
    are_many = isinstance(value, list)
    for place in value if are_many else [value]:  # type: ignore[attr-defined]  # it is a list
        if isinstance(place, Path) or (are_many and isinstance(place, str) and name not in _NO_FILES):
            yield place


def take_every_character(*streams: TextIO) -> None:
    """Print characters that a stream's encoding lacks as their code points."""
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)  # a stream that a test put there may have none
        if reconfigure is not None and getattr(stream, "errors", "") == "strict":
            reconfigure(errors="backslashreplace")


def is_unicode(stream: TextIO) -> bool:
    """Whether a stream holds every character."""
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "").startswith("utf")


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """Location of a command below ``nearkin.cli``, with its name in that module, and its line in a list."""

    name: str
    summary: str
    module: str
    work: str = ""

    def load(self) -> click.Command:
        """Import the command; the help of ``work`` is ``WORK_HELP``, or ``HELP`` if its module is about it."""
        module = import_module(f"nearkin.cli.{self.module}")
        name = self.work or self.name.replace("-", "_")
        work = getattr(module, name)
        if isinstance(work, CommandGroup):
            work.short_help = self.summary
            return work
        text = vars(module).get(f"{name.upper()}_HELP") or module.HELP
        return Command(self.name, work, help=text, summary=self.summary)


Panels = Mapping[str, Sequence[CommandEntry]]


class CommandGroup(_WithPanels, click.Group):
    """Commands by panel, each imported when it is typed."""

    def __init__(self, name: str, help: str, panels: Panels) -> None:
        super().__init__(name, help=help, no_args_is_help=True, context_settings=SETTINGS)
        self.panels = panels
        self._entries = {entry.name: entry for entries in panels.values() for entry in entries}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands without importing them."""
        return list(self._entries)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command; None if there is none of this name."""
        if name not in self.commands and name in self._entries:
            self.commands[name] = self._entries[name].load()
        return self.commands.get(name)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then a section for each panel of commands."""
        super().format_options(ctx, formatter)
        for panel, entries in self.panels.items():
            with formatter.section(panel):
                formatter.write_dl([(entry.name, entry.summary) for entry in entries])
