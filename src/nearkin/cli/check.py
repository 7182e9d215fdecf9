"""``nearkin check``: a document, or with ``--jsonl`` a stream of documents that is answered line by line."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from nearkin.cli.answering import answer, check_free, check_list, opened_with_bars, passage_lines, working
from nearkin.cli.command_line import is_unicode
from nearkin.errors import ParameterError, SourceError
from nearkin.options.check import CheckCommand
from nearkin.paths import printable, why
from nearkin.reports.facts.fact import Part, Table
from nearkin.stages.documents.rules import ReadingRules
from nearkin.wording import share_text

if TYPE_CHECKING:
    from nearkin.collection.check_in.results import Checked, CheckOptions
    from nearkin.workflows.collection.check_stream import LineAnswer


EXIT_CODES = {"new": 0, "exact": 10, "near": 11, "contained": 12, "contains": 12}

HELP = """
Check whether something similar is stored already.

With --store the document is checked and stored in one transaction.

The exit code is the answer: 0 nothing similar, 10 an exact copy (case and white space do not count), 11 a \
near-duplicate, 12 one text contains the other. Any other code is a failure.

With --jsonl the input is a stream of documents, which may be endless. Each line is answered by one line of JSON as \
soon as the document is checked and, with --store, stored durably; the exit code is then 0 whatever the answers are, \
but 3 if no line can be read. --jsonl --store creates a missing collection.

Examples:

  nearkin check matter draft.txt

  nearkin check matter draft.txt --store --only-new --id lease-17; case $? in 0|1[0-2]);; *) echo "not checked";; esac

  nearkin check draft.pdf --server http://127.0.0.1:8000 --token-file token

  nearkin check postgresql://ada:secret@localhost/matters draft.txt --measure index --json

  zcat crawl.jsonl.gz | nearkin check matter - --jsonl --store --only-new --kept clean.jsonl > answers.jsonl
"""


def check(job: CheckCommand) -> None:
    """Check a document in."""
    from nearkin.collection.check_in.results import CheckIn, CheckOptions

    check_list(job)
    if not job.jsonl and re.search(r"\.(jsonl|ndjson)(\.\w+)?$", str(job.checked_file), re.IGNORECASE):
        raise ParameterError(f"{job.checked_file} is a file of many documents: check them with --jsonl.")
    options = CheckOptions(
        threshold=job.threshold, containment=job.containment, measure=job.measure, limit=job.limit,
        with_passage=not job.jsonl, **({} if job.tolerance is None else {"tolerance": job.tolerance}),
    )  # fmt: skip
    if job.jsonl:
        check_lines(job, options)
        return
    is_empty = False
    if job.server is not None:
        from nearkin.web.client import check_by_server

        checked = check_by_server(job, job.server, options)
    else:
        from nearkin.workflows.reading.request import read_one_document

        document = read_one_document(job.checked_file, job.encoding, job.rules(), with_inside=True)
        name, is_empty = document.doc_id if job.doc_id is None else job.doc_id, not document.text.strip()
        under = CheckIn(
            name, wave=job.wave, source=document.source, only_new=job.only_new, file=document.file_under(name)
        )
        with opened_with_bars(job) as collection:
            checked = collection.check(document.text, options=options, store=under if job.store else None)
        checked = replace(checked, missing=document.missing, not_checked=document.inside)
    answer(
        job, checked, _view(job, checked, is_empty=is_empty),
        rows=lambda: checked.table, row="document",
    )  # fmt: skip
    raise click.exceptions.Exit(EXIT_CODES[checked.verdict])


def _view(job: CheckCommand, checked: Checked, *, is_empty: bool) -> Iterator[Part]:
    from nearkin.reports.facts.queries import check_facts, exact_text, verdict_fact

    yield verdict_fact(checked, "standard input" if str(job.checked_file) == "-" else str(job.checked_file))
    rows = [
        (
            *map(share_text, (document.jaccard, document.contained, document.contains, document.edit_similarity)),
            exact_text(document.relation, is_same_text=document.is_same_text), document.differs or "",
            f"{document.document}", document.document.wave,
        )
        for document in checked.documents
    ]  # fmt: skip
    columns = ("Jaccard", "yours in it", "it in yours", "edit", "relation", "differs", "id", "wave")
    yield Table(columns, rows, 4)
    yield from passage_lines(checked.passage, n_differences=checked.n_differences, n_moves=checked.n_moves)
    yield from check_facts(checked, is_storing=job.store, is_read_only=job.read_only, is_empty=is_empty)


_STDOUT = Path("-")


def check_lines(job: CheckCommand, options: CheckOptions) -> None:
    """Answer every line on standard output; print a summary on standard error."""
    from nearkin.cli.printing import print_answer
    from nearkin.collection.check_in.results import CheckInMany
    from nearkin.collection.collection import Collection
    from nearkin.reports.facts.queries import stream_facts
    from nearkin.runs.files import writing
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
        Collection.open(
            job.collection, create=job.store, wait=job.wait, read_only=job.read_only, progress=bars
        ) as collection,
        _kept_file(kept) as kept_file,
    ):

        def answered(answers: Sequence[LineAnswer]) -> None:
            """Write a kept line before its answer, so that no answered document is missing from the kept lines."""
            lines = b"".join(
                checked_line.data.rstrip(b"\r") + b"\n" for checked_line in answers if checked_line.is_kept
            )
            if kept_file is not None and kept is not None:
                with writing(kept) if kept != _STDOUT else contextlib.nullcontext():
                    kept_file.write(lines)
                    kept_file.flush()
            if kept != _STDOUT:
                lines_out = (
                    json.dumps(checked_line.to_dict(), ensure_ascii=is_ascii) + "\n" for checked_line in answers
                )
                sys.stdout.write("".join(lines_out))
                sys.stdout.flush()

        summary = check_stream(collection, stream, answered, options=options, store=store, columns=columns, rules=rules)
    if job.as_json:
        click.echo(json.dumps(summary.to_dict()), err=True)
    else:
        print_answer(stream_facts(summary, is_kept=kept is not None), is_quiet=job.quiet, is_aside=True)


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    from nearkin.stages.documents.reader import standard_input

    if file == _STDOUT:
        yield standard_input()
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
