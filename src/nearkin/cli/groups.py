"""``nearkin groups``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.collection_options import Cache, GroupsGamma, Json, Limit, MakePrincipal, Place
from nearkin.cli.options import OutFileIfAny, Overwrite, Quiet, Threads
from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.collection.groups import GroupChange, Grouping

HELP = """
The groups of documents that hang together within a tolerance, and what changed in them since the command was given \
last. Numbers of groups and principals stay when documents are added; where another document would make a better \
principal it is proposed, never imposed. --out writes all members to a .csv, .jsonl or .parquet file.

[bold]Examples[/]

  nearkin groups matter --gamma 0.05 --out groups.csv

  nearkin groups matter --make-principal lease-17
"""
_MOST_CHANGES = 20
_SMALL = 10


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
    from nearkin.workflows.collection.result_tables import check_format, write_table
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


def _show(console: Console, found: Grouping, limit: int) -> None:
    from nearkin.cli.printing import shown, table

    if found.groups:
        rows = table("group", "documents", "texts", "by a chain", "principal", numbers=4)
        for one in found.groups[:limit]:
            proposed = f" [yellow](proposed: {shown(one.proposed_principal)})[/]" if one.proposed_principal else ""
            figures = (one.number, one.n_documents, one.n_texts, one.n_chained)
            rows.add_row(*(f"{n:,}" for n in figures), shown(one.principal) + proposed)
        console.print(rows)
    more = len(found.groups) - limit
    console.print(
        f"[bold]{counted(len(found.groups), 'group')} with {counted(len(found.members), 'document')}[/] "
        f"{found.tolerance.in_words()}" + (f"; {counted(more, 'group')} not shown: --limit, --out" if more > 0 else ""),
        highlight=False,
    )
    chains = [one for one in found.groups if 2 * one.n_chained > one.n_documents > _SMALL]
    if chains:
        console.print(
            f"[yellow]{len(chains):,} group{'s' * (len(chains) != 1)} of more than {_SMALL} documents, the largest of "
            f"{chains[0].n_documents:,}, hang{'s' * (len(chains) == 1)} together by chains mostly, of texts that may "
            "have little in common: try a smaller --gamma",
            highlight=False,
            soft_wrap=True,
        )
    n_proposed = sum(one.proposed_principal is not None for one in found.groups)
    if n_proposed:
        console.print(
            f"[yellow]{n_proposed:,} have a longer document than their principal: --make-principal DOC_ID takes it; "
            "--out and --json have them all",
            highlight=False,
            soft_wrap=True,
        )
    if found.n_uncounted:
        console.print(
            f"[yellow]Too few letters to be grouped: {counted(found.n_uncounted, 'document')}, listed by nearkin info "
            "… --uncounted",
            highlight=False,
        )
    if not found.is_first:
        _show_changes(console, found)


def _show_changes(console: Console, found: Grouping) -> None:
    from nearkin.cli.printing import shown

    since = f" (came since: {', '.join(map(shown, found.new_waves))})" if found.new_waves else ""
    if not found.changes:
        console.print(f"Nothing changed since the last time{since}", highlight=False)
        return
    n_new = sum(one.is_new for one in found.changes)
    console.print(
        f"Since the last time{since}: {counted(n_new, 'new group')}, {len(found.changes) - n_new:,} changed",
        highlight=False,
    )
    telling = sorted(
        found.changes, key=lambda one: (not (one.merged or one.split_from or one.principal_was), one.is_new)
    )
    for one in telling[:_MOST_CHANGES]:
        console.print(f"  group {one.number}: {_in_words(one)}", highlight=False, soft_wrap=True)
    if len(telling) > _MOST_CHANGES:
        console.print(f"  … {len(telling) - _MOST_CHANGES:,} more: --json", highlight=False)


def _in_words(change: GroupChange) -> str:
    from nearkin.cli.printing import shown

    said = []
    if change.is_new:
        said.append("new")
    if change.merged:
        said.append(f"took in {', '.join(f'group {n}' for n in change.merged)}")
    if change.split_from:
        said.append(f"split from {', '.join(f'group {n}' for n in change.split_from)}")
    if change.new_documents:
        n = len(change.new_documents)
        first = ", ".join(map(shown, change.new_documents[:3])) + (", …" if n > 3 else "")
        said.append(f"{counted(n, 'new document')} ({first})")
    if change.n_lost:
        said.append(f"{counted(change.n_lost, 'text')} no longer in it")
    if change.principal_was is not None:
        said.append(f"its principal {shown(change.principal_was)} is gone")
    if change.is_dissolved:
        said.append("dissolved")
    return "; ".join(said)
