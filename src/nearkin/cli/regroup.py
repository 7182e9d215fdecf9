"""``nearkin regroup``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.options.definitions import (
    FinishedRun,
    HigherThreshold,
    Json,
    OtherGroup,
    OutBeside,
    Overlay,
    Overwrite,
    Quiet,
    Report,
    WriteKept,
)

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer

HELP = """
Group the stored pairs of a finished run again, at a higher threshold or by another rule, without a new search.

A new run at this threshold would keep the same documents, unless its search, which is probabilistic, finds other \
pairs.

The finished run stored only pairs at or above its own threshold, and the texts are not compared again. So the report \
has no sample pairs, and the tables may lack similarities below that threshold: see lowest_similarity and \
similarity_to_principal in the guide.

--write-kept reads the input of the run again, and --overlay reads its load files. These files must not have changed.

[bold]Examples[/]

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
    from nearkin.cli.summary import print_summary
    from nearkin.reports.sentences.runs import regroup_sentences
    from nearkin.workflows.dedup.outcome_changes import outcome_changes
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
