"""``nearkin tag``, ``untag``, ``tags``, ``decide``, ``undo``, ``remove``, ``purge`` and ``log``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.answering import answer, opened, opened_with_bars
from nearkin.errors import ParameterError
from nearkin.nouns import counted
from nearkin.options.collection import (
    CacheOptions,
    ChangeOptions,
    GroupOptions,
    IdsOptions,
    ListOptions,
    ManyOptions,
    PlaceOptions,
    ReadOnlyOptions,
    changed,
    limited,
    wanted,
)  # fmt: skip
from nearkin.options.declared import Same, argument, option
from nearkin.reports.facts.fact import Part, StyledText, Table, not_shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nearkin.collection.decisions.deciding import Tags
    from nearkin.collection.decisions.log import Activity, ActivityResult
    from nearkin.collection.decisions.removing import Removed


_WITHOUT_YES = 100
"""Maximum number of changed documents for which --yes is not needed."""
_decision = partial(option, panel="The decision")
_two = partial(_decision, kind=tuple)
TAG_HELP = """
Set a tag on documents: a field with a value, such as responsive=yes, or a bare tag, such as privileged.

A tag belongs to an id: it stays when the document gets a new version. A command tags all of its documents or none. \
More than 100 changes are only shown, with exit code 2, unless you add --yes.

With --from FILE --value COLUMN each document gets its own value from a table or load file.

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
CODING_HELP = """
Show or set the fields that reviewers set for every document on the screen: a TOML file with a table [[fields]] for \
each field, and its name, kind (one, several, yes-no, text), values, keys, colours, required and sensitive.

Values are tags. A sensitive field, such as privileged, is never overwritten for copies or a group, and a conflict in \
it gets no proposal.

Examples:

  nearkin coding matter layout.toml

  nearkin coding matter
"""
UNDO_HELP = """
Undo an activity of the log: restore the values that it changed. An undo can itself be undone.

An activity is not undone if a later one changed the same tag or decision; undo that one first. Stored, removed and \
erased documents cannot be undone here.

Example:

  nearkin undo matter 12
"""
PURGE_HELP = """
Erase documents: remove them, and erase the texts of all of their versions from the collection's files.

The ids, the SHA-256 of each text and an activity in the log stay. A purge cannot be undone, so it is only shown, with \
exit code 2, unless you add --yes. Backups still have the texts.

Examples:

  nearkin purge matter lease-17 --by ada --yes

  nearkin purge matter --from sealed.csv --id control_number
"""
REMOVE_HELP = """
Remove documents from a collection. Queries no longer find them; adding them again brings them back. More than 100 \
documents are only listed, with exit code 2, unless you add --yes.

Examples:

  nearkin remove matter lease-17 lease-18

  nearkin remove matter --wave march --dry-run

  nearkin remove matter --from expired.csv
"""


class TagCommand(ManyOptions, GroupOptions, IdsOptions, PlaceOptions):
    """Options of the command."""

    tag: Same[str] = argument("FIELD[=VALUE]", help="Tag to set, such as responsive=yes or privileged.")
    value: Same[str | None] = wanted(
        metavar="COLUMN", needs="from_file", excludes="ids group",
        help="Set the tag FIELD of each document to its value in this column of --from; rows without a value are "
        "skipped.",
    )  # fmt: skip


class UntagCommand(ManyOptions, GroupOptions, IdsOptions, PlaceOptions):
    """Options of the command."""

    field: Same[str] = argument("FIELD", help="Name of the tag to remove.")


def tag(job: TagCommand) -> None:
    """Set a tag."""
    from nearkin.collection.decisions.fields import parsed

    if job.value is not None and job.from_file is not None:
        if "=" in job.tag:
            raise ParameterError(f"--value gives the values of the tag: give its FIELD alone. Got {job.tag!r} instead.")
        values = _values(job.from_file, job.value, job.id, job.encoding)
        with opened(job) as collection:
            _change(job, partial(collection.tag_values, values, job.tag))
        return
    (field, set_to), ids, of_group = parsed(job.tag), named_ids(job), job.part(GroupOptions).given()
    with opened(job) as collection:
        _change(job, partial(collection.tag, ids, field, set_to, **of_group))


def untag(job: UntagCommand) -> None:
    """Remove a tag."""
    ids, of_group = named_ids(job), job.part(GroupOptions).given()
    with opened(job) as collection:
        _change(job, partial(collection.untag, ids, job.field, **of_group))


