"""Resolution of command-line arguments to sources: files, globs, folders, standard input."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nearkin.errors import ParameterError, SourceError, TruncatedInputError, is_among
from nearkin.nouns import first_of
from nearkin.paths import STDIN, printable, shown_path
from nearkin.stages.documents.columns import ColumnSample, check_keep, check_unique, has_column, missing_column
from nearkin.stages.documents.encodings import check_encoding, looks_like_utf16
from nearkin.stages.documents.extraction.kinds import is_read, kind_of
from nearkin.stages.documents.extraction.reading import Blob
from nearkin.stages.documents.finding import FoundFile, by_suffix, find, identity
from nearkin.stages.documents.formats import FORMATS, TABLES, has_columns, is_of_documents
from nearkin.stages.documents.reader import Head, head_of_file, sniffed, unreadable
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.source import Note, NotRead, Source
from nearkin.stages.documents.streams import Compression
from nearkin.stages.documents.values import text_paths

__all__ = ["Source", "SourceSet", "check_keep_column", "resolve_sources", "sample_of"]
_N_NAMED = 3


@dataclass(frozen=True, slots=True)
class SourceSet:
    """The sources in reading order, files that are not read, and sentences on guesses and on these."""

    sources: tuple[Source, ...] = ()
    not_read: tuple[NotRead, ...] = ()
    guesses: tuple[str, ...] = ()


def resolve_sources(
    arguments: Sequence[str],
    *,
    file_format: str | None = None,
    text: str | None = None,
    doc_id: str | None = None,
    optional: Collection[str] = (),
    encoding: str = "utf-8",
    in_order: bool = False,
    has_columns_later: bool = False,
    rules: ReadingRules | None = None,
    without: Path | None = None,
) -> SourceSet:
    """Find the files, globs (including ``**``), folders and "-" of the arguments, and how to read each.

    Parameters
    ----------
    optional
        Those of "text" and "doc_id" that a source may lack; it is then read by a column guessed there, with a note.
    in_order
        Keep the order of the arguments; by default all files are sorted by path, so that it does not matter.
    """
    if file_format is not None and not is_among(file_format, FORMATS):
        every = ", ".join(FORMATS)
        raise ParameterError(f"The format (file_format) must be one of {every}. Got {file_format!r} instead.")
    rules = rules or ReadingRules()
    base = Source(
        path="", name="", format="", text=text, id=doc_id, encoding=check_encoding(encoding),
        max_document_bytes=rules.max_document_bytes, takes_damaged=rules.takes_damaged, limits=rules.limits,
        text_root=None if rules.text_root is None else os.path.abspath(rules.text_root), ocr=rules.ocr,
        is_forced=file_format == "file",
    )  # fmt: skip
    missing = None if has_columns_later else frozenset(optional)
    notes = list[Note]()
    files = _files(arguments, file_format, without, notes, in_order=in_order)
    resolved = [_resolve(file, file.format or file_format, base, missing) for file in files]
    of_files = _gathered([(found_file.name, of_file) for found_file, (_, of_file) in zip(files, resolved, strict=True)])
    sentences = [note for note in notes if isinstance(note, str)]
    not_read = dict.fromkeys(note for note in notes if isinstance(note, NotRead))
    guesses = tuple(dict.fromkeys((*sentences, *of_files)))
    return SourceSet(tuple(source for source, _ in resolved), tuple(not_read), guesses)


def _files(
    arguments: Sequence[str], file_format: str | None, without: Path | None, notes: list[Note], *, in_order: bool
) -> list[FoundFile]:
    files: dict[str, FoundFile] = {}
    repeated = list[str]()
    for found_file in find(arguments, file_format, notes, without):
        key = identity(found_file.path)
        known = files.get(key)
        if known is not None:
            repeated.append(found_file.path if in_order else max(found_file.path, known.path))
        if known is None or (not in_order and found_file[:2] < known[:2]):
            files[key] = found_file
    if repeated:
        notes.append(f"{first_of(repeated, 1)}: named more than once, perhaps by another path; read once")
    if not files:
        raise SourceError("No input was named. Give files, folders, globs, or - for standard input.")
    return list(files.values()) if in_order else sorted(files.values(), key=lambda found_file: found_file[:2])


def _gathered(notes: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for name, of_file in notes:
        for note in of_file:
            names.setdefault(note, []).append(name)
    for note, among in names.items():
        yield note if len(among) == len(notes) else f"{first_of(among, _N_NAMED)}: {note}"


def _resolve(
    file: FoundFile, forced: str | None, source: Source, optional: Collection[str] | None
) -> tuple[Source, tuple[str, ...]]:
    """Return a source, and guesses; ``source`` has what all share, ``optional`` is None to choose no columns."""
    named, compression = by_suffix(file.path)
    size_bytes = 0
    if file.path != STDIN:
        try:
            status = os.stat(file.path)
        except OSError as error:
            raise unreadable(file.name, error) from error
        if not stat.S_ISREG(status.st_mode):
            raise SourceError(f"{file.name} is not a file of its own. Name a file, or - for standard input.")
        size_bytes = status.st_size
        chosen = file.format or forced or named
        if chosen is not None and is_of_documents(chosen) and (chosen != "file" or file.format == chosen):
            # a folder or pattern may match a million of these, so they are opened only when they are read
            return _source(file, chosen, compression, size_bytes, source), ()
    try:
        return _resolve_seen(file, forced, named, size_bytes, source, optional)
    except TruncatedInputError:
        if not source.takes_damaged:
            raise
        return _source(file, forced or named or "file", compression, size_bytes, source), ()


def _resolve_seen(
    file: FoundFile,
    forced: str | None,
    named: str | None,
    size_bytes: int,
    base: Source,
    optional: Collection[str] | None,
) -> tuple[Source, tuple[str, ...]]:
    if file.path == STDIN:
        _refuse_documents_in_a_pipe(forced)
    head = head_of_file(file.path, file.name, base.encoding)
    is_document = file.path != STDIN and is_read(head.data, file.name, with_images=base.ocr is not None)
    if forced is None and named is None and is_document:
        kind = kind_of(Blob(head.data), file.name)
        guess = f"read as a document (recognised by its content: {kind})"
        return _source(file, "document", head.compression, size_bytes, base), (guess,)
    _refuse_foreign(file, head, forced)
    guesses: list[str] = []
    file_format = forced or named or "file"
    if file.path == STDIN and head.compression == "bzip2" and not head.data and forced is None:
        # a block has up to 900 kB, and nothing of it can be decompressed before all of it is read
        raise SourceError("-: the format of bzip2 data in a pipe cannot be detected. Name it with --format.")
    if forced is None:
        if named is None:
            file_format = sniffed(head) or "file"
        else:
            file_format = FORMATS[named].reader.settled(head, base.text) or named
        form = FORMATS[file_format]
        if named != file_format or not form.is_settled:
            evidence = form.reader.evidence(head)
            guesses.append(f"read as {form.in_words} (recognised by its content{evidence})")
    elif FORMATS[forced].is_unmistakable and (evidence := FORMATS[forced].reader.evidence(head)):
        guesses.append(evidence.removeprefix(": "))
    _check_format(file, file_format, head)
    source = _source(file, file_format, head.compression, size_bytes, base)
    if not FORMATS[file_format].has_columns or optional is None:
        return source, tuple(guesses)
    source, notes = _with_columns(source, head, base, optional)
    if source.delimiter not in (None, ","):
        delimiter = "tab" if source.delimiter == "\t" else repr(source.delimiter)
        guesses.append(f"delimiter: {delimiter} (recognised by the header)")
    return source, (*guesses, *notes)


def _source(file: FoundFile, file_format: str, compression: Compression, size_bytes: int, source: Source) -> Source:
    name = printable(file.name) if is_of_documents(file_format) else shown_path(file.name)
    return replace(
        source, path=file.path, name=name, format=file_format, compression=compression, size_bytes=size_bytes,
        text=None, id=None, is_forced=source.is_forced and file_format == "file",
    )  # fmt: skip


def _refuse_documents_in_a_pipe(forced: str | None) -> None:
    """Raise SourceError for documents that are extracted: they are read in any order."""
    if forced is not None and FORMATS[forced].is_extracted:
        raise SourceError(
            f"-: {FORMATS[forced].in_words} cannot be read from standard input. Save the file, and name it."
        )


def _refuse_foreign(file: FoundFile, head: Head, forced: str | None) -> None:
    kind = head.kind
    if kind is None or (kind.is_text and forced is not None):
        return
    if (format_name := sniffed(head)) is not None and FORMATS[format_name].is_unmistakable:
        return
    if file.path == STDIN and is_read(head.data, file.name):
        raise SourceError(
            f"-: this is {kind.name}, and documents cannot be read from standard input. Save the file, and name it."
        )
    raise SourceError(f"{file.name}: this is {kind.problem}.")


def _check_format(file: FoundFile, file_format: str, head: Head) -> None:
    form = FORMATS[file_format]
    if form.holds == "records" and not form.magic and (advice := looks_like_utf16(head.data)) is not None:
        raise SourceError(f"{file.name}: {advice}.")
    if head.table is not None and file_format != head.table:
        what = f"{TABLES[head.table].a_file}, not {form.in_words}"
        raise SourceError(f"{file.name}: this is {what}. Read it with --format {head.table}.")
    if (problem := form.reader.problem(head)) is not None:
        raise SourceError(f"{file.name}: {problem}")


def _with_columns(
    source: Source, head: Head, base: Source, optional: Collection[str]
) -> tuple[Source, tuple[str, ...]]:
    text, doc_id = base.text, base.id
    reader = FORMATS[source.format].reader
    sample: ColumnSample | None = reader.sample(replace(source, text=text, id=doc_id), head)
    if sample is None:  # an empty file, or a pipe with no visible data yet
        return replace(source, text=text, id=doc_id), ()
    parts = [] if text is None else [path.column for path in text_paths(text, sample.names)]
    missing = [name for name in parts if name not in sample.names]
    if missing and "text" in optional:
        text = None
    if doc_id is not None and not has_column(sample, doc_id):
        missing.append(doc_id)
        if "doc_id" in optional:
            doc_id = None
    source, guesses = reader.with_columns(replace(source, text=text, id=doc_id), sample)
    text = source.text or ""
    if sample.table is not None:
        from nearkin.stages.documents.readers.tables import check_schema

        check_schema(source.name, sample.table.schema, text, None)
    for path in text_paths(text, sample.names):
        check_unique(source.name, {"text": path.column, "id": source.id}, sample.header)
        values = [path.text(record[path.column]) for record in sample.records if path.column in record]
        if path.steps and values and all(value is None for value in values):
            raise missing_column(source.name, "text", text, sample.names)
    notes = [f"there is no column '{name}', so another column is guessed" for name in missing]
    return source, (*notes, *guesses)


def check_keep_column(sources: Sequence[Source], column: str) -> None:
    """Raise SourceError if a file lacks the column to keep by, or it holds numbers in one and dates in another."""
    kinds: dict[bool, str] = {}
    for source in (source for source in sources if not source.is_stored):  # those say it when they are opened
        if not has_columns(source.format):
            raise SourceError(f"{source.name} has no columns.", parameter="keep")
        if (sample := sample_of(source)) is not None:
            holds_dates = check_keep(source.name, sample, column, is_text=not FORMATS[source.format].has_types)
            if holds_dates is not None:
                kinds.setdefault(holds_dates, source.name)
    if len(kinds) > 1:
        raise SourceError(
            f"The column '{column}' holds numbers in {kinds[False]} and dates in {kinds[True]}, which cannot be "
            "compared. Write all of its values in one way."
        )


def sample_of(source: Source) -> ColumnSample | None:
    """Return the columns of the first records; None if none is visible."""
    try:
        head = head_of_file(source.path, source.name, source.encoding)
        sample: ColumnSample | None = FORMATS[source.format].reader.sample(source, head)
        return sample
    except TruncatedInputError:
        if not source.takes_damaged:
            raise
        return None
