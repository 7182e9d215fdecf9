"""``nearkin pairs``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nearkin.cli.options.definitions import Json, Out, Quiet, Report, Resume
from nearkin.cli.options.engine import EngineOptions
from nearkin.cli.parameters import option
from nearkin.options.pairs import Beside, PairOptions, PairsJob

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.manifests.pairs import PairsManifest

Left = Annotated[
    list[str],
    option("--left", metavar="INPUT", panel="Input", help="First corpus: files, folders or globs, as for nearkin "
           "dedup; also Wikipedia dumps. Repeatable."),
]  # fmt: skip
Right = Annotated[list[str], option("--right", metavar="INPUT", panel="Input", help="Second corpus. Repeatable.")]
HELP = """
Find similar pairs of documents in two corpora, in one language or in two: documents and their translations, or \
articles about the same thing.

Every reported pair has its exact cosine, and the words that contribute most to it. The search is planned on a sample \
of the documents, and the expected recall is printed before it starts.

With --table, the documents of one side are translated word by word by a translation table from \
nearkin align. Swapping left and right gives the same pairs, except with --top.

Examples:

  nearkin pairs --left news.de.parquet --right news.en.parquet --table de-en.parquet --out pairs

  nearkin pairs --left docs.parquet --left-text de --right docs.parquet --right-text en --table de-en.parquet \
--known same-ids --top 5 --out pairs

  nearkin pairs --left dewiki.xml.bz2 --right enwiki.xml.bz2 --table de-en.parquet --interwiki langlinks.sql.gz \
--out pairs

  nearkin pairs --left mine.jsonl --right theirs.jsonl --threshold 0.6 --out pairs

  nearkin pairs --left de.parquet --right en.parquet --table de-en.parquet --out /shared/pairs --engine spark \
--master spark://host:7077
"""


def pairs(
    left: Left,
    right: Right,
    out: Out,
    *,
    job: PairsJob,
    report: Report = True,
    as_json: Json = False,
    quiet: Quiet = False,
    resume: Resume = False,
    engine: EngineOptions,
) -> None:
    """Find similar pairs."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell, warn_of_report
    from nearkin.workflows.pairing.inputs import PairInput
    from nearkin.workflows.pairing.job import pair_files
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.resources import Resources

    given = PairInput(
        ReadingRequest.of_side("left", left, job.left_text, job.left_id, options=job),
        ReadingRequest.of_side("right", right, job.right_text, job.right_id, options=job),
        None if job.table is None else Path(job.table), job.left_language, job.right_language,
    )  # fmt: skip
    where = engine.chosen()
    with bars_shown(is_quiet=quiet or as_json) as bars:
        manifest = pair_files(
            given, out, job.part(PairOptions), job.part(Beside), resume=resume, overwrite=job.overwrite,
            report=job.report, resources=Resources(job.threads), progress=bars, engine=where,
        )  # fmt: skip
    warn_of_report(manifest.report_problem, is_silent=quiet or as_json)
    tell(manifest.as_stored, lambda console: _show(console, manifest, out), as_json=as_json, quiet=quiet)


def _show(console: Printer, manifest: PairsManifest, out: Path) -> None:
    """Print the counts of both sides and of the pairs, and where the results are."""
    from nearkin.cli.printing import say_results
    from nearkin.reports.facts.jobs import cost_facts, pairs_facts, sides_table

    console.show(sides_table(manifest))
    n_documents = manifest.left.n_documents + manifest.right.n_documents
    console.say([*pairs_facts(manifest), *cost_facts(manifest.stages, n_documents)])
    say_results(console, out, "pairs.tsv")
