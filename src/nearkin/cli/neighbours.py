"""``nearkin neighbours``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.options.definitions import Json, PairsFile, Query, Quiet, SignatureFile
from nearkin.options.signatures import NeighboursJob

if TYPE_CHECKING:
    from pathlib import Path

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


def neighbours(
    signatures: SignatureFile,
    out: PairsFile = None,
    query: Query = None,
    *,
    job: NeighboursJob,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find neighbours."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_free
    from nearkin.errors import ParameterError
    from nearkin.workflows.resources import Resources
    from nearkin.workflows.signing.neighbours import find_neighbours, nearest_documents
    from nearkin.workflows.signing.signature_file import SignatureFile as Signatures
    from nearkin.workflows.signing.verifying import Verification

    resources, distance, against = Resources.of(job.threads), job.distance, job.against
    verification = Verification.if_given(job.verify, job.shingle, job.normalise)
    if query is not None:
        if out is not None or verification is not None or against is not None or job.equal != "all":
            raise ParameterError(
                "--query prints the neighbours of one document: omit --out, --verify, --against, --equal."
            )
        with bars_shown(is_quiet=quiet or as_json) as bars:
            near = nearest_documents(Signatures.load(signatures), query, distance, resources=resources, progress=bars)
        tell(
            near.select(["id", "name", "distance"]).to_pylist,
            lambda console: _show_neighbours(console, near),
            as_json=as_json,
            quiet=quiet,
        )
        return
    if out is None:
        raise ParameterError("Give --out FILE for the pairs, or --query ID for the neighbours of one document.")
    check_free(out, overwrite=job.overwrite)
    with bars_shown(is_quiet=quiet or as_json) as bars:
        found = find_neighbours(
            Signatures.load(signatures),
            None if against is None else Signatures.load(against),
            out,
            distance,
            verification=verification,
            equal=job.equal,
            resources=resources,
            progress=bars,
        )
    tell(found.summary, lambda console: _show_pairs(console, found, out), as_json=as_json, quiet=quiet)


def _show_pairs(console: Printer, found: NeighboursFound, out: Path) -> None:
    from nearkin.cli.printing import say_place
    from nearkin.reports.facts.fact import Fact

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
