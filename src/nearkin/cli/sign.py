"""``nearkin sign``, ``statistics``, ``index`` and ``neighbours``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nearkin.cli.answering import answer, check_free, place_line, working
from nearkin.cli.command_line import is_unicode
from nearkin.errors import ParameterError
from nearkin.options.declared import Option, Same, argument, option
from nearkin.options.reading import InputsArgument, ReadingOptions
from nearkin.options.running import FileCommand, PrintOptions
from nearkin.options.signatures import CountedFeatures, NeighboursJob, SigningOptions, SignJob, StatisticsJob
from nearkin.reports.facts.fact import Fact, Part, Table, damage_facts, time_facts
from nearkin.wording import share_text
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from nearkin.manifests.stored import DamagedFile
    from nearkin.workflows.signing.neighbours import NeighboursFound


HELP = """
Make a bit signature of every document: signatures of similar documents differ in few bits. nearkin neighbours finds \
such pairs.

Examples:

  nearkin sign contracts.parquet --out sig.parquet

  nearkin sign contracts/ --method weighted-topsig --bits 64 --out sig.parquet

  nearkin sign wave2.jsonl --method weighted-topsig --statistics load.stats --out wave2.sig.parquet
"""


class SignCommand(FileCommand, SignJob, InputsArgument):
    """Options of the command."""


def sign(job: SignCommand) -> None:
    """Sign documents."""
    from nearkin.reports.facts.jobs import sign_facts
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.signing.job import exceptions_beside
    from nearkin.workflows.signing.job import sign as sign_texts

    statistics = None if job.statistics is None else Path(job.statistics)
    for written in (job.out, exceptions_beside(job.out)):
        check_free(written, overwrite=job.overwrite)
    options = job.part(SigningOptions)
    with working(job) as bars:
        parameters = options.in_words() | {"normalise": options.normalise.shown}
        bars.say(", ".join(f"{name} {value}" for name, value in parameters.items()))
        _, signed = sign_texts(
            ReadingRequest.from_options(job.inputs, job), job.out, options, statistics=statistics,
            resources=Resources.of(job.threads), progress=bars,
        )  # fmt: skip
    time = time_facts(signed.elapsed_s, signed.signed)
    place = place_line("Signatures", job.out, f"; next: nearkin neighbours {job.out} --out pairs.parquet")
    answer(job, signed, [*sign_facts(signed), *time, place])


MERGE = "merge"
STATISTICS_HELP = """
Count how often each feature occurs in a corpus, and in how many documents. weighted-topsig signatures need these \
counts.

With the word merge first, the inputs are statistics files, and the result covers the corpora of all of them.

Examples:

  nearkin statistics contracts/ --out load.stats

  nearkin statistics merge january.stats february.stats --out both.stats
"""


class StatisticsCommand(FileCommand, StatisticsJob, InputsArgument):
    """Options of the command."""


def statistics(job: StatisticsCommand) -> None:
    """Count features."""
    from nearkin.runs.progress import Meter
    from nearkin.runs.result_file import refuse_input
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.signing.counting import collect, merge, save

    is_merge = job.inputs[0] == MERGE
    if is_merge and (job.part(CountedFeatures), job.part(ReadingOptions)) != (CountedFeatures(), ReadingOptions()):
        raise ParameterError(
            "merge reads statistics, not documents: omit --features, --normalise and the options for documents."
        )
    check_free(job.out, overwrite=job.overwrite, holds="statistics")
    damaged: Sequence[DamagedFile] = ()
    if is_merge:
        frequencies = merge([Path(path) for path in job.inputs[1:]])
    else:
        with working(job) as bars:
            texts = ReadingRequest.from_options(job.inputs, job).opened(bars)
            refuse_input(job.out, texts.paths)
            frequencies = collect(
                texts, job.features, job.normalise, threads=Resources.of(job.threads).n_threads, meter=Meter(bars)
            )
            job.normalise.ignored.say_not_found(bars.say)
            damaged = texts.damaged_files
    save(frequencies, job.out)
    counts = {
        "documents": frequencies.n_documents, "features": len(frequencies.hashes),
        "occurrences": frequencies.n_occurrences,
    }  # fmt: skip
    about = {"command": "statistics", "of": frequencies.features, "fingerprint": frequencies.fingerprint}
    facts = [*(Fact(label, n) for label, n in counts.items()), *damage_facts(damaged)]
    place = place_line(f"Statistics {frequencies.fingerprint}", job.out)
    answer(job, about | counts | {"damaged_files": damaged}, [*facts, place])


INDEX_HELP = """
Print the similarity index and the MinHash keys of documents in files, so that a repository can store them as \
properties. No collection is needed.

