"""Command line of every experiment: its options, the run, its errors, and where the results are."""

from __future__ import annotations

import sys
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from labs.delivery import Experiment, deliver
from nearkin.cli.bars import bars_shown
from nearkin.errors import NearkinError
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources


def command(name: str, description: str) -> ArgumentParser:
    """Return the parser of an experiment, with the options of all of them."""
    parser = ArgumentParser(
        prog=f"python -m labs.{name}", description=description, formatter_class=ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="new directory for the results")
    parser.add_argument("--threads", type=int, default=0, help="worker threads; 0 means one per CPU core")
    return parser


def add_corpus(parser: ArgumentParser) -> None:
    """Add the input and the options for reading it."""
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help="files, folders or globs, as for nearkin dedup")
    parser.add_argument("--text", metavar="COLUMN", help="column with the text; None: guessed")
    parser.add_argument("--id", metavar="COLUMN", help="column with the id; None: guessed")
    parser.add_argument("--encoding", default="utf-8", help="encoding of text that is not UTF-8")


def reading(options: Namespace) -> ReadingRequest:
    """Return the request for the input that `add_corpus` describes."""
    return ReadingRequest(inputs=options.inputs, text=options.text, doc_id=options.id, encoding=options.encoding)


def conduct(
    parser: ArgumentParser,
    arguments: Sequence[str] | None,
    experiment: Experiment[Any, Any],
    plan: Callable[[Namespace], Sequence[object]],
    show: Callable[[Any], None],
) -> int:
    """Run the experiment that the command line asks for, print its main numbers, and return the exit code.

    Parameters
    ----------
    parser : ArgumentParser
    arguments : sequence of str or None
        None: those of the process.
    experiment : Experiment
    plan : function
        Returns the arguments of the experiment's ``run`` from the options.
    show : function
        Prints the results.
    """
    options = parser.parse_args(arguments)
    try:
        with bars_shown(is_quiet=False) as bars:
            delivered = deliver(
                experiment, *plan(options), out=options.out, resources=Resources(options.threads), progress=bars
            )
    except NearkinError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_code
    show(delivered.results)
    print(f"\n{delivered.results.elapsed_s:.1f} s. Results: {options.out}")
    return 0


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, left: Sequence[str] = ()) -> None:
    """Print a table; the columns with these headings hold words, the others numbers."""
    lines = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (
            f"{cell:<{width}}" if heading in left else f"{cell:>{width}}"
            for cell, width, heading in zip(line, widths, headings, strict=True)
        )
        print("  ".join(cells).rstrip())
