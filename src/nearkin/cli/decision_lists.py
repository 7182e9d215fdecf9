"""``nearkin tags`` and ``nearkin log``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.options.collection import Json, Limit, Place, ReadOnly
from nearkin.cli.options.decisions import OfDocument, Since
from nearkin.cli.options.definitions import OutFileIfAny, OverwriteFile, Quiet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearkin.cli.printing import Printer
    from nearkin.collection.decisions.records import Activity
    from nearkin.collection.decisions.tags import Tags

TAGS_HELP = """
Count the tags of a collection by field and value. --out writes each tag of each current document to a .csv, .tsv, \
.jsonl or .parquet file.

[bold]Example[/]

  nearkin tags matter --out tags.csv
"""
LOG_HELP = """
List the activities of a collection: who decided what, and when. --out writes each changed value to a .csv, .tsv, \
.jsonl or .parquet file.

[bold]Examples[/]

  nearkin log matter --since 2026-11-01 --out log.csv

  nearkin log matter --of lease-17
"""


def tags(
    collection: Place,
    out: OutFileIfAny = None,
    read_only: ReadOnly = False,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: OverwriteFile = False,
) -> None:
    """Count tags."""
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_list_file, write_list
    from nearkin.collection.collection import Collection

    check_list_file(out, overwrite=overwrite)
    with Collection.open(collection, read_only=read_only) as opened:
        found = opened.tags()
    write_list(out, lambda: found.documents, "tag", is_silent=quiet or as_json)
    tell(found.to_dict, lambda console: _show_tags(console, found), as_json=as_json, quiet=quiet)


def log(
    collection: Place,
    since: Since = None,
    of: OfDocument = None,
    out: OutFileIfAny = None,
    limit: Limit = 20,
    read_only: ReadOnly = False,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: OverwriteFile = False,
) -> None:
    """List activities."""
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_list_file, write_list
    from nearkin.collection.collection import Collection
    from nearkin.reports.sentences.changed_values import log_in_words

    check_list_file(out, overwrite=overwrite)
    with Collection.open(collection, read_only=read_only) as opened:
        listed = opened.log(since=since, of=of)
    write_list(out, lambda: log_in_words(listed), "changed value", is_silent=quiet or as_json)
    tell(
        lambda: [one.to_dict() for one in listed],
        lambda console: _show_log(console, listed, limit),
        as_json=as_json,
        quiet=quiet,
    )


def _show_tags(console: Printer, found: Tags) -> None:
    from nearkin.cli.printing import shown, table

    rows = table("documents", "removed", "field", "value", numbers=2)
    for one in found.counts:
        rows.add_row(f"{one.n_documents:,}", f"{one.n_removed:,}", shown(one.field), shown(one.value))
    console.print(rows if found.counts else "There are no tags yet.")


def _show_log(console: Printer, listed: Sequence[Activity], limit: int) -> None:
    from nearkin.cli.printing import shown, table
    from nearkin.reports.sentences.decisions import activity_in_words
    from nearkin.reports.sentences.sentence import not_shown

    rows = table("number", "at (UTC)", "by", "activity", numbers=1)
    for one in listed[-limit:]:
        undone = f" [yellow](undone by {one.undone_by})[/]" if one.undone_by else ""
        at = one.at.replace("T", " ")[:16]
        rows.add_row(f"{one.number}", at, shown(one.by), shown(activity_in_words(one)) + undone)
    console.print(rows if listed else "There are no activities.")
    if len(listed) > limit:
        console.print(not_shown(f"{len(listed) - limit:,} older"), highlight=False)
