"""``nearkin show``, ``nearkin list`` and ``nearkin history``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from nearkin.cli.options.collection import (
    AddedBefore,
    AddedSince,
    AllVersions,
    DateTag,
    DocId,
    ExceptionsOfWave,
    HasCopies,
    HasNearDuplicates,
    IdPattern,
    Limit,
    MembersOf,
    OfKind,
    OfReason,
    OfSource,
    OfWave,
    OnlyPartial,
    OnlyRemoved,
    OnlyWithoutText,
    Place,
    ReadOnly,
    Sorted,
    TextOnly,
    Version,
    WithTag,
)
from nearkin.cli.options.decisions import GroupGamma, GroupThreshold
from nearkin.cli.options.definitions import Json, OutFileIfAny, OverwriteFile, Quiet

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.collection.history import DocumentHistory
    from nearkin.collection.listing.details import DocumentDetails, DocumentFamily
    from nearkin.collection.listing.exceptions import StoredExceptions
    from nearkin.collection.listing.lists import ListedDocuments


SHOW_HELP = """
Show the text of a stored document and its metadata: version, wave and file, tags, notes and groups, and the other \
documents with the same text.

Examples:

  nearkin show matter lease-17

  nearkin show matter lease-17 --version 1

  nearkin show matter lease-17 --text-only > lease-17.txt
"""
LIST_HELP = """
List the documents of a collection that meet all given conditions. --out writes all of them to a .csv, .tsv, .jsonl \
or .parquet file.

--group and --has-near-duplicates use groups that nearkin groups stored: those at threshold 0.5, or at the given \
--threshold or --gamma.

Examples:

  nearkin list matter --wave march --sort length

  nearkin list matter --id 'lease-*' --added-since 2026-03-01

  nearkin list matter --group 12

  nearkin list matter --tag responsive=yes --has-near-duplicates --sort date

  nearkin list matter --all-versions --out documents.csv
"""
HISTORY_HELP = """
List the versions stored under one id, the oldest first: when each was added, and its first change from the version \
before. --out writes them to a .csv, .tsv, .jsonl or .parquet file.

Examples:

  nearkin history matter lease-17

  nearkin history matter lease-17 --json