class DecideCommand(ChangeOptions, PlaceOptions):
    """Options of the command."""

    never_group: Same[tuple[str, str] | None] = _two(
        metavar="DOC_ID DOC_ID", help="Never put these two documents into one group."
    )
    split_off: Same[tuple[str, str] | None] = _two(
        metavar="DOC_ID DOC_ID",
        help="Take the first document out of the group of the second, with the members that have its text or are "
        "linked to the second only through it.",
    )
    same_group: Same[tuple[str, str] | None] = _two(
        metavar="DOC_ID DOC_ID", help="Always put these two documents into one group."
    )
    principal: Same[str | None] = _decision(metavar="DOC_ID", help="Make a document the principal of its group.")
    note: Same[tuple[str, str] | None] = _two(
        metavar="DOC_ID TEXT", help="Note on a document; an empty text removes the current note."
    )


def decide(job: DecideCommand) -> None:
    """Store a decision."""
    names = ("never_group", "split_off", "same_group", "principal", "note", "by", "dry_run")
    given = job.given()
    with opened(job) as collection:
        activity_result = collection.decide(**{name: given[name] for name in names})
    answer_change(job, activity_result, limit=1)


class CodingCommand(ChangeOptions, PlaceOptions):
    """Options of the command."""

    layout: Same[Path | None] = argument("LAYOUT", None, kind=Path, required=False, help="TOML file with the fields.")


def coding(job: CodingCommand) -> None:
    """Show or set the coding panel."""
    from nearkin.collection.decisions.coding import layout_of, layout_text, read_layout, set_layout
    from nearkin.collection.decisions.log import ChangeRequest
    from nearkin.workflows.reading.sheets import text_of

    given = None if job.layout is None else text_of(job.layout, "utf-8")
    with opened(job) as collection:
        store = collection.opened.store
        if given is not None:
            set_layout(store, given, ChangeRequest(by=job.by, dry_run=job.dry_run))
        with store.reading() as connection:
            layout, text = layout_of(connection), layout_text(connection)
    if job.dry_run and given is not None:
        layout, text = read_layout(given), given
    answer(job, layout, [StyledText([("", text.rstrip() or "No fields are set.")], may_break=True)])


class UndoCommand(ManyOptions, PlaceOptions):
    """Options of the command."""

    number: Same[int] = argument(
        "NUMBER", kind=int, minimum=1, maximum=2**63 - 1, help="Number of the activity; see nearkin log."
    )


def undo(job: UndoCommand) -> None:
    """Undo an activity."""
    with opened(job) as collection:
        _change(job, partial(collection.undo, job.number))


class PurgeCommand(ChangeOptions, CacheOptions, IdsOptions, PlaceOptions):
    """Options of the command."""

    copies: Same[bool] = wanted(False, help="Also remove and erase other documents that have one of these texts.")
    yes: Same[bool] = changed(False, help="Erase the texts.")


def purge(job: PurgeCommand) -> None:
    """Erase documents."""
    from nearkin.reports.facts.activities import purged_facts

    ids = named_ids(job)
    if not ids:
        raise ParameterError("Name the documents to erase: DOC_ID... or --from FILE.")
    with opened_with_bars(job) as collection:
        erased = collection.purge(ids, copies=job.copies, by=job.by, dry_run=job.dry_run or not job.yes)
    answer(job, erased, purged_facts(erased, is_asked_dry=job.dry_run))
    if erased.is_dry_run and not job.dry_run:
        raise ParameterError("Nothing was erased: a purge cannot be undone. Add --yes to erase the texts.")


class RemoveCommand(ManyOptions, IdsOptions, PlaceOptions):
    """Options of the command."""

    wave: Same[str | None] = wanted(
        excludes="ids from_file",
        help="Remove all documents whose current version came in this wave. Earlier versions, of other waves, do "
        "not become current.",
    )


def remove(job: RemoveCommand) -> None:
    """Remove documents."""
    if sum((bool(job.ids), job.wave is not None, job.from_file is not None)) != 1:
        raise ParameterError("Name the documents to remove by exactly one of DOC_ID..., --wave WAVE and --from FILE.")
    ids, most = named_ids(job), None if job.yes else _WITHOUT_YES
    with opened(job) as collection:
        removed = collection.remove(ids, wave=job.wave, by=job.by, dry_run=job.dry_run, max_changes=most)
    answer(job, removed, _removed_view(removed, job.limit))
    if removed.is_dry_run and not job.dry_run:
        n = counted(removed.n_documents + removed.n_unread, "document")
        raise ParameterError(f"Nothing was removed. This would remove {n}. Add --yes to remove them.")


