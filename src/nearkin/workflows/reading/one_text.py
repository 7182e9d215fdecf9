"""Document → its text, with the id that `nearkin add` would give it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.errors import SourceError, TruncatedInputError
from nearkin.nouns import first_of
from nearkin.paths import printable
from nearkin.runs.progress import Silent
from nearkin.stages.documents.faults import sentence_of
from nearkin.stages.documents.finding import by_suffix
from nearkin.stages.documents.formats import is_of_documents, table_begun_by
from nearkin.stages.documents.members import BETWEEN, UNKNOWN_FILE, KnownFile, Origin
from nearkin.stages.documents.normalisation import AS_IT_CAME
from nearkin.stages.documents.preparing import ORIGIN, PARENT
from nearkin.stages.documents.rules import ReadingRules
from nearkin.workflows.reading.inputs import recognised_format
from nearkin.workflows.reading.request import ReadingRequest

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN = 5
_MAGIC_BYTES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class OneDocument:
    """Document as `nearkin add` would store it; ``inside`` has the ids of documents in it, if asked for."""

    doc_id: str
    text: str
    source: str
    file: KnownFile = UNKNOWN_FILE
    inside: tuple[str, ...] = ()

    @property
    def missing(self) -> str | None:
        """Description of the missing text, if this is only a part of the text of its file."""
        origin = self.file.origin
        return origin.sentence if origin is not None and origin.is_partial else None

    def file_under(self, doc_id: str) -> KnownFile:
        """Return the data of the file, for a document that is stored under another id."""
        return self.file.under(doc_id, self.doc_id)


def read_one_document(
    path: Path,
    encoding: str = "utf-8",
    rules: ReadingRules | None = None,
    *,
    with_inside: bool = False,
) -> OneDocument:
    """Return the document with an id: a file, with or without markup, or a document inside one; else SourceError."""
    if path.is_dir():
        raise SourceError(f"{path} is a folder. Name one file.")
    file = _file_of(str(path))
    file_format = by_suffix(file)[0]
    if os.path.isfile(file):
        _refuse_table(path, file)
        if file_format in (None, "file"):  # of a pipe, the beginning would be gone
            file_format = recognised_format(file)
    if file_format is None or not is_of_documents(file_format):
        file_format = "file"
    request = ReadingRequest(inputs=[file], file_format=file_format, encoding=encoding, rules=rules or ReadingRules())
    try:
        texts, doc_id = request.opened(Silent()), printable(str(path))
    except TruncatedInputError as error:  # without the advice for many documents
        raise SourceError(f"{error.message.partition('. Get the file')[0]}.") from error
    document: OneDocument | None = None
    others, inside, problem = list[str](), list[str](), ""
    for raw in texts.raw_batches(Silent()):
        prepared = texts.prepare(raw._replace(first_row=None), AS_IT_CAME).prepared  # no list of exceptions is wanted
        ids, problems = prepared["doc_id"].to_pylist(), prepared["problem"].to_pylist()
        if document is None and doc_id in ids:  # Arrow's index would import pyarrow.compute
            at = ids.index(doc_id)
            if problems[at] is not None:
                raise SourceError(f"{path}: {sentence_of(problems[at])}")
            document = _document_at(prepared, at, texts.names[0])
            if not with_inside:
                return document
        inside += (member for member in ids if str(member).startswith(f"{doc_id}{BETWEEN}"))
        others += (member for member, why in zip(ids, problems, strict=True) if why is None)
        problem = problem or next((f"{member}: {sentence_of(why)}" for member, why in zip(ids, problems) if why), "")
    if document is not None:
        return replace(document, inside=tuple(inside))
    if len(texts.names) != 1:
        raise SourceError(f"{path} is not a single file. Name one file.")
    if others:
        what = f"{path} is not one document." if file == str(path) else f"{path}: there is no such document in {file}."
        raise SourceError(f"{what} It contains {first_of(others, _SHOWN)}.")
    raise SourceError(f"No document in {path} can be read. The first: {problem}.")


def _refuse_table(path: Path, file: str) -> None:
    try:
        with open(file, "rb") as raw:
            table = table_begun_by(raw.read(_MAGIC_BYTES))
    except OSError:
        return
    if table is not None:
        raise SourceError(f"{path} is {table.a_file}, a table of documents, not one document.")


def _document_at(prepared: pa.RecordBatch, at: int, source: str) -> OneDocument:
    values = {name: prepared[name][at].as_py() for name in (PARENT, ORIGIN) if name in prepared.schema.names}
    origin = values.get(ORIGIN)
    return OneDocument(
        doc_id=str(prepared["doc_id"][at]),
        text=str(prepared["text"][at]),
        source=source,
        file=KnownFile(values.get(PARENT), None if origin is None else Origin.of_row(origin)),
    )


def _file_of(doc_id: str) -> str:
    """Return the shortest beginning of a document's id that is a file."""
    if not os.path.lexists(doc_id):
        for place in (occurrence.start() for occurrence in re.finditer(BETWEEN, doc_id)):
            if os.path.isfile(doc_id[:place]):
                return doc_id[:place]
    return doc_id
