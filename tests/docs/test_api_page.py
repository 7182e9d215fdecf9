"""Every type that the API page names is on the page, too: a reader finds what its attributes are."""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from docs.pages import ROOT

PAGE = (ROOT / "docs/reference/api.md").read_text(encoding="utf-8")
DIRECTIVE = re.compile(r"^\.\. (currentmodule|auto(?:function|class|exception)):: ([\w.]+)\n((?:   :.*\n)*)", re.M)
OPTION = re.compile(r"   :([\w-]+):(.*)")
TYPE_LINE = re.compile(r"^(?:\*{0,2}\w+(?:, \*{0,2}\w+)*|\.\.\.) : (.+)$")
SECTIONS = {"Attributes", "Other Parameters", "Parameters", "Raises", "Returns", "Yields"}
CLASS = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)
NAME = re.compile(r"(?<![\w.])[A-Z][a-z]\w*")
COMMANDS = {"cli", "reports", "web"}
"""Packages of which no function of the page returns anything."""
NOT_PUBLIC = {
    "FrameGiven": "the keywords of nearkin.spark.dedup, which its docstring lists",
    "OpenedCollection": "its docstring says so",
    "SignatureFile": "the methods of SignedDocuments are public",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """An object of the page, and those of its members that the page shows."""

    name: str
    object: object
    members: tuple[tuple[str, object], ...]


@functools.cache
def entries() -> list[Entry]:
    module, found = "nearkin", []
    for kind, name, lines in DIRECTIVE.findall(PAGE):
        if kind == "currentmodule":
            module = name
            continue
        place, _, short = (name if name.startswith("nearkin.") else f"{module}.{name}").rpartition(".")
        thing = getattr(importlib.import_module(place), short)
        found.append(Entry(short, thing, tuple(_members(thing, dict(OPTION.findall(lines))))))
    return found


def _members(thing: object, options: dict[str, str]) -> Iterator[tuple[str, object]]:
    if "members" not in options:
        return
    chosen = set(re.findall(r"\w+", options["members"]))
    for name, member in inspect.getmembers(thing):
        is_shown = name in chosen if chosen else name in vars(thing) or "inherited-members" in options
        if is_shown and not name.startswith("_"):
            yield f"{getattr(thing, '__name__', '')}.{name}", member


def types_named(thing: object) -> set[str]:
    """The names of types in the signature and in the sections of the docstring of an object."""
    named = set[str]()
    if isinstance(thing, property):
        thing = thing.fget
    if inspect.isclass(thing) or inspect.isroutine(thing):
        try:
            signature = inspect.signature(thing)
        except ValueError:  # an exception, whose parameters are its message
            signature = inspect.Signature()
        annotations = [one.annotation for one in signature.parameters.values()] + [signature.return_annotation]
        named |= {name for one in annotations for name in NAME.findall(str(one))}
    lines = (inspect.getdoc(thing) or "").splitlines()
    section = ""
    for line, below in itertools.pairwise([*lines, ""]):
        if line and set(below) == {"-"}:
            section = line
        elif section in SECTIONS and line and not line.startswith(" "):
            of_line = TYPE_LINE.fullmatch(line)
            has_name_only = section in {"Raises", "Returns", "Yields"}
            named |= set(NAME.findall(of_line[1] if of_line else line if has_name_only else ""))
    module = vars(sys.modules[getattr(thing, "__module__", None) or "builtins"])
    return {name for name in named if inspect.isclass(module.get(name, object))}  # not a union or a Literal


@functools.cache
def ours() -> set[str]:
    """The classes of the package that a function can return, take or raise."""
    files = [path for path in (ROOT / "src/nearkin").rglob("*.py") if path.parts[len(ROOT.parts) + 2] not in COMMANDS]
    classes = {name for path in files for name in CLASS.findall(path.read_text(encoding="utf-8"))}
    return classes - set(NOT_PUBLIC)


def test_types_that_the_page_names_are_on_the_page() -> None:
    known, shown = ours(), entries()
    on_page = {entry.name for entry in shown}
    missing = {
        name: place
        for entry in shown
        for place, thing in ((entry.name, entry.object), *entry.members)
        for name in types_named(thing) & known - on_page
    }
    assert not missing