Two texts that share a key are equal, may be near-duplicates, or may contain one another. --json prints all keys, a \
line for each document.

Examples:

  nearkin index contracts/

  nearkin index contracts.jsonl --json > properties.jsonl
"""


class IndexCommand(PrintOptions, ReadingOptions, InputsArgument):
    """Options of the command."""

    similarity_index: Same[str | None] = option(
        names=("--index",), panel="Output",
        help="Method of the similarity index, such as 43B:k=40 or 1A:k=4. [default: 43B:k=40]",
    )  # fmt: skip


def index(job: IndexCommand) -> None:
    """Print the index values of documents."""
    import json
    import sys

    from nearkin.cli.printing import Printer
    from nearkin.workflows.collection.indexing import index_files
    from nearkin.workflows.reading.request import ReadingRequest

    rows: list[tuple[object, ...]] = []
    is_ascii = not is_unicode(sys.stdout)
    with working(job) as bars:
        try:
            texts = ReadingRequest.from_options(job.inputs, job).opened(bars)
            for indexed in index_files(texts, job.similarity_index, bars):
                if job.as_json:
                    click.echo(json.dumps(indexed.to_dict(), ensure_ascii=is_ascii))
                elif indexed.problem is not None:
                    rows.append(("", "", "", "", f"{indexed.doc_id}: {indexed.problem}"))
                else:
                    number = "" if indexed.similarity_index is None else str(indexed.similarity_index)
                    n_keys = len(indexed.band_keys), len(indexed.sample_keys)
                    rows.append((number, *n_keys, str(indexed.text_key), indexed.doc_id))
        finally:  # also before the error that too much was unreadable, as --json does
            Printer().show([Table(("similarity index", "bands", "samples", "key of the text", "id"), rows, 4)])


NEIGHBOURS_HELP = """
Find all pairs of documents whose signatures differ in at most --distance bits; the expected recall is printed. With \
--verify only pairs whose texts are similar are written.

Examples:

  nearkin neighbours sig.parquet --out pairs.parquet

  nearkin neighbours sig.parquet --distance 32 --verify jaccard:0.8 --out pairs.parquet

  nearkin neighbours wave2.sig --against load.sig --out known.parquet
"""


class NeighboursCommand(PrintOptions, NeighboursJob):
    """Options of the command."""

    signatures: Same[Path] = argument("SIGNATURES", kind=Path, help="A file that nearkin sign wrote.")
    out: Option[Any, Path | str | None] = option(
        kind=Path, required=True, panel="Output",
        help="File for the pairs: .parquet, .csv, .tsv or .jsonl; Parquet without a suffix.",
    )  # fmt: skip


def neighbours(job: NeighboursCommand) -> None:
    """Find neighbours."""
    from nearkin.workflows.signing.neighbours import find_neighbours
    from nearkin.workflows.signing.signature_file import SignatureFile
    from nearkin.workflows.signing.verifying import Verification

    resources, verification = Resources.of(job.threads), Verification.if_given(job.verify, job.shingle, job.normalise)
    check_free(job.out, overwrite=job.overwrite)
    with working(job) as bars:
        all_pairs = find_neighbours(
            SignatureFile.load(job.signatures), None if job.against is None else SignatureFile.load(job.against),
            job.out, job.distance, verification=verification, equal=job.equal, resources=resources, progress=bars,
        )  # fmt: skip
    answer(job, all_pairs.summary(), _pairs_view(all_pairs, job.out))


def _pairs_view(found: NeighboursFound, out: Path) -> Iterator[Part]:
    if found.sample is not None:
        rows = [
            (f"{point.threshold:.0f}", *(share_text(value, 4) for value in (point.recall, point.precision, point.f1)),
             "best F1" if point == found.sample.best else "")
            for point in found.sample.points
        ]  # fmt: skip
        yield Table(("distance", "recall", "precision", "F1", ""), rows, 4)
    yield Fact("documents", found.n_signed, f"{found.n_distinct:,} distinct signatures")
    yield Fact("pairs", found.n_pairs, f"distance at most {found.distance}")
    yield Fact("written", found.n_written, "" if found.verification is None else found.verification.in_words())
    yield Fact("time", f"{found.elapsed_s:.1f} s")
    yield place_line("Pairs", out)
