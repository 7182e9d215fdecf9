"""``nearkin sign``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.options.definitions import (
    Bits,
    Density,
    Features,
    JsonSummary,
    Method,
    Online,
    OutFile,
    Overwrite,
    Quiet,
    RawIgnoreFile,
    RawIgnoreNumbers,
    RawNormalise,
    SignatureSeed,
    StatisticsFile,
    Threads,
)
from nearkin.cli.options.engine import EngineOptions
from nearkin.cli.options.inputs import Inputs, ReadingOptions

if TYPE_CHECKING:
    from pathlib import Path

    from nearkin.cli.printing import Printer
    from nearkin.manifests.signing import SigningRecord

HELP = """
Make a bit signature of every document: signatures of similar documents differ in few bits. nearkin neighbours finds \
such pairs.

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
    ignore: RawIgnoreFile = None,
    ignore_numbers: RawIgnoreNumbers = False,
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
    from nearkin.stages.documents.ignoring import Ignored
    from nearkin.stages.documents.normalisation import Normalisation
    from nearkin.stages.features.shingles import parse_shingling
    from nearkin.workflows.resources import Resources
    from nearkin.workflows.signing.job import exceptions_beside
    from nearkin.workflows.signing.job import sign as sign_texts
    from nearkin.workflows.signing.options import SigningOptions

    for written in (out, exceptions_beside(out)):
        check_free(written, overwrite=overwrite, inputs=[*inputs, *([statistics] if statistics else [])])
    options = SigningOptions(
        method=method,  # type: ignore[arg-type]  # it checks the method
        bits=bits,
        features=parse_shingling(features, parameter="features"),
        normalise=Normalisation.parse(normalise).ignoring(Ignored.of(ignore, numbers=ignore_numbers)),
        density=density,
        seed=seed,
        is_online=online,
    )
    where = engine.chosen()
    with bars_shown(is_quiet=quiet or as_json) as bars:
        told = options.in_words() | {"normalise": options.normalise.shown}
        bars.say(", ".join(f"{name} {value}" for name, value in told.items()))
        _, signed = sign_texts(
            reading.request(inputs),
            out,
            options,
            statistics=statistics,
            resources=Resources(threads),
            progress=bars,
            engine=where,
        )
    tell(signed.as_stored, lambda console: _show(console, signed, out), as_json=as_json, quiet=quiet)


def _show(console: Printer, told: SigningRecord, out: Path) -> None:
    """Print the number of signatures, the drift of online signatures, and the next step."""
    from nearkin.cli.printing import say_place, table
    from nearkin.kernels.choosing import has_compiled
    from nearkin.reports.sentences.cost import speed_text
    from nearkin.reports.sentences.runs import sign_sentences
    from nearkin.reports.sentences.sentence import Sentence

    console.say(sign_sentences(told))
    if told.drift:
        rows = table("documents seen", "sampled", "bits that all would change", "of one in twenty", numbers=4)
        for row in told.drift:
            seen = f"{row.n_seen_from:,} to {row.n_seen_to:,}"
            rows.add_row(seen, f"{row.n_sampled:,}", f"{row.mean_share:.1%}", f"{row.high_share:.1%}")
        console.print(rows)
    console.say([Sentence(speed_text(told.elapsed_s, told.signed, has_compiled=has_compiled()))])
    say_place(console, "Signatures", out, f"; next: nearkin neighbours {out} --out pairs.parquet")
