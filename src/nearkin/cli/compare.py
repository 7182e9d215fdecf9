"""``nearkin compare`` and ``nearkin versions``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nearkin.cli.answering import answer, check_free, opened_with_bars, passage_lines
from nearkin.cli.command_line import COLLECTION_URLS
from nearkin.errors import ParameterError
from nearkin.nouns import counted, wave_text
from nearkin.options.collection import (
    DOC_ID,
    CacheOptions,
    ListOptions,
    PlaceOptions,
    ReadOnlyOptions,
    ToleranceOptions,
    limited,
    wanted,
)  # fmt: skip
from nearkin.options.declared import Same, argument, option
from nearkin.options.reading import EncodingOptions
from nearkin.options.running import PrintOptions
from nearkin.paths import check_input
from nearkin.reports.facts.fact import Fact, Part, StyledText, missing_facts
from nearkin.wording import reveal_line, share_text

if TYPE_CHECKING:
    from nearkin.collection.versions import Versions
    from nearkin.stages.differences.comparison import Comparison

COMPARE_HELP = """
Compare two documents word by word.

Shows both texts merged into one: [-words-] are only in A, {+words+} only in B. A passage of at least 8 words in \
different places is shown as moved. Differences are counted by kind. A and B are two files, or with a COLLECTION the \
ids of two of its documents; --file takes the place of B.

Examples:

  nearkin compare old.txt new.txt

  nearkin compare old.txt new.txt --out changes.html

  nearkin compare old.txt new.txt --out changes.docx

  nearkin compare old.txt new.txt --ignore case,punctuation

  nearkin compare matter lease-17 lease-18

  nearkin compare matter lease-17 lease-17 --version-a 1

  nearkin compare matter lease-17 --file draft.txt
"""
VERSIONS_HELP = """
List all versions of a document: other texts stored under its id, and all other documents within the tolerance. The \
most similar come first, each with its changes and its relation to the document.

The relations are those of nearkin families. --at marks the version in force on a day: the newest whose tag date, such \
as date=2024-03-01, is not after it.

Examples:

  nearkin versions matter lease-17

  nearkin versions matter lease-17 --threshold 0.3 --json

  nearkin versions matter lease-17 --at 2024-03-01
