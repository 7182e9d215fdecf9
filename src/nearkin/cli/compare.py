"""``nearkin compare`` and ``nearkin versions``."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nearkin.cli.command_line import COLLECTION_URLS
from nearkin.cli.options.collection import (
    At,
    Cache,
    Compared,
    ComparedFile,
    DateTag,
    DocId,
    Docx,
    Html,
    Ignore,
    Limit,
    Place,
    ReadOnly,
    ToleranceOptions,
    VersionA,
    VersionB,
)
from nearkin.cli.options.definitions import Encoding, Json, OutFileIfAny, Overwrite, OverwriteFile, Quiet
from nearkin.errors import ParameterError, UnknownDocumentError, quoted
from nearkin.nouns import counted, wave_text
from nearkin.paths import check_input

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.collection.versions import Versions
    from nearkin.reports.facts.fact import Fact
    from nearkin.stages.differences.comparison import Comparison

COMPARE_HELP = """
Compare two documents word by word.

Shows both texts merged into one: [-words-] are only in A, {+words+} only in B, with the lines around them; then how \
similar the two are. A passage of at least 8 words that is in both texts, in different places, is shown as moved. \
Differences are counted by kind: numbers, dates, names, negations, wording, formatting; a difference can have several \
kinds. A and B are two files, or with a COLLECTION the ids of two of its documents; --file takes the place of B.

Examples:

  nearkin compare old.txt new.txt

  nearkin compare old.txt new.txt --html changes.html

  nearkin compare old.txt new.txt --docx changes.docx

  nearkin compare old.txt new.txt --ignore case,punctuation

  nearkin compare matter lease-17 lease-18

  nearkin compare matter lease-17 lease-17 --version-a 1

  nearkin compare matter lease-17 --file draft.txt
"""
VERSIONS_HELP = """
List all versions of a document: other texts stored under its id, and all other documents within the tolerance. The \
most similar come first, each with its changes and its relation to the document.

The relations are those of nearkin families. A document that was found by its letters, and whose wording does not \
match, is marked and has no relation. If documents have a tag with their date, such as date=2024-03-01, --at marks the \
version in force on a day: the newest with that date or an earlier one. --out writes all versions to a .csv, .tsv, \
.jsonl or .parquet file.

Examples:

  nearkin versions matter lease-17

  nearkin versions matter lease-17 --threshold 0.3 --json

  nearkin versions matter lease-17 --at 2024-03-01 --date-tag signed
"""


def compare(
    documents: Compared,
    file: ComparedFile = None,
    version_a: VersionA = None,
    version_b: VersionB = None,
    encoding: Encoding = "utf-8",
    ignore: Ignore = None,
    html: Html = None,
    docx: Docx = None,
    read_only: ReadOnly = False,
    overwrite: Overwrite = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare two documents."""
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_free
    from nearkin.wording import reveal_line

    inputs = [file] if file is not None else documents if len(documents) == 2 else ()
    for option, out in (("--html", html), ("--docx", docx)):
        if out is not None:
            check_free(out, overwrite=overwrite, inputs=inputs, option=option)
    if html is not None and html == docx:
        raise ParameterError(f"--html and --docx must be two files. Got {str(html)!r} for both.")
    ignored = _ignored_kinds(ignore or ())
    if file is not None:
        if len(documents) != 2 or version_b is not None:
            raise ParameterError("With --file, name a collection and one of its documents, and no --version-b.")
        found = _compared_with_file(
            documents[0], documents[1], version_a, file, ignored, encoding=encoding, read_only=read_only
        )
    elif len(documents) == 2:
        has_versions = version_a is not None or version_b is not None
        found = _compared_files(documents[0], documents[1], encoding, ignored, has_versions=has_versions)
    elif len(documents) == 3:
        if encoding != "utf-8":
            raise ParameterError("--encoding is for two files; the texts of a collection are stored as UTF-8.")
        found = _compared_documents(
            documents[0], documents[1], documents[2], (version_a, version_b), ignored, read_only
        )
    else:
        raise ParameterError(
            f"Name two files, or a collection and two documents. Got {counted(len(documents), 'name')}."
        )
    if html is not None:
        _write_html(found, html)
    if docx is not None:
        _write_docx(found, docx)
    tell(found.to_dict, lambda console: _show(console, found), as_json=as_json, quiet=quiet)
    for out in (html, docx):
        if out is not None and not (quiet or as_json):
            click.echo(f"wrote {reveal_line(str(out))}", err=True)


