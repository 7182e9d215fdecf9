"""``nearkin exceptions``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.options.browsing import (
    ExceptionsOfWave,
    IdPattern,
    OfKind,
    OfReason,
    OnlyPartial,
    OnlyWithoutText,
)
from nearkin.cli.options.collection import Json, Limit, Place, ReadOnly
from nearkin.cli.options.definitions import OutFileIfAny, OverwriteFile, Quiet

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.collection.listing.exceptions import StoredExceptions

HELP = """
List the added files and documents that gave no text, or only a part of it, with the reason: encrypted, corrupt, \
empty, image only, too big, time-out, bomb, unsupported, embedded objects lost, crashed, unreadable or not stored. \
--out writes all of them to a .csv, .tsv, .jsonl or .parquet file.

A file that gives a text when it is added again under the same id is no longer listed. If you added a \
folder, add the whole folder again: a file named on its own has another id, so it becomes a new document, and the \
exception stays.

[bold]Examples[/]

  nearkin exceptions matter

  nearkin exceptions matter --wave march --reason encrypted

  nearkin exceptions matter --partial --out partial.csv
"""


def exceptions(
    collection: Place,
    wave: ExceptionsOfWave = None,
    doc_id: IdPattern = None,
    reason: OfReason = None,
    kind: OfKind = None,
    no_text: OnlyWithoutText = False,
    partial: OnlyPartial = False,
    limit: Limit = 50,
    out: OutFileIfAny = None,
    read_only: ReadOnly = False,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: OverwriteFile = False,
) -> None:
    """List the exceptions of a collection."""
    from nearkin.cli.listed_file import check_list_file, write_list
    from nearkin.cli.printing import tell
    from nearkin.collection.collection import Collection
    from nearkin.errors import ParameterError

    if no_text and partial:
        raise ParameterError("--no-text and --partial exclude each other. Give one of them.")
    check_list_file(out, overwrite=overwrite)
    which = "no text" if no_text else "partial" if partial else "all"
    is_filtered = which != "all" or any(one is not None for one in (wave, doc_id, reason, kind))
    with Collection.open(collection, read_only=read_only) as opened:
        found = opened.exceptions(wave=wave, doc_id=doc_id, reason=reason, kind=kind, which=which)  # type: ignore[arg-type]
        has_documents = bool(found.exceptions or opened.documents(which="all", limit=1).n_found)
    write_list(out, lambda: found.table, "exception", is_silent=quiet or as_json)
    tell(
        lambda: found.to_dict(limit),
        lambda console: _show(
            console, found, limit, is_filtered=is_filtered, is_written=out is not None, has_documents=has_documents
        ),
        as_json=as_json,
        quiet=quiet,
    )


def _show(
    console: Printer,
    found: StoredExceptions,
    limit: int,
    *,
    is_filtered: bool,
    is_written: bool,
    has_documents: bool,
) -> None:
    from nearkin.cli.printing import shown, table
    from nearkin.reports.sentences.exceptions import exceptions_sentences

    if len(found.counts) > 1:
        not_stored = ["not stored"] if found.n_not_stored else []
        counts = table("no text", "partial", *not_stored, "reason", "wave", numbers=2 + len(not_stored))
        for count in found.counts:
            numbers = [count.n_no_text, count.n_partial, *([count.n_not_stored] if not_stored else [])]
            counts.add_row(*(f"{n:,}" for n in numbers), count.exception, shown(count.wave))
        console.print(counts)
    rows = table("reason", "wave", "id", "what is wrong")
    for one in found.exceptions[:limit]:
        partial = " [dim](partial)[/]" if one.is_partial else ""
        rows.add_row(one.exception + partial, shown(one.wave), shown(one.doc_id), shown(one.sentence))
    if found.exceptions:
        console.print(rows)
    said = exceptions_sentences(
        found, limit, is_filtered=is_filtered, is_written=is_written, has_documents=has_documents
    )
    console.say(said)