"""


def show(
    collection: Place,
    doc_id: DocId,
    version: Version = None,
    text_only: TextOnly = False,
    read_only: ReadOnly = False,
    as_json: Json = False,
) -> None:
    """Show a stored document."""
    from nearkin.cli.printing import tell
    from nearkin.collection.collection import Collection
    from nearkin.collection.listing.details import family_of
    from nearkin.errors import ParameterError

    if text_only and as_json:
        raise ParameterError("Use either --text-only or --json.")
    with Collection.open(collection, read_only=read_only) as opened:
        found = opened.details(doc_id, version=version)
        if text_only:
            _write_text(found.text)
            return
        with opened.opened.store.reading() as connection:
            family = family_of(connection, found)
    tell(
        lambda: {**found.to_dict(), "family": family.to_dict()},
        lambda console: _show_details(console, found, family),
        as_json=as_json,
    )


def _write_text(text: str) -> None:
    """Write a text; on a terminal, hidden characters, which could control it, become visible code points."""
    from nearkin.wording import reveal

    binary = getattr(sys.stdout, "buffer", None)
    if binary is None or sys.stdout.isatty():
        sys.stdout.write(reveal(text) if sys.stdout.isatty() else text)
        return
    sys.stdout.flush()
    binary.write(text.encode("utf-8"))
    binary.flush()


def _show_details(console: Printer, found: DocumentDetails, family: DocumentFamily) -> None:
    from nearkin.reports.facts.stored import details_facts
    from nearkin.wording import reveal

    console.say(details_facts(found, family))
    console.print()
    console.print(reveal(found.text.replace("\r\n", "\n")), markup=False, highlight=False, emoji=False, soft_wrap=True)


def list_documents(
    collection: Place,
    wave: OfWave = None,
    doc_id: IdPattern = None,
    source: OfSource = None,
    removed: OnlyRemoved = False,
    all_versions: AllVersions = False,
    added_since: AddedSince = None,
    added_before: AddedBefore = None,
    has_copies: HasCopies = False,
    tag: WithTag = None,
    group: MembersOf = None,
    has_near_duplicates: HasNearDuplicates = False,
    threshold: GroupThreshold = None,
    gamma: GroupGamma = None,
    sort: Sorted = "id",
    date_tag: DateTag = None,
    limit: Limit = 50,
    out: OutFileIfAny = None,
    read_only: ReadOnly = False,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: OverwriteFile = False,
) -> None:
    """List stored documents."""
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_list_file, written
    from nearkin.collection.collection import Collection
    from nearkin.collection.dates import DATE_TAG
    from nearkin.collection.listing.lists import DocumentFilter
    from nearkin.collection.tolerance import Tolerance
    from nearkin.errors import ParameterError
    from nearkin.workflows.collection.tables import list_documents as work

    if removed and all_versions:
        raise ParameterError("--removed and --all-versions exclude each other. Give one of them.")
    check_list_file(out, overwrite=overwrite)
    wanted = DocumentFilter(
        wave=wave,
        doc_id=doc_id,
        source=source,
        which="removed" if removed else "all" if all_versions else "current",
        added_since=added_since,
        added_before=added_before,
        has_copies=has_copies,
        tag=tag,
        group=group,
        has_near_duplicates=has_near_duplicates,
        tolerance=Tolerance.if_given(threshold=threshold, gamma=gamma),
    )
    with Collection.open(collection, read_only=read_only) as opened:
        found = work(
            opened,
            wanted,
            sort=sort,  # type: ignore[arg-type]  # it checks the order
            date_tag=DATE_TAG if date_tag is None else date_tag,
            limit=limit,
            out=out,
        )
    tell(found.to_dict, lambda console: _show_list(console, found), as_json=as_json, quiet=quiet)
    if out is not None and not (quiet or as_json):
        click.echo(written(found.n_found, "document", out), err=True)


def _show_list(console: Printer, found: ListedDocuments) -> None:
    from nearkin.cli.printing import shown, table
    from nearkin.reports.facts.stored import listed_facts
    from nearkin.reports.quantities import minute
    from nearkin.stages.documents.members import origin_text

    listed = found.table.to_pylist()
    has = {name: any(one[name] is not None for one in listed) for name in ("group", "date", "kind")}
    names = "characters", "copies", *_if(has, "group"), "added", *_if(has, "date", "kind"), "id", "wave", "from"
    rows = table(*names, numbers=2 + has["group"])
    for one in listed:
        ended = "" if one["is_current"] else ", replaced" if one["removed_at"] is None else ", removed"
        version = f" [dim](version {one['version']}{ended})[/]" if one["version"] > 1 or ended else ""
        principal = " [green](principal)[/]" if one["is_principal"] else ""
        rows.add_row(
            f"{one['n_characters']:,}",
            f"{one['n_copies']:,}",
            *("" if one[name] is None else str(one[name]) for name in _if(has, "group")),
            minute(one["added_at"]),
            *("" if one[name] is None else shown(one[name]) for name in _if(has, "date", "kind")),
            shown(one["doc_id"]) + version + principal,
            shown(one["wave"]),
            shown(origin_text(one["doc_id"], one["source"], one["line"])),
        )
    if len(found.table):
        console.print(rows)
    console.say(listed_facts(found))


def _if(has: dict[str, bool], *names: str) -> list[str]:
    """Return the columns in which at least one row has a value."""
    return [name for name in names if has[name]]


def history(
    collection: Place,
    doc_id: DocId,
    read_only: ReadOnly = False,
    out: OutFileIfAny = None,
    overwrite: OverwriteFile = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the versions of a document with their changes."""
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_list_file, write_list
    from nearkin.collection.collection import Collection

    check_list_file(out, overwrite=overwrite)
    with Collection.open(collection, read_only=read_only) as opened:
        found = opened.history(doc_id)
    write_list(out, lambda: found.table, "version", is_silent=quiet or as_json)
    tell(found.to_dict, lambda console: _show_history(console, found), as_json=as_json, quiet=quiet)