def _write_html(found: _Answer, out: Path) -> None:
    from nearkin.reports.comparison.page import comparison_html
    from nearkin.runs.files import published

    page = comparison_html(found.comparison, name_a=found.name_a, name_b=found.name_b, facts=found.facts)
    with published(out) as aside:
        aside.write_text(page, encoding="utf-8")


def _write_docx(found: _Answer, out: Path) -> None:
    """Write the changes to a Word document; their author is the user of the operating system."""
    from nearkin.collection.decisions.log import checked_by
    from nearkin.reports.comparison.tracked_changes import tracked_changes
    from nearkin.runs.files import published

    made = tracked_changes(*found.texts, name_a=found.name_a, name_b=found.name_b, author=checked_by(None))
    with published(out) as aside:
        aside.write_bytes(made)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """Two compared documents, as they will be shown."""

    name_a: str
    name_b: str
    texts: tuple[str, str]
    comparison: Comparison
    facts: list[Fact]
    to_dict: Callable[[], dict[str, object]]
    missing: Sequence[Fact] = ()


def _ignored_kinds(ignore: Sequence[str]) -> tuple[str, ...]:
    """Split the kinds of differences that --ignore names, and refuse unknown ones."""
    from nearkin.stages.differences.ignoring import IGNORED

    kinds = tuple(kind.strip() for one in ignore for kind in one.split(","))
    for kind in kinds:
        if kind not in IGNORED:
            raise ParameterError(f"--ignore takes {', '.join(IGNORED)}, separated by commas. Got {quoted(kind)}.")
    return kinds


def _compared_files(
    file_a: str, file_b: str, encoding: str, ignored: tuple[str, ...], *, has_versions: bool
) -> _Answer:
    from nearkin.reports.facts.comparing import text_similarity_facts
    from nearkin.reports.facts.fact import missing_facts
    from nearkin.workflows.comparing import compare
    from nearkin.workflows.reading.one_text import read_one_document

    if has_versions:
        raise ParameterError("--version-a and --version-b are for documents of a collection: COLLECTION A B.")
    if Path(file_a).is_dir() or file_a.startswith(COLLECTION_URLS):
        raise ParameterError(
            "To compare two documents of the collection, name both: nearkin compare COLLECTION A B. To compare a "
            "document with a file: nearkin compare COLLECTION A --file FILE."
        )
    for file in (file_a, file_b):
        check_input(file)
    one, other = (read_one_document(Path(file), encoding) for file in (file_a, file_b))
    found = compare(one.text, other.text, ignore=ignored)
    return _Answer(
        name_a=file_a,
        name_b=file_b,
        texts=(one.text, other.text),
        comparison=found.comparison,
        facts=text_similarity_facts(found),
        missing=[*missing_facts(file_a, one.missing), *missing_facts(file_b, other.missing)],
        to_dict=lambda: {
            "a": {"file": file_a, "missing": one.missing},
            "b": {"file": file_b, "missing": other.missing},
            **found.to_dict(),
        },
    )


def _compared_documents(
    collection: str, a: str, b: str, versions: tuple[int | None, int | None], ignored: tuple[str, ...], read_only: bool
) -> _Answer:
    from nearkin.collection.collection import Collection
    from nearkin.reports.facts.comparing import similarity_facts

    with Collection.open(collection, read_only=read_only) as opened:
        try:
            found = opened.compare(a, b, version_a=versions[0], version_b=versions[1], ignore=ignored)
        except UnknownDocumentError as error:
            if not os.path.isfile(b) or opened.has_document(b):
                raise
            raise UnknownDocumentError(f"{error} To compare with a file: --file {b}") from None
        of_a, of_b = found.a, found.b.document
        texts = opened.text(a, version=of_a.version), opened.text(b, version=of_b.version)
    return _Answer(
        name_a=str(found.a),
        name_b=str(found.b.document),
        texts=texts,
        comparison=found.comparison,
        facts=similarity_facts(found),
        to_dict=found.to_dict,
    )


