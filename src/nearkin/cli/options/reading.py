"""Arguments that name documents to read."""

from __future__ import annotations

from typing import Annotated

from nearkin.cli.parameters import argument
from nearkin.stages.documents.formats import FORMATS, TABLES

Inputs = Annotated[
    list[str],
    argument(
        metavar="INPUT...",
        help=f"{', '.join(one.listed for one in FORMATS.values() if one.listed)}, folders of text files, documents or "
        "tables, globs, - for standard input; a collection, or results of nearkin dedup. All but "
        f"{' and '.join(table.listed for table in TABLES.values())} may be compressed (.gz, .bz2, .xz, .zst).",
    ),
]
