"""``nearkin families``, ``threads`` and ``passages``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.answering import answer_run, working
from nearkin.errors import ParameterError
from nearkin.options.collection import ReadOnlyOptions
from nearkin.options.declared import Same
from nearkin.options.dedup import Delivery
from nearkin.options.families import FamiliesJob, MailOptions, PassageDelivery, PassageOptions, PassagesJob, ThreadsJob
from nearkin.options.reading import InputsArgument
from nearkin.options.running import RESUME, DirectoryCommand, EngineOptions
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nearkin.reports.facts.fact import Fact, Part


HELP = """
Group contracts into form groups: versions of one form or contract, such as signed and unsigned copies, revisions, \
and the same form with different parties. In file and column names, "family" means such a form group, not a mail \
with its attachments. The principal is the document that represents its group.

The form groups of a COLLECTION are the groups that nearkin groups computes: they keep their numbers and principals, \
and respect all decisions.

The results list for each member its similarity to the principal of its group, how it relates to the principal, and \
the first lines that differ.

Examples:

  nearkin families dataroom/ --out families

  nearkin families contracts.parquet --text body --id file --threshold 0.7 --out families

  nearkin families matter --out families --overwrite
"""


class FamiliesCommand(DirectoryCommand, ReadOnlyOptions, FamiliesJob, InputsArgument):
    """Options of the command."""

    resume: Same[bool] = RESUME


def families(job: FamiliesCommand) -> None:
    """Group contracts into form groups."""
    from nearkin.reports.facts.jobs import families_facts, relations_table, run_time
    from nearkin.workflows.dedup.files import dedup_files
    from nearkin.workflows.families.files import FamiliesEnding
    from nearkin.workflows.reading.request import ReadingRequest, is_one_collection

    request, out = ReadingRequest.from_options(job.inputs, job), job.out
    delivery, resources = job.part(Delivery), Resources.of(job.threads, job.memory)
    changes: Iterable[Fact] = ()
    with working(job) as bars:
        if job.overlay is not None and is_one_collection(request):
            raise ParameterError("For a collection use nearkin groups COLLECTION --overlay TOOL.")
        is_plain = job.shingle is None and job.ignore is None and not job.ignore_numbers
        if is_plain and is_one_collection(request):
            from nearkin.reports.facts.queries import family_group_facts
            from nearkin.workflows.families.of_collection import families_of_collection

            result = families_of_collection(
                request, out, threshold=job.threshold, is_read_only=job.read_only, delivery=delivery,
                resources=resources, progress=bars,
            )  # fmt: skip
            manifest, summary = result.manifest, result.to_dict()
            changes = () if result.groups is None else family_group_facts(result.groups)
        elif job.read_only:
            raise ParameterError("is for the groups of one collection, without --shingle.", parameter="read_only")
        else:
            manifest = dedup_files(
                request, out, job.search(), delivery=delivery, ending=FamiliesEnding(), resources=resources,
                progress=bars,
            )  # fmt: skip
            summary = manifest.as_stored()
    time = run_time(manifest, manifest.count("documents"))
    view: list[Part] = [relations_table(manifest), *families_facts(manifest), *time, *changes]
    answer_run(job, manifest, out, "families.csv", view, summary=summary)


THREADS_HELP = """
Put mails into threads, show which mails are missing, and mark the inclusive ones: those with text, or an attachment, \
that is in no later mail of their thread.

Threads follow Message-ID, In-Reply-To and References. An answer whose headers name no mail in the input is \
joined by subject, date and addresses.

Examples:

  nearkin threads mailbox.mbox --out threads

  nearkin threads custodians/ --window-days 0 --out threads

  nearkin threads mails.zip --new-text-only --out threads
"""


class ThreadsCommand(DirectoryCommand, ThreadsJob, InputsArgument):
    """Options of the command."""


def threads(job: ThreadsCommand) -> None:
    """Put mails into threads."""
    from nearkin.reports.facts.jobs import results_table, run_time, threads_facts
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.threads.job import thread_files

    with working(job) as bars:
        manifest = thread_files(
            ReadingRequest.from_options(job.inputs, job), job.out, job.part(MailOptions), overwrite=job.overwrite,
            report=job.report, progress=bars,
        )  # fmt: skip
    time = run_time(manifest, manifest.counts.documents)
    answer_run(job, manifest, job.out, "threads.parquet", [results_table(manifest), *threads_facts(manifest), *time])


PASSAGES_HELP = """
Find runs of words that stand in several documents: menus, licence headers, disclaimers, quoted text, clauses, \
contamination. Case, white space and punctuation do not count. Every run of --min-words words that stands in two \
places is found.

Examples:

  nearkin passages crawl.jsonl --out passages --cut

  nearkin passages src/ --min-words 20 --out headers

  nearkin passages pages.parquet --within site --boilerplate 0.3 --out menus

  nearkin passages train.jsonl --against eval.jsonl --min-words 13 --out contaminated

  nearkin passages matter --min-words 20 --store --out clauses
"""


class PassagesCommand(DirectoryCommand, EngineOptions, PassagesJob, InputsArgument):
    """Options of the command."""

    resume: Same[bool] = RESUME


def passages(job: PassagesCommand) -> None:
    """Find passages."""
    from nearkin.reports.facts.jobs import passages_facts, run_time
    from nearkin.workflows.passages.job import passages_files
    from nearkin.workflows.reading.request import ReadingRequest

    engine = job.chosen_engine()
    with working(job) as bars:
        request = ReadingRequest.from_options(job.inputs, job)
        is_against = job.against is not None
        others = request.of_other_set(job.against, job.against_text, job.against_id) if is_against else None
        manifest = passages_files(
            request, job.out, job.part(PassageOptions), against=others, delivery=job.part(PassageDelivery),
            resources=Resources.of(job.threads, job.memory), progress=bars, engine=engine,
        )  # fmt: skip
    time = run_time(manifest, manifest.counts.documents + manifest.counts.others)
    answer_run(job, manifest, job.out, "passages.parquet", [*passages_facts(manifest), *time])
