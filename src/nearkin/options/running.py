"""Options of a run: its results, its resources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearkin.errors import ParameterError, quoted
from nearkin.options.declared import Option, Options, Same, option

if TYPE_CHECKING:
    from collections.abc import Callable

    from nearkin.engines.local import Engine
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


ENGINES = ("local", "spark")
_engine = partial(option, panel="The engine")


class EngineOptions(Options):
    """Options for the place of the work."""

    engine: Same[str] = _engine(
        "local",
        choices=ENGINES,
        help="local: threads of this machine. spark: a Spark cluster. The results are the same.",
    )
    master: Same[str | None] = _engine(
        metavar="URL",
        help="Spark master (only with --engine spark): local[*], spark://HOST:PORT, yarn, "
        "k8s://https://HOST:PORT or sc://HOST:PORT. "
        "[default: from spark-submit or spark-defaults.conf, else local[*]]",
    )
    conf: Same[Sequence[str] | None] = _engine(
        kind=list, metavar="KEY=VALUE",
        help="Spark setting (only with --engine spark), for example spark.executor.memory=4g. Repeatable.",
    )  # fmt: skip

    def chosen_engine(self) -> Engine:
        """Return the engine; see `engine_of`."""
        return engine_of(self.engine, self.master, self.conf)


def engine_of(engine: str, master: str | None, conf: Iterable[str] | None) -> Engine:
    """Return the engine that the three options name."""
    pairs = [setting.partition("=") for setting in conf or ()]
    if engine == "local":
        for option, given in (("master", master), ("conf", "=".join(pairs[0][::2]) if pairs else None)):
            if given is not None:
                raise ParameterError(f"--{option} needs --engine spark. Got {quoted(given)} alone.")
        from nearkin.engines.local import LOCAL

        return LOCAL
    for key, is_set, value in pairs:
        if not is_set or not key.strip():
            raise ParameterError.of("conf", "KEY=VALUE", f"{key}{is_set}{value}")
    settings = {key.strip(): value.strip() for key, _, value in pairs}
    named = settings.pop("spark.master", master)
    if master is not None and named != master:
        raise ParameterError.of("master", f"that of --conf, {named}, or omitted", master)
    from nearkin.engines.spark.requirements import check_pyspark  # not before it is asked for
    from nearkin.engines.spark.session import Cluster

    check_pyspark()
    return Cluster(named, settings)
