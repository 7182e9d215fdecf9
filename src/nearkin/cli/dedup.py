"""``nearkin dedup``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.options.definitions import (
    FinishedRun,
    HigherThreshold,
    Json,
    OtherGroup,
    Out,
    OutBeside,
    Overlay,
    Overwrite,
    Quiet,
    Report,
    Resume,
    WriteKept,
)
from nearkin.cli.options.engine import EngineOptions
from nearkin.cli.options.reading import Inputs
from nearkin.options.dedup import DedupJob, DedupOptions, Delivery

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.manifests.dedup import DedupManifest
    from nearkin.reports.facts.fact import Fact


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


def dedup(
    inputs: Inputs,
    out: Out,
    *,
    job: DedupJob,
    report: Report = True,
    as_json: Json = False,
    quiet: Quiet = False,
    resume: Resume = False,
    engine: EngineOptions,
) -> None:
    """Clean a corpus of copies."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell, warn_of_report
    from nearkin.workflows.dedup.files import dedup_files
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.resources import Resources

    options, delivery = job.part(DedupOptions), job.part(Delivery, resume=resume)
    resources, where = Resources.of(job.threads, job.memory), engine.chosen()
    with bars_shown(is_quiet=quiet or as_json) as bars:
        is_against = job.against is not None
        bars.say(", ".join(f"{name} {value}" for name, value in options.shown(is_against=is_against).items()))
        request = ReadingRequest.from_options(inputs, job)
        others = request.of_other_set(job.against, job.against_text, job.against_id) if is_against else None
        manifest = dedup_files(
            request, out, options, against=others, delivery=delivery, resources=resources, progress=bars, engine=where
        )
    warn_of_report(manifest.report_problem, is_silent=quiet or as_json)
    tell(manifest.as_stored, lambda console: print_summary(console, manifest, out), as_json=as_json, quiet=quiet)


def print_summary(console: Printer, manifest: DedupManifest, out: Path, more: Iterable[Fact] = ()) -> None:
    """Print documents by reason, groups, missed pairs, ``more`` facts, and where to look."""
    from nearkin.cli.printing import say_results
    from nearkin.reports.facts.jobs import cost_facts, dedup_facts, reasons_table

    console.show(reasons_table(manifest))
    costs = cost_facts(manifest.stages, manifest.count("documents"), manifest.memory) if manifest.plan else ()
    console.say([*dedup_facts(manifest), *more, *costs])
    say_results(console, out, "documents.parquet")


REGROUP_HELP = """
Group the stored pairs of a finished run again, at a higher threshold or by another rule, without a new search.

A new run at this threshold would keep the same documents, unless its search, which is probabilistic, finds other \
pairs.

The finished run stored only pairs at or above its own threshold, and the texts are not compared again. So the report \
has no sample pairs, and the tables may lack similarities below that threshold: see lowest_similarity and \
similarity_to_principal in the guide.

--write-kept reads the input of the run again, which must not have changed.

Examples:

  nearkin regroup clean --threshold 0.9

  nearkin regroup clean --threshold 0.9 --write-kept

  nearkin regroup clean --threshold 0.9 --overlay relativity
"""


def regroup(
    directory: FinishedRun,
    threshold: HigherThreshold,
    group: OtherGroup = None,
    out: OutBeside = None,
    write_kept: WriteKept = False,
    report: Report = True,
    overlay: Overlay = None,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Regroup a run."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell, warn_of_report
    from nearkin.reports.facts.jobs import regroup_facts
    from nearkin.workflows.dedup.regrouping import outcome_changes
    from nearkin.workflows.dedup.regrouping import regroup as cut

    with bars_shown(is_quiet=quiet or as_json) as bars:
        where, manifest = cut(
            directory,
            threshold=threshold,
            group=group,  # type: ignore[arg-type]  # it is checked there
            out=out,
            overwrite=overwrite,
            write_kept=write_kept,
            report=report,
            overlay=overlay,
            progress=bars,
        )
    warn_of_report(manifest.report_problem, is_silent=quiet or as_json)

    def print_answer(console: Printer) -> None:
        changes = outcome_changes(directory, where)
        more = regroup_facts(
            manifest,
            run_threshold=changes.run_threshold,
            n_now_kept=changes.n_now_kept,
            n_now_dropped=changes.n_now_dropped,
        )
        print_summary(console, manifest, where, more)

    tell(manifest.as_stored, print_answer, as_json=as_json, quiet=quiet)
