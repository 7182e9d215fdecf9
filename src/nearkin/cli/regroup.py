"""``nearkin regroup``."""

from __future__ import annotations

from nearkin.cli.options import FinishedRun, HigherThreshold, Json, OtherGroup, OutBeside, Overwrite, Quiet, Report

HELP = """
Cut the groups of a finished run at a higher threshold, or by another rule, from its stored pairs: the corpus is not \
read again.

Which documents are kept is what a run at this threshold would say of the same pairs. Less is told of similarities: \
lowest_similarity is that of the stored pairs, with is_lowest_exact false where a pair of the group is not among \
them, and similarity_to_principal is null where that pair is not, as happens in components. The report has no samples.

[bold]Example[/]

  nearkin regroup clean --threshold 0.9
"""


def regroup(
    directory: FinishedRun,
    threshold: HigherThreshold,
    group: OtherGroup = None,
    out: OutBeside = None,
    report: Report = True,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Cut groups anew."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell, warn_of_report
    from nearkin.cli.summary import print_summary
    from nearkin.workflows.dedup.regrouping import regroup as cut

    with bars_shown(is_quiet=quiet or as_json) as bars:
        where, manifest = cut(
            directory,
            threshold=threshold,
            group=group,  # type: ignore[arg-type]  # it is checked there
            out=out,
            overwrite=overwrite,
            report=report,
            progress=bars,
        )
    warn_of_report(manifest.report_problem, is_silent=quiet or as_json)
    tell(manifest.as_stored, lambda console: print_summary(console, manifest, where), as_json=as_json, quiet=quiet)
