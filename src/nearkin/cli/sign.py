"""``nearkin sign``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nearkin.cli.engine_options import EngineOptions
from nearkin.cli.options import (
    Bits,
    Density,
    Features,
    Inputs,
    JsonSummary,
    Method,
    Online,
    OutFile,
    Overwrite,
    Quiet,
    RawNormalise,
    SignatureSeed,
    StatisticsFile,
    Threads,
)
from nearkin.cli.reading_options import ReadingOptions
from nearkin.nouns import counted

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from nearkin.workflows.signing.job import Signed

HELP = """
Make a signature of bits for every document: documents alike differ in few bits. nearkin neighbours finds them.

[bold]Examples[/]

  nearkin sign contracts.parquet --out sig.parquet

  nearkin sign contracts/ --method weighted-topsig --bits 64 --out sig.parquet

  nearkin sign wave2.jsonl --method weighted-topsig --statistics load.stats --out wave2.sig.parquet

  nearkin sign /shared/contracts --out /shared/sig.parquet --engine spark --master spark://host:7077
"""


def sign(
    inputs: Inputs,
    out: OutFile,
    *,
    method: Method = "minhash",
    bits: Bits = 256,
    features: Features = "chars:4",
    normalise: RawNormalise = "none",
    density: Density = None,
    statistics: StatisticsFile = None,
    online: Online = False,
    seed: SignatureSeed = 0,
    reading: ReadingOptions,
    as_json: JsonSummary = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    threads: Threads = 0,
    engine: EngineOptions,
) -> None:
    """Sign documents."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_free
    from nearkin.stages.documents.normalisation import Normalisation
    from nearkin.stages.features.shingles import parse_shingling
    from nearkin.workflows.resources import Resources
    from nearkin.workflows.signing.job import sign_files
    from nearkin.workflows.signing.options import SigningOptions

    check_free(out, overwrite=overwrite, inputs=[*inputs, *([statistics] if statistics else [])])
    options = SigningOptions(
        method=method,  # type: ignore[arg-type]  # it checks the method
        bits=bits,
        features=parse_shingling(features, parameter="features", owner="sign"),
        normalise=Normalisation.parse(normalise),
        density=density,
        seed=seed,
        is_online=online,
    )
    where = engine.chosen()
    with bars_shown(is_quiet=quiet or as_json) as bars:
        bars.say(", ".join(f"{name} {value}" for name, value in options.in_words().items()))
        signed = sign_files(
            reading.request(inputs),
            out,
            options,
            statistics=statistics,
            resources=Resources(threads),
            progress=bars,
            engine=where,
        )
    tell(signed.summary, lambda console: _show(console, signed, out), as_json=as_json, quiet=quiet)


def _show(console: Console, signed: Signed, out: Path) -> None:
    """What was signed, how far online signatures drifted, what to do next."""
    from nearkin.cli.printing import shown
    from nearkin.cli.summary import warn_of_damage

    told: Mapping[str, Any] = signed.summary()
    n_signed, n_distinct = told["signed"], told["distinct_signatures"]
    console.print(
        f"[bold]{counted(told['documents'], 'document')}, {n_signed:,} signed, "
        f"{counted(n_distinct, 'distinct signature')}[/] of "
        f"{signed.file.signatures.n_bits} bits",
        highlight=False,
    )
    if told["without_features"]:
        console.print(f"{told['without_features']:,} without text: they are nobody's neighbour", highlight=False)
    if told["unreadable"]:
        console.print(
            f"[yellow]{told['unreadable']:,} could not be read; why stands in the column problem", highlight=False
        )
    warn_of_damage(console, signed.damaged_files, "The file of signatures has")
    if signed.drift:
        from nearkin.cli.printing import table

        rows = table("documents seen", "sampled", "bits that all would change", "of one in twenty", numbers=4)
        for row in signed.drift:
            rows.add_row(
                f"{row.n_seen_from:,} to {row.n_seen_to:,}",
                f"{row.n_sampled:,}",
                f"{row.mean_share:.1%}",
                f"{row.high_share:.1%}",
            )
        console.print(rows)
    rate = signed.file.signatures.has_features.sum() / max(signed.elapsed_s, 1e-9)
    console.print(f"{signed.elapsed_s:.1f} s, {counted(round(rate), 'document')} per second", highlight=False)
    console.print(
        f"Signatures in [bold]{shown(out)}[/]; next: nearkin neighbours {shown(out)} --out pairs.parquet",
        highlight=False,
        soft_wrap=True,
    )
