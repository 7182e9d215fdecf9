"""Options shared by several commands, written once: a parameter of a command may stand for a group of options.

>>> @dataclass(frozen=True)
... class Pace(OptionGroup):
...     steps: int = 1
...     is_slow: bool = False
>>> def walk(place: str, pace: Pace) -> str:
...     return f"{place}: {pace.steps}"
>>> walk_by_options = taking_options(walk)
>>> inspect.signature(walk_by_options)
<Signature (*, place: str, steps: int = 1, is_slow: bool = False)>
>>> walk_by_options(place="home", steps=3, is_slow=True)
'home: 3'
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from nearkin.errors import ParameterError, quoted

if TYPE_CHECKING:
    from nearkin.engines.local import Engine


__all__ = ["OptionGroup", "taking_options"]


@dataclass(frozen=True)
class OptionGroup:
    """Frozen dataclass whose fields are options, each with its default, or groups of options."""

    @classmethod
    def listed(cls) -> Iterable[tuple[str, Any, object]]:
        """Name, type and default of each option."""
        hints = get_type_hints(cls, include_extras=True)
        return ((one.name, hints[one.name], one.default) for one in fields(cls))

    @classmethod
    def of(cls, **given: Any) -> OptionGroup:
        """Make the group from the values of its options."""
        return cls(**given)


def taking_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Replace each group among a function's parameters by its options; a call builds the groups again."""
    given = inspect.signature(function, eval_str=True).parameters.values()
    groups = {one.name: one.annotation for one in given if _is_group(one.annotation)}
    if not groups:
        return function
    alone = {one.name for one in given} - groups.keys()
    parameters = [
        option
        for one in given
        for option in (_options_of(one.annotation) if one.name in groups else (one.replace(kind=one.KEYWORD_ONLY),))
    ]

    @functools.wraps(function)
    def taking(**values: Any) -> Any:
        gathered = {name: _gathered(kind, values) for name, kind in groups.items()}
        return function(**gathered, **{name: value for name, value in values.items() if name in alone})

    taking.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what inspect and typer ask for
    taking.__annotations__ = {one.name: one.annotation for one in parameters}
    return taking


def _is_group(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, OptionGroup)


def _options_of(kind: type[OptionGroup]) -> Iterator[inspect.Parameter]:
    for name, annotation, default in kind.listed():
        if _is_group(annotation):
            yield from _options_of(annotation)
        else:
            yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _gathered(kind: type[OptionGroup], values: Mapping[str, Any]) -> OptionGroup:
    return kind.of(
        **{
            name: _gathered(annotation, values) if _is_group(annotation) else values[name]
            for name, annotation, _ in kind.listed()
        }
    )


_engine = partial(typer.Option, rich_help_panel="The engine")

EngineName = Annotated[
    str,
    _engine(help="local: threads of this machine. spark: a Spark cluster. The results are the same."),
]
Master = Annotated[
    str | None,
    _engine(
        "--master",
        metavar="URL",
        help="Spark master (only with --engine spark): local\\[*], spark://HOST:PORT, yarn, "
        "k8s://https://HOST:PORT or sc://HOST:PORT. "
        "[dim]default: from spark-submit or spark-defaults.conf, else local\\[*][/]",
        show_default=False,
    ),
]
Conf = Annotated[
    list[str] | None,
    _engine(
        "--conf",
        metavar="KEY=VALUE",
        help="Spark setting (only with --engine spark), for example spark.executor.memory=4g. Repeatable.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class EngineOptions(OptionGroup):
    """Options for the place of the work."""

    engine: EngineName = "local"
    master: Master = None
    conf: Conf = None

    def chosen(self) -> Engine:
        """Return the engine; see `engine_of`."""
        return engine_of(self.engine, self.master, self.conf)


def check_engine(engine: str) -> None:
    """Refuse an unknown engine.

    Raises
    ------
    ParameterError
    """
    if engine not in ("local", "spark"):
        raise ParameterError.of("engine", "local or spark", engine)


def engine_of(engine: str, master: str | None, conf: Iterable[str] | None) -> Engine:
    """Return the engine that the three options name.

    Raises
    ------
    ParameterError
        An engine that is not one, a master of no known form, a setting without =, options of Spark without it.
    MissingExtraError
        PySpark is not installed.

    Examples
    --------
    >>> engine_of("spark", "local[2]", ["spark.ui.enabled=false"])
    Cluster(master='local[2]', settings={'spark.ui.enabled': 'false'})
    """
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
    from nearkin.engines.spark.session import Cluster, check_pyspark  # not before it is asked for

    check_pyspark()
    return Cluster(named, settings)
