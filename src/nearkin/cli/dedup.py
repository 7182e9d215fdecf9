"""``nearkin dedup``."""

from __future__ import annotations

from nearkin.cli.engine_options import Conf, Engine, Master, cluster_of
from nearkin.cli.options import (
    Against,
    Drop,
    Encoding,
    Format,
    Group,
    Id,
    Inputs,
    Json,
    Keep,
    Measure,
    Memory,
    MinShared,
    Normalise,
    Out,
    Overwrite,
    Preset,
    Quiet,
    Recall,
    Report,
    Resume,
    Seed,
    Shingle,
    Text,
    Threads,
    Threshold,
    WriteKept,
)
from nearkin.cli.reading_rules import (
    LARGEST_DOCUMENT,
    MOST_UNREADABLE,
    SKIP_DOCUMENTS,
    MaxDocumentSize,
    MaxUnreadable,
    OnError,
    rules_of,
)

HELP = """
Clean a corpus of copies: find exact copies and near-duplicates, verify every pair, keep one document of each group.

[bold]Examples[/]

  nearkin dedup crawl/*.jsonl.gz --out clean --write-kept

  nearkin dedup contracts/ --out families --preset contracts

  nearkin dedup wave-2.jsonl --against clean-1 --out clean-2 --write-kept

  nearkin dedup train.parquet --against eval.jsonl --drop containing --threshold 0.8 --out decontaminated

  cat notes.tsv | nearkin dedup - --out notes --threshold 0.9

  nearkin dedup /shared/crawl --out /shared/clean --engine spark --master spark://host:7077
"""


def dedup(
    inputs: Inputs,
    out: Out,
    text: Text = None,
    id: Id = None,
    file_format: Format = None,
    encoding: Encoding = "utf-8",
    against: Against = None,
    on_error: OnError = SKIP_DOCUMENTS,
    max_unreadable: MaxUnreadable = MOST_UNREADABLE,
    max_document_size: MaxDocumentSize = LARGEST_DOCUMENT,
    preset: Preset = None,
    threshold: Threshold = None,
    measure: Measure = None,
    recall: Recall = None,
    shingle: Shingle = None,
    normalise: Normalise = None,
    min_shared: MinShared = None,
    seed: Seed = None,
    group: Group = None,
    keep: Keep = None,
    drop: Drop = None,
    write_kept: WriteKept = False,
    report: Report = True,
    as_json: Json = False,
    quiet: Quiet = False,
    resume: Resume = False,
    overwrite: Overwrite = False,
    threads: Threads = 0,
    memory: Memory = "2GiB",
    engine: Engine = "local",
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Clean a corpus of copies."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell, warn_of_report
    from nearkin.cli.summary import print_summary
    from nearkin.workflows.dedup.files import Delivery, dedup_files
    from nearkin.workflows.dedup.options import DedupOptions
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.resources import Resources

    options = DedupOptions.of(
        preset=preset, threshold=threshold, measure=measure, recall=recall, shingle=shingle, group=group, keep=keep,
        normalise=normalise, seed=seed, drop=drop, min_shared=min_shared,
    )  # fmt: skip
    rules = rules_of(on_error, max_unreadable, max_document_size)
    asked = ReadingRequest(inputs, file_format=file_format, text=text, doc_id=id, encoding=encoding, rules=rules)
    delivery = Delivery(resume, overwrite, write_kept, report)
    resources, cluster = Resources.of(threads, memory), cluster_of(engine, master, conf)
    with bars_shown(is_quiet=quiet or as_json) as bars:
        bars.say(", ".join(f"{name} {value}" for name, value in options.in_words().items()))
        manifest = dedup_files(
            asked, out, options, against=against or (), delivery=delivery, resources=resources, progress=bars,
            preset=preset, cluster=cluster,
        )  # fmt: skip
    warn_of_report(manifest, is_silent=quiet or as_json)
    tell(lambda: manifest, lambda console: print_summary(console, manifest, out), as_json=as_json, quiet=quiet)
