"""Features of every command: checked file names, errors that name options, groups that load a command when typed."""

from __future__ import annotations

import codecs
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, TextIO, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from nearkin.cli.options.groups import taking_options
from nearkin.errors import NearkinError, ParameterError
from nearkin.paths import check_input, check_output

_OUTPUTS = {
    **{name: f"--{name}" for name in ("out", "html", "docx", "missed", "kept", "cache", "figure")},
}
"""Options and arguments that name what is written, by parameter."""
_PLACES = ("collection", "place")
"""Parameters that are a directory or a URL."""
_NO_FILES = ("ids", "conf", "documents", "query")
"""Lists of strings that are not file names. All other lists and all paths are."""
COLLECTION_URLS = ("postgresql://", "postgres://")
_PLAIN = {
    "≥": ">=", "≤": "<=", "≠": "!=", "≈": "~", "→": "->", "−": "-", "–": "-", "…": "...", "·": "-", "×": "x",
    "⟨": "<", "⟩": ">", "γ": "g", "τ": "t",
}  # fmt: skip
_HANDLER = "nearkin-plain"
_SIDES = {"left", "right"}
_TWO_CORPORA = "This command compares two corpora: --left INPUT --right INPUT. For one corpus use nearkin dedup"
_READ: ContextVar[tuple[str | Path, ...]] = ContextVar("read", default=())
"""Files and directories that the running command reads, as they were typed."""
Function = TypeVar("Function", bound=Callable[..., Any])


class Command(TyperCommand):
    """Command that replaces the names of parameters in error messages by those of its options."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error names its option in place of the parameter.

        Raises
        ------
        typer.Abort
            The command was interrupted: typer would turn that into an exit code and lose the notes.
        """
        try:
            return super().invoke(ctx)
        except NearkinError as error:
            if error.parameter is not None:
                error.parameter = self._option_of(error.parameter) or error.parameter
            raise
        except KeyboardInterrupt as error:
            raise typer.Abort from error

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments; for an unknown option, which may be an id that begins with a dash, say how to pass it."""
        self._refuse_repeated_columns(args)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            arguments = [one for one in self.params if one.param_type_name == "argument"]
            takes_arguments = any(one.metavar != "COLLECTION" for one in arguments)  # whose name has no dash before it
            missing = getattr(getattr(error, "param", None), "name", None)
            if missing in _SIDES and {one.name for one in self.params} >= _SIDES:
                error.message = _TWO_CORPORA  # type: ignore[attr-defined]
            if getattr(error, "option_name", None) == "--out" and any(one.name == "missed" for one in self.params):
                error.possibilities = ["--missed"]  # type: ignore[attr-defined]
            is_unknown = takes_arguments and not getattr(error, "possibilities", True)
            if is_unknown and not _is_option(getattr(error, "option_name", ""), ctx.find_root()):
                error.message += ". Write -- before an argument that begins with a dash."  # type: ignore[attr-defined]
            raise

    def _refuse_repeated_columns(self, args: list[str]) -> None:
        """Refuse two columns for one option, of which all but the last would be ignored."""
        given = [one.partition("=")[0] for one in itertools.takewhile(lambda one: one != "--", args)]
        for one in self.params:
            names_one = one.metavar == "COLUMN" and not getattr(one, "multiple", False)
            for option in one.opts if names_one else ():
                if (n := given.count(option)) > 1:
                    raise ParameterError(
                        f"{option} names one column, and was given {n} times. Join several columns into one first."
                    )

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Name the arguments by their metavars alone: typer would add braces, brackets and dots of its own."""
        arguments = [one for one in self.params if one.param_type_name == "argument"]
        names = [(one.metavar or str(one.name).upper(), one.required) for one in arguments]
        pieces = [name if is_required or name.startswith("[") else f"[{name}]" for name, is_required in names]
        return [self.options_metavar or "", *pieces]

    def _option_of(self, parameter: str) -> str | None:
        """Spell a parameter as on the command line: ``threshold`` as ``--threshold``, ``inputs`` as ``INPUT``."""
        spellings = {f"--{parameter.replace('_', '-')}", f"--{parameter.removeprefix('n_').replace('_', '-')}"}
        for one in self.params:
            is_option = one.param_type_name == "option"
            if is_option and (one.name == parameter or not spellings.isdisjoint(one.opts)):
                return max(one.opts, key=len)
            if not is_option and one.name == parameter:
                return (one.metavar or parameter.upper()).removesuffix("...")
        return None


