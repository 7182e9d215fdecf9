"""Options for the place of the work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from nearkin.errors import ParameterError, quoted
from nearkin.options.declared import Options, Same, option

if TYPE_CHECKING:
    from nearkin.engines.local import Engine

_engine = partial(option, panel="The engine")


class EngineOptions(Options):
    """Options for the place of the work."""

    engine: Same[str] = _engine(
        "local", help="local: threads of this machine. spark: a Spark cluster. The results are the same."
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


def check_engine(engine: str) -> None:
    """Raise ParameterError for an unknown engine."""
    if engine not in ("local", "spark"):
        raise ParameterError.of("engine", "local or spark", engine)


def engine_of(engine: str, master: str | None, conf: Iterable[str] | None) -> Engine:
    """Return the engine that the three options name."""
    check_engine(engine)
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
