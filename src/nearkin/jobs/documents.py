"""Documents as a program gives them: paths, tables, data frames, data sets, lists."""

from __future__ import annotations

import functools
import glob
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import ParameterError, SourceError, quoted
from nearkin.kernels.buffers import text_buffers
from nearkin.nouns import counted
from nearkin.options.dedup import AgainstOptions
from nearkin.options.pairs import SideOptions
from nearkin.options.reading import FileOptions
from nearkin.paths import STDIN, path_of
from nearkin.records import Bool
from nearkin.runs.progress import Progress
from nearkin.stages.documents.arrays import WITHOUT_VIEWS
from nearkin.stages.documents.columns import Columns
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES
from nearkin.stages.documents.tables import as_table, check_names, read_table
from nearkin.wording import reveal_line
from nearkin.workflows.pairing.inputs import PairInput
from nearkin.workflows.reading.inputs import IN_MEMORY, StoredDocuments, StoredSource
from nearkin.workflows.reading.request import ReadingRequest, columns_of_side

Documents = Any
"""Path, list of paths or collection; Arrow table, data frame or data set; list of texts, of (id, text) or of dicts."""
Inputs = list[str | StoredSource]
_ACCEPTED = (
    "a path, a pyarrow Table, a pandas or polars frame, a datasets.Dataset or DatasetDict, other Arrow data, a dict of "
    "columns, or an iterable of paths, of texts, of (id, text) pairs or of dicts"
)
_SHOWN = 60
_LIBRARIES = ("pandas", "polars", "datasets", "nearkin")


def inputs_of(
    documents: Documents,
    *,
    name: str = IN_MEMORY,
    text: str | None = None,
    id: str | None = None,
    keep_column: str | None = None,
    progress: Progress,
) -> Inputs:
    """Return documents as the inputs of a `ReadingRequest`."""
    check_names(text=text, id=id)
    documents = readable_twice(documents, name)
    paths = paths_of(documents)
    if paths is not None:
        return [*paths]
    return [memory_source(_readable(documents), name, text=text, doc_id=id, keep_column=keep_column, say=progress.say)]


def check_files_are_read(*requests: ReadingRequest | None) -> None:
    """Refuse parameters about files in a job that reads none."""
    given = [request for request in requests if request is not None]
    if any(isinstance(source, str) for request in given for source in request.inputs):
        return
    request = given[0]
    rules, is_usual = request.rules, request.rules.max_document_bytes == MAX_DOCUMENT_BYTES
    of_files = {
        "file_format": request.file_format, "encoding": None if request.encoding == "utf-8" else request.encoding,
        "max_document_size": None if is_usual else rules.max_document_bytes, "text_root": rules.text_root,
        "extraction_limits": rules.limits.given or None, "ocr": rules.ocr,
    }  # fmt: skip
    for name, value in of_files.items():
        if value is not None:
            raise ParameterError("is for files, and the documents are in memory: omit it.", parameter=name)


def paths_of(documents: Documents) -> list[str] | None:
    """Return the paths; None if the documents are in memory.

    In a list with a `pathlib.Path` all strings are paths. A `Collection` is read where it is stored.

    Examples
    --------
    >>> from pathlib import Path
    >>> paths_of("crawl/*.jsonl"), paths_of([Path("a.jsonl"), "b.jsonl"]), paths_of(["a text"])
    (['crawl/*.jsonl'], ['a.jsonl', 'b.jsonl'], None)
    """
    if isinstance(documents, str | os.PathLike):
        _check_paths([documents])
        if isinstance(documents, str):
            _check_path(documents)
        return [os.fsdecode(documents)]
    if _package(documents) == "nearkin" and hasattr(documents, "place"):  # a collection, which needs an extra
        return [documents.place.address]
    if isinstance(documents, list | tuple) and any(isinstance(document, os.PathLike) for document in documents):
        if wrong := [document for document in documents if not isinstance(document, str | os.PathLike)]:
            raise ParameterError(
                f"A list with a path in it must hold only paths. Got {type(wrong[0]).__name__} as well."
            )
        _check_paths(documents)
        return [os.fsdecode(document) for document in documents]
    return None


