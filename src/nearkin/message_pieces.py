"""Pieces of messages: text, parameters that the command line and Python spell differently, and advice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

AdviceKind = Literal[
    "encoding", "size", "limit", "member", "damage", "stop", "read only", "busy", "write kept", "command", "group",
    "groups", "undo",
]  # fmt: skip
"""Subjects of advice, by which other words are chosen for it."""


@dataclass(frozen=True, slots=True)
class NamedParameter:
    """A parameter that a message names, spelt as an option of the command line or as in Python.

    Parameters
    ----------
    parameter : str
    option : str, optional
        Its option, unless that is the parameter with dashes.
    is_bare : bool
        Whether Python's spelling has no quotes, as in parentheses.
    value : str, optional
        Value that the message names with it.
    is_flag : bool
        Whether it is a flag, which Python sets to True.

    Examples
    --------
    >>> NamedParameter("against_text").spelt(in_python=False), NamedParameter("against_text").spelt(in_python=True)
    ('--against-text', "'against_text'")
    >>> [one.spelt(in_python=True) for one in (NamedParameter("by", value="x"), NamedParameter("report", is_flag=True))]
    ["by='x'", 'report=True']
    """

    parameter: str
    option: str = ""
    is_bare: bool = field(default=False, kw_only=True)
    value: str = field(default="", kw_only=True)
    is_flag: bool = field(default=False, kw_only=True)

    def spelt(self, *, in_python: bool) -> str:
        """Return the name as the user writes it."""
        if in_python and (self.value or self.is_flag):
            return f"{self.parameter}={True if self.is_flag else self.value!r}"
        if in_python:
            return self.parameter if self.is_bare else f"'{self.parameter}'"
        return f"{self.option or '--' + self.parameter.replace('_', '-')} {self.value}".rstrip()

    def as_option(self, option_of: Callable[[str], str | None]) -> str:
        """Return the name as a command spells it, or as in Python if the command lacks it."""
        if self.option:
            return self.spelt(in_python=False)
        option = option_of(self.parameter)
        return self.spelt(in_python=True) if option is None else f"{option} {self.value}".rstrip()

    def renamed(self, names: Mapping[str, str]) -> NamedParameter:
        """Return the parameter in whose place the user gave this one; the same if ``names`` lacks it."""
        return replace(self, parameter=names[self.parameter], option="") if self.parameter in names else self


@dataclass(frozen=True, slots=True)
class CommandLineAdvice:
    """A piece of a message about an option, with other words for Python; it is left out there if there are none."""

    text: str
    in_python: str = ""

    def spelt(self, *, in_python: bool) -> str:
        """Return the text for the command line or for Python."""
        return self.in_python if in_python else self.text


@dataclass(frozen=True, slots=True)
class OwnedParameter:
    """A parameter that a message names with its owner, which only Python has.

    Examples
    --------
    >>> rows = OwnedParameter("rows", "MinHash")
    >>> rows.spelt(in_python=True), rows.spelt(in_python=False)
    ("The 'rows' parameter of MinHash", '--rows')
    """

    parameter: str
    owner: str

    def spelt(self, *, in_python: bool) -> str:
        """Return the name as the user writes it."""
        if in_python:
            return f"The '{self.parameter}' parameter of {self.owner}"
        return NamedParameter(self.parameter).spelt(in_python=False)

    def as_option(self, option_of: Callable[[str], str | None]) -> str:
        """Return the name as a command spells it, or as in Python if the command lacks it."""
        return option_of(self.parameter) or self.spelt(in_python=True)


@dataclass(frozen=True, slots=True)
class ParameterRule:
    """A rule that a value breaks; the command line calls ints whole numbers."""

    text: str

    def spelt(self, *, in_python: bool) -> str:
        """Return the rule for the command line or for Python."""
        return self.text if in_python else in_plain_words(self.text)


@dataclass(frozen=True, slots=True)
class AdvicePiece:
    """The part of a message that says what to do next; see `nearkin.errors.NearkinError.with_advice`.

    Parameters
    ----------
    kind : str
        One of `AdviceKind`.
    pieces : tuple of MessagePiece
        Advice for commands.
    """

    kind: AdviceKind
    pieces: tuple[MessagePiece, ...]

    def spelt(self, *, in_python: bool) -> str:
        """Return the advice for the command line or for Python."""
        return joined(self.pieces, in_python=in_python)


MessagePiece = str | NamedParameter | OwnedParameter | ParameterRule | CommandLineAdvice | AdvicePiece


def listed_parameters(names: Iterable[str], between: str = ", ") -> Sequence[MessagePiece]:
    """Return the pieces that name several parameters, with text between them.

    Examples
    --------
    >>> [one if isinstance(one, str) else one.parameter for one in listed_parameters(["drop", "measure"], " and ")]
    ['drop', ' and ', 'measure']
    """
    return [piece for name in names for piece in (between, NamedParameter(name))][1:]


def joined(pieces: Iterable[MessagePiece], *, in_python: bool) -> str:
    """Return the message that pieces make, for the command line or for Python."""
    return "".join(one if isinstance(one, str) else one.spelt(in_python=in_python) for one in pieces)


def with_each(
    pieces: Iterable[MessagePiece], change: Callable[[MessagePiece], MessagePiece]
) -> tuple[MessagePiece, ...]:
    """Return pieces after a change to each; those of advice are changed inside it.

    Examples
    --------
    >>> with_each(["a", AdvicePiece("busy", (". Wait",))], lambda one: one.upper() if isinstance(one, str) else one)
    ('A', AdvicePiece(kind='busy', pieces=('. WAIT',)))
    """
    return tuple(
        replace(one, pieces=with_each(one.pieces, change)) if isinstance(one, AdvicePiece) else change(one)
        for one in pieces
    )


def flat(pieces: Iterable[MessagePiece]) -> Iterator[MessagePiece]:
    """Yield the pieces of advice in its place."""
    for one in pieces:
        if isinstance(one, AdvicePiece):
            yield from flat(one.pieces)
        else:
            yield one


def in_plain_words(rule: str) -> str:
    """Return a rule about ints as the command line words it, without a type of Python.

    Examples
    --------
    >>> in_plain_words("an int >= 1"), in_plain_words("an int from 0 to 255")
    ('a whole number, 1 or more', 'a whole number from 0 to 255')
    >>> in_plain_words("an int >= 1 and <= 64")
    'a whole number from 1 to 64'
    """
    rule = _FROM_TO.sub(r"a whole number from \1 to \2", rule)
    return _FROM.sub(r"a whole number, \1 or more", rule).replace("an int ", "a whole number ")


_FROM_TO = re.compile(r"an int >= ([\d,]+) and <= ([\d,]+)")
_FROM = re.compile(r"an int >= ([\d,]+)")
