"""Request of a user: the input, and how to read it, used by every job; one document with the id of `nearkin add`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nearkin.errors import ParameterError, SourceError, TruncatedInputError
from nearkin.nouns import counted, first_of
from nearkin.paths import STDIN, printable
from nearkin.runs.progress import Progress, Silent
from nearkin.runs.run import HOW_TO_FINISH, manifest_if_any
from nearkin.stages.documents.finding import by_suffix
from nearkin.stages.documents.formats import is_of_documents
from nearkin.stages.documents.members import BETWEEN, UNKNOWN_FILE, KnownFile, Origin
from nearkin.stages.documents.normalisation import AS_IT_CAME, ORIGIN, PARENT
from nearkin.stages.documents.rules import ReadingRules, sentence_of
from nearkin.stages.documents.source import NotRead
from nearkin.stages.documents.sources import Source, SourceSet, resolve_sources
from nearkin.workflows.reading.inputs import StoredSource, inputs_of, recognised_format
from nearkin.workflows.reading.texts import Texts

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.manifests.stored import HowRead
    from nearkin.options.reading import FileOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRequest:
    """Input to read, and how to read it.

    Parameters
    ----------
    optional
        Of "file_format", "text" and "doc_id" those that were given for other files, so that these may differ.
    """

    inputs: Sequence[str | StoredSource]
    file_format: str | None = None
    text: str | None = None
    doc_id: str | None = None
    encoding: str = "utf-8"
    rules: ReadingRules = field(default_factory=ReadingRules)
    side: str = field(default="", compare=False)
    optional: frozenset[str] = frozenset()

    @classmethod
    def from_options(
        cls,
        inputs: Sequence[str | StoredSource],
        options: FileOptions,
        *,
        text: str | None = None,
        doc_id: str | None = None,
        side: str = "",
    ) -> ReadingRequest:
        """Request that inputs be read, by options; ``text`` and ``doc_id`` precede the columns that these have."""
        return cls(
            inputs=inputs, file_format=options.file_format, text=text or getattr(options, "text", None),
            doc_id=doc_id or getattr(options, "id", None), encoding=options.encoding, rules=options.rules(), side=side,
        )  # fmt: skip

    def of_other_set(
        self, inputs: Sequence[str | StoredSource], text: str | None = None, doc_id: str | None = None
    ) -> ReadingRequest:
        """Request the documents of ``--against``, read as these except for their own columns."""
        columns = {"file_format": None, "text": text, "doc_id": doc_id}
        return replace(
            self, inputs=inputs, text=text or self.text, doc_id=doc_id or self.doc_id, side="against",
            optional=frozenset(name for name, column in columns.items() if column is None),
        )  # fmt: skip

    def as_read(self) -> HowRead:
        """Return the options of reading, for the manifest."""
        from nearkin.manifests.stored import HowRead

        rules = self.rules
        return HowRead(
            format=self.file_format,
            on_error=rules.on_error,
            max_unreadable=rules.max_unreadable,
            max_document_bytes=rules.max_document_bytes,
            text_root=rules.text_root,
            extraction_limits=rules.limits.given or None,
            ocr=rules.ocr,
        )

    def found(
        self, progress: Progress, *, in_order: bool = False, without: Path | None = None, with_unread: bool = False
    ) -> SourceSet:
        """Find the sources: files, collections, results of runs, documents in memory; and what is not read."""
        kinds = [(kind_of(argument), argument) for argument in self.inputs]
        if not in_order:
            kinds.sort(key=lambda named: (named[0] != "file", _path(named[1])))
        parts = [(kind, [argument for _, argument in part]) for kind, part in groupby(kinds, key=itemgetter(0))]
        sources, guesses, not_read = dict[str, Source](), list[str](), list[NotRead]()
        with columns_of_side(self.side):
            if kinds and all(kind in _STORED_IN_WORDS for kind, _ in kinds):
                self._refuse_what_is_of_files()
            for kind, arguments in parts or [("file", [])]:
                if kind == "file":
                    resolved = resolve_sources(
                        [str(argument) for argument in arguments], file_format=self.file_format, text=self.text,
                        doc_id=self.doc_id, optional=self.optional, encoding=self.encoding,
                        in_order=in_order, rules=self.rules, without=without,
                    )  # fmt: skip
                    for source in resolved.sources:
                        sources.setdefault(source.path, source)
                    guesses += resolved.guesses
                    not_read += resolved.not_read
                    continue
                for argument in arguments:
                    path = _path(argument)
                    identity = path if kind == "memory" or "://" in path else os.path.realpath(path)
                    if identity not in sources:
                        stored = _stored_source(argument, kind, progress, with_unread=with_unread)
                        sources[identity] = stored
                        if kind != "memory":
                            what, whose = _STORED_IN_WORDS[kind]
                            guesses.append(f"{stored.name}: the {counted(len(stored.documents), what)} {whose}")
        for guess in guesses:
            progress.say(guess)
        return SourceSet(tuple(sources.values()), tuple(dict.fromkeys(not_read)))

    def _refuse_what_is_of_files(self) -> None:
        for name, value in (("file_format", self.file_format), ("text", self.text), ("doc_id", self.doc_id)):
            if value is not None and name not in self.optional:
                parameter = name.removeprefix("doc_")
                raise SourceError(
                    "is for files: the texts and ids of the input are known; omit it.", parameter=parameter
                )

    def opened(self, progress: Progress) -> Texts:
        """Return the sources, with their columns, else SourceError."""
        resolved = self.found(progress)
        return Texts(inputs_of(resolved.sources), self.rules, resolved.not_read)


@contextmanager
def columns_of_side(side: str) -> Iterator[None]:
    """Name the columns of a side in errors as its parameters do.

    Examples
    --------
    >>> with columns_of_side("against"):
    ...     raise SourceError("eval.jsonl: there is no column 'text'.", parameter="text")
    Traceback (most recent call last):
    ...
    nearkin.errors.SourceError: against_text: eval.jsonl: there is no column 'text'.
    """
    try:
        yield
    except (SourceError, ParameterError) as error:
        if side and error.parameter in ("text", "id"):
            error.parameter = f"{side}_{error.parameter}"
        raise


Kind = Literal["memory", "collection", "results", "file"]
COLLECTION_FILE = "nearkin.sqlite"
"""File by which a directory is recognised as a collection; repeated from `store.place`, which needs an extra."""


def kind_of(argument: str | StoredSource) -> Kind:
    """Return the kind of an argument; SourceError for results without documents, or of an unfinished run."""
    if isinstance(argument, StoredSource):
        return "memory"
    if argument.startswith(("postgresql:", "postgres:")) and "://" in argument:
        return "collection"
    # functions of os.path, unlike methods of Path, treat inaccessible files as missing; the reader says why
    if argument == STDIN or not os.path.isdir(argument):
        return "file"
    if os.path.isfile(os.path.join(argument, COLLECTION_FILE)):
        return "collection"
    from nearkin.manifests.dedup import DedupManifest
    from nearkin.runs.run import JobRun

    manifest = manifest_if_any(Path(argument))
    command = None if manifest is None else str(manifest["command"])
    if command in DedupManifest.commands:
        return "results"
    if command is not None:
        raise SourceError(
            f"{argument} holds the results of nearkin {command}, which keep no documents. Name the files that it read."
        )
    if JobRun(Path(argument)).is_unfinished:
        raise SourceError(f"{argument} holds an unfinished run. {HOW_TO_FINISH}; or name the documents that it reads.")
    return "file"


def _path(argument: str | StoredSource) -> str:
    return argument.path if isinstance(argument, StoredSource) else str(argument)


def _stored_source(argument: str | StoredSource, kind: Kind, progress: Progress, *, with_unread: bool) -> StoredSource:
    from nearkin.workflows.reading.rereading import source_of_collection, source_of_run

    if isinstance(argument, StoredSource):
        return argument
    if kind == "collection":
        return source_of_collection(argument, with_unread=with_unread)
    return source_of_run(Path(argument), progress)


_STORED_IN_WORDS = {
    "collection": ("current document", "of this collection"),
    "results": ("kept document", "of this run"),
}


def is_one_collection(request: ReadingRequest) -> bool:
    """Whether the input is a collection, and nothing else."""
    return len(request.inputs) == 1 and kind_of(request.inputs[0]) == "collection"


_SHOWN = 5


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
    if file_format in (None, "file") and os.path.isfile(file):  # of a pipe, the beginning would be gone
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
    if others:
        what = f"{path} is not one document." if file == str(path) else f"{path}: there is no such document in {file}."
        raise SourceError(f"{what} It contains {first_of(others, _SHOWN)}.")
    raise SourceError(f"No document in {path} can be read. The first: {problem}.")


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