def _check_paths(paths: Iterable[str | os.PathLike[str]]) -> None:
    for path in paths:
        if "\0" in os.fsdecode(path):
            raise SourceError(f"{quoted(os.fsdecode(path))}: a path cannot contain the character U+0000.")


def _check_path(path: str) -> None:
    is_elsewhere = path == STDIN or "://" in path or glob.has_magic(path)
    if not is_elsewhere and not os.path.lexists(path):
        shown = reveal_line(path if len(path) <= _SHOWN else f"{path[:_SHOWN]}…")
        raise SourceError(f"{shown!r}: there is no such file or folder. A string is a path; put a text into a list.")


def readable_twice(documents: Documents, name: str = "documents") -> Documents:
    """Return documents that can be read twice: of a stream of Arrow data a table, of an iterator a list."""
    if paths_of(documents) is not None:
        return documents
    documents = as_table(documents)
    if _is_arrow(documents) or _package(documents) in ("pandas", "polars") or _is_dataset(documents):
        return documents
    if hasattr(documents, "__arrow_c_stream__"):
        return pa.table(documents)
    if isinstance(documents, list | tuple):
        return documents
    if isinstance(documents, Iterable) and not isinstance(documents, str | bytes | Mapping):
        return list(documents)
    raise ParameterError.of("documents" if name == IN_MEMORY else name, _ACCEPTED, type(documents).__name__)


def only(documents: Documents, keep: Bool) -> Documents:
    """Return the documents to keep, in their own type; Arrow data of other libraries as a pyarrow Table."""
    if _package(documents) == "pandas":
        _check_length(len(documents), keep)
        return documents[keep]
    if _package(documents) == "polars":
        import polars

        _check_length(len(documents), keep)
        return documents.filter(polars.Series(keep))
    if _is_dataset(documents):
        _check_length(len(documents), keep)
        return documents.select(np.flatnonzero(keep))
    _check_length(len(documents), keep)
    if _is_arrow(documents):
        return _filtered(documents, pa.array(keep))
    return type(documents)(value for value, is_kept in zip(documents, keep.tolist(), strict=True) if is_kept)


def _check_length(n: int, keep: Bool) -> None:
    if n != len(keep):
        rule = f"the {counted(len(keep), 'document')} of the run, in the same order"
        raise ParameterError.of("documents", rule, counted(n, "document"))


def _filtered(documents: Any, keep: pa.BooleanArray) -> Any:
    """Filter Arrow data, also strings as views, for which Arrow has no filter."""
    if isinstance(documents, pa.Array | pa.ChunkedArray):
        plain = WITHOUT_VIEWS.get(documents.type, documents.type)
        return documents.cast(plain).filter(keep).cast(documents.type)
    fields = [field.with_type(WITHOUT_VIEWS.get(field.type, field.type)) for field in documents.schema]
    return documents.cast(pa.schema(fields, documents.schema.metadata)).filter(keep).cast(documents.schema)


def _readable(documents: Documents) -> Documents:
    return documents.with_format("arrow")[:] if _is_dataset(documents) else documents


def _is_arrow(documents: Documents) -> bool:
    return isinstance(documents, pa.Table | pa.RecordBatch | pa.Array | pa.ChunkedArray)


def _is_dataset(documents: Documents) -> bool:
    return _package(documents) == "datasets" and hasattr(documents, "with_format") and hasattr(documents, "select")


def _package(documents: Documents) -> str:
    libraries = [kind.__module__.partition(".")[0] for kind in type(documents).__mro__]
    return next((library for library in libraries if library in _LIBRARIES), libraries[0])


