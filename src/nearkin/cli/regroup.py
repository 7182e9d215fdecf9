"""``nearkin regroup``."""

from __future__ import annotations

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
)

HELP = """
Group the stored pairs of a finished run again, at a higher threshold or by another rule. The corpus is not read \
again.

The kept documents are those that a run at this threshold would keep, given the same pairs. Similarities are less \
complete: lowest_similarity covers stored pairs only (is_lowest_exact is false where a pair of the group is \
missing), and similarity_to_principal is null where that pair is missing, as happens in components. The report has \
no sample pairs. No cleaned corpus is written: for one, run nearkin dedup again with this --threshold and \
--write-kept. --overlay reads the control numbers of the load files again; these files must not have changed.

[bold]Examples[/]

  nearkin regroup clean --threshold 0.9

  nearkin regroup clean --threshold 0.9 --overlay relativity
"""


def regroup(
    directory: FinishedRun,
    threshold: HigherThreshold,
    group: OtherGroup = None,
    out: OutBeside = None,
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
    from nearkin.workflows.dedup.regrouping import regroup as cut

    with bars_shown(is_quiet=quiet or as_json) as bars:
        where, manifest = cut(
            directory,
            threshold=threshold,
            group=group,  # type: ignore[arg-type]  # it is checked there
            out=out,
            overwrite=overwrite,
            report=report,
            overlay=overlay,
            progress=bars,
        )
    warn_of_report(manifest.report_problem, is_silent=quiet or as_json)
    tell(manifest.as_stored, lambda console: print_summary(console, manifest, where), as_json=as_json, quiet=quiet)
