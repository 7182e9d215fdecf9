"""Every command that a message or a page of Nearkin proposes parses: it names all that the command requires."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

import pytest
import typer
from typer.core import TyperGroup

from docs.pages import ROOT
from docs.test_commands import parse

_VALUES = {"measure": "containment", "dialect": "sqlite", "date_tag": "date"}
"""Values for fields of messages, by their last name. All others are 1, and what a method without arguments adds is \
left out: options that are not always there."""
_PLACEHOLDER = re.compile(r"[A-Z][A-Z_.]*(=\S+)?|[\d…-]+|date=\S+")
"""Arguments that stand for those of the user, `-`, and values of fields."""


def test_the_rule_sees_what_it_is_for() -> None:
    (found,) = proposed_in('f"With the text in FILE: nearkin dedup FILE --threshold {x:g} --drop either, which is"')
    assert found == ["dedup", "FILE", "--threshold", "1", "--drop", "either"]
    with pytest.raises(pytest.fail.Exception, match="out"):
        parse(_root(), "nearkin", found)
    assert list(
        proposed_in('x = "Run nearkin fsck without it, or nearkin users COLLECTION add NAME --role viewer."')
    ) == [["users", "COLLECTION", "add", "NAME", "--role", "viewer"]]
    (found,) = proposed_in('f"nearkin groups COLLECTION{at.of_groups()} updates them"')
    assert found == ["groups", "COLLECTION"]


def test_proposed_commands_parse() -> None:
    root, n = _root(), 0
    for path in sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.j2")]):
        text = path.read_text(encoding="utf-8")
        if re.search(r"nearkin [a-z-]+", text) is None:
            continue
        found = proposed_in(text) if path.suffix == ".py" else _commands_in(re.sub(r"{{.*?}}", "1", text))
        for arguments in found:
            parse(root, "nearkin", arguments)
            n += 1
    assert n > 60  # otherwise the rule finds them no longer


def proposed_in(code: str) -> Iterator[list[str]]:
    """Return the arguments of the commands that the strings of some code propose; docstrings propose none."""
    inner = set[int]()
    for node in ast.walk(ast.parse(code)):
        if id(node) in inner:
            continue
        if isinstance(node, ast.JoinedStr):
            inner |= {id(one) for one in ast.walk(node)}
            yield from _commands_in("".join(_spelt(one) for one in node.values))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inner |= {id(node.value)}  # comes before what it contains
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _commands_in(node.value)


def _spelt(part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    code = ast.unparse(part.value) if isinstance(part, ast.FormattedValue) else ""
    return "" if code.endswith(("()", ")''", "''")) or " if " in code else _VALUES.get(code.rpartition(".")[2], "1")


def _commands_in(text: str) -> Iterator[list[str]]:
    """Return proposed commands: those with a placeholder for what the user has to name."""
    for after in re.split(r"\bnearkin (?=[a-z])", text)[1:]:
        command, arguments, has_placeholder = _root(), list[str](), False
        is_value = is_last = False
        for typed in after.split():
            word = typed.removesuffix("...").rstrip(".,;:?)\"'<>`")
            is_last = word != typed and not typed.endswith("...")
            options = {one: option for option in command.params for one in option.opts}
            if isinstance(command, TyperGroup) and word in command.commands:
                command = command.commands[word]
            elif word in options:
                is_value = not options[word].is_flag
            elif is_value or _PLACEHOLDER.fullmatch(word) or (arguments[:1] == ["users"] and word == "add"):
                has_placeholder |= not is_value
                is_value = False
            else:
                break
            arguments.append("1" if word in ("N", "NUMBER") else word)
            if is_last:
                break
        if has_placeholder and not isinstance(command, TyperGroup):
            yield arguments


@functools.cache
def _root() -> TyperGroup:
    from nearkin.cli.app import app

    return typer.main.get_command(app)
