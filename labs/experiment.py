"""Delivery of an experiment's results in a directory: tables, figures, page, and finally the summary."""

from __future__ import annotations

import io
import sys
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Concatenate, Generic, Protocol, TypeVar

from labs.corpus import shown_inputs
from labs.marks import diamonds
from nearkin._version import __version__
from nearkin.cli.bars import Bars
from nearkin.errors import NearkinError, OutputExistsError
from nearkin.formats.delimited import SheetWriter
from nearkin.reports.axes import Labels, Numbers
from nearkin.reports.pages import page_environment
from nearkin.reports.plots import Plot, legend_height
from nearkin.reports.theme import DASHES, SERIES, SURFACE, Colour
from nearkin.runs.files import published, write_json, writing
from nearkin.runs.progress import Progress
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources

SUMMARY, PAGE = "summary.json", "report.html"
_TABLES, _FIGURES = "tables", "figures"


class LabResults(Protocol):
    """Results of an experiment; only the elapsed time is common to all."""

    @property
    def elapsed_s(self) -> float:
        """Seconds of the whole experiment."""


R = TypeVar("R", bound=LabResults)
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Delivered(Generic[R]):
    """The results, and the content of ``summary.json``."""

    results: R
    summary: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment(Generic[S, R]):
    """An experiment that can be run and delivered.

    Parameters
    ----------
    package : str
        Its package, whose module ``page`` contains the page as ``PAGE``.
    run : function
        Runs the experiment; takes the source, other parameters, ``resources`` and ``progress``.
    tables : function
        Returns the results as tables, each a CSV file.
    summary : function
        Returns the summary's content besides version, name of the experiment, tables and time, from the source and the
        results.
    lists_tables : bool
        Whether the summary also contains the tables.
    """

    package: str
    run: Callable[Concatenate[S, ...], R]
    tables: Callable[[R], Sequence[Table]]
    summary: Callable[[S, R], dict[str, object]]
    lists_tables: bool = True

    @property
    def name(self) -> str:
        """Name of its command."""
        return self.package.rpartition(".")[2].replace("_", "-")

    def page(self) -> LabPage[R]:
        """Return the page."""
        page: LabPage[R] = import_module(f"{self.package}.page").PAGE
        return page


def deliver(
    experiment: Experiment[S, R],
    source: S,
    *asked: object,
    out: Path,
    resources: Resources,
    progress: Progress,
) -> Delivered[R]:
    """Run an experiment and write its results to a directory.

    Parameters
    ----------
    experiment : Experiment
    source : object
        Input: a `ReadingRequest`, which the head of the page names, or a plan.
    *asked : object
        Other arguments of ``run``.
    out : Path
    resources : Resources
    progress : Progress

    Raises
    ------
    OutputExistsError
        The directory is not empty.
    OutputError
        The disk is full or not writable.
    """
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise OutputExistsError(f"{out} is not empty. Choose a new directory for --out.")
    page = experiment.page()
    results = experiment.run(source, *asked, resources=resources, progress=progress)
    with writing(out):
        (out / _TABLES).mkdir(exist_ok=True)
    tables = experiment.tables(results)
    for table in tables:
        _write(out / _TABLES / f"{table.name}.csv", table.as_csv())
    summary: dict[str, object] = {
        "nearkin": __version__,
        "experiment": experiment.name,
        **experiment.summary(source, results),
    }
    if experiment.lists_tables:
        summary["tables"] = {table.name: table.records() for table in tables if table.in_summary}
    summary["elapsed_s"] = round(results.elapsed_s, 3)
    progress.start("draw", 0, "steps")
    corpus = ", ".join(shown_inputs(source)) if isinstance(source, ReadingRequest) else ""
    _write_page(page, results, corpus, out)
    progress.finish()
    write_json(out / SUMMARY, summary)
    return Delivered(results, summary)


def _write_page(page: LabPage[R], results: R, corpus: str, out: Path) -> None:
    """Write the figures, each to its own file, and the page."""
    drawn = tuple(page.draw(results))
    with writing(out):
        (out / _FIGURES).mkdir(exist_ok=True)
    for figure in drawn:
        _write(out / _FIGURES / f"{figure.name}.svg", figure.wide + "\n")
    _write(out / PAGE, page.render(results, drawn, corpus))


def _write(path: Path, text: str) -> None:
    with published(path, durable=False) as aside:
        aside.write_text(text, encoding="utf-8")


WIDE, NARROW = 684, 262
"""Widths of a figure's plot in pixels: beside a margin of text, and on a phone."""
PageResults = TypeVar("PageResults")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure in two widths, and its caption."""

    name: str
    wide: str
    narrow: str
    caption: str


@dataclass(frozen=True, slots=True)
class PageHead:
    """Content of the page's head."""

    nearkin: str = __version__


