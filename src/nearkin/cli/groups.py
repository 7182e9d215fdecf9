"""``nearkin groups``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.collection_options import Cache, GroupsGamma, Json, Limit, MakePrincipal, Place
from nearkin.cli.options import OutFileIfAny, Overwrite, Quiet, Threads

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.collection.groups import CollectionGroups

HELP = """
Group the documents of a collection that lie within a tolerance of one another, and list what changed since the last \
call.

Groups keep their numbers and principals when documents are added. A better principal is only suggested. --out \
writes all members to a .csv, .jsonl or .parquet file.

[bold]Examples[/]

  nearkin groups matter --gamma 0.05 --out groups.csv

  nearkin groups matter --make-principal lease-17
"""


def groups(
    collection: Place,
    gamma: GroupsGamma = None,
    make_principal: MakePrincipal = None,
    out: OutFileIfAny = None,
    limit: Limit = 20,
    cache: Cache = None,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    threads: Threads = 0,
) -> None:
    """Group documents."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_free
    from nearkin.collection.collection import Collection
    from nearkin.errors import ParameterError
    from nearkin.workflows.collection.principal import groups_with_principal
    from nearkin.workflows.collection.tables import check_format, write_table
    from nearkin.workflows.resources import Resources

    if out is not None:
        check_format(out)
        check_free(out, overwrite=overwrite, inputs=())
    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        Collection.open(collection, cache=cache, progress=bars) as opened,
    ):
        n_threads, number = Resources(threads).n_threads, None
        if make_principal is None:
            found = opened.groups(gamma=gamma, threads=n_threads)
        else:
            found, number = groups_with_principal(opened, make_principal, gamma=gamma, threads=n_threads)
        if number is not None:
            bars.say(f"{make_principal} is the principal of group {number}")
    if out is not None:
        write_table(found.members, out)
    tell(found.to_dict, lambda console: _show(console, found, limit), as_json=as_json, quiet=quiet)
    if out is not None and not (quiet or as_json):
        bars.say(f"all members are in {out}")
    if make_principal is not None and number is None:
        raise ParameterError(f"{make_principal!r} is in no group {found.tolerance.in_words()}: it can stand for none.")


def _show(console: Console, found: CollectionGroups, limit: int) -> None:
    from nearkin.cli.printing import say, shown, table
    from nearkin.reports.sentences.groups import groups_sentences

    if found.groups:
        rows = table("group", "documents", "texts", "by a chain", "principal", numbers=4)
        for one in found.groups[:limit]:
            proposed = f" [yellow](proposed: {shown(one.proposed_principal)})[/]" if one.proposed_principal else ""
            figures = (one.number, one.n_documents, one.n_texts, one.n_chained)
            rows.add_row(*(f"{n:,}" for n in figures), shown(one.principal) + proposed)
        console.print(rows)
    say(console, groups_sentences(found, limit))
