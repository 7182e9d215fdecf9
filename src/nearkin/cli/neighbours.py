"""``nearkin neighbours``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearkin.cli.answering import answer, working
from nearkin.options.declared import Option, Same, argument, option
from nearkin.options.running import PrintOptions
from nearkin.options.signatures import NeighboursJob

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.cli.printing import Printer
    from nearkin.workflows.signing.neighbours import NeighboursFound

HELP = """
Find all pairs of documents whose signatures differ in at most --distance bits. Similar documents whose signatures \
differ in more bits are not found: the expected recall is printed. The search method follows from \
the number of signatures and is printed. With --verify only pairs whose texts are similar are written.

Examples:

  nearkin neighbours sig.parquet --out pairs.parquet

  nearkin neighbours sig.parquet --distance 32 --verify jaccard:0.8 --out pairs.parquet

  nearkin neighbours wave2.sig --against load.sig --out known.parquet

  nearkin neighbours sig.parquet --query lease-17
"""


class NeighboursCommand(PrintOptions, NeighboursJob):
    """Options of the command."""

    signatures: Same[Path] = argument("SIGNATURES", kind=Path, help="A file that nearkin sign wrote.")
    out: Option[Any, Path | str | None] = option(
        kind=Path, panel="Output",
        help="File for the pairs: .parquet, .csv, .tsv or .jsonl; Parquet without a suffix.",
    )  # fmt: skip
    query: Same[str | None] = option(
        panel="What is a near-duplicate", excludes="out verify against equal",
        help="Print only the neighbours of the document with this id, the nearest first.",
    )  # fmt: skip


def neighbours(job: NeighboursCommand) -> None:
    """Find neighbours."""
    from nearkin.cli.answering import check_free
    from nearkin.errors import ParameterError
    from nearkin.workflows.resources import Resources
    from nearkin.workflows.signing.neighbours import find_neighbours, nearest_documents
    from nearkin.workflows.signing.signature_file import SignatureFile
    from nearkin.workflows.signing.verifying import Verification

    resources, verification = Resources.of(job.threads), Verification.if_given(job.verify, job.shingle, job.normalise)
    if job.query is not None:
        with working(job) as bars:
            near = nearest_documents(
                SignatureFile.load(job.signatures), job.query, job.distance, resources=resources, progress=bars
            )
        columns = near.select(["id", "name", "distance"])
        answer(job, columns.to_pylist, lambda console: _show_neighbours(console, near))
        return
    if job.out is None:
        raise ParameterError("Give --out FILE for the pairs, or --query ID for the neighbours of one document.")
    check_free(job.out, overwrite=job.overwrite)
    with working(job) as bars:
        found = find_neighbours(
            SignatureFile.load(job.signatures), None if job.against is None else SignatureFile.load(job.against),
            job.out, job.distance, verification=verification, equal=job.equal, resources=resources, progress=bars,
        )  # fmt: skip
    answer(job, found.summary, lambda console: _show_pairs(console, found, job.out))


def _show_pairs(console: Printer, found: NeighboursFound, out: Path) -> None:
    from nearkin.cli.printing import say_place
    from nearkin.reports.facts.fact import Fact, Table
    from nearkin.wording import share_text

    if found.sample is not None:
        rows = [
            (f"{one.threshold:.0f}", *(share_text(value, 4) for value in (one.recall, one.precision, one.f1)),
             "best F1" if one == found.sample.best else "")
            for one in found.sample.points
        ]  # fmt: skip
        console.show(Table(("distance", "recall", "precision", "F1", ""), rows, 4))
    console.say(
        [
            Fact("documents", found.n_signed, f"{found.n_distinct:,} distinct signatures"),
            Fact("pairs", found.n_pairs, f"distance at most {found.distance}"),
            Fact("written", found.n_written, "" if found.verification is None else found.verification.in_words()),
            Fact("time", f"{found.elapsed_s:.1f} s"),
        ]
    )
    say_place(console, "Pairs", out)


def _show_neighbours(console: Printer, found: pa.Table) -> None:
    from nearkin.cli.printing import shown, table

    rows = table("distance", "id", "from", numbers=1)
    rows.columns[-1].style = "dim"
    for row in found.to_pylist():
        rows.add_row(str(row["distance"]), shown(row["name"]), shown(f"{row['source']}:{row['line']}"))
    console.print(rows if len(found) else "No document is within this distance.")
