"""``nearkin sql``: functions and views for plain SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.command_line import CommandEntry, CommandGroup
from nearkin.cli.options.collection import Place, Wait
from nearkin.cli.options.definitions import Json, Quiet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nearkin.collection.plain_sql import Installed
    from nearkin.reports.sentences.sentence import Sentence

INSTALL_HELP = """
Install functions and views in a collection in PostgreSQL: similar_by_jaccard, near_duplicates, similar_by_letters, \
similar_by_index, near_duplicate_pairs and group_of_documents answer without Nearkin. Stores the word 5-grams and keys \
of all texts, and from then on those of all texts that are added. Run the command again after an update of Nearkin.

Example:

  nearkin sql install postgresql://ada:secret@localhost/matters
"""

sql = CommandGroup(
    "sql",
    "Query a collection in PostgreSQL in plain SQL.",
    {"Commands": [CommandEntry("install", "Install functions and views in PostgreSQL", "sql", "INSTALL_HELP")]},
)


def install(collection: Place, wait: Wait = None, as_json: Json = False, quiet: Quiet = False) -> None:
    """Put tables, functions and views into the database."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.collection.opened import OpenedCollection
    from nearkin.collection.plain_sql import install as put
    from nearkin.store.store import Access

    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        OpenedCollection.open(collection, access=Access(wait), progress=bars) as opened,
    ):
        installed = put(opened)
    tell(installed.to_dict, lambda console: console.say(_sentences(installed)), as_json=as_json, quiet=quiet)


def _sentences(installed: Installed) -> Iterator[Sentence]:
    from nearkin.reports.sentences.sentence import Sentence

    yield Sentence(f" is ready for plain SQL (similarity index {installed.similarity_index})", strong=installed.place)
    yield Sentence(f"tables {', '.join(installed.tables)}; views {', '.join(installed.views)}; functions:")
    for function in installed.functions:
        yield Sentence(f"  {function}")
    yield Sentence(f"Try: {installed.example}")