"""
_version = partial(wanted, kind=int)


def _kinds(given: Sequence[str]) -> tuple[str, ...]:
    from nearkin.stages.differences.ignoring import IGNORED

    kinds = tuple(kind.strip() for text in given for kind in text.split(","))
    for kind in kinds:
        if kind not in IGNORED:
            raise ParameterError.of("ignore", f"{', '.join(IGNORED)}, or several of them joined by commas", kind)
    return kinds


class CompareCommand(ListOptions, ReadOnlyOptions, EncodingOptions, PrintOptions):
    """Options of the command."""

    documents: Same[Sequence[str]] = argument(
        "[COLLECTION] A B", kind=list,
        help="Two files; or a collection and two ids; or, with --file, a collection and one id.",
    )  # fmt: skip
    file: Same[Path | None] = wanted(
        kind=Path, excludes="version_b", help="Compare the document A of the COLLECTION with this file."
    )
    version_a: Same[int | None] = _version(help="Version of A. [default: the current version]")
    version_b: Same[int | None] = _version(help="Version of B. [default: the current version]")
    ignore: Same[Sequence[str]] = option(
        (), panel="Output", kind=list, metavar="KINDS", parse=_kinds,
        help="Differences that do not count: case, punctuation, numbers, or several of them joined by commas. White "
        "space never counts.",
    )  # fmt: skip
    out: Same[Path | None] = option(
        panel="Output", kind=Path,
        help="Also write a page (.html), or a Word document with the changes from A to B tracked (.docx).",
    )  # fmt: skip


def compare(job: CompareCommand) -> None:
    """Compare two documents."""
    names = list(job.documents)
    if job.out is not None:
        if job.out.suffix.lower() not in _WRITERS:
            raise ParameterError.of("out", "a file whose name ends in .html or .docx", str(job.out))
        if job.ignore and job.out.suffix.lower() == ".docx":
            raise ParameterError("A Word document tracks every change: give --out without --ignore.")
        check_free(job.out, overwrite=job.overwrite, inputs=names if len(names) == 2 and job.file is None else ())
    if job.file is not None:
        if len(names) != 2:
            raise ParameterError("With --file, name a collection and one of its documents.")
        answered = _compared_with_file(job, names[0], names[1], job.file)
    elif len(names) == 2:
        answered = _compared_files(job, *names)
    elif len(names) == 3:
        if job.encoding != "utf-8":
            raise ParameterError("--encoding is for two files; the texts of a collection are stored as UTF-8.")
        answered = _compared_documents(job, *names)
    else:
        raise ParameterError(f"Name two files, or a collection and two documents. Got {counted(len(names), 'name')}.")
    if job.out is not None:
        _WRITERS[job.out.suffix.lower()](answered, job.out)
        if not job.is_silent:
            click.echo(f"wrote {reveal_line(str(job.out))}", err=True)
    answer(job, answered.as_json, _view(answered))


def _write_html(compared: _Answer, out: Path) -> None:
    from nearkin.reports.comparison import comparison_html
    from nearkin.runs.files import published

    page = comparison_html(compared.comparison, name_a=compared.name_a, name_b=compared.name_b, facts=compared.facts)
    with published(out) as aside:
        aside.write_text(page, encoding="utf-8")


def _write_docx(compared: _Answer, out: Path) -> None:
    """Write the changes to a Word document; their author is the user of the operating system."""
    from nearkin.collection.decisions.log import checked_by
    from nearkin.reports.comparison import tracked_changes
    from nearkin.runs.files import published

    made = tracked_changes(*compared.texts, name_a=compared.name_a, name_b=compared.name_b, author=checked_by(None))
    with published(out) as aside:
        aside.write_bytes(made)


_WRITERS = {".html": _write_html, ".docx": _write_docx}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    name_a: str
    name_b: str
    texts: tuple[str, str]
    comparison: Comparison
    facts: list[Fact]
    as_json: object
    missing: Sequence[Fact] = ()


@dataclass(frozen=True, slots=True)
class _ComparedText:
    """A text to compare, its name, and what JSON says of it; ``missing`` is what could not be read of its file."""

    name: str
    text: str
    about: object
    missing: str | None = None

    @classmethod
    def of_file(cls, file: Path, encoding: str) -> _ComparedText:
        from nearkin.workflows.reading.request import read_one_document

        read = read_one_document(file, encoding)
        return cls(str(file), read.text, {"file": str(file), "missing": read.missing}, read.missing)


def _compared_texts(job: CompareCommand, a: _ComparedText, b: _ComparedText) -> _Answer:
    from nearkin.workflows.comparing import compare

    found = compare(a.text, b.text, ignore=job.ignore)
    missing = [fact for side in (a, b) for fact in missing_facts(side.name, side.missing)]
    return _Answer(
        name_a=a.name, name_b=b.name, texts=(a.text, b.text), comparison=found.comparison, facts=found.facts(),
        as_json={"a": a.about, "b": b.about, **found.to_dict()}, missing=missing,
    )  # fmt: skip


def _compared_files(job: CompareCommand, file_a: str, file_b: str) -> _Answer:
    if job.version_a is not None or job.version_b is not None:
        raise ParameterError("--version-a and --version-b are for documents of a collection: COLLECTION A B.")
    if Path(file_a).is_dir() or file_a.startswith(COLLECTION_URLS):
        raise ParameterError(
            "To compare two documents of the collection, name both: nearkin compare COLLECTION A B. To compare a "
            "document with a file: nearkin compare COLLECTION A --file FILE."
        )
    for file in (file_a, file_b):
        check_input(file)
    return _compared_texts(job, *(_ComparedText.of_file(Path(file), job.encoding) for file in (file_a, file_b)))


def _compared_documents(job: CompareCommand, place: str, a: str, b: str) -> _Answer:
    from nearkin.collection.collection import Collection
    from nearkin.reports.facts.comparing import similarity_facts

    with Collection.open(place, read_only=job.read_only) as opened:
        compared = opened.compare(a, b, version_a=job.version_a, version_b=job.version_b, ignore=job.ignore)
        of_a, of_b = compared.a, compared.b.document
        texts = opened.text(a, version=of_a.version), opened.text(b, version=of_b.version)
    return _Answer(
        name_a=str(of_a), name_b=str(of_b), texts=texts, comparison=compared.comparison,
        facts=similarity_facts(compared), as_json=compared,
    )  # fmt: skip


def _compared_with_file(job: CompareCommand, place: str, doc_id: str, file: Path) -> _Answer:
    from nearkin.collection.collection import Collection

    read = _ComparedText.of_file(file, job.encoding)
    with Collection.open(place, read_only=job.read_only) as opened:
        stored = opened.details(doc_id, version=job.version_a)
    return _compared_texts(job, _ComparedText(str(stored.document), stored.text, stored.document), read)


def _view(compared: _Answer) -> Iterator[Part]:
    from nearkin.reports.comparison import to_terminal
    from nearkin.reports.facts.comparing import comparison_facts

    if compared.comparison.hunks:
        yield StyledText(to_terminal(compared.comparison), may_break=True)
        yield StyledText([])
    yield from comparison_facts(compared.name_a, compared.name_b, compared.comparison, compared.facts)
    yield from compared.missing


class VersionsCommand(ListOptions, ReadOnlyOptions, CacheOptions, ToleranceOptions, PlaceOptions):
    """Options of the command."""

    doc_id: Same[str] = DOC_ID
    at: Same[str | None] = option(
        panel="Dates", metavar="YYYY-MM-DD",
        help="Mark the version in force on this date: the newest with this date or an earlier one.",
    )  # fmt: skip
    limit: Same[int] = limited(50)


def versions(job: VersionsCommand) -> None:
    """List the versions of a document."""
    from nearkin.collection.tolerance import ALL

    with opened_with_bars(job) as collection:
        versions_found = collection.versions(
            job.doc_id, **job.part(ToleranceOptions).given(), limit=job.limit if job.out is None else ALL, at=job.at,
        )  # fmt: skip
    first = versions_found if job.out is None else versions_found.first(job.limit)
    answer(job, first, _versions_view(first), rows=lambda: versions_found.table, row="version")


def _versions_view(listed: Versions) -> Iterator[Part]:
    from nearkin.collection.tolerance import LETTERS_ONLY
    from nearkin.reports.facts.comparing import change_text, date_text, relation_text, versions_facts

    for version in listed.versions:
        document, measured = version.similar.document, version.similar
        is_version = not measured.is_letters_only
        relation = f"{change_text(version)}  {relation_text(version, listed.document)}"
        spans = [
            ("bold", f"{document}"),
            ("green" if version.is_in_force else "", "" if listed.in_force is None else f"  {date_text(version)}"),
            ("", f"  edit {share_text(measured.edit_similarity)}  Jaccard {share_text(measured.jaccard)}  "),
            ("", relation) if is_version else ("yellow", f"({LETTERS_ONLY})"),
            ("dim", f"  {wave_text(document.wave)}"),
        ]
        yield StyledText(spans)
        yield from passage_lines(version.change.passage if version.change and is_version else None)
    yield from versions_facts(listed)
