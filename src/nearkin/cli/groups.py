"""``nearkin groups``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.options.collection import (
    Cache,
    Direct,
    GroupOverlay,
    GroupTolerance,
    Limit,
    MakePrincipal,
    Place,
    ReadOnly,
    Since,
    Wait,
)
from nearkin.cli.options.definitions import Json, OutFileIfAny, OverwriteFile, Quiet, Threads

if TYPE_CHECKING:
    from pathlib import Path

    from nearkin.cli.printing import Printer
    from nearkin.collection.groups.changes import GroupsSince
    from nearkin.collection.groups.current import CollectionGroups

HELP = """
Group the near-duplicates of a collection, and list what changed since the last call.

Documents are in one group if their wording matches, directly or through others: the Jaccard similarity of their word \
5-grams is at least --threshold.

The principal is the document that represents its group. A member that is linked to it only through others is \
indirect; --direct lists the members without the indirect ones.

Groups keep their numbers and principals when documents are added. A better principal is only suggested. --out writes \
all members to a .csv, .tsv, .jsonl or .parquet file. Its columns are in the guide Groups.

--since WAVE lists what changed since the end of that wave, from the stored groups, and changes nothing: groups that \
are new, grew, were merged, split or dissolved, or have another principal. It needs a run of nearkin groups \
after that wave and before the next one. --out then writes a row for each document with a change.

--overlay TOOL writes --out as an overlay for a review tool instead, a .dat or .csv file with a row for each current \
document and for each that could not be read. It is in UTF-8 and keyed on the ids, which are the control numbers of \
load files.

Examples:

  nearkin groups matter --threshold 0.7 --out groups.csv

  nearkin groups matter --make-principal lease-17

  nearkin groups matter --since march --out changes.csv
"""


def groups(
    collection: Place,
    *,
    tolerance: GroupTolerance,
    make_principal: MakePrincipal = None,
    since: Since = None,
    direct: Direct = False,
    out: OutFileIfAny = None,
    overlay: GroupOverlay = None,
    limit: Limit = 20,
    cache: Cache = None,
    wait: Wait = None,
    read_only: ReadOnly = False,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: OverwriteFile = False,
    threads: Threads = 0,
) -> None:
    """Group documents, or list what changed in their groups."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import written
    from nearkin.collection.collection import Collection
    from nearkin.collection.groups.changes import groups_since
    from nearkin.collection.groups.current import group
    from nearkin.collection.tolerance import Tolerance
    from nearkin.errors import ParameterError
    from nearkin.workflows.collection.overlays import write_group_overlay
    from nearkin.workflows.collection.tables import write_table
    from nearkin.workflows.resources import Resources

    _check_options(
        is_direct=direct,
        is_since=since is not None,
        is_changing=make_principal is not None,
        is_read_only=read_only,
        has_overlay=overlay is not None,
    )
    alike = Tolerance.of(**tolerance.given())
    _check_out(out, overlay, is_since=since is not None, overwrite=overwrite)
    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        Collection.open(collection, cache=cache, wait=wait, read_only=read_only, progress=bars) as opened,
    ):
        if since is not None:
            changed = groups_since(opened.opened, since, alike)
            if out is not None:
                write_table(changed.documents, out)
            tell(changed.to_dict, lambda console: _show_since(console, changed, limit), as_json=as_json, quiet=quiet)
            if out is not None and not (quiet or as_json):
                bars.say(written(len(changed.documents), "change", out))
            return
        if make_principal is not None:
            opened.document(make_principal)
        found = group(opened.opened, alike, threads=Resources(threads).n_threads, principal=make_principal)
        if overlay is not None and out is not None:
            n_rows = write_group_overlay(opened, found.members, overlay, out)
            bars.say(written(n_rows, "row", out))
        number = next((one.number for one in found.groups if one.principal == make_principal), None)
        if number is not None:
            bars.say(f"{make_principal} is the principal of group {number}")
    members = found.direct_members() if direct else found.members
    if out is not None and overlay is None:
        write_table(members, out)
    tell(found.to_dict, lambda console: _show(console, found, limit, is_direct=direct), as_json=as_json, quiet=quiet)
    if read_only and not (quiet or as_json):
        bars.say("not stored (--read-only): new groups may get other numbers")
    if out is not None and overlay is None and not (quiet or as_json):
        bars.say(written(len(members), "direct member" if direct else "member", out))
    if make_principal is not None and number is None:
        raise ParameterError(
            f"{make_principal!r} is in no group {found.tolerance.in_words()}; no principal was changed."
        )


