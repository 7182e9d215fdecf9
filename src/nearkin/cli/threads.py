"""``nearkin threads``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.options.definitions import Json, NewTextOnly, Out, Overwrite, Quiet, Report, WindowDays
from nearkin.cli.options.inputs import Inputs, ReadingOptions

if TYPE_CHECKING:
    from pathlib import Path

    from nearkin.cli.printing import Printer
    from nearkin.manifests.threads import ThreadsManifest

HELP = """
Put mails into threads, show which mails are missing, and mark the inclusive ones. A mail is inclusive if some of its \
text, or an attachment, is in no later mail of its thread; every other mail is contained word for word in a later \
mail, which is listed beside it.

Threads follow Message-ID, In-Reply-To and References. An answer whose headers name no mail in the input is \
joined by subject, date and addresses.

[bold]Examples[/]

  nearkin threads mailbox.mbox --out threads

  nearkin threads custodians/ --window-days 0 --out threads

  nearkin threads mails.zip --new-text-only --out threads
"""


def threads(
    inputs: Inputs,
    out: Out,
    *,
    reading: ReadingOptions,
    window_days: WindowDays = 14.0,
    new_text_only: NewTextOnly = False,
    report: Report = True,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Put mails into threads."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell, warn_of_report
    from nearkin.workflows.threads.job import thread_files
    from nearkin.workflows.threads.options import ThreadOptions

    options = ThreadOptions(window_days, new_text_only)
    with bars_shown(is_quiet=quiet or as_json) as bars:
        manifest = thread_files(
            reading.request(inputs), out, options, overwrite=overwrite, report=report, progress=bars
        )
    warn_of_report(manifest.report_problem, is_silent=quiet or as_json)
    tell(manifest.as_stored, lambda console: _show(console, manifest, out), as_json=as_json, quiet=quiet)


def _show(console: Printer, manifest: ThreadsManifest, out: Path) -> None:
    """Print mails by result, threads, and where to look."""
    from nearkin.cli.printing import say_results, table
    from nearkin.kernels.choosing import has_compiled
    from nearkin.reports.sentences.runs import result_rows, threads_sentences

    rows = table("mails", "share", "result", "meaning", numbers=2)
    rows.columns[-1].style = "dim"
    for row in result_rows(manifest):
        rows.add_row(*row)
    console.print(rows)
    console.say(threads_sentences(manifest, has_compiled=has_compiled()))
    say_results(console, out, "threads.parquet")
