"""Results in a notebook: a line, bars and the first rows of a table, in HTML without scripts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from nearkin.nouns import counted
from nearkin.wording import distance_text, reveal_line, share_text

_N_ROWS = 5
_N_BARS = 20
_MAX_CHARACTERS = 60
_WIDTH_EM = 16
_TABLE = '<table style="text-align:left;font-size:90%">'


@dataclass(frozen=True, slots=True)
class Histogram:
    """Numbers to draw as bars.

    Parameters
    ----------
    title : str
    counts : mapping of str to int or float
        By label, in the order in which they are drawn.
    """

    title: str
    counts: Mapping[str, float]


def shown_in_notebook(line: str, bars: Histogram, table: pa.Table) -> str:
    """Return a line, bars, and the first rows of a table.

    Ids and names come from documents: they are escaped, hidden characters are shown, and long values are cut.

    Examples
    --------
    >>> page = shown_in_notebook("1 pair", Histogram("", {}), pa.table({"id": ["<script>"]}))
    >>> "<script>" in page, "&lt;script&gt;" in page
    (False, True)
    """
    return f"<div><p>{_cell(line, len(line))}</p>{_drawn(bars)}{_rows(table)}</div>"


def _drawn(bars: Histogram) -> str:
    """Return bars, the longest of which has the full width."""
    shown = list(bars.counts.items())[:_N_BARS]
    most = max((n for _, n in shown), default=0)
    if not most:
        return ""
    lines = [
        f'<tr><td>{_cell(label)}</td><td><div style="background:currentColor;opacity:.5;height:.8em;'
        f'width:{_WIDTH_EM * n / most:.2f}em"></div></td><td>{_number(n)}</td></tr>'
        for label, n in shown
    ]
    more = f"<p>{_N_BARS} of {counted(len(bars.counts), 'bar')}</p>" if len(bars.counts) > _N_BARS else ""
    return f"{_TABLE}<caption>{_cell(bars.title)}</caption>{''.join(lines)}</table>{more}"


def _rows(table: pa.Table) -> str:
    """Return the first rows, and how many there are."""
    head = "".join(f"<th>{_cell(name)}</th>" for name in table.column_names)
    columns = dict(zip(table.column_names, table.columns, strict=True))
    rows = [{name: column[i].as_py() for name, column in columns.items()} for i in range(min(_N_ROWS, len(table)))]
    cells = ["".join(f"<td>{_cell(_in_column(name, value))}</td>" for name, value in row.items()) for row in rows]
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    more = f"<p>{_N_ROWS} of {counted(len(table), 'row')}</p>" if len(table) > _N_ROWS else ""
    return f'<div style="overflow-x:auto">{_TABLE}<tr>{head}</tr>{body}</table></div>{more}'


def _cell(value: object, most: int = _MAX_CHARACTERS) -> str:
    """Return a value as text that no browser takes for markup."""
    from html import escape  # with a table of all entities, for notebooks alone

    if value is None:
        return ""
    if isinstance(value, bytes):
        value = value.hex()
    text = reveal_line(str(value))
    return escape(text if len(text) <= most else f"{text[: most - 1]}…")


def _in_column(name: str, value: object) -> object:
    """Return a float of a column as text; only equality is shown as a similarity of 1 or a distance of 0."""
    if not isinstance(value, float):
        return value
    if name == "relative_distance":
        return distance_text(value)
    return share_text(value) if 0 <= value <= 1 and not name.endswith("_s") else _number(value)


def _number(value: float) -> str:
    """Return a number of documents, or of seconds, with few digits."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
