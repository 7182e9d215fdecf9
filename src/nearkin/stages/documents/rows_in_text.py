"""Recognition of rows in a text that is read as one document."""

from __future__ import annotations

import json
import re

from nearkin.paths import STDIN
from nearkin.progress_messages import Caution
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.formats.delimited import TAB, Csv, Tsv, has_header
from nearkin.stages.documents.formats.format import Format
from nearkin.stages.documents.head import HEAD_BYTES, Head

_COLUMN_NAME = re.compile(r"\w(?:[\w .\-/#]{0,38}[\w#])?")


def rows_in(head: Head) -> Format | None:
    r"""Return the format of the rows that a text seems to consist of; None if it seems to be prose.

    Delimited rows have a header of distinct short names and one number of fields in all of the first rows.

    Examples
    --------
    >>> rows_in(Head(data=b"id,text\n1,It was a dark night.\n", compression="none", is_all=True)).in_words
    'CSV'
    >>> rows_in(Head(data=b"Dear Ada,\nit was a dark night, and cold.\n", compression="none", is_all=True))
    """
    if FORMATS["jsonl"].is_begun_by(head) and _is_object(head.first_lines[0]):
        return FORMATS["jsonl"]
    csv = Csv()
    delimiter = csv.delimiter(head)
    names, *rows = csv.rows(head, delimiter) or [[]]
    are_rows = len(names) > 1 and len(rows) > 0 and all(len(row) == len(names) for row in rows)
    are_names = len(set(names)) == len(names) and all(_COLUMN_NAME.fullmatch(name) for name in names)
    if not (are_rows and are_names):
        return None
    return Tsv() if delimiter == TAB else csv


def caution_of_rows(name: str, file_format: str, head: Head) -> Caution | None:
    r"""Return a caution if a source that nobody named a format of seems to consist of rows, but is read otherwise.

    Examples
    --------
    >>> head = Head(data=b"id\ttext\n1\tIt was a dark night.\n", compression="none", is_all=True)
    >>> caution_of_rows("-", "lines", head)
    'Standard input looks like TSV with a header and was read as lines of ID<TAB>TEXT; for rows use --format tsv.'
    """
    form = rows_in(head) if file_format == "file" else FORMATS["tsv"] if has_header(head, TAB.encode()) else None
    if file_format not in ("file", "lines") or form is None:
        return None
    read_as = "one text" if file_format == "file" else FORMATS[file_format].in_words
    return Caution(
        f"{_begun(name)} looks like {form.in_words} and was read as {read_as}; for rows use --format {form.name}."
    )


def caution_of_one_text(name: str, text: str, *, for_json_lines: str = "", for_rows: str = "") -> Caution | None:
    r"""Return a caution if a text that is one document by the nature of a command seems to consist of rows.

    Examples
    --------
    >>> caution_of_one_text("-", '{"id": 1}\n{"id": 2}\n', for_json_lines="for a document per line use --jsonl")
    'Standard input looks like JSON Lines and was read as one text; for a document per line use --jsonl.'
    """
    data = text[:HEAD_BYTES].encode("utf-8", "replace")
    form = rows_in(Head(data=data, compression="none", is_all=len(text) <= HEAD_BYTES))
    if form is None:
        return None
    advice = for_json_lines if form.name == "jsonl" else for_rows
    end = f"; {advice}." if advice else "."
    return Caution(f"{_begun(name)} looks like {form.in_words} and was read as one text{end}")


def _begun(name: str) -> str:
    """Return the name of a source, to begin a sentence."""
    return "Standard input" if name == STDIN else name


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
