"""Options of jobs, declared once for the command line, Python, checks and reference.

A job is a record of options; groups that jobs share are its bases.

>>> class Walk(Options):
...     n_steps: Same[int] = option(3, minimum=1, help="Number of steps.")
...     pace: Option[float, float | str] = option("2", parse=float, help="Steps a second.")
>>> Walk(pace="1.5"), Walk(n_steps=None, pace=4.0).pace
(Walk(n_steps=3, pace=1.5), 4.0)
>>> Walk(n_steps=0)
Traceback (most recent call last):
...
nearkin.errors.ParameterError: n_steps: must be an int >= 1. Got: 0

No module of an array library is imported here, because help texts are made from the declarations.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, Self, TypeVar, dataclass_transform, overload

from nearkin.arguments import plain_argument
from nearkin.errors import ParameterError, check_int, in_percent, is_among, is_number
from nearkin.nouns import one_of

PYTHON, ARGUMENTS = "Python", "Arguments"
"""Panels of the options that the command line does not have, and of those that are typed without a name."""
Value = TypeVar("Value")
Given = TypeVar("Given")
_P = ParamSpec("_P")
_Job = TypeVar("_Job")
_Documents = TypeVar("_Documents")
_Result = TypeVar("_Result")
_Group = TypeVar("_Group", bound="Options")


@dataclass(eq=False, kw_only=True)
class Option(Generic[Value, Given]):
    """Field of `Options`: its readers get a ``Value``, made from what was ``Given``; None means not given.

    Parameters
    ----------
    default
        In the syntax of the command line, if the value has one.
    kind
        Type on the command line: str, int, float, bool, Path, list (repeatable) or tuple (two values).
    """

    default: object
    help: str
    kind: type
    panel: str = "Options"
    names: tuple[str, ...] = ()
    metavar: str | None = None
    required: bool = False
    parse: Callable[[Any], object] | None = None
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()
    needs: str = ""
    excludes: str = ""
    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> Any:
        return None if instance is None else vars(instance)[self.name]  # None: the default of every field

    def __set__(self, instance: object, value: Given | None) -> None:
        if self.name in vars(instance):
            raise AttributeError(f"{type(instance).__name__} is read-only.")
        vars(instance)[self.name] = value

    @property
    def spelt(self) -> str:
        """The option as an error names it: as it is typed, if that is another word than the parameter."""
        return self.names[0] if self.names else self.metavar or "" if self.panel == ARGUMENTS else repr(self.name)

    def is_default(self, value: object) -> bool:
        """Whether a value says no more than the default."""
        return value is None or value is False or (isinstance(value, str | tuple | list) and value == self.default)

    def valid(self, value: Any) -> Any:
        """Return the value; refuse one that breaks the rules."""
        if value is None:
            return None
        if self.parse is not None:
            try:
                return self.parse(value)
            except ParameterError as error:
                error.parameter = self.name
                raise
        if self.choices:
            if not is_among(value, self.choices):
                raise ParameterError.of(self.name, one_of(self.choices), value)
        elif self.kind is bool and not isinstance(value, bool):
            raise ParameterError.of(self.name, "True or False", value)
        elif self.kind is int:
            check_int(self.name, value, int(self.minimum or 0), None if self.maximum is None else int(self.maximum))
        elif self.kind is float:
            self._check_number(value)
        elif self.kind is str and not isinstance(value, str):
            raise ParameterError.of(self.name, "a str", value)
        return value

    def _check_number(self, value: object) -> None:
        bounds = [(">", self.above), (">=", self.minimum), ("<", self.below), ("<=", self.maximum)]
        stated = [(sign, bound) for sign, bound in bounds if bound is not None]
        holds = {">": float.__gt__, ">=": float.__ge__, "<": float.__lt__, "<=": float.__le__}
        if not is_number(value) or not all(holds[sign](float(value), float(bound)) for sign, bound in stated):
            rule = " and ".join(f"{sign} {bound:g}" for sign, bound in stated)
            raise ParameterError.of(self.name, f"a number {rule}{in_percent(value)}", value)


def option(
    default: object = None, *, help: str, kind: type | None = None, choices: Iterable[str] = (), **settings: Any
) -> Any:
    """Declare an option; the settings are the fields of `Option`."""
    kind = kind or (str if default is None else type(default))
    return Option[Any, Any](default=default, help=help, kind=kind, choices=tuple(choices), **settings)


def argument(metavar: str, default: object = None, *, help: str, required: bool = True, **settings: Any) -> Any:
    """Declare what is typed without a name; the settings are those of `option`."""
    return option(default, help=help, metavar=metavar, panel=ARGUMENTS, required=required, **settings)


Same = Option[Value, Value]
"""Option whose value is what was given."""


@dataclass_transform(kw_only_default=True)
class Options:
    """Base of records of options, read-only. Values are checked and parsed when the record is made."""

    annotations: ClassVar[Mapping[str, str]] = {}
    fields: ClassVar[Mapping[str, Any]] = {}
    """Annotation, and option or default, of each field; a field that is no option is for Python alone."""

    def __init_subclass__(cls) -> None:
        bases = [
            ancestor for ancestor in reversed(cls.__mro__) if issubclass(ancestor, Options) and ancestor is not Options
        ]
        cls.annotations = {name: text for base in bases for name, text in inspect.get_annotations(base).items()}
        cls.fields = {name: vars(base)[name] for base in bases for name in inspect.get_annotations(base)}

    def __init__(self, **given: Any) -> None:
        if unknown := given.keys() - self.annotations.keys():
            raise ParameterError(f"there is no option {sorted(unknown)[0]!r}.")
        values = {name: None if isinstance(field, Option) else field for name, field in self.fields.items()}
        vars(self).update(values | given)
        self.__post_init__()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in zip(self.annotations, self._values()))
        return f"{type(self).__name__}({values})"

    def _values(self) -> tuple[object, ...]:
        return tuple(vars(self)[name] for name in self.annotations)

    def __post_init__(self) -> None:
        given, declared = vars(self), self.declared()
        for name in declared:
            given[name] = plain_argument(name, given[name])
        defaults = self.defaults()
        for name, declaration in declared.items():
            given[name] = declaration.valid(
                defaults.get(name, declaration.default) if given[name] is None else given[name]
            )
        for name, declaration in declared.items():
            if declaration.is_default(given[name]):
                continue
            if declaration.needs in declared and declared[declaration.needs].is_default(given[declaration.needs]):
                raise ParameterError(f"needs {declared[declaration.needs].spelt}.", parameter=name)
            for other in declaration.excludes.split():
                if other in declared and not declared[other].is_default(given[other]):
                    raise ParameterError(f"excludes {declared[other].spelt}; give one of them.", parameter=name)

    def defaults(self) -> Mapping[str, object]:
        """Return the defaults that follow from other options."""
        return {}

    @classmethod
    def declared(cls) -> Mapping[str, Option[Any, Any]]:
        """Return the options in the order of the help."""
        return {name: field for name, field in cls.fields.items() if isinstance(field, Option)}

    @classmethod
    def of(cls, words: Mapping[str, Any]) -> Self:
        """Make the options that a manifest holds; ParameterError if there is no such option, or a value is invalid."""
        return cls(**words)

    def given(self) -> Mapping[str, Any]:
        """Return the values by name, as keywords of a function that takes these options."""
        return {name: vars(self)[name] for name in self.declared()}

    def part(self, group: type[_Group], **more: Any) -> _Group:
        """Return the options of a group, with other values for some."""
        values = {name: vars(self)[name] for name in group.annotations if name in vars(self)}
        return group(**{**values, **more})


def taking(
    job: Callable[_P, _Job],
) -> Callable[[Callable[[_Documents, _Job], _Result]], Callable[Concatenate[_Documents, _P], _Result]]:
    """Make a decorator: a function of documents and a job takes documents and the options of the job as keywords.

    Examples
    --------
    >>> class Walk(Options):
    ...     n_steps: Same[int] = option(3, help="Number of steps.")
    >>> @taking(Walk)
    ... def walk(place: str, job: Walk) -> str:
    ...     return f"{place}: {job.n_steps}"
    >>> inspect.signature(walk), walk("home", n_steps=4)
    (<Signature (place: 'str', *, n_steps: 'int' = 3) -> 'str'>, 'home: 4')
    >>> walk("home", steps=4)
    Traceback (most recent call last):
    ...
    TypeError: walk() got an unexpected keyword argument 'steps'
    """
    return lambda function: _taken(function, job)


def taking_two(
    job: Callable[_P, _Job],
) -> Callable[
    [Callable[[_Documents, _Documents, _Job], _Result]], Callable[Concatenate[_Documents, _Documents, _P], _Result]
]:
    """Make a decorator as `taking`, for a function of two sets of documents and a job."""
    return lambda function: _taken(function, job)


def _taken(function: Callable[..., Any], job: Any) -> Callable[..., Any]:
    signature = inspect.signature(function)
    *sets, _ = signature.parameters.values()
    signature = signature.replace(parameters=[*sets, *_keywords(job)])

    @functools.wraps(function)
    def called(*values: Any, **given: Any) -> Any:
        try:
            options = signature.bind(*values, **given).arguments
        except TypeError as error:
            error.args = (f"{function.__name__}() {error}",)
            raise
        documents = [options.pop(group.name) for group in sets]
        return function(*documents, job(**options))

    called.__signature__ = signature  # type: ignore[attr-defined]  # what inspect and Sphinx ask for
    return called


def _keywords(job: Any) -> Iterator[inspect.Parameter]:
    declared = job.declared()
    for name, annotation in job.annotations.items():
        if name in declared:
            inner = annotation.removesuffix("]").partition("[")[2]
            annotation = inner.partition(", ")[2] if annotation.startswith("Option[") else inner
        default = declared[name].default if name in declared else job.fields[name]
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
