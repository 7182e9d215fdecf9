"""``nearkin conflicts``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.collection_options import (
    Cache,
    GroupsGamma,
    Json,
    LabelColumn,
    LabelIdColumn,
    LabelsFile,
    Limit,
    MaxConflicts,
    Place,
)
from nearkin.cli.options import Encoding, OutFileIfAny, Overwrite, Quiet, Threads
from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.collection.conflicts import Conflicts
    from nearkin.workflows.collection.labels import LabelsRead

HELP = """
Find near-duplicates with different labels, the most similar first, and show the passage in which they differ.

Labels come from a CSV or TSV file with a column of ids and a column of labels. Name the columns with --id and \
--label, or give two columns without a header. --out writes the conflicts to a .csv, .tsv, .jsonl or .parquet file.

[bold]Examples[/]

  nearkin conflicts matter labels.csv --gamma 0.05

  nearkin conflicts matter coding.csv --id control_number --label privilege --out conflicts.csv
"""


def conflicts(
    collection: Place,
    labels: LabelsFile,
    gamma: GroupsGamma = None,
    id: LabelIdColumn = None,
    label: LabelColumn = None,
    encoding: Encoding = "utf-8",
    out: OutFileIfAny = None,
    max_conflicts: MaxConflicts = 1_000,
    limit: Limit = 20,
    cache: Cache = None,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    threads: Threads = 0,
) -> None:
    """Find label conflicts."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_free
    from nearkin.collection.collection import Collection
    from nearkin.workflows.collection.labels import read_labels
    from nearkin.workflows.collection.tables import check_format, table_of_conflicts, write_table
    from nearkin.workflows.resources import Resources

    if out is not None:
        check_format(out)
        check_free(out, overwrite=overwrite, inputs=[labels])
    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        Collection.open(collection, cache=cache, progress=bars) as opened,
    ):
        read = read_labels(labels, doc_id=id, label=label, encoding=encoding, is_document=opened.has_document)
        found = opened.conflicts(read.pairs, gamma=gamma, limit=max_conflicts, threads=Resources(threads).n_threads)
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
        bars.say(f"wrote {counted(len(found.conflicts), 'conflict')} to {out}")


def _show(console: Console, found: Conflicts, limit: int, read: LabelsRead) -> None:
    from nearkin.cli.printing import say, say_passage, shown
    from nearkin.reports.quantities import distance_text, share_text
    from nearkin.reports.sentences.conflicts import conflicts_sentences, without_passage

    for one in found.conflicts[:limit]:
        edit, jaccard, distance = share_text(one.edit_similarity), share_text(one.jaccard), one.relative_distance
        console.print(
            f"[bold yellow]{shown(one.label_a)}[/] {shown(one.a)}  ≠  [bold yellow]{shown(one.label_b)}[/] "
            f"{shown(one.b)}  [dim]γ {distance_text(distance)}  edit {edit}  Jaccard {jaccard}[/]",
            highlight=False,
            soft_wrap=True,
        )
        if one.passage:
            say_passage(console, one.passage)
        else:
            console.print(f"    [dim]{without_passage(one)}[/]", highlight=False, soft_wrap=True)
    said = conflicts_sentences(
        found, label_column=read.label_column, id_column=read.id_column, n_without_label=read.n_without_label
    )
    say(console, said)