@dataclass(frozen=True, slots=True)
class LabPage(Generic[PageResults]):
    """Rendering of results as figures, and as an HTML page without scripts or external files.

    Parameters
    ----------
    package : str
        Package with the template: ``templates/NAME.html.j2``, where NAME is the last part of the package's name.
    draw : function
        Draws all figures.
    values : function
        Returns the template's values besides ``results``, ``figures``, ``facts`` and ``corpus``.
    filters : mapping of str to function
        Number formats of the template.
    """

    package: str
    draw: Callable[[PageResults], Iterable[Drawn]]
    values: Callable[[PageResults], Mapping[str, object]]
    filters: Mapping[str, Callable[..., str]]

    def render(self, results: PageResults, figures: Iterable[Drawn], corpus: str) -> str:
        """Render the page; for the same arguments, only the elapsed time can differ."""
        environment = page_environment(self.package, "labs")
        environment.filters |= self.filters
        template = environment.get_template(f"{self.package.rpartition('.')[2]}.html.j2")
        return template.render(
            facts=PageHead(),
            corpus=corpus,
            results=results,
            figures={figure.name: figure for figure in figures},
            **self.values(results),
        )


def drawn(name: str, chart: Callable[..., str], results: PageResults, caption: str) -> Drawn:
    """Draw a figure in both widths.

    Parameters
    ----------
    name : str
        Name of its file, and of its id in the page.
    chart : function
        Takes the results, and ``name`` and ``width`` by keyword.
    results : object
    caption : str
    """
    wide, narrow = (chart(results, name=f"{name}-{tag}", width=width) for tag, width in (("w", WIDE), ("n", NARROW)))
    return Drawn(name, wide, narrow, caption)


def places(n: int) -> Callable[[float], str]:
    """Return a filter that formats a number with ``n`` decimals, or a dash if it is missing."""
    return lambda x: "–" if x != x else f"{x:.{n}f}"


Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the stem of its file's name, its columns, its rows.

    Parameters
    ----------
    name : str
    columns : tuple of str
    rows : tuple of tuples of cells
        None is an empty cell, NaN a missing number.
    nan : str
        Text for missing numbers in the file.
    in_summary : bool
        Whether ``summary.json`` also contains the rows.

    Examples
    --------
    >>> table = Table("shares", ("of", "share"), (("all", 0.5), ("none", float("nan"))))
    >>> print(table.as_csv(), table.records()[1])
    of,share
    all,0.5
    none,
     {'of': 'none', 'share': None}
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    nan: str = ""
    in_summary: bool = True

    def as_csv(self) -> str:
        """Return the table with a header and with numbers in full precision."""
        out = io.StringIO()
        writer = SheetWriter(out)
        writer.write(self.columns)
        writer.write_all([self.nan if value != value else value for value in row] for row in self.rows)
        return out.getvalue()

    def records(self) -> list[dict[str, Cell]]:
        """Return the rows as objects; NaN, which JSON lacks, becomes null."""
        return [
            {name: None if value != value else value for name, value in zip(self.columns, row, strict=True)}
            for row in self.rows
        ]


@dataclass(frozen=True, slots=True)
class Claim:
    """A published statement, its number, ours, and whether it holds here; None: it cannot be decided here."""

    statement: str
    published: str
    here: str
    holds: bool | None


def claims_table(claims: Iterable[Claim]) -> Table:
    """Return the statements, one per row."""
    rows = tuple((one.statement, one.published, one.here, _yes_or_no(one.holds)) for one in claims)
    return Table("claims", ("statement", "published", "here", "holds"), rows)


def _yes_or_no(holds: bool | None) -> Cell:
    return None if holds is None else "yes" if holds else "no"


_LABEL_WIDTH = 32  # maximum width of an axis label in pixels


@dataclass(frozen=True, slots=True)
class FigureLine:
    """A line: its name, its values, its look.

    Parameters
    ----------
    name : str
    y : sequence of float
        One value for each label; NaN is a gap.
    colour : Colour
    dash : tuple of int
        Lengths of strokes and gaps; empty for a solid line.
    points : sequence of (str, float)
        Separate marks in the line's colour, each a label and a value. Those of a dashed line are hollow.
    """

    name: str
    y: Sequence[float]
    colour: Colour
    dash: tuple[int, ...]
    points: Sequence[tuple[str, float]] = ()

    @classmethod
    def numbered(cls, i: int, name: str, y: Sequence[float]) -> FigureLine:
        """Make a line with the look of the i-th line of a figure."""
        return cls(name, y, SERIES[i], DASHES[i])


def labelled_lines(
    lines: Sequence[FigureLine],
    labels: Sequence[str],
    y: Numbers,
    *,
    name: str,
    title: str,
    x_title: str,
    width: int,
    description: str = "",
) -> str:
    """Draw the figure as SVG; ``description`` is by default the names of the lines."""
    x = Labels(labels, x_title, gap=1, label_pixels=_LABEL_WIDTH)
    plot = Plot(x=x, y=y, width=width, height=240, top=legend_height(len(lines)))
    drawn = [plot.line(range(len(labels)), line.y, line.colour, line.dash) for line in lines]
    marked = [
        diamonds(
            plot,
            [(labels.index(label), height) for label, height in line.points],
            SURFACE if line.dash else line.colour,
            line.colour,
        )
        for line in lines
    ]
    legend = plot.legend([(line.name, line.colour, line.dash) for line in lines])
    words = description or ", ".join(line.name for line in lines)
    return plot.svg(plot.axes(), *drawn, *marked, legend, name=name, title=title, description=words)


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
        with Bars(is_quiet=False).shown() as bars:
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
