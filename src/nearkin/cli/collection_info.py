"""``nearkin info``, ``waves``, ``fsck`` and ``sql``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nearkin.cli.answering import answer, check_list, opened_with_bars, working
from nearkin.cli.command_line import CommandEntry, CommandGroup
from nearkin.errors import CollectionError
from nearkin.options.collection import CacheOptions, ListOptions, PlaceOptions, ReadOnlyOptions, WaitOptions
from nearkin.options.declared import Same, option
from nearkin.options.running import ThreadOptions
from nearkin.reports.facts.fact import Fact, Table
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearkin.collection.info import Wave
    from nearkin.collection.plain_sql import Installed

INFO_HELP = """
Count the documents, versions and waves of a collection, and the documents that could not be stored or counted.

Example:

  nearkin info matter
"""
WAVES_HELP = """
List the waves of a collection, the oldest first.

The columns new and changed count the new documents and the new versions that the wave brought, current the documents \
whose current version came in it, failed those that could not be stored, and are not stored now (n_problems in files \
and JSON).

Example:

  nearkin waves matter
"""
FSCK_HELP = """
Compare every text and every load of a collection with its digest, run the integrity check of the database, and \
rebuild derived data that differs. Other damage is listed, with exit code 7. With --read-only nothing is rebuilt. \
--since leaves out what earlier waves brought, and what is stored for all texts together.

Examples:

  nearkin fsck matter

  nearkin fsck matter --since "wave 7"
"""


class InfoCommand(ReadOnlyOptions, PlaceOptions):
    """Options of the command."""


def info(job: InfoCommand) -> None:
    """Tell what a collection holds."""
    from nearkin.collection.info import info as info_of
    from nearkin.collection.opened import OpenedCollection
    from nearkin.reports.facts.stored import info_facts
    from nearkin.store.store import Access

    with OpenedCollection.open(job.collection, access=Access(is_read_only=job.read_only)) as opened:
        counts = info_of(opened)
    answer(job, counts, info_facts(counts))


class WavesCommand(ListOptions, ReadOnlyOptions, PlaceOptions):
    """Options of the command."""


def waves(job: WavesCommand) -> None:
    """List the waves."""
    from nearkin.collection.info import waves_of
    from nearkin.collection.opened import OpenedCollection
    from nearkin.store.store import Access
    from nearkin.workflows.collection.tables import table_of_waves

    check_list(job)
    with (
        OpenedCollection.open(job.collection, access=Access(is_read_only=job.read_only)) as opened,
        opened.store.reading() as connection,
    ):
        listed = waves_of(connection)
    answer(job, listed, [_waves_table(listed)], rows=lambda: table_of_waves(listed), row="wave")


def _waves_table(listed: Sequence[Wave]) -> Table:
    from nearkin.reports.quantities import minute

    rows = [
        (wave.n_current, wave.n_new, wave.n_new_versions, wave.n_problems, minute(wave.first_added_at), wave.name)
        for wave in listed
    ]
    columns = ("current", "new", "changed", "failed", "added", "wave")
    return Table(columns, rows, 4, empty="There are no waves yet.")


class FsckCommand(ThreadOptions, ReadOnlyOptions, CacheOptions, WaitOptions, PlaceOptions):
    """Options of the command."""

    since: Same[str | None] = option(metavar="WAVE", help="Check only the texts that came with this wave or later.")


def fsck(job: FsckCommand) -> None:
    """Check the stored data of a collection for damage."""
    from nearkin.reports.facts.stored import fsck_facts

    with opened_with_bars(job) as collection:
        checked = collection.fsck(threads=Resources(job.threads).n_threads, since=job.since)
    answer(job, checked, fsck_facts(checked))
    if not checked.is_whole:
        raise click.exceptions.Exit(CollectionError.exit_code)


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
    {"Commands": [CommandEntry("install", "Install functions and views in PostgreSQL", "collection_info")]},
)


class InstallCommand(WaitOptions, PlaceOptions):
    """Options of the command."""


def install(job: InstallCommand) -> None:
    """Put tables, functions and views into the database."""
    from nearkin.collection.opened import OpenedCollection
    from nearkin.collection.plain_sql import install as put
    from nearkin.store.store import Access

    with working(job) as bars, OpenedCollection.open(job.collection, access=Access(job.wait), progress=bars) as opened:
        installed = put(opened)
    answer(job, installed, _facts(installed))


def _facts(installed: Installed) -> list[Fact]:
    return [
        Fact("ready for plain SQL", installed.place, f"similarity index {installed.similarity_index}"),
        Fact("tables", ", ".join(installed.tables)),
        Fact("views", ", ".join(installed.views)),
        *(Fact("function", function) for function in installed.functions),
        Fact("example", installed.example),
    ]
