"""``nearkin sql``: functions and views for plain SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.command_line import CommandEntry, CommandGroup
from nearkin.cli.options.collection import Place, Wait
from nearkin.cli.options.definitions import Json, Quiet

if TYPE_CHECKING:
    from nearkin.collection.plain_sql import Installed
    from nearkin.reports.facts.fact import Fact

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
    tell(installed.to_dict, lambda console: console.say(_facts(installed)), as_json=as_json, quiet=quiet)


def _facts(installed: Installed) -> list[Fact]:
    from nearkin.reports.facts.fact import Fact

    return [
        Fact("ready for plain SQL", installed.place, f"similarity index {installed.similarity_index}"),
        Fact("tables", ", ".join(installed.tables)),
        Fact("views", ", ".join(installed.views)),
        *(Fact("function", function) for function in installed.functions),
        Fact("example", installed.example),
    ]
