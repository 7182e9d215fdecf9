"""Request of a user: the input, and how to read it; used by every job."""

from __future__ import annotations

import glob
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
from nearkin.runs.finished import HOW_TO_FINISH, MANIFEST, TABLES, manifest_if_any
from nearkin.runs.progress import Progress
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.source import NotRead
from nearkin.stages.documents.sources import Source, SourceSet, check_columns, resolve_sources
from nearkin.workflows.reading.inputs import StoredSource, file_inputs
from nearkin.workflows.reading.texts import Texts

if TYPE_CHECKING:
    from nearkin.manifests.stored import HowRead


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRequest:
    """Input to read, and how to read it.

    Parameters
    ----------
    inputs : sequence of str or StoredSource
        Files, folders, globs, "-" for standard input; collections, results of runs; documents in memory.
    file_format, text, doc_id : str or None
        Format and columns; None: guessed.
    encoding : str
        Fallback encoding of text files, lines, CSV and TSV.
    rules : ReadingRules
        Rules for documents and files that cannot be read.
    stdin : binary file or None
        Used instead of the process's standard input.
    named : mapping of str to str
        Parameters by which the user named the columns, such as "left_text" for "text"; see `names_of_columns`.
    optional : frozenset of str
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

    def of_other_set(
        self, inputs: Sequence[str | StoredSource], text: str | None = None, doc_id: str | None = None
    ) -> ReadingRequest:
        """Request the documents of ``--against``, read as these except for their own columns."""
        own = {"file_format": None, "text": text, "doc_id": doc_id}
        return replace(
            self, inputs=inputs, text=text or self.text, doc_id=doc_id or self.doc_id,
            named=names_of_columns("against", text=(text, self.text), id=(doc_id, self.doc_id)),
            optional=frozenset(name for name, column in own.items() if column is None),
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
        """Find the sources: files, collections, results of finished runs, documents in memory; and what is not read.

        A collection stands for its current documents, a run for the documents that it kept. They follow the files,
        unless everything is read in the order of the arguments.

        Parameters
        ----------
        progress : Progress
        in_order, without
            See `resolve_sources`. Format and columns are refused if there are no files, except those that are optional.
        with_unread : bool
            Whether files that gave no text to a collection are documents of it, with a problem.
        is_said : bool
            Whether what was guessed about the sources is reported.

        Raises
        ------
        SourceError, ParameterError
            There is no input, or none can be read; or an argument names a table of results, which holds no texts.
        CollectionError
            A collection cannot be opened.
        """
        named = [one for argument in self.inputs if isinstance(argument, str) for one in _expanded(argument)]
        in_memory = [one for one in self.inputs if isinstance(one, StoredSource)]
        parts, stored = list[list[str] | StoredSource](), dict[str, StoredSource]()
        for kind, arguments in itertools.groupby(named, key=kind_of):
            if kind == "file":
                parts.append([*arguments])
                continue
            for argument in arguments:
                identity = argument if "://" in argument else os.path.realpath(argument)
                if identity not in stored:
                    stored[identity] = _stored_source(argument, kind, progress, with_unread=with_unread)
                    parts.append(stored[identity])
        files = [one for part in parts if isinstance(part, list) for one in part]
        if stored and not files:
            self._refuse_what_is_of_files(next(iter(stored.values())))
        if not in_order:
            of_files: list[list[str] | StoredSource] = [files] if files or not (stored or in_memory) else []
            parts = [*of_files, *sorted(stored.values(), key=lambda one: one.path)]
        sources, guesses = dict[str, Source]((one.path, one) for one in in_memory), list[str]()
        not_read = list[NotRead]()
        for part in parts:
            if isinstance(part, StoredSource):
                sources[part.path] = part
                guesses.append(_in_words(part))
                continue
            found = resolve_sources(
                part, file_format=self.file_format, text=self.text, doc_id=self.doc_id, optional=self.optional,
                encoding=self.encoding, stdin=self.stdin, in_order=in_order, rules=self.rules, without=without,
            )  # fmt: skip
            for source in found.sources:
                sources.setdefault(source.path, source)
            guesses += found.guesses
            not_read += found.not_read
        for guess in guesses if is_said else ():
            progress.say(guess)
        return SourceSet(tuple(sources.values()), tuple(guesses), tuple(dict.fromkeys(not_read)))

    def _refuse_what_is_of_files(self, source: StoredSource) -> None:
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
        """Return the sources, checked to have their columns.

        What was guessed about them is reported if ``check`` accepts them.

        Raises
        ------
        SourceError
        """
        with columns_named(self.named):
            found = self.found(progress, is_said=False)
            inputs = file_inputs(found.sources, encoding=self.encoding, stdin=self.stdin)
            texts = Texts(found.sources, inputs, self.rules, found.not_read)
            if check is not None:
                check(texts)
            for guess in found.guesses:
                progress.say(guess)
            self.check_columns(found.sources)
        return texts

    def check_columns(self, sources: Sequence[Source], keep_column: str | None = None) -> None:
        """Check that all sources have the columns that will be read.

        Raises
        ------
        SourceError
            A column is missing or unusable.
        """
        files = [source for source in sources if not isinstance(source, StoredSource)]
        check_columns(files, {"keep": keep_column}, encoding=self.encoding, stdin=self.stdin)
        for source in sources:
            if isinstance(source, StoredSource):
                source.documents.keeping(keep_column, source.name)


@contextmanager
def columns_named(named: Mapping[str, str]) -> Iterator[None]:
    """Name the columns in errors by the parameters of the user; see `ReadingRequest.named`.

    Examples
    --------
    >>> with columns_named({"text": "against_text"}):
    ...     raise SourceError("eval.jsonl: there is no column 'text'.", parameter="text")
    Traceback (most recent call last):
    ...
    nearkin.errors.SourceError: against_text: eval.jsonl: there is no column 'text'.
    """
    try:
        yield
    except (SourceError, ParameterError) as error:
        error.parameter = named.get(error.parameter or "", error.parameter)
        raise


def names_of_columns(side: str, **columns: tuple[str | None, str | None]) -> dict[str, str]:
    """Return the parameters that an error about a side names, by those for both sides.

    Parameters
    ----------
    side : str
    **columns : (str or None, str or None)
        For "text" and "id", the column of this side and that of both. The parameter for both is meant only if it alone
        was given: otherwise the other side may have no such column.

    Examples
    --------
    >>> names_of_columns("left", text=("body", None), id=(None, "key"))
    {'text': 'left_text'}
    >>> names_of_columns("left", text=(None, None))
    {'text': 'left_text'}
    """
    return {name: f"{side}_{name}" for name, (own, of_both) in columns.items() if own or not of_both}


Kind = Literal["collection", "results", "file"]
COLLECTION_FILE = "nearkin.sqlite"
"""File by which a directory is recognised as a collection; repeated from `store.place`, which needs an extra."""
_TABLES = {*TABLES, MANIFEST}


def _stored_source(
    argument: str, kind: Literal["collection", "results"], progress: Progress, *, with_unread: bool
) -> StoredSource:
    from nearkin.workflows.reading.kept_documents import source_of_collection, source_of_run

    if kind == "collection":
        return source_of_collection(argument, with_unread=with_unread)
    return source_of_run(Path(argument), progress)


def kind_of(argument: str) -> Kind:
    """Return the kind of an argument.

    Raises
    ------
    SourceError
        The argument is a table of results, which holds no documents.
    """
    if argument.startswith(("postgresql:", "postgres:")) and "://" in argument:
        return "collection"
    # functions of os.path, unlike methods of Path, treat inaccessible files as missing; the reader says why
    if argument != STDIN and os.path.isdir(argument):
        return _kind_of_directory(Path(argument))
    if argument != STDIN and os.path.isfile(argument):
        _refuse_table_of_results(Path(argument))
    return "file"


def _kind_of_directory(path: Path) -> Kind:
    from nearkin.manifests.dedup import DedupManifest
    from nearkin.runs.run import JobRun

    if _is_collection(path):
        return "collection"
    command = _command_of(path)
    if command in DedupManifest.commands:
        return "results"
    if command is not None:
        raise SourceError(
            f"{path} holds the results of nearkin {command}, which keep no documents. Name the files that it read."
        )
    if JobRun(path).is_unfinished:
        raise SourceError(f"{path} holds an unfinished run. {HOW_TO_FINISH}; or name the documents that it reads.")
    return "file"


def _command_of(directory: Path) -> str | None:
    """Return the command in the manifest of a directory; None if there is no manifest of Nearkin."""
    manifest = manifest_if_any(directory)
    return None if manifest is None else str(manifest["command"])


def _refuse_table_of_results(path: Path) -> None:
    if path.name in _TABLES and _command_of(path.absolute().parent) is not None:
        raise SourceError(
            f"{path} is a table of results and holds no texts. Name its directory to read the documents that the run "
            "kept."
        )


def _expanded(argument: str) -> Iterator[str]:
    """Return the matches of a pattern if collections or results of runs are among them, else the argument."""
    is_pattern = glob.has_magic(argument) and "://" not in argument and not os.path.lexists(argument)
    matches = sorted(glob.glob(argument, recursive=True)) if is_pattern else []
    folders = {match for match in matches if os.path.isdir(match)}
    for match in matches:
        if os.path.basename(match) in _TABLES and match not in folders:
            _refuse_table_of_results(Path(match))
    stored = [folder for folder in sorted(folders) if _is_stored(Path(folder))]
    if not stored:
        yield argument
        return
    inside = tuple(f"{folder}{os.sep}" for folder in stored)
    others = [match for match in matches if match not in stored and not match.startswith(inside)]
    files = [match for match in others if match not in folders]
    yield from (*stored, *(files or others))  # as in other patterns, folders are not read if files match


def _is_stored(folder: Path) -> bool:
    return _is_collection(folder) or _command_of(folder) is not None


def _is_collection(folder: Path) -> bool:
    return os.path.isfile(folder / COLLECTION_FILE)


def _in_words(source: StoredSource) -> str:
    """Return a message about what is read."""
    from nearkin.workflows.reading.kept_documents import KeptDocuments

    documents = source.documents
    if isinstance(documents, KeptDocuments):
        files = [printable(one.path) for one in documents.files]
        where = f", read from {first_of(files, 1)}" if files else ""
        return f"{source.name} (an earlier run): its {counted(len(documents), 'kept document')}{where}"
    return f"{source.name}: the {counted(len(documents), 'current document')} of this collection"


def is_one_collection(request: ReadingRequest) -> bool:
    """Whether the input is a collection, and nothing else."""
    inputs = request.inputs
    return len(inputs) == 1 and isinstance(inputs[0], str) and kind_of(inputs[0]) == "collection"
