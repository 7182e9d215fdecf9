"""Every command looks at the names of files first; streams take every character."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from typer.core import TyperGroup

from nearkin.cli.command_line import take_every_character
from nearkin.cli.main import app
from nearkin.errors import OutputError, SourceError

NO_FILES = {
    *(("remove", "ids"), ("compare", "documents"), ("search", "query")),
    *(("tag", "ids"), ("untag", "ids"), ("purge", "ids")),
    *(("dedup", "conf"), ("sign", "conf"), ("pairs", "conf")),
}
"""Lists of strings that are not names of files."""
OUTPUTS = ("out", "html", "docx", "missed", "kept", "cache", "figure")


def registered(name: str = "nearkin", command: Any = None) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every command with its function, as it was registered."""
    command = command or typer.main.get_command(app)
    if isinstance(command, TyperGroup):
        for inner in command.list_commands(typer.Context(command)):
            yield from registered(inner, command.commands[inner])
    else:
        yield name, command.callback.__wrapped__  # typer's own wrapper takes no single argument


def kinds(annotation: object) -> set[object]:
    """The types among those of a parameter, ``Annotated`` and unions taken apart."""
    inner = get_args(annotation)
    if annotation is Path or annotation == list[str] or not inner:
        return {annotation if annotation != list[str] else "strings"}
    return set().union(*(kinds(one) for one in inner))


def places() -> list[tuple[str, str, Callable[..., Any], bool]]:
    found = []
    for command, function in registered():
        for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
            its_kinds = kinds(parameter.annotation)
            are_strings = "strings" in its_kinds
            if Path in its_kinds or (are_strings and (command, name) not in NO_FILES):
                found.append((command, name, function, are_strings))
    return found


@pytest.mark.parametrize(("command", "name", "function", "are_strings"), places(), ids=lambda value: str(value)[:20])
def test_no_command_begins_with_an_object_store(command, name, function, are_strings):
    """The wrapped function is never called: it would miss its other arguments."""
    url = "s3://bucket/folder/x"
    with pytest.raises(OutputError if name in OUTPUTS else SourceError, match=r"s3://bucket/folder/x: object stores"):
        function(**{name: [url] if are_strings else Path(url)})
    if name in OUTPUTS:
        option = f"--{name}"
        with pytest.raises(OutputError, match=rf"x\\xff: the name is not valid UTF-8. Choose another {option}."):
            function(**{name: Path("folder/x\udcff")})


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_stream_takes_every_character(encoding):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding, write_through=True)
    take_every_character(stream)
    stream.write("jaccard ≥ 0.7 … caf\u00e9 家 \udcff")
    written = raw.getvalue().decode(encoding)
    assert (
        written
        == {
            "ascii": "jaccard >= 0.7 ... caf\\xe9 \\u5bb6 \\udcff",
            "latin-1": "jaccard >= 0.7 ... café \\u5bb6 \\udcff",
            "utf-8": "jaccard ≥ 0.7 … café 家 \\udcff",
        }[encoding]
    )


def test_what_a_user_chose_for_errors_stays():
    stream = io.TextIOWrapper(io.BytesIO(), "ascii", errors="ignore")
    take_every_character(stream)
    assert stream.errors == "ignore"
