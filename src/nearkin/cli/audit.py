"""``nearkin audit``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nearkin.cli.options.collection import Cache, ReadOnly, ToleranceOptions
from nearkin.cli.options.definitions import Json, Quiet, Threads
from nearkin.cli.parameters import argument, option

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.workflows.auditing.audited import Audited


HELP = """
Measure the recall of a finished run, or of the searches of a collection.

A random sample of documents is compared with all others, by the measure and threshold of the run or of the search. \
The true pairs are then looked up in the results. The recall comes with a 95% interval; it is exact if all documents \
are sampled. Exact copies count as one text.

DIR is a finished run of nearkin dedup, families, regroup or pairs, whose input is read again and must be unchanged; \
or a collection, in which each sampled document is queried as by nearkin similar. The options under Tolerance and \
The collection are for collections only.

Examples:

  nearkin audit clean --sample 1000 --missed missed.tsv

  nearkin audit matter --threshold 0.8
"""
_SHOWN = 5


def audit(
    place: AuditedPlace,
    sample: Sample = 500,
    seed: AuditSeed = 0,
    *,
    alike: ToleranceOptions,
    cache: Cache = None,
    read_only: ReadOnly = False,
    missed: MissedFile = None,
    overwrite: ReplaceMissed = False,
    as_json: Json = False,
    quiet: Quiet = False,
    threads: Threads = 0,
) -> None:
    """Measure recall."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_free, written
    from nearkin.collection.tolerance import Tolerance
    from nearkin.workflows.auditing.audit import audit as audited_place
    from nearkin.workflows.auditing.audited import AuditOptions
    from nearkin.workflows.collection.tables import check_format, write_table
    from nearkin.workflows.resources import Resources

    if missed is not None:
        check_format(missed, option="missed")
        check_free(missed, overwrite=overwrite, option="--missed")
    options = AuditOptions(
        sample=sample,
        seed=seed,
        tolerance=Tolerance.if_given(**alike.given()),
        cache=cache,
        threads=Resources(threads).n_threads,
        is_read_only=read_only,
    )
    with bars_shown(is_quiet=quiet or as_json) as bars:
        audited = audited_place(place, options, bars)
        if missed is not None:
            write_table(audited.missed, missed)
    tell(audited.to_dict, lambda console: _show(console, audited, missed), as_json=as_json, quiet=quiet)
    if missed is not None and not (quiet or as_json):
        bars.say(written(len(audited.missed), "missed pair", missed))


def _show(console: Printer, audited: Audited, missed: Path | None) -> None:
    from nearkin.reports.facts.fact import Table
    from nearkin.wording import share_text

    rows = [
        (share_text(one["similarity"]), str(one["id_a"]), str(one["id_b"]))
        for one in audited.missed.slice(0, _SHOWN).to_pylist()
    ]
    console.show(Table(("missed", "id_a", "id_b"), rows, 1))
    console.say(audited.facts("" if missed is None else str(missed)))


_sample = partial(option, panel="The sample")
_output = partial(option, panel="Output")

AuditedPlace = Annotated[
    str,
    argument(metavar="DIR", help="A finished run, or a collection: a directory or a URL."),
]
Sample = Annotated[int, _sample(help="Number of documents to sample; all of them if there are fewer.")]
AuditSeed = Annotated[int, _sample("--seed", help="Random seed of the sample.")]
ReplaceMissed = Annotated[bool, _output("--overwrite", help="Replace the file of --missed.")]
MissedFile = Annotated[
    Path | None,
    _output("--missed", help="File for the missed pairs: .tsv, .csv, .jsonl or .parquet."),
]
