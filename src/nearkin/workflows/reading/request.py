"""Request of a user: the input, and how to read it; used by every job."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from nearkin.errors import MissingColumnError, ParameterError, SourceError
from nearkin.nouns import counted, first_of
from nearkin.paths import STDIN, printable
from nearkin.runs.finished import HOW_TO_FINISH, manifest_if_any
from nearkin.runs.progress import Progress
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.source import NotRead
from nearkin.stages.documents.sources import Source, SourceSet, check_keep_column, resolve_sources
from nearkin.workflows.reading.inputs import IN_MEMORY, StoredSource, inputs_of
from nearkin.workflows.reading.texts import Texts

if TYPE_CHECKING:
    from nearkin.manifests.stored import HowRead, NotReadFiles
    from nearkin.options.reading import FileOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRequest:
    """Input to read, and how to read it.

    Parameters
    ----------
    encoding
        Fallback encoding of text files, lines, CSV and TSV.
    stdin
        Used instead of the process's standard input.
    named
        Parameters by which the user named the columns; see `names_of_columns`.
    optional
        Of "file_format", "text" and "doc_id" those that were given for other files, so that these may differ.
    """

    inputs: Sequence[str | StoredSource]
    file_format: str | None = None
    text: str | None = None
    doc_id: str | None = None
    encoding: str = "utf-8"
    rules: ReadingRules = field(default_factory=ReadingRules)
    stdin: BinaryIO | None = field(default=None, compare=False)
    named: Mapping[str, str] = field(default_factory=dict, compare=False)
    optional: frozenset[str] = frozenset()

    @classmethod
    def from_options(
        cls,
        inputs: Sequence[str | StoredSource],
        options: FileOptions,
        *,
        text: str | None = None,
        doc_id: str | None = None,
        named: Mapping[str, str] | None = None,
    ) -> ReadingRequest:
        """Request that inputs be read, by options; ``text`` and ``doc_id`` are the columns if these have none."""
        return cls(
            inputs=inputs, file_format=options.file_format, text=text or getattr(options, "text", None),
            doc_id=doc_id or getattr(options, "id", None), encoding=options.encoding, rules=options.rules(),
            named=named or {},
        )  # fmt: skip

    @classmethod
    def of_side(
        cls, side: str, inputs: Sequence[str], text: str | None, doc_id: str | None, *, options: FileOptions
    ) -> ReadingRequest:
        """Request one of two sets of documents, whose own columns precede those of the options."""
        text_of_both, id_of_both = getattr(options, "text", None), getattr(options, "id", None)
        named = names_of_columns(side, text=(text, text_of_both), id=(doc_id, id_of_both))
        return cls.from_options(inputs, options, text=text, doc_id=doc_id, named=named)

    def of_other_set(
        self, inputs: Sequence[str | StoredSource], text: str | None = None, doc_id: str | None = None
    ) -> ReadingRequest:
        """Request the documents of ``--against``, read as these except for their own columns."""
        columns = {"file_format": None, "text": text, "doc_id": doc_id}
        return replace(
            self, inputs=inputs, text=text or self.text, doc_id=doc_id or self.doc_id,
            named=names_of_columns("against", text=(text, self.text), id=(doc_id, self.doc_id)),
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

    def resolved(self, progress: Progress, *, without: Path | None = None) -> tuple[Source, ...]:
        """Find the sources; report what was guessed about them; see `found`."""
        return self.found(progress, without=without).sources

    def found(
        self,
        progress: Progress,
        *,
        in_order: bool = False,
        without: Path | None = None,
        with_unread: bool = False,
        is_said: bool = True,
    ) -> SourceSet:
        """Find the sources: files, collections, results of runs, documents in memory; and what is not read."""
        parts, stored = list[list[str] | StoredSource](), dict[str, StoredSource]()
        for kind, arguments in itertools.groupby(self.inputs, key=kind_of):
            if kind == "file":
                parts.append([str(argument) for argument in arguments])
                continue
            for argument in arguments:
                identity = _identity(argument)
                if identity not in stored:
                    stored[identity] = _stored_source(argument, kind, progress, with_unread=with_unread)
                    parts.append(stored[identity])
        files = [name for part in parts if isinstance(part, list) for name in part]
        if stored and not files:
            self._refuse_what_is_of_files(next(iter(stored.values())))
        if not in_order:
            of_files: list[list[str] | StoredSource] = [files] if files or not stored else []
            parts = [*of_files, *sorted(stored.values(), key=lambda source: source.path)]
        sources, guesses, not_read = dict[str, Source](), list[str](), list[NotRead]()
        for part in parts:
            if isinstance(part, StoredSource):
                sources[part.path] = part
                guesses += _in_words(part)
                continue
            resolved = resolve_sources(
                part, file_format=self.file_format, text=self.text, doc_id=self.doc_id, optional=self.optional,
                encoding=self.encoding, stdin=self.stdin, in_order=in_order, rules=self.rules, without=without,
            )  # fmt: skip
            for source in resolved.sources:
                sources.setdefault(source.path, source)
            guesses += resolved.guesses
            not_read += resolved.not_read
        for guess in guesses if is_said else ():
            progress.say(guess)
        return SourceSet(tuple(sources.values()), tuple(guesses), tuple(dict.fromkeys(not_read)))

    def _refuse_what_is_of_files(self, source: StoredSource) -> None:
        if source.format == IN_MEMORY:
            return
        what = "a collection" if source.format == "collection" else "results of a run"
        given = (("file_format", self.file_format), ("text", self.text), ("doc_id", self.doc_id))
        for name, value in given:
            if value is not None and name not in self.optional:
                parameter = "id" if name == "doc_id" else name
                kind = SourceError if name == "file_format" else MissingColumnError
                raise kind(
                    f"{source.name} is {what}, whose ids and texts are known; omit the {parameter} {value}.",
                    parameter=parameter,
                )

    def opened(self, progress: Progress, check: Callable[[Texts], None] | None = None) -> Texts:
        """Return the sources, with their columns, else SourceError; guesses are reported if ``check`` accepts them."""
        with columns_named(self.named):
            resolved = self.found(progress, is_said=False)
            texts = Texts(inputs_of(resolved.sources), self.rules, resolved.not_read)
            if check is not None:
                check(texts)
            for guess in resolved.guesses:
                progress.say(guess)
        return texts

    def check_keep_column(self, sources: Sequence[Source], keep_column: str) -> None:
        """Check that all sources have the column to keep by; SourceError if one has not, or it holds no numbers."""
        files = [source for source in sources if not isinstance(source, StoredSource)]
        check_keep_column(files, keep_column)
        for source in sources:
            if isinstance(source, StoredSource):
                source.documents.keeping(keep_column, source.name)


@contextmanager
def columns_named(named: Mapping[str, str]) -> Iterator[None]:
    """Name the columns in errors by the parameters of the user; see `ReadingRequest.named`."""
    try:
        yield
    except (SourceError, ParameterError) as error:
        error.parameter = named.get(error.parameter or "", error.parameter)
        raise


def names_of_columns(side: str, **columns: tuple[str | None, str | None]) -> dict[str, str]:
    """Return the parameters that an error about a side names, from its column and that of both sides.

    Examples
    --------
    >>> names_of_columns("left", text=("body", None), id=(None, "key"))
    {'text': 'left_text'}
    >>> names_of_columns("left", text=(None, None))
    {'text': 'left_text'}
    """
    return {name: f"{side}_{name}" for name, (is_own, of_both) in columns.items() if is_own or not of_both}


Kind = Literal["memory", "collection", "results", "file"]
COLLECTION_FILE = "nearkin.sqlite"
"""File by which a directory is recognised as a collection; repeated from `store.place`, which needs an extra."""
_N_PATHS = 20


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


def _identity(argument: str | StoredSource) -> str:
    if isinstance(argument, StoredSource):
        return argument.path
    return argument if "://" in argument else os.path.realpath(argument)


def _stored_source(argument: str | StoredSource, kind: Kind, progress: Progress, *, with_unread: bool) -> StoredSource:
    from nearkin.workflows.reading.rereading import source_of_collection, source_of_run

    if isinstance(argument, StoredSource):
        return argument
    if kind == "collection":
        return source_of_collection(argument, with_unread=with_unread)
    return source_of_run(Path(argument), progress)


def _in_words(source: StoredSource) -> list[str]:
    from nearkin.workflows.reading.rereading import KeptDocuments

    documents = source.documents
    if isinstance(documents, KeptDocuments):
        sources = [source for part in documents.again.inputs for source in part.sources]
        files = [printable(source.path) for source in sources if not isinstance(source, StoredSource)]
        where = f", read from {first_of(files, 1)}" if files else ""
        return [f"{source.name} (an earlier run): its {counted(len(documents), 'kept document')}{where}"]
    if source.format == IN_MEMORY:
        return []
    return [f"{source.name}: the {counted(len(documents), 'current document')} of this collection"]


def not_read_files(not_read: Sequence[NotRead]) -> tuple[NotReadFiles, ...] | None:
    """Return what was not read for the manifest, with the first paths of each."""
    from nearkin.manifests.stored import NotReadFiles

    listed = [
        NotReadFiles(
            place=printable(unread.place),
            reason=unread.reason,
            n=len(unread.paths),
            paths=tuple(printable(path) for path in unread.paths[:_N_PATHS]),
        )
        for unread in not_read
    ]
    return tuple(listed) or None


def is_one_collection(request: ReadingRequest) -> bool:
    """Whether the input is a collection, and nothing else."""
    return len(request.inputs) == 1 and kind_of(request.inputs[0]) == "collection"
