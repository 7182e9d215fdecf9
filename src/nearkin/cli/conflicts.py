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
from nearkin.cli.options import OutFileIfAny, Overwrite, Quiet, Threads
from nearkin.cli.shell import app
from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.collection.conflicts import Conflict, Conflicts

_HELP = """
Near-duplicates that carry different labels, the worst first, with the passage in which they differ. Labels come from \
a CSV file with a column of ids and one of labels; --out writes the conflicts to a .csv, .jsonl or .parquet file.

[bold]Examples[/]

  nearkin conflicts matter labels.csv --gamma 0.05

  nearkin conflicts matter coding.csv --id control_number --label privilege --out conflicts.csv
"""


@app.command(help=_HELP)
def conflicts(
    collection: Place,
    labels: LabelsFile,
    gamma: GroupsGamma = None,
    id: LabelIdColumn = None,
    label: LabelColumn = None,
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
    read = read_labels(labels, doc_id=id, label=label)
    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        Collection.open(collection, cache=cache, progress=bars) as opened,
    ):
        found = opened.conflicts(read.pairs, gamma=gamma, limit=most, threads=Resources(threads).n_threads)
    if out is not None:
        write_table(table_of_conflicts(found), out)
    n_without = read.n_without_label
    tell(
        lambda: {**found.to_dict(), "n_without_label": n_without},
        lambda console: _show(console, found, limit, n_without),
        as_json=as_json,
        quiet=quiet,
    )
    if out is not None and not (quiet or as_json):
        bars.say(f"wrote {counted(len(found.conflicts), 'conflict')} to {out}")


def _show(console: Console, found: Conflicts, limit: int, n_without_label: int) -> None:
    from rich.text import Text

    from nearkin.cli.printing import shown
    from nearkin.reports.comparison_terminal import pieces_to_terminal

    for one in found.conflicts[:limit]:
        edit = "–" if one.edit_similarity is None else f"{one.edit_similarity:.3f}"
        console.print(
            f"[bold yellow]{shown(one.label_a)}[/] {shown(one.a)}  ≠  [bold yellow]{shown(one.label_b)}[/] "
            f"{shown(one.b)}  [dim]γ {one.relative_distance:.4f}  edit {edit}  Jaccard {one.jaccard:.3f}[/]",
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
    if n_without_label:
        console.print(
            f"[yellow]{counted(n_without_label, 'row')} without a label left out",
            highlight=False,
        )
    if found.n_uncounted:
        console.print(
            f"[yellow]{counted(found.n_uncounted, 'labelled document')} with too few letters to be compared; only "
            "identical texts are found",
            highlight=False,
        )


def _without_passage(one: Conflict) -> str:
    if one.a == one.b:
        return "one document with two labels"
    return "the texts are equal, white space apart"
