"""Options and arguments of a command, declared in the annotations of its function; click reads them from there.

>>> from typing import Annotated
>>> def walk(place: Annotated[str, argument(metavar="PLACE", help="Where to.")],
...          steps: Annotated[int, option(min=1, help="Number of steps.")] = 1) -> str:
...     return f"{place}: {steps}"
>>> [one.opts for one in parameters_of(walk)]
[['place'], ['--steps']]
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import click

from nearkin.options.declared import PYTHON, Options


class PanelOption(click.Option):
    """Option that stands in a panel of the help."""

    def __init__(self, *declared: Any, panel: str, **settings: Any) -> None:
        super().__init__(*declared, **settings)
        self.panel = panel


Declaration = Callable[..., click.Parameter]
"""Makes a parameter from its name in the function, the class of a value, and click's settings."""


def option(
    *names: str, panel: str = "Options", min: float | None = None, max: float | None = None, **settings: Any
) -> Declaration:
    """Declare an option.

    Parameters
    ----------
    *names : str
        As typed, such as ``"--out"``; by default the name of the parameter.
    panel : str
        Heading in the help.
    min, max : number, optional
        Range of the value.
    **settings
        Settings of `click.Option`: help, metavar. The default is shown unless the help states it.
    """

    def made(name: str, kind: Any, **more: Any) -> PanelOption:
        ranges: Any = click.IntRange if kind is int else click.FloatRange
        ranged = None if min is max is None else ranges(min, max)
        spelt = names or (f"--{name.replace('_', '-')}",)
        settings["show_default"] = "[default: " not in settings["help"]
        return PanelOption([name, *spelt], panel=panel, type=ranged or _click_type(kind), **settings, **more)

    return made


def argument(*, metavar: str, help: str, type: Any = None) -> Declaration:
    """Declare an argument; ``type`` converts the text of a value, if the class of the value alone cannot."""

    def made(name: str, kind: Any, *, multiple: bool = False, **more: Any) -> click.Argument:
        return click.Argument(
            [name], help=help, metavar=metavar, type=type or _click_type(kind), nargs=-1 if multiple else 1, **more
        )

    return made


def _click_type(kind: Any) -> Any:
    if kind is Path:
        return click.Path(path_type=Path)
    return click.Tuple(get_args(kind)) if get_origin(kind) is tuple else kind


def declared_parameters(group: type[Options], overridden: Iterable[str] = ()) -> Iterator[PanelOption]:
    """Yield the options of a record, without those that the command declares itself."""
    for name, one in group.declared().items():
        if name in overridden or one.panel == PYTHON:
            continue
        names = one.names or (f"--{name.replace('_', '-')}",)
        if one.kind is bool and one.default:
            names = (f"{names[0]}/--no-{names[0].removeprefix('--')}",)
        has_default = one.default not in (None, (), "") and one.kind is not bool and "[default: " not in one.help
        settings: dict[str, object] = {"is_flag": True, "default": None} if one.kind is bool else {}
        if one.kind is list:
            settings["multiple"] = True
        yield PanelOption(
            [name, *names], panel=one.panel, metavar=one.metavar,
            help=f"{one.help} [default: {one.default}]" if has_default else one.help,
            type=_click_type(one.kind if one.kind in (int, float, bool, Path) and one.parse is None else str),
            **settings,
        )  # fmt: skip


def parameters_of(function: Callable[..., Any]) -> list[click.Parameter]:
    """Return the options and arguments of a command, those of groups among them, in their order."""
    signature = inspect.signature(function, eval_str=True).parameters
    listed = ((one.name, one.annotation, one.default) for one in signature.values())
    own = {name for name, one in signature.items() if not _is_record(one.annotation)}
    return list(_parameters(listed, own))


def _parameters(listed: Iterable[tuple[str, Any, object]], own: Iterable[str] = ()) -> Iterator[click.Parameter]:
    for name, annotation, default in listed:
        if _is_record(annotation):
            yield from declared_parameters(annotation, own)
            continue
        kind, make = get_args(annotation)  # of Annotated
        if get_origin(kind) in (types.UnionType, Union):
            kind = next(one for one in get_args(kind) if one is not types.NoneType)
        settings: dict[str, object] = {}
        if get_origin(kind) is list:
            (kind,), settings["multiple"] = get_args(kind), True
        if kind is bool:
            settings["is_flag"] = True
        if default is inspect.Parameter.empty:
            settings["required"] = True
        elif default is not None or "multiple" not in settings:
            settings["default"] = default
        yield make(name, kind, **settings)


def grouped(function: Callable[..., Any], values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a function from the values of its options: its records are made from theirs."""
    signature = inspect.signature(function, eval_str=True).parameters
    return {
        name: one.annotation(**{inner: values[inner] for inner in one.annotation.declared() if inner in values})
        if _is_record(one.annotation)
        else values[name]
        for name, one in signature.items()
    }


def _is_record(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Options)
