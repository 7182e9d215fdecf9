"""Exceptions: documents without a text, or with only a part of it, in ``exceptions.csv``."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
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
    from nearkin.runs.progress import Meter
    from nearkin.workflows.resources import Resources


EXCEPTIONS_FILE = "exceptions.csv"
_HEADER = (
    "id", "parent", "exception", "is_partial", "sentence", "kind", "sha256", "size_bytes", "source", "line", "name",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionRow:
    """A document without a text, or with only a part of it.

    Parameters
    ----------
    doc_id : str
        Its name, which every document has.
    given_id : int, str or None
        Its id, a number if all ids are integers; None if it has none, as in ``documents.parquet``.
    parent : str or None
    exception : str
    is_partial : bool
    sentence : str
    kind, sha256 : str or None
        None for a document that was not extracted: `of_files` takes those of its file.
    size_bytes : int or None
    source : int
        Number of the source.
    line : int or None
        Place in the source; None for an exception of a collection that is none of its documents.
    is_extracted : bool
        Whether it was to be extracted from a file, not read as it is.
    """

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
    line: int | None
    is_extracted: bool


def exceptions_in(prepared: pa.RecordBatch, sources: I64) -> Iterator[ExceptionRow]:
    """Yield the exceptions in a prepared batch.

    Parameters
    ----------
    prepared : RecordBatch
        Of `PREPARED_SCHEMA`.
    sources : int64 array, shape (n_documents,)
        Number of the source of each document.
    """
    problem, text, names = prepared["problem"], prepared["text"], prepared.schema.names
    has_nothing = pc.or_(pc.equal(pc.binary_length(text), 0), pc.utf8_is_space(text))
    for name in (ONLY_NUMBERS, ONLY_IGNORED):
        if name in names:
            has_nothing = pc.and_not(has_nothing, prepared[name])
    is_one = pc.or_(problem.is_valid(), has_nothing)
    if ORIGIN in names:
        is_one = pc.or_(is_one, pc.struct_field(prepared[ORIGIN], "exception").is_valid())
    for row in pc.indices_nonzero(is_one).to_pylist():
        said = problem[row].as_py()
        yield exception_row(
            (prepared[ORIGIN][row].as_py() if ORIGIN in names else None) or {},
            said,
            "empty" if said is None else reason_of(said),
            doc_id=prepared["doc_id"][row].as_py(),
            given_id=prepared["doc_id"][row].as_py() if prepared["has_id"][row].as_py() else None,
            parent=prepared[PARENT][row].as_py() if PARENT in names else None,
            place=(int(sources[row]), prepared["line"][row].as_py()),
        )


def exception_row(
    origin: Mapping[str, Any],
    problem: str | None,
    without: str,
    *,
    doc_id: str,
    given_id: int | str | None,
    parent: str | None,
    place: tuple[int, int],
) -> ExceptionRow:
    """Make the exception of a document.

    Parameters
    ----------
    origin : mapping
        Fields of its `Origin`; empty if it was not extracted.
    problem : str or None
        Why it has no text.
    without : str
        The reason, if its origin has none.
    doc_id, given_id, parent
        See `ExceptionRow`.
    place : tuple of int
        Number of its source, and place in it.
    """
    is_partial = bool(origin.get("is_partial"))
    warnings, exception = origin.get("warnings"), origin.get("exception")
    said = [origin.get("sentence") if is_partial else sentence_of(problem or "") or origin.get("sentence"), warnings]
    if not any(said) or (exception in (None, "empty") and said[0] is None):
        said = [NO_TEXT, warnings]
    return ExceptionRow(
        doc_id=doc_id,
        given_id=given_id,
        parent=parent,
        exception=exception or without,
        is_partial=is_partial,
        sentence="; ".join(dict.fromkeys(one for one in said if one)),
        kind=origin.get("kind"),
        sha256=origin.get("sha256"),
        size_bytes=origin.get("size_bytes"),
        source=place[0],
        line=place[1],
        is_extracted=origin.get("kind") is not None,
    )


def exception_lines(
    found: Iterable[ExceptionRow], names: Sequence[str], files: Mapping[int, InputFile]
) -> list[Sequence[object]]:
    """Return the lines of ``exceptions.csv``.

    Parameters
    ----------
    found : iterable of ExceptionRow
    names : sequence of str
        Name of each source.
    files : dict of int to InputFile
        Sources by their numbers. A document that was not extracted has no bytes of its own: its line has kind, SHA-256
        and size of its file.
    """
    lines = list[Sequence[object]]()
    for one in found:
        own: tuple[object, ...] = (one.kind, one.sha256, one.size_bytes)
        if one.kind is None and (file := files.get(one.source)) is not None and file.format in FORMATS:
            kind = "text" if file.format == "file" else file.format
            own = (kind_of_plain(kind, one.exception), file.sha256, file.size_bytes)
        told = (one.given_id, one.parent, one.exception, str(one.is_partial).lower(), one.sentence)
        lines.append((*told, *own, names[one.source], one.line, one.doc_id))
    return lines


def named_as_in(documents: pa.Table, found: Sequence[ExceptionRow], places: Sequence[str]) -> list[ExceptionRow]:
    """Return exceptions with the ids and names of their documents, which are known when all documents were read.

    Parameters
    ----------
    documents : Table
        ``id``, ``name``, ``source``, ``line``.
    found : sequence of ExceptionRow
    places : sequence of str
        Name of each source in ``source``.
    """
    named = dict[tuple[str, int, str], tuple[int | str | None, str]]()
    for row in _documents_at(documents, found, places).to_pylist():
        given = row["id"]
        # a document that repeats an id has another name, which was not known when it was read
        named[row["source"], row["line"], row["name"] if given is None else str(given)] = given, row["name"]
    told = [named.get((places[one.source], one.line or 0, one.doc_id), (one.given_id, one.doc_id)) for one in found]
    return [replace(one, given_id=given, doc_id=name) for one, (given, name) in zip(found, told, strict=True)]


def _documents_at(documents: pa.Table, found: Sequence[ExceptionRow], places: Sequence[str]) -> pa.Table:
    """Return the documents with the places and names of exceptions; all others, which may be millions, stay in Arrow.

    A place has one document; but all documents of a collection are in one line.
    """
    sources, lines = dict[str, int](), dict[int, int]()
    wanted = [
        (sources.setdefault(places[one.source], len(sources)), lines.setdefault(one.line, len(lines)))
        for one in found
        if one.line is not None
    ]
    of_source = pc.index_in(documents["source"], pa.array(list(sources), pa.large_string())).fill_null(-1).to_numpy()
    of_line = pc.index_in(documents["line"], pa.array(list(lines), pa.int64())).fill_null(-1).to_numpy()
    has_both = (of_source >= 0) & (of_line >= 0)
    place = np.where(has_both, of_source.astype(np.int64) * len(lines) + of_line, -1)
    is_one = np.isin(place, np.array([source * len(lines) + line for source, line in wanted], np.int64))
    there = documents.select(["source", "line", "id", "name"]).filter(pa.array(is_one))
    key = pc.coalesce(pc.cast(there["id"], pa.large_string()), there["name"])
    return there.filter(pc.is_in(key, pa.array({one.doc_id for one in found}, pa.large_string())))


def lines_with_digests(
    found: Sequence[ExceptionRow],
    names: Sequence[str],
    sources: Sequence[Source],
    resources: Resources,
    meter: Meter,
    described: Sequence[InputFile] | None = None,
) -> list[Sequence[object]]:
    """Return the lines of ``exceptions.csv``, with the digests of the files that they need; see `exception_lines`.

    The files are digested unless ``described`` has the digests of all sources. None where nothing was extracted:
    tables have a column with the problems of records.
    """
    from nearkin.workflows.reading.identity import records_of, with_digests

    if not any(one.is_extracted for one in found):
        return []
    if described is not None:
        return exception_lines(found, names, dict(enumerate(described)))
    needed = sorted({one.source for one in found if one.kind is None})
    records = with_digests(records_of(sources[number] for number in needed), resources, meter, with_texts=False)
    return exception_lines(found, names, dict(zip(needed, (one.file for one in records), strict=True)))


def write_exceptions_in(
    folder: Path, found: Sequence[ExceptionRow], names: Sequence[str], files: Mapping[int, InputFile]
) -> None:
    """Write ``exceptions.csv`` into a folder if there are exceptions; the others are those of `exception_lines`."""
    if found:
        write_exceptions(folder / EXCEPTIONS_FILE, exception_lines(found, names, files))


def read_exceptions_beside(path: Path, names: Sequence[str]) -> tuple[list[ExceptionRow], list[str]]:
    """Read the exceptions without a place in ``exceptions.csv``: those of collections that are none of their documents.

    Returns
    -------
    rows : list of ExceptionRow
    names : list of str
        The names of the sources, with those that have no document added.

    Raises
    ------
    RunError
        The file is damaged.
    """
    known, found = list(names), list[ExceptionRow]()
    if not path.exists():
        return found, known
    with path.open(encoding="utf-8", newline="") as file:
        try:
            rows = [one for one in csv.DictReader(file, strict=True) if not one.get("line", "line")]
        except csv.Error as error:
            raise RunError(
                f"The run in {path.parent} is damaged ({path.name}: {error}). Run the command that made it again."
            ) from error
    for one in rows:
        told = {name: as_it_was(cell) or None for name, cell in one.items()}
        source = str(told["source"])
        if source not in known:
            known.append(source)
        found.append(
            ExceptionRow(
                doc_id=str(told["id"]),  # all have ids: they are of collections
                given_id=told["id"],
                parent=told["parent"],
                exception=str(told["exception"]),
                is_partial=told["is_partial"] == "true",
                sentence=str(told["sentence"]),
                kind=told["kind"],
                sha256=told["sha256"],
                size_bytes=None if told["size_bytes"] is None else int(told["size_bytes"]),
                source=known.index(source),
                line=None,
                is_extracted=told["kind"] is not None,
            )
        )
    return found, known


def write_exceptions(path: Path, lines: Iterable[Sequence[object]]) -> None:
    """Write ``exceptions.csv``."""
    with published(path) as aside, aside.open("w", encoding="utf-8", newline="") as file:
        writer = SheetWriter(file)
        writer.write(_HEADER)
        writer.write_all(lines)


def all_exceptions(sources: Sequence[Source], known: Sequence[ExceptionRow]) -> list[ExceptionRow]:
    """Return the exceptions of the documents that were read, then those of `exceptions_of_collections`."""
    return [*known, *exceptions_of_collections(sources, known)]


def exceptions_of_collections(sources: Sequence[Source], known: Sequence[ExceptionRow]) -> list[ExceptionRow]:
    """Return the exceptions of the collections among some sources that no document of these sources shows.

    Parameters
    ----------
    sources : sequence of Source
    known : sequence of ExceptionRow
        Exceptions of the documents that were read.
    """
    found = list[ExceptionRow]()
    for number, source in enumerate(sources):
        if isinstance(source, StoredSource) and source.format == "collection":
            listed = {one.given_id for one in known if one.source == number}
            found += [listed_exception(one, number) for one in _without_document(source) if one.doc_id not in listed]
    return found


def _without_document(source: StoredSource) -> Sequence[StoredException]:
    # their libraries belong to an extra, which only collections need
    from nearkin.collection.listing.exceptions import exceptions_without_document
    from nearkin.workflows.reading.collection_documents import CollectionDocuments

    documents = source.documents
    if not isinstance(documents, CollectionDocuments):
        return ()
    with documents.opened() as store, store.reading() as connection:
        return exceptions_without_document(connection)


def listed_exception(one: StoredException, source: int) -> ExceptionRow:
    """Return a stored exception as it is listed in ``exceptions.csv``, without a place."""
    return ExceptionRow(
        doc_id=one.doc_id,
        given_id=one.doc_id,
        parent=one.parent,
        exception=one.exception,
        is_partial=one.is_partial,
        sentence=one.sentence,
        kind=one.kind,
        sha256=one.sha256,
        size_bytes=one.size_bytes,
        source=source,
        line=None,
        is_extracted=one.extractor is not None,
    )
