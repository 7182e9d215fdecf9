"""Options of a run: its results, its resources."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.options.declared import Options, Same, option

if TYPE_CHECKING:
    from collections.abc import Callable

    from nearkin.runs.progress import Progress

_run = partial(option, panel="The run")
OVERLAY = option(
    panel="Output", metavar="TOOL", needs="out",
    help="Also write an overlay with the field names of relativity, everlaw, reveal, purview or plain, keyed on the "
    "control number.",
)  # fmt: skip


@dataclass(unsafe_hash=True, kw_only=True)
class ResultOptions(Options):
    """Directory of results."""

    report: Same[bool] = option(False, panel="Output", needs="out", help="Write report.html.")
    overwrite: Same[bool] = _run(False, needs="out", help="Replace the results of an earlier run.")


@dataclass(unsafe_hash=True, kw_only=True)
class RunOptions(ResultOptions):
    """Results of a run."""

    out: Same[Path | str | None] = option(kind=Path, panel="Output", help="Directory for the results.")
    progress: Progress | Callable[[str], object] | None = None


@dataclass(unsafe_hash=True, kw_only=True)
class FileResult(Options):
    """File of a result."""

    out: Same[Path | str | None] = option(kind=Path, panel="Output", help="File for the result.")
    overwrite: Same[bool] = _run(False, needs="out", help="Replace the file of --out.")
    progress: Progress | Callable[[str], object] | None = None


@dataclass(unsafe_hash=True, kw_only=True)
class ThreadOptions(Options):
    """Threads of a run."""

    threads: Same[int] = _run(0, maximum=1024, help="Worker threads; 0 means one per CPU core.")


@dataclass(unsafe_hash=True, kw_only=True)
class ResourceOptions(ThreadOptions):
    """Threads and memory of a run."""

    memory: Same[int | str] = _run("2GiB", kind=object, help="Memory limit, for example 2GiB; at least 256MiB.")
