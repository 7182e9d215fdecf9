"""``nearkin dedup``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.answering import answer_run, working
from nearkin.options.declared import Same, argument, option
from nearkin.options.dedup import DedupJob, DedupOptions, Delivery
from nearkin.options.reading import InputsArgument
from nearkin.options.running import OVERLAY, RESUME, DirectoryCommand, EngineOptions, PrintOptions
from nearkin.reports.facts.fact import Fact
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from nearkin.manifests.dedup import DedupManifest
    from nearkin.stages.grouping import Rule


HELP = """
Find exact copies and near-duplicates, verify every pair, and keep one document per group.

Examples:

  nearkin dedup crawl/*.jsonl.gz --out clean --write-kept

  nearkin dedup contracts/ --out families --preset contracts

  nearkin dedup wave-2.jsonl --against clean-1 --out new-2 --write-kept

  nearkin dedup train.parquet --against eval.jsonl --drop containing --threshold 0.8 --out decontaminated

  cat notes.tsv | nearkin dedup - --out notes --threshold 0.9

  nearkin dedup /shared/crawl --out /shared/clean --engine spark --master spark://host:7077
"""


class DedupCommand(DirectoryCommand, EngineOptions, DedupJob, InputsArgument):
    """Options of the command."""

    resume: Same[bool] = RESUME


def dedup(job: DedupCommand) -> None:
    """Clean a corpus of copies."""
    from nearkin.workflows.dedup.files import dedup_files
    from nearkin.workflows.reading.request import ReadingRequest

    options, resources, where = job.part(DedupOptions), Resources.of(job.threads, job.memory), job.chosen_engine()
    with working(job) as bars:
        is_against = job.against is not None
        bars.say(", ".join(f"{name} {value}" for name, value in options.shown(is_against=is_against).items()))
        request = ReadingRequest.from_options(job.inputs, job)
        others = request.of_other_set(job.against, job.against_text, job.against_id) if is_against else None
        manifest = dedup_files(
            request, job.out, options, against=others, delivery=job.part(Delivery), resources=resources, progress=bars,
            engine=where,
        )  # fmt: skip
    _answer(job, manifest, job.out)


def _answer(job: PrintOptions, manifest: DedupManifest, out: Path, more: Iterable[Fact] = ()) -> None:
    from nearkin.reports.facts.jobs import cost_facts, dedup_facts, reasons_table

    costs = cost_facts(manifest.stages, manifest.count("documents"), manifest.memory) if manifest.plan else ()
    view = [reasons_table(manifest), *dedup_facts(manifest), *more, *costs]
    answer_run(job, manifest, out, "documents.parquet", view)


REGROUP_HELP = """
Group the stored pairs of a finished run again, at a higher threshold or by another rule, without a new search.

The finished run stored only pairs at or above its own threshold, and the texts are not compared again: the report has \
no sample pairs, and the tables may lack lower similarities.

--write-kept reads the input of the run again, which must not have changed.

Examples:

  nearkin regroup clean --threshold 0.9

  nearkin regroup clean --threshold 0.9 --write-kept

  nearkin regroup clean --threshold 0.9 --overlay relativity
"""


class RegroupCommand(PrintOptions):
    """Options of the command."""

    directory: Same[Path] = argument("DIR", kind=Path, help="Results of nearkin dedup.")
    threshold: Same[float] = option(
        kind=float, required=True, above=0, maximum=1, panel="What is a near-duplicate",
        help="Minimum similarity; at least the threshold of the run.",
    )  # fmt: skip
    group: Same[Rule | None] = option(
        choices=("principal", "component"),
        panel="What is kept",
        help="principal or component. [default: as in the run]",
    )
    out: Same[Path | None] = option(
        kind=Path, panel="Output", help="Directory for the results. [default: DIR/threshold-T]"
    )
    write_kept: Same[bool] = option(
        False, panel="Output", help="Also write the cleaned corpus, in the format of the input or as JSON Lines."
    )
    report: Same[bool] = option(True, panel="Output", help="Write report.html.")
    overlay: Same[str | None] = option(panel="Output", metavar="TOOL", help=OVERLAY.help)
    overwrite: Same[bool] = option(False, panel="The run", help="Replace the results of an earlier run.")


def regroup(job: RegroupCommand) -> None:
    """Regroup a run."""
    from nearkin.reports.facts.jobs import regroup_facts
    from nearkin.workflows.dedup.regrouping import outcome_changes
    from nearkin.workflows.dedup.regrouping import regroup as cut

    with working(job) as bars:
        where, manifest = cut(
            job.directory, threshold=job.threshold, group=job.group, out=job.out, overwrite=job.overwrite,
            write_kept=job.write_kept, report=job.report, overlay=job.overlay, progress=bars,
        )  # fmt: skip

    def more() -> Iterator[Fact]:
        changes = outcome_changes(job.directory, where)
        yield from regroup_facts(
            manifest, run_threshold=changes.run_threshold, n_now_kept=changes.n_now_kept,
            n_now_dropped=changes.n_now_dropped,
        )  # fmt: skip

    _answer(job, manifest, where, more())
