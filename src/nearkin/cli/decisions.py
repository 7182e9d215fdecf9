"""``nearkin tag``, ``untag``, ``tags``, ``decide``, ``undo``, ``purge`` and ``log``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.options.collection import Cache, DocIds, Limit, Place, ReadOnly, Wait
from nearkin.cli.options.decisions import (
    ActivityNumber,
    By,
    Copies,
    DryRun,
    Field,
    FieldValue,
    GroupGamma,
    GroupNote,
    GroupThreshold,
    IdsColumn,
    IdsEncoding,
    IdsFile,
    NeverGroup,
    Note,
    NoteGamma,
    NoteThreshold,
    OfDocument,
    OfGroup,
    Principal,
    PurgedIds,
    SameGroup,
    Since,
    SplitOff,
    ValueColumn,
    Yes,
    YesErase,
)
from nearkin.cli.options.definitions import Json, OutFileIfAny, OverwriteFile, Quiet
from nearkin.nouns import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearkin.cli.printing import Printer
    from nearkin.collection.collection import Collection
    from nearkin.collection.decisions.deciding import Tags
    from nearkin.collection.decisions.log import Activity, ActivityResult


_WITHOUT_YES = 100
"""Maximum number of changed documents for which --yes is not needed."""
TAG_HELP = """
Set a tag on documents: a field with a value, such as responsive=yes, or a bare tag, such as privileged.

A tag belongs to an id: it stays when the document gets a new version. A field has one value per document. A command \
tags all of its documents or none. More than 100 changes are only shown, with exit code 2, unless you add --yes. Every \
command is recorded: nearkin log lists it, and nearkin undo reverses it.

With --from FILE --value COLUMN each document gets its own value from a .csv, .tsv, .jsonl, .parquet or load file, \
such as a label or a date, all in one activity.

Examples:

  nearkin tag matter responsive=yes lease-17 lease-18

  nearkin tag matter privileged --from counsel.txt --by ada --yes

  nearkin tag matter responsive=no --group 12 --threshold 0.7

  nearkin tag matter date --from contracts.csv --value signed_on --yes
"""
UNTAG_HELP = """
Remove a tag from documents, whatever its value.

Example:

  nearkin untag matter responsive lease-17
"""
DECIDE_HELP = """
Store a decision: two documents that must or must not be in one group, the principal of a group, which is the \
document that represents it, or a note.

nearkin groups keeps every decision, at every tolerance and in every later wave. A decision that contradicts others is \
refused, and the message lists them.

Examples:

  nearkin decide matter --never-group lease-17 lease-18

  nearkin decide matter --split-off draft-3 lease-17

  nearkin decide matter --principal lease-17 --by ada

  nearkin decide matter --note lease-17 "signed copy is on paper"
"""
UNDO_HELP = """
Undo an activity of the log: restore the values that it changed. An undo can itself be undone.

An activity is not undone if a later one changed the same tag or decision; undo that one first.

Example:

  nearkin undo matter 12
"""
PURGE_HELP = """
Erase documents: remove them, and erase the texts of all of their versions from the collection's files.

The ids, the SHA-256 of each text and an activity in the log stay. An erased text is not stored again if it is added \
again. A purge cannot be undone, so it is only shown, with exit code 2, unless you add --yes. Backups still \
have the texts.

Examples:

  nearkin purge matter lease-17 --by ada --yes

  nearkin purge matter --from sealed.csv --id control_number
"""


def tag(
    collection: Place,
    tag: FieldValue,
    ids: DocIds = None,
    from_file: IdsFile = None,
    value: ValueColumn = None,
    id: IdsColumn = None,
    encoding: IdsEncoding = "utf-8",
    group: OfGroup = None,
    threshold: GroupThreshold = None,
    gamma: GroupGamma = None,
    by: By = None,
    dry_run: DryRun = False,
    wait: Wait = None,
    yes: Yes = False,
    limit: Limit = 20,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Set a tag."""
    from nearkin.collection.collection import Collection
    from nearkin.collection.decisions.deciding import parsed

    if value is not None:
        field = _field_of_values(tag, ids, from_file, group)
        values = _values(Path(from_file or ""), value, id, encoding)
        with Collection.open(collection, wait=wait) as opened:
            _change(
                lambda most: opened.tag_values(values, field, by=by, dry_run=dry_run, max_changes=most),
                dry_run=dry_run, yes=yes, limit=limit, as_json=as_json, quiet=quiet,
            )  # fmt: skip
        return
    field, set_to = parsed(tag)
    wanted = _ids(ids, from_file, encoding, column=id)
    with Collection.open(collection, wait=wait) as opened, _hinting_at_order(opened, "tag", tag, ids):
        _change(
            lambda most: opened.tag(
                wanted, field, set_to, group=group, threshold=threshold, gamma=gamma, by=by, dry_run=dry_run,
                max_changes=most,
            ),
            dry_run=dry_run, yes=yes, limit=limit, as_json=as_json, quiet=quiet,
        )  # fmt: skip


