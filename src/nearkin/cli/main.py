"""``nearkin``: run the command that was typed, say how it failed, and exit with its code."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import typer

from nearkin.cli.app import app
from nearkin.cli.command_line import take_every_character
from nearkin.errors import NearkinError, OutputError
from nearkin.paths import why

_INTERRUPTED = 130
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
# typer carries a click of its own and names only some of its exceptions: all wrong usage is a kind of this one
UsageError: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def run(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code.

    0 done, 2 wrong usage, 3 input, 4 unreadable documents, 5 output, 6 a missing extra, 7 a collection, 8 a cluster,
    9 a busy collection, 13 truncated input, 130 Ctrl-C.
    """
    take_every_character(sys.stdout, sys.stderr)
    arguments = sys.argv[1:] if arguments is None else arguments
    signal.signal(signal.SIGTERM, _as_interrupt)
    try:
        code = app(arguments, standalone_mode=False)
        if code == _INTERRUPTED:  # what typer makes of Ctrl-C inside a command
            _say_interrupted(arguments)
    except UsageError as error:
        error.show()
        code = error.exit_code
    except NearkinError as error:
        code = fail(error, as_json="--json" in arguments)
    except (KeyboardInterrupt, typer.Abort):
        _say_interrupted(arguments)
        code = _INTERRUPTED
    except BrokenPipeError:
        # nobody reads any more: end in silence, as other tools do
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    except OSError as error:
        if error.filename is not None or error.errno not in _FULL:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = fail(OutputError(f"Cannot write to standard output: {why(error)}."), as_json="--json" in arguments)
    except MemoryError:
        _say_memory(arguments)
        code = 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said and done: nothing is left to interrupt
    sys.exit(code if isinstance(code, int) else 0)


def fail(error: NearkinError, *, as_json: bool) -> int:
    """Say on standard error what went wrong, for a person or a program."""
    from nearkin.hidden_characters import reveal_line

    if as_json:
        told = {"error": type(error).__name__, "message": str(error), "exit_code": error.exit_code}
        typer.echo(json.dumps(told), err=True)
    else:
        typer.secho(f"Error: {reveal_line(str(error))}", fg="red", err=True)
    return error.exit_code


def _value_of(option: str, arguments: list[str]) -> str:
    """What was given for an option; nothing, if it was not."""
    for one, following in pairwise([*arguments, ""]):
        name, _, value = one.partition("=")
        if name == option:
            return value or following
    return ""


def _say_interrupted(arguments: list[str]) -> None:
    hint = ""
    if not {"dedup", "families"}.isdisjoint(arguments) and (Path(_value_of("--out", arguments)) / ".work").exists():
        hint = " What was done is kept: the same command with --resume goes on from there."
    elif "pairs" in arguments and _is_on_a_cluster(arguments):
        hint = " Stages that were done are kept: the same command with --resume goes on behind them."
    elif "pairs" in arguments:
        hint = " A search is kept once a minute: after that, the same command with --resume goes on from there."
    typer.echo(f"\nInterrupted.{hint}", err=True)


def _say_memory(arguments: list[str]) -> None:
    if _is_on_a_cluster(arguments):
        hint = "The driver of a cluster holds some 60 bytes per document: run it on a larger machine, and add --resume."
    else:
        hint = "Give --memory a smaller size, or close other programs, and add --resume."
    typer.echo(f"Not enough memory. {hint}", err=True)


def _is_on_a_cluster(arguments: list[str]) -> bool:
    return _value_of("--engine", arguments) == "spark"


def _as_interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt
