"""``nearkin neighbours``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.options import (
    AgainstSignatures,
    Distance,
    Equal,
    JsonSummary,
    OutFileIfAny,
    Overwrite,
    Query,
    Quiet,
    SignatureFile,
    Threads,
    Verify,
    VerifyNormalise,
    VerifyShingle,
)
from nearkin.cli.shell import app

if TYPE_CHECKING:
    import pyarrow as pa

_HELP = """
Find all pairs of documents whose signatures differ in few bits: none is missed. How they are searched is chosen from \
their number and said. With --verify only pairs are written that are alike by their texts.

[bold]Examples[/]

  nearkin neighbours sig.parquet --out pairs.parquet

  nearkin neighbours sig.parquet --distance 32 --verify jaccard:0.8 --out pairs.parquet

  nearkin neighbours wave2.sig --against load.sig --out known.parquet

  nearkin neighbours sig.parquet --query lease-17
"""


@app.command(help=_HELP)
def neighbours(
    signatures: SignatureFile,
    out: OutFileIfAny = None,
    against: AgainstSignatures = None,
    distance: Distance = None,
    query: Query = None,
    verify: Verify = None,
    shingle: VerifyShingle = "words:5",
    normalise: VerifyNormalise = "nfkc,case,space",
    equal: Equal = "all",
    as_json: JsonSummary = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    threads: Threads = 0,
) -> None:
    """Find neighbours."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.result_file import check_free
    from nearkin.errors import ParameterError
    from nearkin.stages.documents.normalisation import Normalisation
    from nearkin.stages.features.shingles import parse_shingling
    from nearkin.workflows.dedup.options import Resources
    from nearkin.workflows.signing.across import neighbours_across
    from nearkin.workflows.signing.neighbours import Verification, neighbours_of_document, neighbours_of_file

    resources = Resources(threads)
    if query is not None:
        if out is not None or verify is not None or against is not None:
            raise ParameterError("--query prints the neighbours of one document: leave --out, --verify, --against out.")
        with bars_shown(is_quiet=quiet or as_json) as bars:
            near = neighbours_of_document(signatures, query, distance, resources=resources, progress=bars)
        _print_neighbours(near, as_json=as_json)
        return
    if out is None:
        raise ParameterError("--out FILE is needed for the pairs; or name a document with --query ID.")
    check_free(out, overwrite=overwrite, inputs=[signatures, *([against] if against else [])])
    verification = None
    if verify is not None:
        verification = Verification.parse(verify, parse_shingling(shingle), Normalisation.parse(normalise))
    with bars_shown(is_quiet=quiet or as_json) as bars:
        if against is not None:
            found = neighbours_across(
                signatures, against, out, distance, verification=verification, resources=resources, progress=bars
            )
        else:
            found = neighbours_of_file(
                signatures,
                out,
                distance,
                verification=verification,
                equal=equal,  # type: ignore[arg-type]  # it checks it
                resources=resources,
                progress=bars,
            )
    if as_json:
        import json

        import typer

        typer.echo(json.dumps(found.summary()))
    elif not quiet:
        from rich.markup import escape

        from nearkin.cli.printing import Printer

        written = f", {found.n_written:,} written" if found.n_written != found.n_pairs else ""
        Printer().print(
            f"[bold]{found.n_pairs:,} pairs within distance {found.distance}{written}[/], among {found.n_signed:,} "
            f"documents with {found.n_distinct:,} distinct signatures\n{found.elapsed_s:.1f} s. Pairs in "
            f"[bold]{escape(str(out))}[/]",
            highlight=False,
            soft_wrap=True,
        )


def _print_neighbours(found: pa.Table, *, as_json: bool) -> None:
    if as_json:
        import json

        import typer

        typer.echo(json.dumps(found.select(["id", "distance"]).to_pylist(), ensure_ascii=False))
        return
    from rich.markup import escape
    from rich.table import Table

    from nearkin.cli.printing import Printer
    from nearkin.reports.hidden_characters import reveal

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("distance", justify="right")
    table.add_column("id")
    table.add_column("from", style="dim")
    for row in found.to_pylist():
        table.add_row(
            str(row["distance"]), escape(reveal(str(row["id"]))), escape(reveal(f"{row['source']}:{row['line']}"))
        )
    Printer().print(table if len(found) else "No document is that near.")