def _removed_view(removed: Removed, limit: int) -> Iterator[Part]:
    from nearkin.reports.facts.stored import removed_facts

    if removed.is_dry_run:
        yield from (StyledText([("", f"  {doc_id}")]) for doc_id in [*removed.doc_ids, *removed.unread_ids][:limit])
    yield from removed_facts(removed, limit)


def _change(job: TagCommand | UntagCommand | UndoCommand, change: Callable[..., ActivityResult]) -> None:
    activity_result = change(by=job.by, dry_run=job.dry_run, max_changes=None if job.yes else _WITHOUT_YES)
    answer_change(job, activity_result, job.limit)
    if activity_result.is_dry_run and not job.dry_run:
        n = counted(len(activity_result.changes), "document")
        raise ParameterError(f"Nothing was changed. This would change {n}. Add --yes to change them.")


def answer_change(job: PlaceOptions, activity_result: ActivityResult, limit: int) -> None:
    """Print what a command changed, or would change."""
    answer(job, activity_result, _result_view(activity_result, limit, is_asked_dry=vars(job)["dry_run"]))


def named_ids(job: IdsOptions) -> list[str]:
    """Return the ids that were typed and those of a file."""
    from nearkin.workflows.collection.id_files import read_ids

    if job.from_file is None:
        return [*job.ids]
    return [*job.ids, *read_ids(job.from_file, column=job.id, encoding=job.encoding)]


def _values(file: Path, column: str, id_column: str | None, encoding: str) -> dict[str, str]:
    from nearkin.cli.printing import warn
    from nearkin.workflows.collection.labels import read_labels, values_by_id

    read = read_labels(file, doc_id=id_column, label=column, encoding=encoding)
    if read.n_without_label:
        warn(f"{counted(read.n_without_label, 'row')} of {file} without a value skipped")
    return values_by_id(file, read)


def _result_view(result: ActivityResult, limit: int, *, is_asked_dry: bool) -> Iterator[Part]:
    from nearkin.reports.facts.activities import change_words, changed_names, result_facts

    if result.is_dry_run:
        rows = [(" · ".join(changed_names(change)), change_words(change)) for change in result.changes[:limit]]
        yield Table(("what changes", "from → to"), rows)
    yield from result_facts(result, limit, is_asked_dry=is_asked_dry)


TAGS_HELP = """
Count the tags of a collection by field and value. --out writes each tag of each current document.

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


class TagsCommand(ListOptions, ReadOnlyOptions, PlaceOptions):
    """Options of the command."""


def tags(job: TagsCommand) -> None:
    """Count tags."""
    with opened(job) as collection:
        counts = collection.tags()
    answer(job, counts, [_tags_table(counts)], rows=lambda: counts.documents, row="tag")


class LogCommand(ListOptions, ReadOnlyOptions, PlaceOptions):
    """Options of the command."""

    since: Same[str | None] = option(
        panel="Output", help="List activities since this date or time, such as 2026-11-23T10:00 (UTC)."
    )
    of_document: Same[str | None] = option(
        names=("--of",), panel="Output", metavar="DOC_ID", help="List activities on this document."
    )
    limit: Same[int] = limited(20)


def log(job: LogCommand) -> None:
    """List activities."""
    from nearkin.reports.facts.activities import log_in_words

    with opened(job) as collection:
        listed = collection.log(since=job.since, of=job.of_document)
    answer(
        job, listed, _log_view(listed, job.limit),
        rows=lambda: log_in_words(listed), row="changed value",
    )  # fmt: skip


def _tags_table(listed: Tags) -> Table:
    rows = [(count.n_documents, count.n_removed, count.field, count.value) for count in listed.counts]
    return Table(("documents", "removed", "field", "value"), rows, 2, empty="There are no tags yet.")


def _log_view(listed: Sequence[Activity], limit: int) -> Iterator[Part]:
    from nearkin.reports.facts.activities import activity_in_words
    from nearkin.reports.quantities import minute

    rows = []
    for activity in listed[-limit:]:
        undone = f" (undone by {activity.undone_by})" if activity.undone_by else ""
        rows.append((str(activity.number), minute(activity.at), activity.by, activity_in_words(activity) + undone))
    yield Table(("number", "at (UTC)", "by", "activity"), rows, 1, empty="There are no activities.")
    yield from not_shown(len(listed) - limit)
