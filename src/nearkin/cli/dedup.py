"""``nearkin dedup``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.options.dedup import DedupChoices
from nearkin.cli.options.definitions import (
    Against,
    AgainstId,
    AgainstText,
    Annotate,
    Carry,
    FinishedRun,
    HigherThreshold,
    Json,
    Memory,
    OtherGroup,
    Out,
    OutBeside,
    Overlay,
    Overwrite,
    Preset,
    Quiet,
    Report,
    Resume,
    Threads,
    WriteKept,
)
from nearkin.cli.options.engine import EngineOptions
from nearkin.cli.options.reading import Inputs, ReadingOptionsOfBothSets

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.manifests.dedup import DedupManifest
    from nearkin.reports.sentences.sentence import Sentence


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
    reading: ReadingOptionsOfBothSets,
    against: Against = None,
    against_text: AgainstText = None,
    against_id: AgainstId = None,
    preset: Preset = None,
    chosen: DedupChoices,
    write_kept: WriteKept = False,
    annotate: Annotate = False,
    report: Report = True,
    carry: Carry = None,
    overlay: Overlay = None,
    as_json: Json = False,
    quiet: Quiet = False,
    resume: Resume = False,
    overwrite: Overwrite = False,
    threads: Threads = 0,
    memory: Memory = "2GiB",
    engine: EngineOptions,
) -> None:
    """Clean a corpus of copies."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell, warn_of_report
    from nearkin.workflows.dedup.files import Delivery, check_needs_against, dedup_files
    from nearkin.workflows.resources import Resources

    check_needs_against(against, against_text=against_text, against_id=against_id)
    options = chosen.options(preset)
    delivery = Delivery(
        resume=resume, overwrite=overwrite, kept=write_kept, annotated=annotate, report=report,
        carry=tuple(carry or ()), overlay=overlay,
    )  # fmt: skip
    resources, where = Resources.of(threads, memory), engine.chosen()
    with bars_shown(is_quiet=quiet or as_json) as bars:
        bars.say(", ".join(f"{name} {value}" for name, value in options.shown(is_against=bool(against)).items()))
        request = reading.request(inputs)
        manifest = dedup_files(
            request, out, options, against=request.of_other_set(against, against_text, against_id) if against else None,
            delivery=delivery, resources=resources, progress=bars, preset=preset, engine=where,
        )  # fmt: skip
    warn_of_report(manifest.report_problem, is_silent=quiet or as_json)
    tell(manifest.as_stored, lambda console: print_summary(console, manifest, out), as_json=as_json, quiet=quiet)


def print_summary(console: Printer, manifest: DedupManifest, out: Path, more: Iterable[Sentence] = ()) -> None:
    """Print documents by reason, groups, missed pairs, ``more`` sentences, and where to look."""
    from nearkin.cli.printing import say_results, table
    from nearkin.kernels.choosing import has_compiled
    from nearkin.reports.sentences.dedup import dedup_sentences, reason_rows

    rows = table("documents", "share", "reason", "", numbers=2)
    rows.columns[-1].style = "dim"
    for row in reason_rows(manifest):
        rows.add_row(*row)
    console.print(rows)
    console.say(dedup_sentences(manifest, has_kept=(out / "kept").exists(), has_compiled=has_compiled()))
    console.say(more)
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
    from nearkin.reports.sentences.runs import regroup_sentences
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
        more = regroup_sentences(
            manifest,
            str(directory),
            run_threshold=changes.run_threshold,
            n_now_kept=changes.n_now_kept,
            n_now_dropped=changes.n_now_dropped,
        )
        print_summary(console, manifest, where, more)

    tell(manifest.as_stored, print_answer, as_json=as_json, quiet=quiet)
