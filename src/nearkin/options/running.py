"""Options of a run: its results, its resources."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearkin.options.declared import Option, Options, Same, option

if TYPE_CHECKING:
    from collections.abc import Callable

    from nearkin.runs.progress import Progress

_run = partial(option, panel="The run")
OVERLAY = option(
    panel="Output", metavar="TOOL", needs="out",
    help="Also write an overlay with the field names of relativity, everlaw, reveal, purview or plain, keyed on the "
    "control number.",
)  # fmt: skip


RESUME = option(
    False, panel="The run", excludes="overwrite",
    help="Continue an interrupted run; the results are the same, byte for byte.",
)  # fmt: skip


class PrintOptions(Options):
    """What a command prints."""

    as_json: Same[bool] = option(
        False, names=("--json",), panel="Output", help="Print the result as JSON and nothing else."
    )
    quiet: Same[bool] = option(False, names=("--quiet", "-q"), panel="Output", help="Print only errors and warnings.")

    @property
    def is_silent(self) -> bool:
        """Whether no progress is printed."""
        return self.as_json or self.quiet


class DirectoryCommand(PrintOptions):
    """A command whose result is a directory with a page."""

    out: Option[Any, Path | str | None] = option(
        kind=Path, required=True, panel="Output", help="Directory for the results."
    )
    report: Same[bool] = option(True, panel="Output", help="Write report.html.")


class FileCommand(PrintOptions):
    """A command whose result is a file."""

    out: Option[Any, Path | str | None] = option(kind=Path, required=True, panel="Output", help="File for the result.")


class ResultOptions(Options):
    """Directory of results."""

    report: Same[bool] = option(False, panel="Output", needs="out", help="Write report.html.")
    overwrite: Same[bool] = _run(False, needs="out", help="Replace the results of an earlier run.")


class RunOptions(ResultOptions):
    """Results of a run."""

    out: Option[Any, Path | str | None] = option(kind=Path, panel="Output", help="Directory for the results.")
    progress: Progress | Callable[[str], object] | None = None


class FileResult(Options):
    """File of a result."""

    out: Option[Any, Path | str | None] = option(kind=Path, panel="Output", help="File for the result.")
    overwrite: Same[bool] = _run(False, needs="out", help="Replace the file of --out.")
    progress: Progress | Callable[[str], object] | None = None


class ThreadOptions(Options):
    """Threads of a run."""

    threads: Same[int] = _run(0, maximum=1024, help="Worker threads; 0 means one per CPU core.")


class ResourceOptions(ThreadOptions):
    """Threads and memory of a run."""

    memory: Same[int | str] = _run("2GiB", kind=object, help="Memory limit, for example 2GiB; at least 256MiB.")
