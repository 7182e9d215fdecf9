"""``nearkin statistics``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.options.definitions import (
    Features,
    JsonSummary,
    OutFile,
    Overwrite,
    Quiet,
    RawIgnoreFile,
    RawIgnoreNumbers,
    RawNormalise,
    Threads,
)
from nearkin.cli.options.inputs import Inputs, ReadingOptions

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.manifests.inputs import DamagedFile
    from nearkin.stages.signatures.statistics import Statistics

MERGE = "merge"
HELP = """
Count how often each feature occurs in a corpus, and in how many documents. weighted-topsig signatures need these \
counts.

With the word merge first, the inputs are statistics files, and the result covers the corpora of all of them.

[bold]Examples[/]

  nearkin statistics contracts/ --out load.stats

  nearkin statistics merge january.stats february.stats --out both.stats
"""


def statistics(
    inputs: Inputs,
    out: OutFile,
    *,
    features: Features = "chars:4",
    normalise: RawNormalise = "none",
    ignore: RawIgnoreFile = None,
    ignore_numbers: RawIgnoreNumbers = False,
    reading: ReadingOptions,
    as_json: JsonSummary = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    threads: Threads = 0,
) -> None:
    """Count features."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_free
    from nearkin.errors import ParameterError
    from nearkin.runs.meter import Meter
    from nearkin.stages.documents.ignoring import Ignored
    from nearkin.stages.documents.normalisation import Normalisation
    from nearkin.stages.features.shingles import parse_shingling
    from nearkin.workflows.reading.texts import check_not_an_input
    from nearkin.workflows.resources import Resources
    from nearkin.workflows.signing.counting import collect, merge, save

    is_merge = inputs[0] == MERGE
    if is_merge and (features, normalise, reading) != ("chars:4", "none", ReadingOptions()):
        raise ParameterError(
            "merge reads statistics, not documents: omit --features, --normalise and the options for documents."
        )
    check_free(out, overwrite=overwrite, inputs=inputs[1:] if is_merge else inputs, holds="statistics")
    damaged: Sequence[DamagedFile] = ()
    if is_merge:
        found = merge([Path(one) for one in inputs[1:]], out)
    else:
        with bars_shown(is_quiet=quiet or as_json) as bars:
            texts = reading.request(inputs).opened(bars)
            check_not_an_input(out, texts.sources, texts.encoding)
            ignored = Ignored.of(ignore, numbers=ignore_numbers)
            found = collect(
                texts,
                parse_shingling(features, parameter="features"),
                Normalisation.parse(normalise).ignoring(ignored),
                threads=Resources(threads).n_threads,
                meter=Meter(bars),
            )
            ignored.say_not_found(bars.say)
            save(found, out)
            damaged = texts.damaged_files
    tell(
        lambda: _summary(found, damaged),
        lambda console: _show(console, found, damaged, out),
        as_json=as_json,
        quiet=quiet,
    )


def _summary(found: Statistics, damaged: Sequence[DamagedFile]) -> dict[str, object]:
    return {
        "command": "statistics",
        "documents": found.n_documents,
        "features": len(found.hashes),
        "occurrences": found.n_occurrences,
        "of": found.features,
        "fingerprint": found.fingerprint,
        "damaged_files": [one.as_stored() for one in damaged],
    }


def _show(console: Printer, found: Statistics, damaged: Sequence[DamagedFile], out: Path) -> None:
    from nearkin.cli.printing import say_place
    from nearkin.workflows.signing.sentences import statistics_sentences

    console.say(statistics_sentences(found, damaged))
    say_place(console, f"Statistics {found.fingerprint}", out)
