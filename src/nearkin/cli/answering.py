"""What commands do alike: check files of results, show progress, open a collection, print the answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nearkin.cli.command_line import is_unicode, places_read
from nearkin.nouns import counted
from nearkin.reports.facts.fact import StyledText
from nearkin.wording import reveal_line

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.cli.bars import Bars
    from nearkin.collection.collection import Collection
    from nearkin.manifests.stored import Manifest
    from nearkin.options.collection import PlaceOptions
    from nearkin.options.running import PrintOptions
    from nearkin.reports.facts.fact import Part
    from nearkin.stages.differences.comparison import Piece


def working(options: PrintOptions) -> AbstractContextManager[Bars]:
    """Show progress on standard error until the block ends."""
    from nearkin.cli.bars import Bars

    return Bars(is_quiet=options.is_silent).shown()


@contextmanager
def opened(
    options: PlaceOptions, progress: Bars | None = None, *, has_list: bool = True, **more: Any
) -> Iterator[Collection]:
    """Open the collection of a command, after a look at the file of its list."""
    from nearkin.collection.collection import Collection

    if has_list:
        check_list(options)
    given = {name: vars(options)[name] for name in ("cache", "wait", "read_only") if name in vars(options)}
    with Collection.open(options.collection, **given, progress=progress, **more) as collection:
        yield collection


@contextmanager
def opened_with_bars(options: PlaceOptions) -> Iterator[Collection]:
    """Open the collection of a command, and show its progress."""
    with working(options) as bars, opened(options, bars) as collection:
        yield collection


def check_list(options: PrintOptions) -> None:
    """Refuse a file of the list that cannot be written, before any work is done."""
    if (out := vars(options).get("out")) is not None:
        from nearkin.formats.delimited import check_suffix

        check_suffix(out, "out")
        check_free(out, overwrite=vars(options)["overwrite"])


def answer(
    options: PrintOptions,
    summary: object,
    view: Iterable[Part],
    *,
    rows: Callable[[], pa.Table] | None = None,
    row: str = "",
) -> None:
    """Write the whole list to ``--out``, and print the answer for a person or, as JSON, for a program."""
    if rows is not None and (out := vars(options)["out"]) is not None:
        from nearkin.workflows.collection.tables import write_table

        listed = rows()
        write_table(listed, out)
        say_written(options, len(listed), row, out)
    if options.as_json:
        from nearkin.tabular import as_json

        click.echo(json.dumps(as_json(summary), ensure_ascii=not is_unicode(sys.stdout)))
    else:
        from nearkin.cli.printing import print_answer

        print_answer(view, is_quiet=options.quiet)


def answer_run(
    options: PrintOptions, manifest: Manifest, out: Path, first: str, view: Iterable[Part], *, summary: object = None
) -> None:
    """Print the answer of a run, and which of its files to open first; warn if it could not write its page."""
    from nearkin.cli.printing import warn_of_report

    warn_of_report(manifest.report_problem, is_silent=options.is_silent)
    page = out / "report.html"
    start = place_line("Results", out, f"; start with {page if page.exists() else out / first}")
    answer(options, summary or manifest, chain(view, [start]))


def place_line(what: str, out: Path, then: str = "") -> StyledText:
    """Return a path and what to do with it."""
    return StyledText([("", f"{what} in "), ("bold", str(out)), ("", then)])


def passage_lines(
    passage: Sequence[Piece] | None, *, n_differences: int | None = 0, n_moves: int | None = 0
) -> Iterator[StyledText]:
    """Yield a passage of a comparison with its marks, if any, and the number of all if it is the first."""
    from nearkin.reports.comparison import pieces_to_terminal
    from nearkin.reports.quantities import first_difference_text

    if passage:
        yield StyledText([("", "    "), *pieces_to_terminal(passage)])
        if sentence := first_difference_text(n_differences or 0, n_moves or 0):
            yield StyledText([("dim", f"    {sentence}")])


def check_free(
    out: Path, *, overwrite: bool, inputs: Sequence[str | Path] = (), option: str = "--out", holds: str = ""
) -> None:
    """Refuse a file for a result; ``inputs`` are others than those of the arguments and options."""
    from nearkin.runs import result_file

    result_file.check_free(out, overwrite=overwrite, inputs=[*inputs, *places_read()], option=option, holds=holds)


def say_written(options: PrintOptions, n_rows: int, row: str, out: Path) -> None:
    """Say on standard error that a table was written."""
    if not options.is_silent:
        click.echo(f"wrote {counted(n_rows, row)} to {reveal_line(str(out))}", err=True)
