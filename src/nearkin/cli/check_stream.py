"""``nearkin check --jsonl``: a stream of documents, answered line by line."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

if TYPE_CHECKING:
    from nearkin.collection.check_in.results import CheckInMany, CheckOptions
    from nearkin.collection.collection import Collection
    from nearkin.runs.progress import Progress
    from nearkin.stages.documents.rules import ReadingRules
    from nearkin.workflows.collection.check_stream import LineAnswer, StreamColumns

_STDOUT = Path("-")


def check_lines(
    collection: str,
    file: Path,
    kept: Path | None,
    *,
    options: CheckOptions,
    store: CheckInMany | None,
    columns: StreamColumns,
    rules: ReadingRules,
    overwrite: bool,
    wait: float | None,
    read_only: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Answer every line on standard output; print a summary on standard error."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.command_line import is_unicode
    from nearkin.cli.printing import Printer, WarningsOnly
    from nearkin.cli.result_file import check_free
    from nearkin.reports.facts.queries import stream_facts
    from nearkin.runs.files import writing
    from nearkin.workflows.collection.check_stream import check_stream

    if kept is not None and kept != _STDOUT:
        check_free(kept, overwrite=overwrite, option="--kept")
    is_ascii = not is_unicode(sys.stdout)
    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        _opened(file) as stream,
        _opened_collection(collection, creates=store is not None, wait=wait, read_only=read_only, bars=bars) as target,
        _kept_file(kept) as kept_file,
    ):

        def answered(answers: Sequence[LineAnswer]) -> None:
            """Write a kept line before its answer, so that no answered document is missing from the kept lines."""
            target.say_created(answers)
            lines = b"".join(one.data.rstrip(b"\r") + b"\n" for one in answers if one.is_kept)
            if kept_file is not None and kept is not None:
                with writing(kept) if kept != _STDOUT else contextlib.nullcontext():
                    kept_file.write(lines)
                    kept_file.flush()
            if kept != _STDOUT:
                told = (json.dumps(one.to_dict(), ensure_ascii=is_ascii) + "\n" for one in answers)
                sys.stdout.write("".join(told))
                sys.stdout.flush()

        summary = check_stream(
            target.collection, stream, answered, options=options, store=store, columns=columns, rules=rules
        )
    if as_json:
        click.echo(json.dumps(summary.to_dict()), err=True)
    else:
        (WarningsOnly() if quiet else Printer(stderr=True)).say(stream_facts(summary, is_kept=kept is not None))


@dataclass(frozen=True, slots=True)
class _Target:
    """The collection of a stream."""

    collection: Callable[[], Collection]
    say_created: Callable[[Sequence[LineAnswer]], None]


@contextlib.contextmanager
def _opened_collection(
    collection: str, *, creates: bool, wait: float | None, read_only: bool, bars: Progress
) -> Iterator[_Target]:
    """Open the collection; a missing one is created when a document can be stored."""
    from nearkin.collection.collection import Collection
    from nearkin.errors import MissingCollectionError

    with contextlib.ExitStack() as opened:
        found, made = None, list[Collection]()
        try:
            found = opened.enter_context(Collection.open(collection, wait=wait, read_only=read_only, progress=bars))
        except MissingCollectionError:
            if not creates:
                raise

        def create() -> Collection:
            made.append(opened.enter_context(Collection.open(collection, create=True, wait=wait, progress=bars)))
            return made[0]

        def say_created(answers: Sequence[LineAnswer]) -> None:
            if made and any(one.answer.checked is not None for one in answers):
                bars.say(f"created the collection {made.pop().place}")

        yield _Target(cache(lambda: found or create()), say_created)


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    """Open a file, or standard input, whose lines are read as they arrive."""
    from nearkin.errors import SourceError
    from nearkin.paths import why
    from nearkin.stages.documents.head import standard_input

    if file == _STDOUT:
        yield standard_input(None)
        return
    try:
        opened = open(file, "rb")  # noqa: SIM115  (closed below)
    except OSError as error:
        raise SourceError(f"Cannot read {file}: {why(error)}.") from error
    with opened:
        yield opened


@contextlib.contextmanager
def _kept_file(kept: Path | None) -> Iterator[BinaryIO | None]:
    """Open the file of kept lines; standard output for ``-``."""
    if kept is None or kept == _STDOUT:
        yield None if kept is None else sys.stdout.buffer
        return
    from nearkin.runs.files import writing

    with writing(kept):
        file = open(kept, "wb")  # noqa: SIM115  (closed below)
    with file:
        yield file
