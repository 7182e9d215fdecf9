"""``nearkin show``, ``list``, ``history`` and ``exceptions``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from nearkin.cli.answering import answer, opened, passage_lines, say_written
from nearkin.nouns import counted, wave_text
from nearkin.options.collection import (
    DOC_ID,
    ID_PATTERN,
    GroupOptions,
    ListOptions,
    PlaceOptions,
    ReadOnlyOptions,
    limited,
    wanted,
)  # fmt: skip
from nearkin.options.declared import Same, option
from nearkin.reports.facts.fact import Part, StyledText, Table
from nearkin.wording import reveal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nearkin.collection.history import DocumentHistory
    from nearkin.collection.listing.exceptions import StoredExceptions
    from nearkin.collection.listing.lists import ListedDocuments, Sort, Which


SHOW_HELP = """
Show the text of a stored document and its metadata: version, wave and file, tags, notes and groups, and the other \
documents with the same text.

Examples:

  nearkin show matter lease-17

  nearkin show matter lease-17 --version 1

  nearkin show matter lease-17 --text-only > lease-17.txt
"""
LIST_DOCUMENTS_HELP = """
List the documents of a collection that meet all given conditions.

--group uses the groups that nearkin groups stored: those at threshold 0.5, or at the given --threshold or --gamma.

Examples:

  nearkin list matter --wave march --sort length

  nearkin list matter --id 'lease-*'

  nearkin list matter --group 12

  nearkin list matter --tag responsive=yes --sort date

  nearkin list matter --which all --out documents.csv
"""
HISTORY_HELP = """
List the versions stored under one id, the oldest first: when each was added, and its first change from the version \
before. --out writes them to a .csv, .tsv, .jsonl or .parquet file.

Examples:

  nearkin history matter lease-17

  nearkin history matter lease-17 --json
"""


class ShowCommand(ReadOnlyOptions, PlaceOptions):
    """Options of the command."""

    doc_id: Same[str] = DOC_ID
    version: Same[int | None] = wanted(kind=int, help="Version to show. [default: the current version]")
    text_only: Same[bool] = option(
        False, panel="Output", excludes="as_json", help="Print the text and nothing else, unchanged, for a pipe."
    )


def show(job: ShowCommand) -> None:
    """Show a stored document."""
    from nearkin.collection.listing.details import family_of
    from nearkin.reports.facts.stored import details_facts

    with opened(job) as collection:
        stored = collection.details(job.doc_id, version=job.version)
        if job.text_only:
            _write_text(stored.text)
            return
        with collection.opened.store.reading() as connection:
            family = family_of(connection, stored)
    text = StyledText([("", stored.text.replace("\r\n", "\n"))], may_break=True)
    answer(job, {**stored.to_dict(), "family": family}, [*details_facts(stored, family), StyledText([]), text])


def _write_text(text: str) -> None:
    """Write a text; on a terminal, hidden characters, which could control it, become visible code points."""
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None or sys.stdout.isatty():
        sys.stdout.write(reveal(text) if sys.stdout.isatty() else text)
        return
    sys.stdout.flush()
    binary.write(text.encode("utf-8"))
    binary.flush()


class ListCommand(ListOptions, ReadOnlyOptions, GroupOptions, PlaceOptions):
    """Options of the command."""

    wave: Same[str | None] = wanted(help="Only documents that this wave added.")
    doc_id: Same[str | None] = ID_PATTERN
    source: Same[str | None] = wanted(
        metavar="PATTERN", help="Only documents from files whose name matches: * and ? as in --id."
    )
    which: Same[Which] = wanted(
        "current", choices=("current", "removed", "all"), metavar="removed|all",
        help="List removed documents, each with its last text, or every stored version. [default: current documents]",
    )  # fmt: skip
    tag: Same[str | None] = wanted(
        metavar="FIELD[=VALUE]", help="Only documents with this tag; without =, whatever its value."
    )
    sort: Same[Sort] = option(
        "id", panel="Output",
        help="id, added (the newest first), length (the longest first), wave, or date (the tag date).",
    )  # fmt: skip
    limit: Same[int] = limited(50)


def list_documents(job: ListCommand) -> None:
    """List stored documents."""
    from nearkin.collection.listing.lists import DocumentFilter
    from nearkin.collection.tolerance import Tolerance
    from nearkin.workflows.collection.tables import list_documents as work

    which = DocumentFilter(
        wave=job.wave, doc_id=job.doc_id, source=job.source, which=job.which, tag=job.tag, group=job.group,
        tolerance=Tolerance.if_given(threshold=job.threshold, gamma=job.gamma),
    )  # fmt: skip
    with opened(job) as collection:
        documents = work(collection, which, sort=job.sort, limit=job.limit, out=job.out)
    answer(job, documents, _list_view(documents))
    if job.out is not None:
        say_written(job, documents.n_found, "document", job.out)


def _list_view(documents: ListedDocuments) -> Iterator[Part]:
    from nearkin.reports.facts.stored import listed_facts
    from nearkin.reports.quantities import minute
    from nearkin.stages.documents.members import origin_text

    rows = []
    for row in documents.table.to_pylist():
        ended = "" if row["is_current"] else ", replaced" if row["removed_at"] is None else ", removed"
        version = f" (version {row['version']}{ended})" if row["version"] > 1 or ended else ""
        rows.append(
            (
                row["n_characters"], row["n_copies"], row["group"], minute(row["added_at"]), row["date"], row["kind"],
                row["doc_id"] + version + " (principal)" * bool(row["is_principal"]), row["wave"],
                origin_text(row["doc_id"], row["source"], row["line"]),
            )
        )  # fmt: skip
    columns = ("characters", "copies", "group", "added", "date", "kind", "id", "wave", "from")
    yield Table(columns, rows, 3)
    yield from listed_facts(documents)


class HistoryCommand(ListOptions, ReadOnlyOptions, PlaceOptions):
    """Options of the command."""

    doc_id: Same[str] = DOC_ID


def history(job: HistoryCommand) -> None:
    """List the versions of a document with their changes."""
    with opened(job) as collection:
        versions = collection.history(job.doc_id)
    answer(job, versions, _history_view(versions), rows=lambda: versions.table, row="version")


def _history_view(document_history: DocumentHistory) -> Iterator[Part]:
    from nearkin.reports.facts.stored import change_text, history_facts
    from nearkin.reports.quantities import minute

    for version in document_history.versions:
        document = version.document
        removed = "" if version.removed_at is None else f"removed {minute(version.removed_at)}"
        length = counted(document.n_characters, "character")
        about = "  ".join(filter(None, (minute(version.added_at), length, change_text(version), removed)))
        yield StyledText(
            [("bold", f"version {document.version}"), ("", f"  {about}  "), ("dim", wave_text(document.wave))]
        )
        yield from passage_lines(None if version.change is None else version.change.passage)
    yield from history_facts(document_history)


EXCEPTIONS_HELP = """
List the added files and documents that gave no text, or only a part of it, with the reason: empty, too large, not \
text, wrong encoding, damaged, truncated, encrypted, unsupported, image only, technical, partial, time-out, crashed, \
id repeated, no such column or not stored.