class CommandLine(typer.Typer):
    """Group of commands that refuse, before they start, URLs as inputs and file names that cannot be written."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Run the command that was typed."""
        return self._built(*arguments, **options)

    @functools.cached_property
    def _built(self) -> Any:
        """All commands with their options; building them takes 23 ms."""
        return typer.main.get_command(self)

    def command(self, name: str | None = None, **options: Any) -> Callable[[Function], Function]:
        """Register a command; lists of commands show the first sentence of its help."""
        short = {"short_help": first_sentence(options["help"])} if options.get("help") else {}
        register = super().command(name, **{"cls": Command, **short, **options})

        def decorate(function: Function) -> Function:
            work = taking_options(function)

            @functools.wraps(work)
            def checked(**values: Any) -> Any:
                _check_places(values)
                _READ.set(tuple(_read(values)))
                return work(**values)

            register(checked)
            return function

        return decorate


def first_sentence(text: str) -> str:
    r"""Return the first sentence of a help text in one line.

    Examples
    --------
    >>> first_sentence("\nMeasure signatures on your\ncorpus: of 16 to 1,024 bits. Then choose.\n\nExamples")
    'Measure signatures on your corpus: of 16 to 1,024 bits.'
    """
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    first, stop, _ = paragraph.partition(". ")
    return first + stop.strip()


def _is_option(name: str, context: Any) -> bool:
    """Whether a command of a group, or of a group in it, has an option."""
    command = context.command
    if not isinstance(command, TyperGroup):
        return any(name in one.opts for one in command.params)
    return any(_is_option(name, typer.Context(one, parent=context)) for one in command.commands.values())


def _check_places(values: Mapping[str, object]) -> None:
    for name, value in values.items():
        for place in _places(name, value):
            if name in _OUTPUTS:
                check_output(place, _OUTPUTS[name])
            elif not str(place).startswith(COLLECTION_URLS):
                check_input(place)


def places_read() -> tuple[str | Path, ...]:
    """Return the files and directories to read among the arguments and options of the running command."""
    return _READ.get()


def _read(values: Mapping[str, object]) -> Iterator[str | Path]:
    for name, value in values.items():
        if name not in _OUTPUTS:
            yield from _places(name, value)
        if name in _PLACES and isinstance(value, str) and not value.startswith(COLLECTION_URLS):
            yield value


def _places(name: str, value: object) -> Iterator[str | Path]:
    """Return the file names among the values of a parameter."""
    are_many = isinstance(value, list)
    for one in value if are_many else [value]:  # type: ignore[attr-defined]  # it is a list
        if isinstance(one, Path) or (are_many and isinstance(one, str) and name not in _NO_FILES):
            yield one


def take_every_character(*streams: TextIO) -> None:
    """Replace characters that the encoding of a stream lacks: signs by words, all others by their code points.

    Without this, printing ``≥`` to an ASCII terminal, or an unpaired surrogate to any, would end in a traceback.
    """
    codecs.register_error(_HANDLER, _in_other_words)
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)  # a stream that a test put there may have none
        if reconfigure is not None and getattr(stream, "errors", "") in ("strict", "backslashreplace"):
            reconfigure(errors=_HANDLER)


def is_unicode(stream: TextIO) -> bool:
    """Whether a stream holds every character."""
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "").startswith("utf")


def _in_other_words(error: UnicodeError) -> tuple[str, int]:
    r"""Replace unprintable characters, for `codecs.register_error`.

    Examples
    --------
    >>> take_every_character()
    >>> "γ ≥ 0.7, café".encode("ascii", "nearkin-plain")
    b'g >= 0.7, caf\\xe9'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    words = "".join(_PLAIN.get(one) or one.encode("ascii", "backslashreplace").decode() for one in missing)
    return words, error.end


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