@dataclass(frozen=True, eq=False)  # no slots: the digest is kept
class MemoryDocuments(StoredDocuments):
    """Documents in memory, as batches of `DOCUMENTS_SCHEMA`."""

    parts: Sequence[pa.RecordBatch]

    def __len__(self) -> int:
        return sum(batch.num_rows for batch in self.parts)

    @property
    def size_bytes(self) -> int:
        """Size of the text and of the other columns that are read."""
        return sum(batch.nbytes for batch in self.parts)

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 of ids and texts, however they are divided into batches."""
        hashed = hashlib.sha256()
        for name, kind in (("doc_id", pa.large_string()), ("text", pa.large_binary())):
            for batch in self.parts:
                lengths = pc.binary_length(batch[name].cast(kind)).fill_null(-1)
                hashed.update(lengths.to_numpy(zero_copy_only=False).astype("<i8").data)
            for batch in self.parts:
                data, offsets = text_buffers(batch[name].cast(kind))
                hashed.update(data[offsets[0] : offsets[-1]].data)
        return hashed.hexdigest()

    def batches(self, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Yield the batches."""
        for batch in self.parts:
            yield batch
            progress.advance(batch.nbytes)


def memory_source(
    table: object,
    name: str = IN_MEMORY,
    *,
    text: str | None = None,
    doc_id: str | None = None,
    keep_column: str | None = None,
    say: Callable[[str], None],
) -> StoredSource:
    """Read documents from memory, as a source beside files."""
    columns: Columns | None = None

    def chosen(columns_found: Columns) -> None:
        nonlocal columns
        columns = columns_found
        for guess in columns_found.guesses:
            say(guess)

    batches = read_table(table, text=text, doc_id=doc_id, keep_column=keep_column, chosen=chosen)
    documents = MemoryDocuments(tuple(batches))
    return StoredSource(
        path=name,
        name=name,
        format=IN_MEMORY,
        text=None if columns is None else columns.text,
        id=None if columns is None else columns.id,
        size_bytes=documents.size_bytes,
        documents=documents,
    )


def request_of(
    documents: Documents,
    options: FileOptions,
    *,
    name: str = IN_MEMORY,
    own: tuple[str | None, str | None] = (None, None),
    keep_column: str | None = None,
    progress: Progress,
) -> ReadingRequest:
    """Request that documents be read, by the side's ``own`` columns of text and id, else by those of the options."""
    text, doc_id = own[0] or vars(options).get("text"), own[1] or vars(options).get("id")
    side = "" if name == IN_MEMORY else name
    with columns_of_side(side):
        inputs = inputs_of(documents, name=name, text=text, id=doc_id, keep_column=keep_column, progress=progress)
    return ReadingRequest.from_options(inputs, options, text=text, doc_id=doc_id, side=side)


def other_set_of(
    request: ReadingRequest, others: Documents, options: AgainstOptions, progress: Progress
) -> ReadingRequest:
    """Request that the documents of the other set be read, like those of the request."""
    wanted = request.of_other_set((), options.against_text, options.against_id)
    with columns_of_side(wanted.side):
        inputs = inputs_of(others, name="against", text=wanted.text, id=wanted.doc_id, progress=progress)
    return replace(wanted, inputs=inputs)


def sides_of(left: Documents, right: Documents, options: SideOptions, owner: str, progress: Progress) -> PairInput:
    """Request that both sides be read; refuse the same documents on both, unless the sides have different columns."""
    is_one = right is left  # an iterator is read once, for both
    left = readable_twice(left, "left")
    right = left if is_one else readable_twice(right, "right")
    given = PairInput(
        request_of(left, options, name="left", own=(options.left_text, options.left_id), progress=progress),
        request_of(right, options, name="right", own=(options.right_text, options.right_id), progress=progress),
        None if options.table is None else path_of(options.table, "table"),
        options.right_language,
    )
    columns = [
        source.text for side in (given.left, given.right) for source in side.inputs if not isinstance(source, str)
    ]
    if is_one and len(columns) == 2 and columns[0] == columns[1]:
        raise ParameterError(
            f"The documents on both sides of {owner} are the same. Name a column for each side by 'left_text' and "
            "'right_text'; for pairs inside one corpus use nearkin.dedup."
        )
    check_files_are_read(given.left, given.right)
    return given
