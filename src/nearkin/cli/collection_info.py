"""``nearkin info``, ``nearkin waves`` and ``nearkin fsck``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import click

from nearkin.cli.options.collection import Cache, Place, Problems, ReadOnly, Uncounted, Wait
from nearkin.cli.options.definitions import Json, OutFileIfAny, OverwriteFile, Quiet, Threads
from nearkin.cli.parameters import option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearkin.cli.printing import Printer
    from nearkin.collection.info import Wave
    from nearkin.collection.listing.exceptions import Problem
    from nearkin.collection.results import StoredDocument

INFO_HELP = """
Count the documents, versions and waves of a collection, and the documents that could not be stored or counted. \
--uncounted and --problems list these; --out writes the list to a .csv, .tsv, .jsonl or .parquet file. nearkin \
exceptions lists the files that gave no text, or only a part of it.

Examples:

  nearkin info matter

  nearkin info matter --uncounted --json
"""
WAVES_HELP = """
List the waves of a collection, the oldest first. --out writes them to a .csv, .tsv, .jsonl or .parquet file.

The columns new and changed count the new documents and the new versions that the wave brought. current counts the \
documents whose current version came in the wave: without those that were changed or removed later. failed \
counts the documents of the wave that could not be stored, and are not stored now (n_problems in files and JSON); \
nearkin exceptions also lists stored ones with no text or only a part of it.

Example:

  nearkin waves matter
"""
SinceOfFsck = Annotated[
    str | None,
    option("--since", metavar="WAVE", help="Check only the texts that came with this wave or later."),
]
FSCK_HELP = """
Compare every text and every load of a collection with its digest, run the integrity check of the database, and \
recompute all data derived from the texts. Derived data that differs is rebuilt. Other damage is listed, and the \
command ends with exit code 7. With --read-only nothing is rebuilt: if there is any damage, it is listed, and the \
exit code is 7. --since leaves out what earlier waves brought, the integrity check of the database, and the keys, \
words and relations that are stored for all texts together.

Examples:

  nearkin fsck matter

  nearkin fsck matter --since "wave 7"
"""


def info(
    collection: Place,
    uncounted: Uncounted = False,
    problems: Problems = False,
    read_only: ReadOnly = False,
    out: OutFileIfAny = None,
    overwrite: OverwriteFile = False,
    as_json: Json = False,
) -> None:
    """Tell what a collection holds."""
    from dataclasses import asdict

    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_list_file, write_list
    from nearkin.collection.info import info as info_of
    from nearkin.collection.info import uncounted_documents
    from nearkin.collection.listing.exceptions import problems_of
    from nearkin.collection.opened import OpenedCollection
    from nearkin.errors import ParameterError
    from nearkin.reports.facts.stored import info_facts
    from nearkin.store.store import Access
    from nearkin.workflows.collection.tables import table_of_documents, table_of_problems

    if uncounted and problems:
        raise ParameterError("--uncounted and --problems exclude each other. Give one of them.")
    if out is not None and not (uncounted or problems):
        raise ParameterError("--out writes a list: add --uncounted or --problems.")
    check_list_file(out, overwrite=overwrite)
    with OpenedCollection.open(collection, access=Access(is_read_only=read_only)) as opened:
        if uncounted or problems:
            with opened.store.reading() as connection:
                listed = uncounted_documents(connection) if uncounted else problems_of(connection)
            of_list = table_of_documents if uncounted else table_of_problems
            write_list(out, lambda: of_list(listed), "document", is_silent=as_json)  # type: ignore[arg-type]
            show = _show_uncounted if uncounted else _show_problems
            tell(lambda: [asdict(one) for one in listed], lambda console: show(console, listed), as_json=as_json)  # type: ignore[arg-type]
            return
        told = info_of(opened)
    tell(told.to_dict, lambda console: console.say(info_facts(told)), as_json=as_json)


def _show_uncounted(console: Printer, listed: Sequence[StoredDocument]) -> None:
    from nearkin.cli.printing import shown, table
    from nearkin.stages.documents.members import origin_text

    rows = table("letters", "characters", "id", "wave", "from", numbers=2)
    for one in listed:
        place = shown(origin_text(one.doc_id, one.source, one.line))
        rows.add_row(f"{one.n_letters:,}", f"{one.n_characters:,}", shown(one.doc_id), shown(one.wave), place)
    console.print(rows if listed else "Every document has enough letters for --measure letters.")


def _show_problems(console: Printer, listed: Sequence[Problem]) -> None:
    from nearkin.cli.printing import shown, table
    from nearkin.stages.documents.members import origin_text

    rows = table("id", "wave", "from", "problem")
    for one in listed:
        place = shown(origin_text(one.doc_id, one.source, one.line))
        rows.add_row(shown(one.doc_id), shown(one.wave), place, shown(one.problem))
    console.print(rows if listed else "No problems: no document failed to be stored.")


def waves(
    collection: Place,
    read_only: ReadOnly = False,
    out: OutFileIfAny = None,
    overwrite: OverwriteFile = False,
    as_json: Json = False,
) -> None:
    """List the waves."""
    from dataclasses import asdict

    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_list_file, write_list
    from nearkin.collection.info import waves_of
    from nearkin.collection.opened import OpenedCollection
    from nearkin.store.store import Access
    from nearkin.workflows.collection.tables import table_of_waves

    check_list_file(out, overwrite=overwrite)
    with (
        OpenedCollection.open(collection, access=Access(is_read_only=read_only)) as opened,
        opened.store.reading() as connection,
    ):
        listed = waves_of(connection)
    write_list(out, lambda: table_of_waves(listed), "wave", is_silent=as_json)
    tell(lambda: [asdict(one) for one in listed], lambda console: _show_waves(console, listed), as_json=as_json)


def _show_waves(console: Printer, listed: Sequence[Wave]) -> None:
    from nearkin.cli.printing import shown, table

    rows = table("current", "new", "changed", "failed", "added", "wave", numbers=4)
    for one in listed:
        figures = (one.n_current, one.n_new, one.n_new_versions, one.n_problems)
        rows.add_row(*(f"{n:,}" for n in figures), one.first_added_at.replace("T", " ")[:16], shown(one.name))
    console.print(rows if listed else "There are no waves yet.")


def fsck(
    collection: Place,
    cache: Cache = None,
    wait: Wait = None,
    read_only: ReadOnly = False,
    since: SinceOfFsck = None,
    as_json: Json = False,
    quiet: Quiet = False,
    threads: Threads = 0,
) -> None:
    """Check the stored data of a collection for damage."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.collection.collection import Collection
    from nearkin.errors import CollectionError
    from nearkin.reports.facts.stored import fsck_facts
    from nearkin.workflows.resources import Resources

    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        Collection.open(collection, cache=cache, wait=wait, read_only=read_only, progress=bars) as opened,
    ):
        found = opened.fsck(threads=Resources(threads).n_threads, since=since)
    tell(found.to_dict, lambda console: console.say(fsck_facts(found)), as_json=as_json, quiet=quiet)
    if not found.is_whole:
        raise click.exceptions.Exit(CollectionError.exit_code)
