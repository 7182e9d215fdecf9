"""A format of files that hold several documents, entered into the registry by tests alone.

A bundle is text. A line that begins with ``>`` begins a member, ``>>`` a member of that, and so on; the rest of the
line is its name, which may be missing. What stands before the first member is the text of the file itself. Where there
is no text the file, or the member, is only a container.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from nearkin.stages.documents import formats
from nearkin.stages.documents.formats import Format
from nearkin.stages.documents.members import MemberIds
from nearkin.stages.documents.reader import stream_of
from nearkin.stages.documents.readers.extracted import Extracted
from nearkin.stages.documents.rows import Row
from nearkin.stages.documents.source import OpenedSource

Member = tuple[str, str, Sequence["Member"]]
"""Its name, its text, its members."""


class Bundle(Extracted):
    """See the module."""

    def documents(self, opened: OpenedSource) -> Iterator[Row]:
        """See `Extracted`."""
        stream = stream_of(opened, opened.source.encoding)
        ids, above, counts = MemberIds(), [opened.source.name], [0]
        lines: list[str] = []
        for line in _lines(stream):
            marks = line[: len(line) - len(line.lstrip(">"))]
            if not marks:
                lines.append(line)
                continue
            yield from _document(above, lines)
            lines, depth = [], len(marks)
            above, counts = above[:depth], [*counts[: depth - 1], counts[depth - 1] + 1, 0]
            above.append(ids.of(above[-1], line[depth:].strip(), counts[depth - 1]))
        yield from _document(above, lines)


def _lines(stream) -> Iterator[str]:
    data = b""
    while piece := stream.read(1 << 16):
        data += piece
    yield from data.decode().splitlines()


def _document(above: Sequence[str], lines: Sequence[str]) -> Iterator[Row]:
    if lines:
        yield Row(0, above[-1], "\n".join(lines).encode(), parent=above[-2] if len(above) > 1 else None)


def bundle(text: str, members: Sequence[Member] = (), depth: int = 1) -> str:
    """The content of a bundle."""
    inner = [f"{'>' * depth} {name}\n{bundle(own, more, depth + 1)}" for name, own, more in members]
    return "".join([f"{text}\n" if text else "", *inner])


def write_bundle(path: Path, text: str, members: Sequence[Member] = ()) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(bundle(text, members), "utf-8")
    return path


@pytest.fixture
def bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    """The format, entered as CONTRIBUTING says: a line in the list."""
    form = Format(name="bundle", of="bundle:Bundle", in_words="a bundle", suffixes=(".bundle",), holds="documents")
    monkeypatch.setitem(formats.FORMATS, form.name, form)
    monkeypatch.setitem(formats.FORMAT_OF_SUFFIX, ".bundle", form.name)
    monkeypatch.setattr(formats, "_reader", _with_bundle(formats._reader))


def _with_bundle(reader):
    return lambda of: Bundle() if of == "bundle:Bundle" else reader(of)
