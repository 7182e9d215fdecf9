"""``nearkin index``: index values by which a repository finds similar documents, without a collection."""

from __future__ import annotations

from typing import Annotated

import typer

from nearkin.cli.options.collection import Json
from nearkin.cli.options.reading import Inputs, ReadingOptions

HELP = """
Print the similarity index and the MinHash keys of documents in files, so that a repository can store them as \
properties. No collection is needed.

A collection stores the same numbers in its tables profiles and check_keys. Two texts that share a key are equal, may \
be near-duplicates, or may contain one another. --json prints all keys, a line for each document.

[bold]Examples[/]

  nearkin index contracts/

  nearkin index contracts.jsonl --json > properties.jsonl
"""
_Index = Annotated[
    str | None,
    typer.Option(
        "--index",
        rich_help_panel="Output",
        help="Method of the similarity index, such as 43B:k=40 or 1A:k=4. [dim]default: 43B:k=40[/]",
        show_default=False,
    ),
]


def index(inputs: Inputs, *, similarity_index: _Index = None, reading: ReadingOptions, as_json: Json = False) -> None:
    """Print the index values of documents."""
    import json
    import sys

    from nearkin.cli.bars import bars_shown
    from nearkin.cli.command_line import is_unicode
    from nearkin.cli.printing import Printer, shown, table
    from nearkin.workflows.collection.indexing import index_files

    console, rows = Printer(), table("similarity index", "bands", "samples", "key of the text", "id", numbers=4)
    is_ascii = not is_unicode(sys.stdout)
    with bars_shown(is_quiet=as_json) as bars:
        try:
            for one in index_files(reading.request(inputs).opened(bars), similarity_index, bars):
                if as_json:
                    typer.echo(json.dumps(one.to_dict(), ensure_ascii=is_ascii))
                elif one.problem is not None:
                    rows.add_row("", "", "", "", f"{shown(one.doc_id)}: {shown(one.problem)}")
                else:
                    number = "" if one.similarity_index is None else str(one.similarity_index)
                    n_keys = str(len(one.band_keys)), str(len(one.sample_keys))
                    rows.add_row(number, *n_keys, str(one.text_key), shown(one.doc_id))
        finally:  # also before the error that too much was unreadable, as --json does
            if rows.row_count:
                console.print(rows)
