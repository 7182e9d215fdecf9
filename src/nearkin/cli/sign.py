"""``nearkin sign``, ``statistics`` and ``index``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from nearkin.cli.options.definitions import Json, OutFile, Quiet
from nearkin.cli.options.engine import EngineOptions
from nearkin.cli.options.reading import Inputs
from nearkin.cli.parameters import option
from nearkin.options.reading import ReadingOptions
from nearkin.options.signatures import CountedFeatures, SigningOptions, SignJob, StatisticsJob

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.manifests.signing import SigningRecord
    from nearkin.manifests.stored import DamagedFile
    from nearkin.stages.signatures.statistics import Statistics


HELP = """
Make a bit signature of every document: signatures of similar documents differ in few bits. nearkin neighbours finds \
such pairs.

Examples:

  nearkin sign contracts.parquet --out sig.parquet

  nearkin sign contracts/ --method weighted-topsig --bits 64 --out sig.parquet

  nearkin sign wave2.jsonl --method weighted-topsig --statistics load.stats --out wave2.sig.parquet

  nearkin sign /shared/contracts --out /shared/sig.parquet --engine spark --master spark://host:7077
"""


def sign(
    inputs: Inputs,
    out: OutFile,
    *,
    job: SignJob,
    as_json: Json = False,
    quiet: Quiet = False,
    engine: EngineOptions,
) -> None:
    """Sign documents."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_free
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.resources import Resources
    from nearkin.workflows.signing.job import exceptions_beside
    from nearkin.workflows.signing.job import sign as sign_texts

    statistics = None if job.statistics is None else Path(job.statistics)
    for written in (out, exceptions_beside(out)):
        check_free(written, overwrite=job.overwrite)
    options, where = job.part(SigningOptions), engine.chosen()
    with bars_shown(is_quiet=quiet or as_json) as bars:
        told = options.in_words() | {"normalise": options.normalise.shown}
        bars.say(", ".join(f"{name} {value}" for name, value in told.items()))
        _, signed = sign_texts(
            ReadingRequest.from_options(inputs, job), out, options, statistics=statistics,
            resources=Resources.of(job.threads), progress=bars, engine=where,
        )  # fmt: skip
    tell(signed.as_stored, lambda console: _show(console, signed, out), as_json=as_json, quiet=quiet)


def _show(console: Printer, told: SigningRecord, out: Path) -> None:
    """Print the number of signatures, the drift of online signatures, and the next step."""
    from nearkin.cli.printing import say_place
    from nearkin.reports.facts.fact import Table, time_facts
    from nearkin.reports.facts.jobs import sign_facts

    drift = [
        (f"{row.n_seen_from:,} to {row.n_seen_to:,}", f"{row.n_sampled:,}", f"{row.mean_share:.1%}",
         f"{row.high_share:.1%}")
        for row in told.drift
    ]  # fmt: skip
    console.show(Table(("documents seen", "sampled", "bits that all would change", "of one in twenty"), drift, 4))
    console.say([*sign_facts(told), *time_facts(told.elapsed_s, told.signed)])
    say_place(console, "Signatures", out, f"; next: nearkin neighbours {out} --out pairs.parquet")


MERGE = "merge"
STATISTICS_HELP = """
Count how often each feature occurs in a corpus, and in how many documents. weighted-topsig signatures need these \
counts.

With the word merge first, the inputs are statistics files, and the result covers the corpora of all of them.

Examples:

  nearkin statistics contracts/ --out load.stats

  nearkin statistics merge january.stats february.stats --out both.stats
"""


def statistics(
    inputs: Inputs, out: OutFile, *, job: StatisticsJob, as_json: Json = False, quiet: Quiet = False
) -> None:
    """Count features."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_free
    from nearkin.errors import ParameterError
    from nearkin.runs.progress import Meter
    from nearkin.runs.result_file import refuse_input
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.resources import Resources
    from nearkin.workflows.signing.counting import collect, merge, save

    is_merge = inputs[0] == MERGE
    reading, features = job.part(ReadingOptions), job.part(CountedFeatures)
    if is_merge and (features, reading) != (CountedFeatures(), ReadingOptions()):
        raise ParameterError(
            "merge reads statistics, not documents: omit --features, --normalise and the options for documents."
        )
    check_free(out, overwrite=job.overwrite, holds="statistics")
    damaged: Sequence[DamagedFile] = ()
    if is_merge:
        found = merge([Path(one) for one in inputs[1:]])
    else:
        with bars_shown(is_quiet=quiet or as_json) as bars:
            texts = ReadingRequest.from_options(inputs, job).opened(bars)
            refuse_input(out, texts.paths)
            found = collect(
                texts, job.features, job.normalise, threads=Resources.of(job.threads).n_threads, meter=Meter(bars)
            )
            job.normalise.ignored.say_not_found(bars.say)
            damaged = texts.damaged_files
    save(found, out)
    tell(
        lambda: _summary(found, damaged),
        lambda console: _show_statistics(console, found, damaged, out),
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


def _show_statistics(console: Printer, found: Statistics, damaged: Sequence[DamagedFile], out: Path) -> None:
    from nearkin.cli.printing import say_place
    from nearkin.reports.facts.fact import Fact, damage_facts

    counts = {"documents": found.n_documents, "features": len(found.hashes), "occurrences": found.n_occurrences}
    console.say([*(Fact(label, n) for label, n in counts.items()), *damage_facts(damaged)])
    say_place(console, f"Statistics {found.fingerprint}", out)


INDEX_HELP = """
Print the similarity index and the MinHash keys of documents in files, so that a repository can store them as \
properties. No collection is needed.

A collection stores the same numbers in its tables profiles and check_keys. Two texts that share a key are equal, may \
be near-duplicates, or may contain one another. --json prints all keys, a line for each document.

Examples:

  nearkin index contracts/

  nearkin index contracts.jsonl --json > properties.jsonl
"""
_Index = Annotated[
    str | None,
    option(
        "--index",
        panel="Output",
        help="Method of the similarity index, such as 43B:k=40 or 1A:k=4. [default: 43B:k=40]",
    ),
]


def index(inputs: Inputs, *, similarity_index: _Index = None, reading: ReadingOptions, as_json: Json = False) -> None:
    """Print the index values of documents."""
    import json
    import sys

    from nearkin.cli.bars import bars_shown
    from nearkin.cli.command_line import is_unicode
    from nearkin.cli.printing import Printer, shown, table
    from nearkin.workflows.collection.indexing import index_files
    from nearkin.workflows.reading.request import ReadingRequest

    console, rows = Printer(), table("similarity index", "bands", "samples", "key of the text", "id", numbers=4)
    is_ascii = not is_unicode(sys.stdout)
    with bars_shown(is_quiet=as_json) as bars:
        try:
            for one in index_files(ReadingRequest.from_options(inputs, reading).opened(bars), similarity_index, bars):
                if as_json:
                    click.echo(json.dumps(one.to_dict(), ensure_ascii=is_ascii))
                elif one.problem is not None:
                    rows.add_row("", "", "", "", f"{shown(one.doc_id)}: {shown(one.problem)}")
                else:
                    number = "" if one.similarity_index is None else str(one.similarity_index)
                    n_keys = str(len(one.band_keys)), str(len(one.sample_keys))
                    rows.add_row(number, *n_keys, str(one.text_key), shown(one.doc_id))
        finally:  # also before the error that too much was unreadable, as --json does
            if rows.row_count:
                console.print(rows)
