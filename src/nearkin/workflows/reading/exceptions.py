"""Exceptions: documents without a text, or with only a part of it, in ``exceptions.csv``."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import RunError
from nearkin.formats.delimited import SheetWriter, as_it_was
from nearkin.records import I64
from nearkin.runs.files import published
from nearkin.stages.documents.encodings import kind_of_plain
from nearkin.stages.documents.faults import reason_of, sentence_of
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.members import NO_TEXT
from nearkin.stages.documents.preparing import ONLY_IGNORED, ONLY_NUMBERS, ORIGIN, PARENT
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.inputs import StoredSource

if TYPE_CHECKING:
    from nearkin.collection.listing.exceptions import StoredException
    from nearkin.manifests.stored import InputFile


EXCEPTIONS_FILE = "exceptions.csv"
_HEADER = (
    "id", "parent", "exception", "is_partial", "sentence", "kind", "sha256", "size_bytes", "source", "line", "name",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionRow:
    """A document without a text, or with only a part of it.

    Parameters
    ----------
    row
        Number of the document in reading order; None for an exception of a collection that is none of its documents.
    given_id
        Its id, as in ``documents.parquet``; None if it has none.
    kind, sha256
        None for a document that was not extracted: `exception_lines` takes those of its file.
    is_extracted
        Whether it was to be extracted from a file, not read as it is.
    """

    row: int | None = None
    doc_id: str
    given_id: int | str | None
    parent: str | None
    exception: str
    is_partial: bool
    sentence: str
    kind: str | None
    sha256: str | None
    size_bytes: int | None
    source: int
    line: int | None = None
    is_extracted: bool


def exceptions_in(prepared: pa.RecordBatch, sources: I64, first_row: int) -> Iterator[ExceptionRow]:
    """Yield the exceptions in a batch of `PREPARED_SCHEMA`, which begins at ``first_row``."""
    problem, text, names = prepared["problem"], prepared["text"], prepared.schema.names
    has_nothing = pc.or_(pc.equal(pc.binary_length(text), 0), pc.utf8_is_space(text))
    for name in (ONLY_NUMBERS, ONLY_IGNORED):
        if name in names:
            has_nothing = pc.and_not(has_nothing, prepared[name])
    is_one = pc.or_(problem.is_valid(), has_nothing)
    if ORIGIN in names:
        is_one = pc.or_(is_one, pc.struct_field(prepared[ORIGIN], "exception").is_valid())
    for row in pc.indices_nonzero(is_one).to_pylist():
        origin: Mapping[str, Any] = (prepared[ORIGIN][row].as_py() if ORIGIN in names else None) or {}
        why, doc_id = problem[row].as_py(), prepared["doc_id"][row].as_py()
        exception, is_partial = origin.get("exception"), bool(origin.get("is_partial"))
        sentence = origin.get("sentence") if is_partial else sentence_of(why or "") or origin.get("sentence")
        sentences = [sentence, origin.get("warnings")]
        if not any(sentences) or (exception in (None, "empty") and sentence is None):
            sentences[0] = NO_TEXT
        yield ExceptionRow(
            row=first_row + row,
            doc_id=doc_id,
            given_id=doc_id if prepared["has_id"][row].as_py() else None,
            parent=prepared[PARENT][row].as_py() if PARENT in names else None,
            exception=exception or ("empty" if why is None else reason_of(why)),
            is_partial=is_partial,
            sentence="; ".join(dict.fromkeys(sentence for sentence in sentences if sentence)),
            kind=origin.get("kind"),
            sha256=origin.get("sha256"),
            size_bytes=origin.get("size_bytes"),
            source=int(sources[row]),
            line=prepared["line"][row].as_py(),
            is_extracted=origin.get("kind") is not None,
        )


def named(exceptions: Sequence[ExceptionRow], documents: pa.Table) -> list[ExceptionRow]:
    """Return exceptions with the ids and names of all documents, once all were read."""
    ids, names = documents["id"], documents["name"]
    return [
        exception
        if exception.row is None
        else replace(exception, given_id=ids[exception.row].as_py(), doc_id=names[exception.row].as_py())
        for exception in exceptions
    ]


def exception_lines(
    exceptions: Sequence[ExceptionRow], names: Sequence[str], files: Mapping[int, InputFile]
) -> list[Sequence[object]]:
    """Return the lines of ``exceptions.csv``."""
    lines = list[Sequence[object]]()
    for exception in exceptions:
        of_bytes: tuple[object, ...] = (exception.kind, exception.sha256, exception.size_bytes)
        if exception.kind is None and (file := files.get(exception.source)) is not None and file.format in FORMATS:
            kind = "text" if file.format == "file" else file.format
            of_bytes = (kind_of_plain(kind, exception.exception), file.sha256, file.size_bytes)
        what = (
            exception.given_id,
            exception.parent,
            exception.exception,
            str(exception.is_partial).lower(),
            exception.sentence,
        )
        lines.append((*what, *of_bytes, names[exception.source], exception.line, exception.doc_id))
    return lines


def write_exceptions(path: Path, lines: Sequence[Sequence[object]]) -> None:
    """Write ``exceptions.csv`` if there are exceptions, or an earlier list."""
    if lines or path.exists():
        with published(path) as aside, aside.open("w", encoding="utf-8", newline="") as file:
            writer = SheetWriter(file)
            writer.write(_HEADER)
            writer.write_all(lines)


def read_exceptions(path: Path) -> list[ExceptionRow]:
    """Read ``exceptions.csv``, if there is one, for a page."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        try:
            lines = [{name: as_it_was(cell) or None for name, cell in line.items()} for line in csv.DictReader(file)]
            return [
                ExceptionRow(
                    doc_id=str(line["name"]), given_id=line["id"], parent=line["parent"],
                    exception=str(line["exception"]), is_partial=line["is_partial"] == "true",
                    sentence=str(line["sentence"]), kind=line["kind"], sha256=line["sha256"],
                    size_bytes=None if line["size_bytes"] is None else int(line["size_bytes"]), source=0,
                    is_extracted=line["kind"] is not None,
                )
                for line in lines
            ]  # fmt: skip
        except (csv.Error, ValueError, KeyError, AttributeError, TypeError) as error:
            raise RunError(
                f"The run in {path.parent} is damaged ({path.name}: {error}). Run the command that made it again."
            ) from error


