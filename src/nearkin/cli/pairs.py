"""``nearkin pairs``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.answering import answer, working
from nearkin.options.declared import Same, option
from nearkin.options.pairs import PairOptions, PairsJob
from nearkin.options.running import RESUME, DirectoryCommand, EngineOptions

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.manifests.pairs import PairsManifest

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

  nearkin pairs --left dewiki.xml.bz2 --right enwiki.xml.bz2 --table de-en.parquet --known langlinks.sql.gz \
--out pairs

  nearkin pairs --left mine.jsonl --right theirs.jsonl --threshold 0.6 --out pairs

  nearkin pairs --left de.parquet --right en.parquet --table de-en.parquet --out /shared/pairs --engine spark \
--master spark://host:7077
"""


class PairsCommand(DirectoryCommand, EngineOptions, PairsJob):
    """Options of the command."""

    left: Same[Sequence[str]] = option(
        kind=list, required=True, metavar="INPUT", panel="Input",
        help="First corpus: files, folders or globs, as for nearkin dedup; also Wikipedia dumps. Repeatable.",
    )  # fmt: skip
    right: Same[Sequence[str]] = option(
        kind=list, required=True, metavar="INPUT", panel="Input", help="Second corpus. Repeatable."
    )
    resume: Same[bool] = RESUME


def pairs(job: PairsCommand) -> None:
    """Find similar pairs."""
    from nearkin.cli.printing import warn_of_report
    from nearkin.workflows.pairing.inputs import PairInput
    from nearkin.workflows.pairing.job import pair_files
    from nearkin.workflows.resources import Resources

    given = PairInput.of_paths(job.left, job.right, job)
    where = job.chosen_engine()
    with working(job) as bars:
        manifest = pair_files(
            given, job.out, job.part(PairOptions), job.known, resume=job.resume, overwrite=job.overwrite,
            report=job.report, resources=Resources(job.threads), progress=bars, engine=where,
        )  # fmt: skip
    warn_of_report(manifest.report_problem, is_silent=job.is_silent)
    answer(job, manifest.as_stored, lambda console: _show(console, manifest, job.out))


def _show(console: Printer, manifest: PairsManifest, out: Path) -> None:
    from nearkin.cli.printing import say_results
    from nearkin.reports.facts.jobs import cost_facts
    from nearkin.reports.pairs import pairs_facts, sides_table

    console.show(sides_table(manifest))
    n_documents = manifest.left.n_documents + manifest.right.n_documents
    console.say(pairs_facts(manifest), cost_facts(manifest.stages, n_documents))
    say_results(console, out, "pairs.tsv")
