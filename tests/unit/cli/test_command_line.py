"""Every command looks at the names of files first; streams take every character."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from nearkin.cli.command_line import take_every_character
from nearkin.cli.main import app
from nearkin.errors import OutputError, SourceError

NO_FILES = {
    *(("remove", "ids"), ("compare", "documents"), ("search", "query")),
    *(("tag", "ids"), ("untag", "ids"), ("purge", "ids"), ("batches", "ids")),
    *(("dedup", "conf"), ("sign", "conf"), ("pairs", "conf"), ("passages", "conf")),
}
"""Lists of strings that are not names of files."""
OUTPUTS = ("out", "html", "docx", "missed", "kept", "cache", "figure")


def registered(name: str = "nearkin", command: Any = app) -> Iterator[tuple[str, Any]]:
    """Every command that is not a group of others."""
    if isinstance(command, click.Group):
        for inner in command.list_commands(click.Context(command)):
            yield from registered(inner, command.get_command(click.Context(command), inner))
    else:
        yield name, command


def places() -> list[tuple[str, str, Callable[..., Any], Callable[[str], object]]]:
    """Every parameter that names files, with the function of its command and what makes its value of a name."""
    found = []
    for command, registered_command in registered():
        for one in registered_command.params:
            are_many = getattr(one, "multiple", False) or one.nargs == -1
            is_path = isinstance(one.type, click.Path)
            if is_path or (are_many and (command, one.name) not in NO_FILES):
                kind = Path if is_path else str
                as_value = (lambda url, kind=kind: [kind(url)]) if are_many else kind
                found.append((command, one.name, registered_command.callback, as_value))
    return found


@pytest.mark.parametrize(("command", "name", "function", "as_value"), places(), ids=lambda value: str(value)[:20])
def test_no_command_begins_with_an_object_store(command, name, function, as_value):
    """The wrapped function is never called: it would miss its other arguments."""
    url = "s3://bucket/folder/x"
    with pytest.raises(OutputError if name in OUTPUTS else SourceError, match=r"s3://bucket/folder/x: object stores"):
        function(**{name: as_value(url)})
    if name in OUTPUTS:
        option = f"--{name}"
        with pytest.raises(OutputError, match=rf"x\\xff: the name is not valid UTF-8. Choose another {option}."):
            function(**{name: Path("folder/x\udcff")})


def test_a_stream_takes_every_character():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, "latin-1", write_through=True)
    take_every_character(stream)
    stream.write("≥ caf\u00e9 家 \udcff")
    assert raw.getvalue().decode("latin-1") == "\\u2265 café \\u5bb6 \\udcff"


def test_what_a_user_chose_for_errors_stays():
    stream = io.TextIOWrapper(io.BytesIO(), "ascii", errors="ignore")
    take_every_character(stream)
    assert stream.errors == "ignore"
