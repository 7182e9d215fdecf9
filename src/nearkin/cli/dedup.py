"""``nearkin dedup``."""

from __future__ import annotations

from nearkin.cli.options.dedup import DedupChoices
from nearkin.cli.options.definitions import (
    Against,
    AgainstId,
    AgainstText,
    By,
    Json,
    Memory,
    Out,
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
from nearkin.cli.options.inputs import Inputs, ReadingOptionsOfBothSets

HELP = """
Find exact copies and near-duplicates, verify every pair, and keep one document per group.

[bold]Examples[/]

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
    report: Report = True,
    by: By = None,
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
    from nearkin.cli.summary import print_summary
    from nearkin.workflows.dedup.files import Delivery, dedup_files
    from nearkin.workflows.dedup.other_columns import OtherColumns
    from nearkin.workflows.resources import Resources

    options = chosen.options(preset)
    delivery = Delivery(resume=resume, overwrite=overwrite, kept=write_kept, report=report, by=by, overlay=overlay)
    resources, where = Resources.of(threads, memory), engine.chosen()
    with bars_shown(is_quiet=quiet or as_json) as bars:
        bars.say(", ".join(f"{name} {value}" for name, value in options.shown(is_against=bool(against)).items()))
        manifest = dedup_files(
            reading.request(inputs), out, options, against=against or (),
            against_columns=OtherColumns(against_text, against_id), delivery=delivery, resources=resources,
            progress=bars, preset=preset, engine=where,
        )  # fmt: skip
    warn_of_report(manifest.report_problem, is_silent=quiet or as_json)
    tell(manifest.as_stored, lambda console: print_summary(console, manifest, out), as_json=as_json, quiet=quiet)