def _show_history(console: Printer, found: DocumentHistory) -> None:
    from nearkin.cli.printing import say_passage, shown
    from nearkin.nouns import counted, wave_text
    from nearkin.reports.facts.stored import change_text, history_facts
    from nearkin.reports.quantities import minute

    for one in found.versions:
        document = one.document
        removed = "" if one.removed_at is None else f"  removed {minute(one.removed_at)}"
        change = change_text(one)
        console.print(
            f"[bold]version {document.version}[/]  {minute(one.added_at)}  "
            f"{counted(document.n_characters, 'character')}{'  ' * bool(change)}{change}{removed}  "
            f"[dim]{shown(wave_text(document.wave))}[/]",
            highlight=False,
            soft_wrap=True,
        )
        if one.change is not None and one.change.passage:
            say_passage(console, one.change.passage)
    console.say(history_facts(found))


EXCEPTIONS_HELP = """
List the added files and documents that gave no text, or only a part of it, with the reason: empty, too large, \
not text, wrong encoding, damaged, truncated, encrypted, unsupported, image only, partial, time-out, crashed, id \
repeated, no such column or not stored. \
--out writes all of them to a .csv, .tsv, .jsonl or .parquet file.

A file that gives a text when it is added again under the same id is no longer listed. If you added a \
folder, add the whole folder again: a file named on its own has another id, so it becomes a new document, and the \
exception stays.

Examples:

  nearkin exceptions matter

  nearkin exceptions matter --wave march --reason encrypted

  nearkin exceptions matter --partial --out partial.csv
"""


def exceptions(
    collection: Place,
    wave: ExceptionsOfWave = None,
    doc_id: IdPattern = None,
    reason: OfReason = None,
    kind: OfKind = None,
    no_text: OnlyWithoutText = False,
    partial: OnlyPartial = False,
    limit: Limit = 50,
    out: OutFileIfAny = None,
    read_only: ReadOnly = False,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: OverwriteFile = False,
) -> None:
    """List the exceptions of a collection."""
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_list_file, write_list
    from nearkin.collection.collection import Collection
    from nearkin.errors import ParameterError

    if no_text and partial:
        raise ParameterError("--no-text and --partial exclude each other. Give one of them.")
    check_list_file(out, overwrite=overwrite)
    which = "no text" if no_text else "partial" if partial else "all"
    with Collection.open(collection, read_only=read_only) as opened:
        found = opened.exceptions(wave=wave, doc_id=doc_id, reason=reason, kind=kind, which=which)  # type: ignore[arg-type]
    write_list(out, lambda: found.table, "exception", is_silent=quiet or as_json)
    tell(
        lambda: found.to_dict(limit),
        lambda console: _show(console, found, limit),
        as_json=as_json,
        quiet=quiet,
    )


def _show(console: Printer, found: StoredExceptions, limit: int) -> None:
    from nearkin.cli.printing import shown, table
    from nearkin.reports.facts.stored import exceptions_facts

    if len(found.counts) > 1:
        not_stored = ["not stored"] if found.n_not_stored else []
        counts = table("no text", "partial", *not_stored, "reason", "wave", numbers=2 + len(not_stored))
        for count in found.counts:
            numbers = [count.n_no_text, count.n_partial, *([count.n_not_stored] if not_stored else [])]
            counts.add_row(*(f"{n:,}" for n in numbers), count.exception, shown(count.wave))
        console.print(counts)
    rows = table("reason", "wave", "id", "what is wrong")
    for one in found.exceptions[:limit]:
        partial = " [dim](partial)[/]" if one.is_partial else ""
        rows.add_row(one.exception + partial, shown(one.wave), shown(one.doc_id), shown(one.sentence))
    if found.exceptions:
        console.print(rows)
    console.say(exceptions_facts(found, limit))
