"""``nearkin groups`` and ``nearkin conflicts``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.answering import answer, check_free, opened, passage_lines, say_written, working
from nearkin.errors import InputError, ParameterError, quoted
from nearkin.nouns import counted
from nearkin.options.collection import (
    CacheOptions,
    GroupTolerance,
    ListOptions,
    PlaceOptions,
    ReadOnlyOptions,
    WaitOptions,
    limited,
    wanted,
)  # fmt: skip
from nearkin.options.declared import Same, argument, option
from nearkin.options.reading import EncodingOptions
from nearkin.options.running import ThreadOptions
from nearkin.reports.facts.fact import Part, StyledText, Table
from nearkin.wording import distance_text, share_text
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nearkin.collection.conflicts.by_group import Conflicts
    from nearkin.collection.groups.changes import GroupsSince
    from nearkin.collection.groups.current import CollectionGroups
    from nearkin.workflows.collection.labels import LabelsRead

HELP = """
Group the near-duplicates of a collection, and list what changed since the last call.

Documents are in one group if their wording matches, directly or through others: the Jaccard similarity of their word \
5-grams is at least --threshold.

The principal is the document that represents its group; a member that is linked to it only through others is \
indirect. Groups keep their numbers and principals when documents are added. The columns of --out are in the guide \
Collections.

--since WAVE lists what changed since the end of that wave, from the stored groups: it needs a run of nearkin groups \
after that wave and before the next one. --out then has a row for each document with a change.

--overlay TOOL writes --out as an overlay for a review tool instead, a .dat or .csv file keyed on the ids.

Examples:

  nearkin groups matter --threshold 0.7 --out groups.csv

  nearkin groups matter --since march --out changes.csv
"""


class GroupsCommand(
    ThreadOptions, ListOptions, ReadOnlyOptions, CacheOptions, WaitOptions, GroupTolerance, PlaceOptions
):
    """Options of the command."""

    since: Same[str | None] = option(
        panel="Output", metavar="WAVE", excludes="overlay",
        help="List what changed in the stored groups since the end of this wave.",
    )  # fmt: skip
    overlay: Same[str | None] = option(
        panel="Output", metavar="TOOL", needs="out",
        help="Write --out as an overlay instead, with the field names of relativity, everlaw, reveal, purview or "
        "plain.",
    )  # fmt: skip
    limit: Same[int] = limited(20)


def groups(job: GroupsCommand) -> None:
    """Group documents, or list what changed in their groups."""
    from nearkin.collection.groups.changes import groups_since
    from nearkin.collection.groups.current import group
    from nearkin.collection.tolerance import Tolerance
    from nearkin.workflows.collection.overlays import check_overlay, write_group_overlay
    from nearkin.workflows.collection.tables import coded
    from nearkin.workflows.overlay import check_tool

    tolerance = Tolerance.of(**job.part(GroupTolerance).given())
    if job.overlay is not None and job.out is not None:
        check_tool(job.overlay)
        check_overlay(job.out)
        check_free(job.out, overwrite=job.overwrite)
    with working(job) as bars, opened(job, bars, has_list=job.overlay is None) as collection:
        if job.since is not None:
            changed = groups_since(collection.opened, job.since, tolerance)
            answer(
                job, changed, _since_view(changed, job.limit),
                rows=lambda: coded(collection, changed.documents), row="change",
            )  # fmt: skip
            return
        grouped = group(collection.opened, tolerance, threads=Resources(job.threads).n_threads)
        if job.overlay is not None and job.out is not None:
            n_rows = write_group_overlay(collection, grouped.members, job.overlay, job.out)
            say_written(job, n_rows, "row", job.out)
        rows = (lambda: coded(collection, grouped.members)) if job.overlay is None else None
        answer(job, grouped, _view(grouped, job.limit), rows=rows, row="member")
    if job.read_only:
        bars.say("not stored (--read-only): new groups may get other numbers")


def _view(collection_groups: CollectionGroups, limit: int) -> Iterator[Part]:
    from nearkin.collection.tolerance import LETTERS_ONLY
    from nearkin.reports.facts.queries import groups_facts, letters_only_groups

    rows, unlike = [], letters_only_groups(collection_groups)
    for group in collection_groups.groups[:limit]:
        proposed = f" (proposed: {group.proposed_principal})" if group.proposed_principal else ""
        badge = f" ({LETTERS_ONLY})" if group.number in unlike else ""
        rows.append(
            (group.number, group.n_documents, group.n_texts, group.n_chained, f"{group.principal}{proposed}{badge}")
        )
    yield Table(("group", "documents", "texts", "indirect", "principal"), rows, 4)
    yield from groups_facts(collection_groups, limit)


def _since_view(since: GroupsSince, limit: int) -> Iterator[Part]:
    from nearkin.reports.facts.queries import change_words, groups_since_facts

    rows = []
    for change in since.changes[:limit]:
        principal = change.principal if change.principal is not None else change.principal_was
        rows.append((change.number, change.n_documents, change.n_documents_were, principal, change_words(change)))
    yield Table(("group", "documents", "were", "principal", "change"), rows, 3)
    yield from groups_since_facts(since, limit)


_FOUND_UNASKED = 1_000
"""Maximum number of conflicts to find without --out: finding the passage of each takes time."""

CONFLICTS_HELP = """
Find near-duplicates with different labels: the documents of each group that do not have its most frequent label (in a \
tie, that of the document stored first), each beside the most similar match with another label, and where the two \
differ.