def _compared_with_file(
    collection: str,
    doc_id: str,
    version: int | None,
    file: Path,
    ignored: tuple[str, ...],
    *,
    encoding: str,
    read_only: bool,
) -> _Answer:
    from nearkin.collection.collection import Collection
    from nearkin.reports.facts.comparing import text_similarity_facts
    from nearkin.reports.facts.fact import missing_facts
    from nearkin.workflows.comparing import compare
    from nearkin.workflows.reading.one_text import read_one_document

    document = read_one_document(file, encoding)
    with Collection.open(collection, read_only=read_only) as opened:
        stored = opened.details(doc_id, version=version)
    found = compare(stored.text, document.text, ignore=ignored)
    name = str(stored.document)
    return _Answer(
        name_a=name,
        name_b=str(file),
        texts=(stored.text, document.text),
        comparison=found.comparison,
        facts=text_similarity_facts(found),
        missing=[*missing_facts(str(file), document.missing)],
        to_dict=lambda: {
            "a": stored.document.to_dict(),
            "b": {"file": str(file), "missing": document.missing},
            **found.to_dict(),
        },
    )


def _show(console: Printer, found: _Answer) -> None:
    from rich.text import Text

    from nearkin.reports.comparison.terminal import to_terminal
    from nearkin.reports.facts.comparing import comparison_facts

    if found.comparison.hunks:
        spans = to_terminal(found.comparison)
        console.print(Text.assemble(*((text, style) for style, text in spans)), soft_wrap=True)
        console.print()
    console.say([*comparison_facts(found.name_a, found.name_b, found.comparison, found.facts), *found.missing])


def versions(
    collection: Place,
    doc_id: DocId,
    *,
    alike: ToleranceOptions,
    at: At = None,
    date_tag: DateTag = None,
    limit: Limit = 50,
    cache: Cache = None,
    read_only: ReadOnly = False,
    out: OutFileIfAny = None,
    overwrite: OverwriteFile = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the versions of a document."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_list_file, write_list
    from nearkin.collection.collection import Collection
    from nearkin.collection.tolerance import ALL

    check_list_file(out, overwrite=overwrite)
    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        Collection.open(collection, cache=cache, read_only=read_only, progress=bars) as opened,
    ):
        found = opened.versions(
            doc_id,
            **alike.given(),
            limit=limit if out is None else ALL,
            at=at,
            date_tag=date_tag,
        )
    write_list(out, lambda: found.table, "version", is_silent=quiet or as_json)
    shown = found if out is None else found.first(limit)
    tell(shown.to_dict, lambda console: _show_versions(console, shown), as_json=as_json, quiet=quiet)


def _show_versions(console: Printer, found: Versions) -> None:
    from nearkin.cli.printing import say_passage, shown
    from nearkin.collection.tolerance import LETTERS_ONLY
    from nearkin.reports.facts.comparing import change_text, date_text, relation_text, versions_facts
    from nearkin.wording import share_text

    for one in found.versions:
        document, measured = one.similar.document, one.similar
        edit, jaccard = share_text(measured.edit_similarity), share_text(measured.jaccard)
        dated = (
            "" if found.in_force is None else f"{'[green]' if one.is_in_force else '[default]'}{date_text(one)}[/]  "
        )
        relation = f"{change_text(one)}  {shown(relation_text(one, found.document))}"
        if measured.is_letters_only:
            relation = f"[yellow]({LETTERS_ONLY})[/]"
        console.print(
            f"[bold]{shown(document)}[/]  {dated}edit {edit}  Jaccard {jaccard}  {relation}  "
            f"[dim]{shown(wave_text(document.wave))}[/]",
            highlight=False,
            soft_wrap=True,
        )
        if one.change and one.change.passage and not measured.is_letters_only:
            say_passage(console, one.change.passage)
    console.say(versions_facts(found))