def _check_out(out: Path | None, overlay: str | None, *, is_since: bool, overwrite: bool) -> None:
    """Refuse a file for the members that cannot be written."""
    from nearkin.cli.result_file import check_free
    from nearkin.workflows.collection.overlays import check_overlay
    from nearkin.workflows.collection.tables import check_format
    from nearkin.workflows.overlay import check_tool

    if overlay is not None:
        check_tool(overlay)
        check_overlay(out, is_since=is_since)
    elif out is not None:
        check_format(out)
    if out is not None:
        check_free(out, overwrite=overwrite)


def _check_options(
    *, is_direct: bool, is_since: bool, is_changing: bool, is_read_only: bool, has_overlay: bool
) -> None:
    """Refuse options that exclude each other."""
    from nearkin.errors import ParameterError

    if is_direct and is_since:
        raise ParameterError("--direct lists members as they are now: omit --since.")
    if is_direct and has_overlay:
        raise ParameterError("An overlay has all members: omit --direct.")
    if is_changing and (is_read_only or is_since):
        raise ParameterError("--make-principal changes the collection: omit --read-only and --since.")


def _show(console: Printer, found: CollectionGroups, limit: int, *, is_direct: bool) -> None:
    from nearkin.cli.printing import shown, table
    from nearkin.collection.tolerance import LETTERS_ONLY
    from nearkin.reports.facts.queries import groups_facts, letters_only_groups

    if is_direct:
        _show_direct(console, found, limit)
    elif found.groups:
        unlike = letters_only_groups(found)
        rows = table("group", "documents", "texts", "indirect", "principal", numbers=4)
        for one in found.groups[:limit]:
            proposed = f" [yellow](proposed: {shown(one.proposed_principal)})[/]" if one.proposed_principal else ""
            figures = (one.number, one.n_documents, one.n_texts, one.n_chained)
            badge = f" [yellow]({LETTERS_ONLY})[/]" if one.number in unlike else ""
            rows.add_row(*(f"{n:,}" for n in figures), shown(one.principal) + proposed + badge)
        console.print(rows)
    console.say(groups_facts(found, limit, is_direct=is_direct))


def _show_direct(console: Printer, found: CollectionGroups, limit: int) -> None:
    """List the members that match the principal of their group, by group."""
    from nearkin.cli.printing import shown, table
    from nearkin.reports.facts.fact import not_shown
    from nearkin.wording import distance_text, share_text

    members = found.direct_members().to_pylist()
    rows = table("group", "Jaccard", "γ", "principal", "id", numbers=3)
    for one in members[:limit]:
        figures = f"{one['group']:,}", share_text(one["jaccard"]), distance_text(one["relative_distance"])
        rows.add_row(*figures, "yes" if one["is_principal"] else "", shown(one["doc_id"]))
    console.print(rows)
    console.say(not_shown(len(members) - limit))


def _show_since(console: Printer, found: GroupsSince, limit: int) -> None:
    from nearkin.cli.printing import shown, table
    from nearkin.reports.facts.queries import change_words, groups_since_facts

    if found.changes:
        rows = table("group", "documents", "were", "principal", "change", numbers=3)
        for one in found.changes[:limit]:
            figures = (one.number, one.n_documents, one.n_documents_were)
            principal = one.principal if one.principal is not None else one.principal_was
            rows.add_row(*(f"{n:,}" for n in figures), shown(principal), shown(change_words(one)))
        console.print(rows)
    console.say(groups_since_facts(found, limit))
