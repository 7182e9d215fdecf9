"""Cells of tables: empty ones before an amount are marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from nearkin.stages.number_words import INVISIBLE

_MAX_ANSWER = 30  # characters of an amount


def with_empty_cells(cells: Iterable[str]) -> list[str]:
    r"""Mark empty cells that stand before an amount or a tick, whose column would be unknown without them.

    Examples
    --------
    >>> with_empty_cells(["Rent", "", "500", ""])
    ['Rent', '\u2063', '500', '']
    """
    marked, is_answer = list[str](), False
    for cell in reversed([*cells]):
        if content := cell.strip():
            is_answer = len(content) == 1 or (len(content) <= _MAX_ANSWER and any(map(str.isdecimal, content)))
        marked.append(INVISIBLE + cell if is_answer and not content else cell)
    return marked[::-1]


def with_marked_tables(text: str, tables: Iterable[Sequence[Sequence[str]]]) -> str:
    r"""Return a text with the empty cells of its tables marked; a table that is not found by its lines is left.

    Examples
    --------
    >>> with_marked_tables("Due on 15 May\n5", [[["", "5"]]])
    'Due on 15 May\n\u2063 5'
    """
    parts, at = list[str](), 0
    for rows in tables:
        plain, marked = ("\n".join(" ".join(of(row)).strip() for row in rows) for of in (list, with_empty_cells))
        if plain == marked:
            continue
        if found := re.compile(rf"^{re.escape(plain)}$", re.MULTILINE).search(text, at):
            parts += [text[at : found.start()], marked]
            at = found.end()
    return "".join([*parts, text[at:]])
