"""``nearkin passages``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.answering import answer, working
from nearkin.options.declared import Same
from nearkin.options.passages import PassageDelivery, PassageOptions, PassagesJob
from nearkin.options.reading import InputsArgument
from nearkin.options.running import RESUME, DirectoryCommand

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.manifests.passages import PassagesManifest


HELP = """
Find runs of words that stand in several documents: menus and footers, licence headers, disclaimers, quoted text, \
clauses, the span of a contamination. Case, white space and punctuation do not count. Every run of --min-words words \
that stands in two places is found, and compared as text.

passages.parquet has a row for each place of each passage, documents.parquet the shares of each document.

Examples:

  nearkin passages crawl.jsonl --out passages --cut

  nearkin passages src/ --min-words 20 --out headers

  nearkin passages pages.parquet --within site --boilerplate 0.3 --out menus

  nearkin passages train.jsonl --against eval.jsonl --min-words 13 --out contaminated
"""


class PassagesCommand(DirectoryCommand, PassagesJob, InputsArgument):
    """Options of the command."""

    resume: Same[bool] = RESUME


def passages(job: PassagesCommand) -> None:
    """Find passages."""
    from nearkin.cli.printing import warn_of_report
    from nearkin.workflows.passages.job import passages_files
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.resources import Resources

    with working(job) as bars:
        request = ReadingRequest.from_options(job.inputs, job)
        is_against = job.against is not None
        others = request.of_other_set(job.against, job.against_text, job.against_id) if is_against else None
        manifest = passages_files(
            request, job.out, job.part(PassageOptions), against=others, delivery=job.part(PassageDelivery),
            resources=Resources.of(job.threads, job.memory), progress=bars,
        )  # fmt: skip
    warn_of_report(manifest.report_problem, is_silent=job.is_silent)
    answer(job, manifest.as_stored, lambda console: _show(console, manifest, job.out))


def _show(console: Printer, manifest: PassagesManifest, out: Path) -> None:
    from nearkin.cli.printing import say_results
    from nearkin.reports.facts.fact import time_facts
    from nearkin.reports.facts.jobs import passages_facts

    elapsed_s = sum(one.elapsed_s for one in manifest.stages)
    n_documents = manifest.counts.documents + manifest.counts.others
    console.say(passages_facts(manifest), time_facts(elapsed_s, n_documents))
    say_results(console, out, "passages.parquet")
