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
    from nearkin.collection.check_in.results import CheckOptions
    from nearkin.collection.collection import Collection
    from nearkin.options.check import CheckCommand
    from nearkin.runs.progress import Progress
    from nearkin.workflows.collection.check_stream import LineAnswer

_STDOUT = Path("-")


def check_lines(job: CheckCommand, options: CheckOptions) -> None:
    """Answer every line on standard output; print a summary on standard error."""
    from nearkin.cli.answering import working
    from nearkin.cli.command_line import is_unicode
    from nearkin.cli.printing import Printer, WarningsOnly
    from nearkin.cli.result_file import check_free
    from nearkin.collection.check_in.results import CheckInMany
    from nearkin.paths import printable
    from nearkin.reports.facts.queries import stream_facts
    from nearkin.runs.files import writing
    from nearkin.stages.documents.rules import ReadingRules
    from nearkin.workflows.collection.check_stream import StreamColumns, check_stream

    kept = job.kept
    if kept is not None and kept != _STDOUT:
        check_free(kept, overwrite=job.overwrite, option="--kept")
    is_ascii = not is_unicode(sys.stdout)
    source = printable(str(job.checked_file))
    store = CheckInMany(wave=job.wave, source=source, only_new=job.only_new) if job.store else None
    columns = StreamColumns(text=job.text or "text", doc_id=job.doc_id or "id")
    rules = ReadingRules.of(job.on_error or "skip-documents", max_document_size=job.max_document_size)
    with (
        working(job) as bars,
        _opened(job.checked_file) as stream,
        _opened_collection(job, bars) as target,
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
    if job.as_json:
        click.echo(json.dumps(summary.to_dict()), err=True)
    else:
        (WarningsOnly() if job.quiet else Printer(stderr=True)).say(stream_facts(summary, is_kept=kept is not None))


@dataclass(frozen=True, slots=True)
class _Target:
    collection: Callable[[], Collection]
    say_created: Callable[[Sequence[LineAnswer]], None]


@contextlib.contextmanager
def _opened_collection(job: CheckCommand, bars: Progress) -> Iterator[_Target]:
    from nearkin.collection.collection import Collection
    from nearkin.errors import MissingCollectionError

    with contextlib.ExitStack() as opened:
        found, made = None, list[Collection]()
        try:
            found = opened.enter_context(
                Collection.open(job.collection, wait=job.wait, read_only=job.read_only, progress=bars)
            )
        except MissingCollectionError:
            if not job.store:
                raise

        def create() -> Collection:
            made.append(
                opened.enter_context(Collection.open(job.collection, create=True, wait=job.wait, progress=bars))
            )
            return made[0]

        def say_created(answers: Sequence[LineAnswer]) -> None:
            if made and any(one.answer.checked is not None for one in answers):
                bars.say(f"created the collection {made.pop().place}")

        yield _Target(cache(lambda: found or create()), say_created)


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
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
    if kept is None or kept == _STDOUT:
        yield None if kept is None else sys.stdout.buffer
        return
    from nearkin.runs.files import writing

    with writing(kept):
        file = open(kept, "wb")  # noqa: SIM115  (closed below)
    with file:
        yield file
