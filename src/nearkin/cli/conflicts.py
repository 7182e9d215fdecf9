"""``nearkin conflicts``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from nearkin.cli.options.collection import (
    Cache,
    GroupTolerance,
    LabelColumn,
    LabelIdColumn,
    Limit,
    Place,
    ReadOnly,
)
from nearkin.cli.options.decisions import LabelsFileIfAny, TagOfLabels
from nearkin.cli.options.definitions import Encoding, Json, OutFileIfAny, OverwriteFile, Quiet, Threads
from nearkin.nouns import counted

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.collection.conflicts.by_group import Conflicts
    from nearkin.workflows.collection.labels import LabelsRead

_FOUND_UNASKED = 1_000
"""Maximum number of conflicts to find without --out: finding the passage of each takes time."""

HELP = """
Find near-duplicates with different labels. Lists the documents of each group that do not have its most frequent \
label (in a tie, the label of the document stored first). Beside each: the most similar match with the group's most \
frequent label; if there is none, the most similar match whose label differs from its own. Documents that you decided \
to be in one group count as matches. Below: where the two differ.

Labels come from a CSV, TSV, JSON Lines, Parquet or load file with a column of ids and a column of labels. Name the \
columns with --id and --label, or give two columns of a CSV or TSV file without a header. With --tag, the labels are \
the values of a tag in the collection; with a bare tag, documents without it have the label "not FIELD". --out writes \
the conflicts to a .csv, .tsv, .jsonl or .parquet file.

Examples:

  nearkin conflicts matter labels.csv --threshold 0.7

  nearkin conflicts matter --tag responsive

  nearkin conflicts matter coding.csv --id control_number --label privilege --out conflicts.csv
"""


def conflicts(
    collection: Place,
    labels: LabelsFileIfAny = None,
    tag: TagOfLabels = None,
    *,
    alike: GroupTolerance,
    id: LabelIdColumn = None,
    label: LabelColumn = None,
    encoding: Encoding = "utf-8",
    out: OutFileIfAny = None,
    limit: Limit = 20,
    cache: Cache = None,
    read_only: ReadOnly = False,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: OverwriteFile = False,
    threads: Threads = 0,
) -> None:
    """Find label conflicts."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_free, written
    from nearkin.collection.collection import Collection
    from nearkin.errors import InputError, ParameterError, quoted
    from nearkin.workflows.collection.labels import labels_of_tag, read_labels
    from nearkin.workflows.collection.tables import check_format, table_of_conflicts, write_table
    from nearkin.workflows.resources import Resources

    if (labels is None) == (tag is None):
        raise ParameterError("Give either a file of labels or --tag.")
    if tag is not None and (id is not None or label is not None or encoding != "utf-8"):
        raise ParameterError("--id, --label and --encoding require a file of labels; omit them with --tag.")
    if out is not None:
        check_format(out)
        check_free(out, overwrite=overwrite)
    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        Collection.open(collection, cache=cache, read_only=read_only, progress=bars) as opened,
    ):
        if labels is None:
            read = labels_of_tag(opened, tag or "")
        else:
            read = read_labels(labels, doc_id=id, label=label, encoding=encoding, is_document=opened.has_document)
        found = opened.conflicts(
            read.pairs,
            **alike.given(),
            limit=sys.maxsize if out is not None else max(limit, _FOUND_UNASKED),
            threads=Resources(threads).n_threads,
        )
    if labels is not None and found.unknown and not found.n_labelled:
        raise InputError(
            f"None of the {counted(len(found.unknown), 'labelled id')} of {labels} is in the collection; the first is "
            f"{quoted(found.unknown[0])}, from the column {quoted(read.id_column)}. Ids must be written as in the "
            "collection (see nearkin list COLLECTION). --id names another column."
        )
    if out is not None:
        write_table(table_of_conflicts(found, read.label_column), out)
    of_labels = {name: getattr(read, name) for name in ("id_column", "label_column", "n_without_label")}
    tell(
        lambda: {**found.to_dict(), **of_labels},
        lambda console: _show(console, found, limit, read),
        as_json=as_json,
        quiet=quiet,
    )
    if out is not None and not (quiet or as_json):
        bars.say(written(len(found.conflicts), "conflict", out))


def _show(console: Printer, found: Conflicts, limit: int, read: LabelsRead) -> None:
    from nearkin.cli.printing import say_passage, shown
    from nearkin.collection.tolerance import LETTERS_ONLY, is_letters_only
    from nearkin.reports.facts.queries import BY_DECISION, conflicts_facts, without_passage
    from nearkin.wording import distance_text, share_text

    before = None
    for one in found.conflicts[:limit]:
        edit, jaccard, distance = share_text(one.edit_similarity), share_text(one.jaccard), one.relative_distance
        own = one.group, one.majority_label, None if one.group is not None else one.a.content
        if own != before:
            before, name = own, "in no group" if one.group is None else f"group {one.group}"
            n, first = one.n_with_majority_label, f"[bold]'{shown(one.majority_label)}'[/]"
            labels = f"{n:,} with {first}"
            tie = f"tie, so the label of the document stored first, {first}, counts as the label of the group"
            if one.is_tie and one.n_documents == 2 * n:
                others = f"{n:,} with '{shown(one.label_a)}'"
                labels += f", {others}; {tie}"
            elif one.is_tie and one.n_documents > 1:
                labels += f"; {tie}"
            console.print(
                f"{name}: [bold]{counted(one.n_documents, 'labelled document')}[/], {labels}",
                highlight=False,
                soft_wrap=True,
            )
        letters_only = is_letters_only(one.jaccard, found.tolerance)
        remark = BY_DECISION if not one.is_match else LETTERS_ONLY if letters_only else ""
        console.print(
            f"  [bold yellow]'{shown(one.label_a)}'[/] {shown(one.a)}  ≠  [bold]'{shown(one.label_b)}'[/] "
            f"{shown(one.b)}  [dim]Jaccard {jaccard}  edit {edit}  γ {distance_text(distance)}[/]"
            + (f"  [yellow]({remark})[/]" if remark else ""),
            highlight=False,
            soft_wrap=True,
        )
        if one.passage:
            say_passage(console, one.passage, n_differences=one.n_differences, n_moves=one.n_moves)
        else:
            console.print(f"    [dim]{without_passage(one)}[/]", highlight=False, soft_wrap=True)
    facts = conflicts_facts(
        found,
        n_shown=limit,
        label_column=read.label_column,
        id_column=read.id_column,
        n_without_label=read.n_without_label,
        is_bare=read.is_bare,
    )
    console.say(facts)
