"""Table of an experiment, for a CSV file and for the summary."""

from __future__ import annotations

import io
from dataclasses import dataclass

from nearkin.formats.delimited import SheetWriter

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