def untag(
    collection: Place,
    field: Field,
    ids: DocIds = None,
    from_file: IdsFile = None,
    id: IdsColumn = None,
    encoding: IdsEncoding = "utf-8",
    group: OfGroup = None,
    threshold: GroupThreshold = None,
    gamma: GroupGamma = None,
    by: By = None,
    dry_run: DryRun = False,
    wait: Wait = None,
    yes: Yes = False,
    limit: Limit = 20,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Remove a tag."""
    from nearkin.collection.collection import Collection

    wanted = _ids(ids, from_file, encoding, column=id)
    with Collection.open(collection, wait=wait) as opened, _hinting_at_order(opened, "untag", field, ids):
        _change(
            lambda most: opened.untag(
                wanted, field, group=group, threshold=threshold, gamma=gamma, by=by, dry_run=dry_run, max_changes=most
            ),
            dry_run=dry_run, yes=yes, limit=limit, as_json=as_json, quiet=quiet,
        )  # fmt: skip


def decide(
    collection: Place,
    never_group: NeverGroup = None,
    split_off: SplitOff = None,
    same_group: SameGroup = None,
    principal: Principal = None,
    note: Note = None,
    group_note: GroupNote = None,
    threshold: NoteThreshold = None,
    gamma: NoteGamma = None,
    by: By = None,
    dry_run: DryRun = False,
    wait: Wait = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Store a decision."""
    from nearkin.collection.collection import Collection

    with Collection.open(collection, wait=wait) as opened:
        _change(
            lambda _: opened.decide(
                never_group=never_group, split_off=split_off, same_group=same_group, principal=principal,
                note=note, group_note=group_note, threshold=threshold, gamma=gamma, by=by, dry_run=dry_run,
            ),
            dry_run=dry_run, yes=True, limit=1, as_json=as_json, quiet=quiet,
        )  # fmt: skip


def undo(
    collection: Place,
    number: ActivityNumber,
    by: By = None,
    dry_run: DryRun = False,
    wait: Wait = None,
    yes: Yes = False,
    limit: Limit = 20,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Undo an activity."""
    from nearkin.collection.collection import Collection

    with Collection.open(collection, wait=wait) as opened:
        _change(
            lambda most: opened.undo(number, by=by, dry_run=dry_run, max_changes=most),
            dry_run=dry_run, yes=yes, limit=limit, as_json=as_json, quiet=quiet,
        )  # fmt: skip


def purge(
    collection: Place,
    ids: PurgedIds = None,
    from_file: IdsFile = None,
    id: IdsColumn = None,
    encoding: IdsEncoding = "utf-8",
    copies: Copies = False,
    cache: Cache = None,
    by: By = None,
    dry_run: DryRun = False,
    wait: Wait = None,
    yes: YesErase = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Erase documents."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.collection.collection import Collection
    from nearkin.errors import ParameterError
    from nearkin.reports.facts.stored import purged_facts

    wanted = _ids(ids, from_file, encoding, column=id)
    if not wanted:
        raise ParameterError("Name the documents to erase: DOC_ID... or --from FILE.")
    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        Collection.open(collection, cache=cache, wait=wait, progress=bars) as opened,
    ):
        found = opened.purge(wanted, copies=copies, by=by, dry_run=dry_run or not yes)
    tell(
        found.to_dict,
        lambda console: console.say(purged_facts(found, is_asked_dry=dry_run)),
        as_json=as_json,
        quiet=quiet,
    )
    if found.is_dry_run and not dry_run:
        raise ParameterError("Nothing was erased: a purge cannot be undone. Add --yes to erase the texts.")


def _change(
    change: Callable[[int | None], ActivityResult], *, dry_run: bool, yes: bool, limit: int, as_json: bool, quiet: bool
) -> None:
    """Make a change and print it; one of many documents is only shown without --yes."""
    from nearkin.cli.printing import tell
    from nearkin.errors import ParameterError

    found = change(None if yes else _WITHOUT_YES)
    tell(
        found.to_dict,
        lambda console: _show_result(console, found, limit, is_asked_dry=dry_run),
        as_json=as_json,
        quiet=quiet,
    )
    if found.is_dry_run and not dry_run:
        raise ParameterError(
            f"Nothing was changed. This would change {counted(len(found.changes), 'document')}. Add --yes to "
            "change them."
        )


@contextmanager
def _hinting_at_order(opened: Collection, command: str, tag: str, ids: Sequence[str] | None) -> Iterator[None]:
    """Add to the error of an unknown id that the tag comes first, if an id looks like a tag, or the tag is an id."""
    from nearkin.errors import UnknownDocumentError

    try:
        yield
    except UnknownDocumentError as error:
        swapped = next((one for one in ids or () if "=" in one and not opened.has_document(one)), None)
        if swapped is None and ids and opened.has_document(tag):
            swapped = next((one for one in ids if not opened.has_document(one)), None)
        if swapped is not None:
            name = swapped.partition("=")[0] if command == "untag" else swapped
            error.add_note(f"The tag comes before the ids: nearkin {command} COLLECTION {name} {tag}")
        raise


def _ids(ids: Sequence[str] | None, file: Path | None, encoding: str, *, column: str | None = None) -> list[str]:
    """Return the ids that were typed and those of a file."""
    from nearkin.errors import ParameterError
    from nearkin.workflows.collection.id_files import read_ids

    if column is not None and file is None:
        raise ParameterError("--id names a column of --from FILE: add --from.")
    if encoding != "utf-8" and file is None:
        raise ParameterError("--encoding is the encoding of --from FILE: add --from.")
    return [*(ids or ()), *(read_ids(file, column=column, encoding=encoding) if file is not None else ())]


def _field_of_values(tag: str, ids: Sequence[str] | None, file: Path | None, group: int | None) -> str:
    """Return the field whose values come from a table; refuse other ways to name documents and values."""
    from nearkin.errors import ParameterError

    if file is None or ids or group is not None:
        raise ParameterError("--value names a column of --from FILE: give --from, and neither DOC_ID nor --group.")
    if "=" in tag:
        raise ParameterError(f"--value gives the values of the tag: give its FIELD alone. Got {tag!r} instead.")
    return tag


def _values(file: Path, column: str, id_column: str | None, encoding: str) -> dict[str, str]:
    """Return the values of a table by id."""
    from nearkin.cli.printing import warn
    from nearkin.workflows.collection.labels import read_labels, values_by_id

    read = read_labels(file, doc_id=id_column, label=column, encoding=encoding)
    if read.n_without_label:
        warn(f"{counted(read.n_without_label, 'row')} of {file} without a value skipped")
    return values_by_id(file, read)


def _show_result(console: Printer, found: ActivityResult, limit: int, *, is_asked_dry: bool) -> None:
    from nearkin.cli.printing import shown, table
    from nearkin.reports.facts.changed_values import change_cells
    from nearkin.reports.facts.stored import result_facts

    if found.is_dry_run and found.changes:
        rows = table("document", "changes", "from", "to")
        for one in found.changes[:limit]:
            document, what, was, now = change_cells(one)
            rows.add_row(shown(document), shown(what), _value(was), _value(now))
        console.print(rows)
    console.say(result_facts(found, limit, is_asked_dry=is_asked_dry))


def _value(value: str | None) -> str:
    from nearkin.cli.printing import shown

    return "[dim]–[/]" if value is None else shown(value) or "[dim]set[/]"


TAGS_HELP = """
Count the tags of a collection by field and value. --out writes each tag of each current document to a .csv, .tsv, \
.jsonl or .parquet file.

Example:

  nearkin tags matter --out tags.csv
"""
LOG_HELP = """
List the activities of a collection: who decided what, and when. --out writes each changed value to a .csv, .tsv, \
.jsonl or .parquet file.

Examples:

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
    from nearkin.reports.facts.changed_values import log_in_words

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
    from nearkin.reports.facts.fact import not_shown
    from nearkin.reports.facts.stored import activity_in_words

    rows = table("number", "at (UTC)", "by", "activity", numbers=1)
    for one in listed[-limit:]:
        undone = f" [yellow](undone by {one.undone_by})[/]" if one.undone_by else ""
        at = one.at.replace("T", " ")[:16]
        rows.add_row(f"{one.number}", at, shown(one.by), shown(activity_in_words(one)) + undone)
    console.print(rows if listed else "There are no activities.")
    console.say(not_shown(len(listed) - limit))
