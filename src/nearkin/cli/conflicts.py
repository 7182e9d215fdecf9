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
    MostConflicts,
    Place,
)
from nearkin.cli.options import Encoding, OutFileIfAny, Overwrite, Quiet, Threads
from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.collection.conflicts import Conflict, Conflicts
    from nearkin.workflows.collection.labels import LabelsRead

HELP = """
Near-duplicates that carry different labels, the worst first, with the passage in which they differ. Labels come from \
a CSV or TSV file with a column of ids and one of labels: name them with --id and --label, or give two columns without \
a header. --out writes the conflicts to a .csv, .tsv, .jsonl or .parquet file.

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
    most: MostConflicts = 1_000,
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
    from nearkin.workflows.collection.result_tables import check_format, table_of_conflicts, write_table
    from nearkin.workflows.dedup.options import Resources

    if out is not None:
        check_format(out)
        check_free(out, overwrite=overwrite, inputs=[labels])
    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        Collection.open(collection, cache=cache, progress=bars) as opened,
    ):
        read = read_labels(labels, doc_id=id, label=label, encoding=encoding, is_document=opened.has_document)
        found = opened.conflicts(read.pairs, gamma=gamma, limit=most, threads=Resources(threads).n_threads)
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
    from rich.text import Text

    from nearkin.cli.printing import shown
    from nearkin.reports.comparison.terminal import pieces_to_terminal
    from nearkin.reports.quantities import distance_text, share_text

    for one in found.conflicts[:limit]:
        edit, jaccard, distance = share_text(one.edit_similarity), share_text(one.jaccard), one.relative_distance
        console.print(
            f"[bold yellow]{shown(one.label_a)}[/] {shown(one.a)}  ≠  [bold yellow]{shown(one.label_b)}[/] "
            f"{shown(one.b)}  [dim]γ {distance_text(distance)}  edit {edit}  Jaccard {jaccard}[/]",
            highlight=False,
            soft_wrap=True,
        )
        spans = pieces_to_terminal(one.passage) if one.passage else [("dim", _without_passage(one))]
        console.print(Text.assemble("    ", *((text, style) for style, text in spans)), soft_wrap=True)
    n = found.n_found
    console.print(
        f"[bold]{counted(n, 'conflict')}[/] {found.tolerance.in_words()} among "
        f"{counted(found.n_labelled, 'labelled document')}",
        highlight=False,
    )
    console.print(
        f"Labels from {shown(_column(read.label_column))}, ids from {shown(_column(read.id_column))}",
        highlight=False,
        soft_wrap=True,
    )
    if n > len(found.conflicts):
        console.print(f"[yellow]The {len(found.conflicts):,} worst are told: --most", highlight=False)
    if found.unknown:
        names = ", ".join(map(shown, found.unknown[:3]))
        console.print(
            f"[yellow]not in the collection: {counted(len(found.unknown), 'labelled id')}: {names}"
            + (", …" if len(found.unknown) > 3 else ""),
            highlight=False,
            soft_wrap=True,
        )
    if n_without := read.n_without_label:
        console.print(
            f"[yellow]{counted(n_without, 'row')} without a label skipped",
            highlight=False,
        )
    if found.n_uncounted:
        console.print(
            f"[yellow]{counted(found.n_uncounted, 'labelled document')} with too few letters to be compared; only "
            "identical texts are found",
            highlight=False,
        )


def _column(name: str) -> str:
    return name if name in ("column 1", "column 2") else f"column {name!r}"


def _without_passage(one: Conflict) -> str:
    if one.a == one.b:
        return "one document with two labels"
    return "the texts are equal, white space apart"
