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
from typing import Any, get_type_hints

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
