"""``nearkin audit``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nearkin.cli.options.collection import Cache, ReadOnly, ToleranceOptions
from nearkin.cli.options.definitions import Json, Quiet, Threads
from nearkin.cli.parameters import argument, option
from nearkin.nouns import agreeing, counted

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
        check_free(missed, overwrite=overwrite, inputs=[], option="--missed")
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
    from nearkin.cli.printing import coloured, shown, table
    from nearkin.reports.quantities import share_percent_text
    from nearkin.reports.sentences.audit import measured_recall, prediction_sentence, proposal_sentence
    from nearkin.reports.sentences.sentence import Sentence

    found, predicted = audited.estimate, audited.predicted_recall
    rows = table("", "", "")
    rows.columns[1].justify = "right"
    rows.columns[2].style = "dim"
    rows.show_header = False
    of_all = f"all {audited.drawn}" if found.is_exact else f"of {found.n_population:,} {audited.drawn}"
    are = agreeing(found.n_with_pairs, "is", "are")
    rows.add_row("sampled", f"{found.n_sampled:,}", f"{of_all}; {found.n_with_pairs:,} of them {are} in a true pair")
    counting = f" ({audited.counting})" if audited.counting else ""
    rows.add_row("true pairs", f"{found.n_true:,}", f"pairs of {shown(audited.pairs)}{counting}")
    rows.add_row("found", f"{found.n_found:,}", "")
    rows.add_row("recall", *measured_recall(found))
    held = prediction_sentence(found, predicted, claims_all=audited.claims_all)
    expected = "run's estimate" if audited.expected_by == "estimated" else audited.expected_by
    rows.add_row(expected, "–" if predicted is None else share_percent_text(predicted), coloured(held))
    console.say_of_row(Sentence(f"{expected}: {held.text}", held.tone))
    console.say([Sentence("", strong=audited.what)])
    console.print(rows)
    if audited.below_text:
        console.say([Sentence(audited.below_text, "warning")])
    _show_missed(console, audited, missed)
    console.say(map(proposal_sentence, audited.proposed))
    console.say([Sentence(note, "quiet") for note in audited.notes])
    compared = counted(found.n_sampled, "document")
    console.say([Sentence(f"{audited.elapsed_s:.1f} s, {compared} compared with everything")])


def _show_missed(console: Printer, audited: Audited, missed: Path | None) -> None:
    from nearkin.cli.printing import shown, table
    from nearkin.wording import share_text

    if not len(audited.missed):
        return
    rows = table("missed", "id_a", "id_b", numbers=1)
    for one in audited.missed.slice(0, _SHOWN).to_pylist():
        rows.add_row(share_text(one["similarity"]), shown(one["id_a"]), shown(one["id_b"]))
    console.print(rows)
    n_pairs, n_missed = len(audited.missed), audited.estimate.n_missed
    if n_missed > n_pairs and not audited.is_truncated:
        once = f"The list has each missed pair once ({n_pairs:,}); the figures count it once for each text that did"
        console.print(shown(f"{once} not find it ({n_missed:,})"), highlight=False, soft_wrap=True)
    if (n_left := len(audited.missed) - _SHOWN) > 0 or audited.is_truncated:
        more = "There are more missed pairs" if audited.is_truncated else f"{counted(n_left, 'more missed pair')}"
        if missed is None:
            told = f"{more}; --missed FILE writes them"
        elif audited.is_truncated:
            told = f"{more}; the first {len(audited.missed):,} are in {missed}"
        else:
            told = f"{more}, in {missed}"
        console.print(shown(told), highlight=False, soft_wrap=True)


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