A file that gives a text when it is added again under the same id is no longer listed. If you added a folder, add the \
whole folder again.

Examples:

  nearkin exceptions matter

  nearkin exceptions matter --wave march --reason encrypted

  nearkin exceptions matter --which partial --out partial.csv
"""


class ExceptionsCommand(ListOptions, ReadOnlyOptions, PlaceOptions):
    """Options of the command."""

    wave: Same[str | None] = wanted(help="Only exceptions of this wave.")
    doc_id: Same[str | None] = ID_PATTERN
    reason: Same[str | None] = wanted(help="Only exceptions with this reason, such as encrypted.")
    which: Same[str] = wanted(
        "all", choices=("all", "no-text", "partial"), metavar="no-text|partial",
        help="Only files that gave no text, or only those that gave a part of it. [default: all]",
    )  # fmt: skip
    limit: Same[int] = limited(50)


def exceptions(job: ExceptionsCommand) -> None:
    """List the exceptions of a collection."""
    with opened(job) as collection:
        which: Any = job.which.replace("-", " ")
        all_exceptions = collection.exceptions(wave=job.wave, doc_id=job.doc_id, reason=job.reason, which=which)
    answer(
        job, all_exceptions.first(job.limit), _exceptions_view(all_exceptions, job.limit),
        rows=lambda: all_exceptions.table, row="exception",
    )  # fmt: skip


def _exceptions_view(stored_exceptions: StoredExceptions, limit: int) -> Iterator[Part]:
    from nearkin.reports.facts.stored import exceptions_facts

    if len(stored_exceptions.counts) > 1:
        has_others = stored_exceptions.n_not_stored > 0
        counts = [
            (row.n_no_text, row.n_partial, row.n_not_stored if has_others else None, row.exception, row.wave)
            for row in stored_exceptions.counts
        ]
        yield Table(("no text", "partial", "not stored", "reason", "wave"), counts, 3)
    rows = [
        (row.exception + " (partial)" * row.is_partial, row.wave, row.doc_id, row.sentence)
        for row in stored_exceptions.exceptions[:limit]
    ]
    yield Table(("reason", "wave", "id", "what is wrong"), rows)
    yield from exceptions_facts(stored_exceptions, limit)
