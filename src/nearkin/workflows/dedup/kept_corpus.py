"""Carried columns, and the second pass over the input: kept files, and records with results beside them."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import ParameterError, TruncatedInputError
from nearkin.manifests.dedup import REASONS
from nearkin.manifests.stored import KeptFile
from nearkin.paths import file_sha256
from nearkin.records import I64, Bool
from nearkin.runs.files import published, writing
from nearkin.runs.progress import LabelledProgress, Meter, Progress, Silent
from nearkin.runs.spool import Chunk
from nearkin.stages.documents.annotating import ANNOTATED, PREFIX, Annotations
from nearkin.stages.documents.columns import check_unique, has_column, missing_column
from nearkin.stages.documents.encodings import check_encoding, is_told_by_line
from nearkin.stages.documents.formats import FORMATS, TABLES, has_columns, is_of_documents
from nearkin.stages.documents.reader import unreadable
from nearkin.stages.documents.rows import carried_field
from nearkin.stages.documents.rules import StreamFault, truncated_input
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.stages.documents.sources import sample_of
from nearkin.workflows.dedup.outcome import NO_ROW, UNREADABLE_TEXT, Outcome
from nearkin.workflows.dedup.row_places import FIELDS, Places
from nearkin.workflows.reading.inputs import IN_MEMORY, StoredSource, inputs_of

NOT_SHOWN = Silent()


def write_kept_corpus(
    sources: Sequence[Source],
    places: Places,
    keep: Bool,
    out: Path,
    *,
    meter: Meter,
    columns: pa.Table | None = None,
) -> tuple[KeptFile, ...]:
    """Write the kept documents of each source into a folder; with ``columns``, all documents, with these columns."""
    starts = np.searchsorted(places.source[: len(keep)], np.arange(len(sources) + 1))
    table = pa.table({}) if columns is None else columns

    def kept_lines(source: int) -> Bool:
        lines = places.line[starts[source] : starts[source + 1]]
        if columns is not None:
            return np.ones(int(lines.max(initial=0)) + 1, np.bool_)
        mask = np.zeros(int(lines.max(initial=0)) + 1, np.bool_)
        mask[lines[keep[starts[source] : starts[source + 1]]]] = True
        return mask

    def added(source: int) -> Annotations:
        first, end = int(starts[source]), int(starts[source + 1])
        return Annotations(sources[source].name, places.line[first:end], table.slice(first, end - first))

    stage = f"write {out.name}"
    with meter.stage(stage, sum(source.size_bytes for source in sources), "bytes") as progress, writing(out):
        written = write_kept(sources, kept_lines, out, progress=progress, added=None if columns is None else added)
        return tuple(
            KeptFile(str(path.relative_to(out.parent)), i, path.stat().st_size, file_sha256(str(path)))
            for i, path in sorted(written.items())
        )


def annotation_columns(outcome: Outcome, *, is_against: bool) -> pa.Table:
    """Return the columns of ``--annotate``; a group is named by the row of its principal in ``documents.parquet``."""
    has_group = (outcome.principal != NO_ROW) & (not is_against)
    principal = np.where(has_group, outcome.principal, 0)
    sizes = np.bincount(principal[has_group], minlength=len(principal))
    verdicts = pa.array(REASONS).take(pa.array(outcome.reason))
    can_be_read = outcome.reason != UNREADABLE_TEXT
    return pa.table(
        {
            f"{PREFIX}group": pa.array(principal.astype(np.int64), mask=~has_group),
            f"{PREFIX}group_size": pa.array(sizes[principal], mask=~has_group),
            f"{PREFIX}similarity": pa.array(outcome.similarity, mask=np.isnan(outcome.similarity)),
            f"{PREFIX}keep": pa.array(outcome.keep),
            f"{PREFIX}verdict": pc.if_else(pa.array(can_be_read), verdicts, None),
        }
    )


def write_kept(
    sources: Sequence[Source],
    kept_lines: Callable[[int], Bool],
    out: Path,
    *,
    progress: Progress = NOT_SHOWN,
    added: Callable[[int], Annotations] | None = None,
    in_place: Callable[[Source], bool] = lambda source: source.format in ANNOTATED,
) -> dict[int, Path]:
    """Write the kept documents of each source in one pass, and return the files by the numbers of their sources.

    The files have the same relative paths under ``out`` as in the folder that all sources share.

    Parameters
    ----------
    kept_lines
        Takes the number of a source; returns a bool array indexed by line (index 0 unused); later lines are not kept.
    """
    is_copied = [in_place(source) if added else _is_copied(source.format) for source in sources]
    names, files, as_json = kept_names(sources, is_copied), dict[int, Path](), dict[int, Bool]()
    for number, source in enumerate(sources):
        mask = kept_lines(number)
        if (not mask.any() and (is_of_documents(source.format) or not is_copied[number])) or _is_lost(source):
            progress.advance(source.size_bytes)
        elif is_copied[number]:
            files[number] = out / names[number]
            _copy(source, mask, files[number], progress, added(number) if added else None)
        else:
            as_json[number] = mask
    numbers = list(as_json)
    documents = _documents([sources[number] for number in numbers], progress)
    for place, batches in itertools.groupby(documents, key=itemgetter(0)):
        number = numbers[place]
        one = added(number) if added else None
        files[number] = out / names[number]
        files[number].parent.mkdir(parents=True, exist_ok=True)
        with published(files[number]) as aside, open(aside, "wb") as file:
            for _, batch in batches:
                kept = batch.filter(_is_kept(as_json[number], batch["line"].to_numpy()))
                columns = (kept[name].to_pylist() for name in ("doc_id", "text", "line"))
                for doc_id, text, line in zip(*columns, strict=True):
                    if text is not None:
                        record = json.dumps({"id": doc_id, "text": text.decode()}, ensure_ascii=False) + "\n"
                        file.write(record.encode() if one is None else one.json(record.encode(), line))
    return files


def _is_copied(file_format: str) -> bool:
    return file_format in FORMATS and FORMATS[file_format].is_copied


def kept_names(sources: Sequence[Source], is_copied: Sequence[bool]) -> list[PurePosixPath]:
    """Return the path of each kept file relative to the folder that all share; distinct, and none outside it.

    Examples
    --------
    >>> paths = ["../in/a/x.jsonl", "../in/b/x.pdf"]
    >>> sources = [Source(path=path, name=path, format="file") for path in paths]
    >>> [str(name) for name in kept_names(sources, [True, False])]
    ['a/x.jsonl', 'b/x.pdf.jsonl']
    """
    paths = [Path(os.path.abspath(source.path)) for source in sources if not isinstance(source, StoredSource)]
    shared = os.path.commonpath([str(path.parent) for path in paths]) if paths else "/"
    names, taken = list[PurePosixPath](), set[str]()
    for source, is_same in zip(sources, is_copied, strict=True):
        if isinstance(source, StoredSource):
            stem = Path(source.path.rpartition("schema=")[2]).resolve().name or source.format
            name = PurePosixPath(f"{stem}.jsonl")
        else:
            name = PurePosixPath(Path(os.path.abspath(source.path)).relative_to(shared).as_posix())
            name = name if is_same else name.with_name(f"{name.name}.jsonl")
        unique, n_tried = name, 1
        while str(unique).casefold() in taken:  # some file systems ignore case
            n_tried += 1
            unique = name.with_name(f"{n_tried}-{name.name}")
        taken.add(str(unique).casefold())
        names.append(unique)
    return names


def _is_lost(source: Source) -> bool:
    """Whether this is a table that was accepted although too damaged to be read."""
    table = TABLES.get(source.format)
    if not source.takes_damaged or table is None:
        return False
    try:
        with table.reader.at(source.path, source.name):
            return False
    except TruncatedInputError:
        return True


def _copy(
    source: Source,
    mask: Bool,
    target: Path,
    progress: Progress,
    added: Annotations | None,
) -> None:
    if is_told_by_line(check_encoding(source.encoding)):
        source = replace(source, encoding="utf-8")  # lines and records keep their bytes, which then pass unchanged
    target.parent.mkdir(parents=True, exist_ok=True)
    path = Path(source.path)
    try:
        opened = path.open("rb", buffering=0)
    except OSError as error:
        raise unreadable(source.name, error) from error
    with opened as raw, published(target) as aside, open(aside, "wb") as file:
        try:
            to_copy = OpenedSource(source=source, raw=cast("BinaryIO", raw), progress=progress.advance, added=added)
            FORMATS[source.format].reader.copy(to_copy, partial(_is_kept, mask), file)
        except StreamFault as fault:
            has_text = mask if added is None else added.has_text[: len(mask)]
            n_lost = int((mask & has_text)[fault.line or len(mask) :].sum())
            if n_lost:  # another column is damaged than those that were read
                raise TruncatedInputError(
                    f"{source.name}: {fault}, and {n_lost:,} of the documents before the damage cannot be copied. "
                    "Get the file again, or omit the options that copy records."
                ) from fault
            if not source.takes_damaged:
                raise truncated_input(source.name, fault, int(mask.sum())) from fault


def _is_kept(mask: Bool, lines: I64) -> Bool:
    is_known = lines < len(mask)
    kept: Bool = is_known & mask[np.where(is_known, lines, 0)]
    return kept


class _Unsaid(LabelledProgress):
    """Progress without messages."""

    def say(self, message: str) -> None:
        """Do nothing."""


def _documents(sources: Sequence[Source], progress: Progress) -> Iterator[tuple[int, pa.RecordBatch]]:
    first, progress = 0, _Unsaid("", progress)
    for part in inputs_of(sources):
        for batch, numbers in part.batches(progress):
            for number in np.unique(numbers).tolist():
                yield first + number, batch.filter(pa.array(numbers == number))
        first += len(part.names)


IN_MEMORY_INSTEAD = (
    "does not work for documents in memory: the rows of 'documents' of the result are in the order of your documents."
)
_OWN_COLUMNS = (
    "id", "name", "row", "group", "group_row", "is_principal", "similarity_to_principal", "copy_of", "copy_of_row",
    "keep", "reason", "n_characters", "n_units", "n_shingles", "keep_value", "source", "line", "problem", "parent",
    "parent_row", "n_words", "n_passages", "repeated_share", "copied_share", "own_share", "is_emptied",
    *(field.name for field in FIELDS),
)  # fmt: skip


def carried_name(column: str) -> str:
    """Return the name of a carried column in ``documents.parquet``, where some names are taken.

    Examples
    --------
    >>> carried_name("language"), carried_name("source")
    ('language', 'input_source')
    """
    return f"input_{column}" if column in _OWN_COLUMNS else column


def check_carry(columns: Sequence[str], sources: Sequence[Source], parameter: str = "carry") -> None:
    """Refuse, before anything is read, documents in memory, and a column that no source has."""
    files = [source for source in sources if not isinstance(source, StoredSource) and has_columns(source.format)]
    if any(source.format == IN_MEMORY for source in sources):
        raise ParameterError(IN_MEMORY_INSTEAD, parameter=parameter)
    if not files:
        raise ParameterError(f"needs an input with columns. {sources[0].name} has none.", parameter=parameter)
    if len({*map(carried_name, columns)}) < len(columns):
        raise ParameterError.of(parameter, "columns with different names", ", ".join(columns))
    samples = [sample_of(source) for source in files]
    for column in columns:
        for source, sample in zip(files, samples, strict=True):
            check_unique(source.name, {parameter: column}, () if sample is None else sample.header)
        if all(sample is not None and not has_column(sample, column) for sample in samples):
            names = () if samples[0] is None else samples[0].names
            raise missing_column(files[0].name, parameter, column, names)


def carried_columns(columns: Sequence[str], chunks: Sequence[Chunk], n_inputs: int) -> Mapping[str, pa.Array]:
    """Return the values of each document by the names in ``documents.parquet``; int64 if all are integers."""
    batches = [chunk.batch() for chunk in chunks if chunk.start < n_inputs]
    return {
        carried_name(name): _joined([
            batch[field] if field in batch.schema.names else pa.nulls(batch.num_rows) for batch in batches
        ])
        for name, field in ((name, carried_field(i)) for i, name in enumerate(columns))
    }  # fmt: skip


def _joined(parts: Sequence[pa.Array]) -> pa.Array:
    types = {part.type for part in parts if part.null_count < len(part)}
    kind = pa.int64() if types == {pa.int64()} else pa.large_string()
    return pa.chunked_array([part.cast(kind) for part in parts], kind).combine_chunks()