def exceptions_of_collections(sources: Sequence[Source], known: Sequence[ExceptionRow]) -> list[ExceptionRow]:
    """Return the exceptions of collections that are not among the ``known`` ones of documents that were read."""
    beside = list[ExceptionRow]()
    for number, source in enumerate(sources):
        if isinstance(source, StoredSource) and source.format == "collection":
            listed = {exception.given_id for exception in known if exception.source == number}
            beside += [
                listed_exception(exception, number)
                for exception in _without_document(source)
                if exception.doc_id not in listed
            ]
    return beside


def _without_document(source: StoredSource) -> Sequence[StoredException]:
    # their libraries belong to an extra, which only collections need
    from nearkin.collection.listing.exceptions import exceptions_without_document
    from nearkin.workflows.reading.collection_documents import CollectionDocuments

    documents = source.documents
    if not isinstance(documents, CollectionDocuments):
        return ()
    with documents.opened() as store, store.reading() as connection:
        return exceptions_without_document(connection)


def listed_exception(exception: StoredException, source: int) -> ExceptionRow:
    """Return a stored exception as it is listed in ``exceptions.csv``, without a place."""
    return ExceptionRow(
        doc_id=exception.doc_id,
        given_id=exception.doc_id,
        parent=exception.parent,
        exception=exception.exception,
        is_partial=exception.is_partial,
        sentence=exception.sentence,
        kind=exception.kind,
        sha256=exception.sha256,
        size_bytes=exception.size_bytes,
        source=source,
        is_extracted=exception.extractor is not None,
    )