Labels come from a table or load file with a column of ids and a column of labels, or with --tag from a tag of the \
collection; with a bare tag, documents without it have the label "not FIELD".

Examples:

  nearkin conflicts matter labels.csv --threshold 0.7

  nearkin conflicts matter --tag responsive

  nearkin conflicts matter coding.csv --id control_number --label privilege --out conflicts.csv
"""


class ConflictsCommand(
    ThreadOptions, ListOptions, ReadOnlyOptions, CacheOptions, EncodingOptions, GroupTolerance, PlaceOptions
):
    """Options of the command."""

    labels: Same[Path | None] = argument(
        "[LABELS]", kind=Path, required=False, help="CSV, TSV, JSON Lines or Parquet file of ids and labels."
    )
    tag: Same[str | None] = wanted(
        metavar="FIELD", excludes="labels id label encoding", help="Tag whose values are the labels; see nearkin tags."
    )
    id: Same[str | None] = wanted(metavar="COLUMN", help="Column of LABELS with the ids. [default: guessed]")
    label: Same[str | None] = wanted(
        metavar="COLUMN", help="Column of LABELS with the labels. [default: guessed if only one column fits]"
    )
    limit: Same[int] = limited(20)


def conflicts(job: ConflictsCommand) -> None:
    """Find label conflicts."""
    from nearkin.workflows.collection.labels import labels_of_tag, read_labels
    from nearkin.workflows.collection.tables import coded, table_of_conflicts

    if job.labels is None and job.tag is None:
        raise ParameterError("Give either a file of labels or --tag.")
    with working(job) as bars, opened(job, bars) as collection:
        if job.labels is None:
            read = labels_of_tag(collection, job.tag or "")
        else:
            is_document = collection.has_document
            read = read_labels(
                job.labels, doc_id=job.id, label=job.label, encoding=job.encoding, is_document=is_document
            )
        found = collection.conflicts(
            read.pairs, **job.part(GroupTolerance).given(), threads=Resources(job.threads).n_threads,
            limit=sys.maxsize if job.out is not None else max(job.limit, _FOUND_UNASKED),
        )  # fmt: skip
        rows = None if job.out is None else coded(collection, table_of_conflicts(found, read.label_column))
    if job.labels is not None and found.unknown and not found.n_labelled:
        raise InputError(
            f"None of the {counted(len(found.unknown), 'labelled id')} of {job.labels} is in the collection; the first "
            f"is {quoted(found.unknown[0])}, from the column {quoted(read.id_column)}. Ids must be written as in the "
            "collection (see nearkin list COLLECTION). --id names another column."
        )
    of_labels = {name: getattr(read, name) for name in ("id_column", "label_column", "n_without_label")}
    answer(
        job, found.to_dict() | of_labels, _conflicts_view(found, job.limit, read),
        rows=lambda: rows, row="conflict",
    )  # fmt: skip


def _conflicts_view(all_conflicts: Conflicts, limit: int, read: LabelsRead) -> Iterator[Part]:
    from nearkin.collection.tolerance import LETTERS_ONLY
    from nearkin.reports.facts.queries import BY_DECISION, conflicts_facts, without_passage

    before = None
    for conflict in all_conflicts.conflicts[:limit]:
        key = conflict.group, conflict.majority_label, None if conflict.group is not None else conflict.a.content
        if key != before:
            before, name = key, "in no group" if conflict.group is None else f"group {conflict.group}"
            tie = " (tie: the label of the document stored first)" * conflict.is_tie
            with_label = f", {conflict.n_with_majority_label:,} with "
            yield StyledText([
                ("", f"{name}: "), ("bold", f"{conflict.n_documents:,} labelled"), ("", with_label),
                ("bold", f"'{conflict.majority_label}'"), ("", tie),
            ])  # fmt: skip
        remark = BY_DECISION if not conflict.is_match else LETTERS_ONLY if conflict.is_letters_only else ""
        jaccard, edit = share_text(conflict.jaccard), share_text(conflict.edit_similarity)
        gamma = distance_text(conflict.relative_distance)
        yield StyledText([
            ("bold yellow", f"  '{conflict.label_a}'"), ("", f" {conflict.a}  ≠  "), ("bold", f"'{conflict.label_b}'"),
            ("", f" {conflict.b}  "), ("dim", f"Jaccard {jaccard}  edit {edit}  γ {gamma}"),
            ("yellow", f"  ({remark})" if remark else ""),
        ])  # fmt: skip
        yield from passage_lines(conflict.passage, n_differences=conflict.n_differences, n_moves=conflict.n_moves)
        if not conflict.passage:
            yield StyledText([("dim", f"    {without_passage(conflict)}")])
    about = {name: getattr(read, name) for name in ("label_column", "id_column", "n_without_label", "is_bare")}
    yield from conflicts_facts(all_conflicts, n_shown=limit, **about)
