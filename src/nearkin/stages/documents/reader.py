"""Reader of a source of any format as Arrow batches of documents."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from nearkin.errors import ParameterError
from nearkin.nouns import counted
from nearkin.paths import STDIN
from nearkin.stages.documents.checking import check_has_columns
from nearkin.stages.documents.encodings import check_encoding
from nearkin.stages.documents.faults import problem_of, truncated_input
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.rows import IdType, one_batch, problem_piece
from nearkin.stages.documents.sniffing import standard_input, unreadable
from nearkin.stages.documents.source import OpenedSource, Source, no_check, no_note
from nearkin.stages.documents.streams import Progress, StreamFault, no_progress
from nearkin.wording import WarningMessage

if TYPE_CHECKING:
    from nearkin.stages.documents.keeping import KeepColumn


def read_batches(
    source: Source,
    *,
    batch_bytes: int = 8 << 20,
    keep_column: str | None = None,
    progress: Progress = no_progress,
    stdin: BinaryIO | None = None,
    encoding: str = "utf-8",
    note: Callable[[str], None] = no_note,
    content: bytes | None = None,
    check: Callable[[Source, Sequence[str]], None] = no_check,
    carry: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Yield the documents of a source in batches.

    An unreadable record becomes a row with a null text and a ``problem``; so does a text that is not UTF-8, or longer
    than the source allows. In tables, texts that are not UTF-8 are returned unchanged. A file that breaks off is an
    error, or, if the source accepts damaged files, also a row (see :mod:`.damage`).

    The ids of a source are int64 while all are integers; from the first batch with another id on they are strings (see
    :class:`.rows.IdType`). The same source and ``batch_bytes`` give the same batches, and any ``batch_bytes`` gives the
    same rows.

    Parameters
    ----------
    source : Source
        From :func:`.sources.resolve_sources`.
    batch_bytes : int, default 8 MiB
        Approximate number of decompressed bytes per batch. A longer record has a batch of its own. Memory is
        bounded by a few times this, and by a few times the longest document that the source allows.
    keep_column : str, optional
        Its values become ``keep_value``: numbers, true as 1, dates and times as microseconds since 1970, others null.
        See :class:`.keep_column.KeepColumn`.
    progress : callable, optional
        Receives the number of bytes of the file consumed since the last call; they add up to its size.
    stdin : binary file, optional
        Standard input, or a copy of it, for the source "-".
    encoding : str, default "utf-8"
        Encoding of text that is not valid UTF-8 and has no byte order mark, in all formats except tables. A text file
        is judged as a whole, other files line by line, or by the first MiB of the file if lines cannot be judged (see
        :mod:`.encodings`).
    note : callable, optional
        Receives a sentence at the end of the source if some documents have no value in ``keep_column``; for a dump
        of Wikipedia, the number of omitted pages with reasons; for an accepted damaged file, where it breaks off.
    content : bytes, optional
        All bytes of the file, if it was read already: it is not opened again.
    check : callable, optional
        Receives a source whose columns were not known, with those that were chosen, and the names of all; it may refuse
        them.
    carry : sequence of str
        More columns, which follow in batches under the names of `.rows.carried_field`.

    Yields
    ------
    RecordBatch
        Table with `records.DOCUMENTS_SCHEMA`; ``doc_id`` may be int64.

    Raises
    ------
    SourceError
        With the first batch: the file cannot be opened, or lacks a column.
    TruncatedInputError
        The file is truncated or damaged; all earlier documents have been yielded.
    ParameterError
        A parameter breaks its rule.
    """
    encoding = check_encoding(encoding)
    if batch_bytes < 1:
        raise ParameterError.of("batch_bytes", "an int >= 1", batch_bytes)
    keep = None
    if keep_column is not None:
        from nearkin.stages.documents.keeping import KeepColumn, noting_values_without_number

        check_has_columns(source.name, source.format)
        keep = KeepColumn(keep_column)
    batches = batches_of(source, batch_bytes, keep, progress, stdin, encoding, note, content, check, carry)
    batches = _until_damage(source, batches, note)
    yield from batches if keep is None else noting_values_without_number(batches, source.name, keep, note)


def _until_damage(
    source: Source, batches: Iterator[pa.RecordBatch], note: Callable[[str], None]
) -> Iterator[pa.RecordBatch]:
    """Yield the batches; if the file breaks off, raise an error, or yield a row that says so."""
    n_documents = 0
    try:
        for batch in batches:
            yield batch
            n_documents += len(batch)
    except StreamFault as fault:
        if not source.takes_damaged:
            raise truncated_input(source.name, fault, n_documents) from fault
        note(
            WarningMessage(
                f"{source.name}: {fault}. Only what comes before is used: {counted(n_documents, 'document')}"
            )
        )
        problem = problem_of("truncated", str(fault))
        yield one_batch([problem_piece(fault.line or n_documents + 1, problem)], IdType())


def batches_of(
    source: Source,
    batch_bytes: int,
    keep: KeepColumn | None,
    progress: Progress,
    stdin: BinaryIO | None,
    encoding: str,
    note: Callable[[str], None],
    content: bytes | None = None,
    check: Callable[[Source, Sequence[str]], None] = no_check,
    carry: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of an opened source; parameters as for `read_batches`.

    Raises
    ------
    StreamFault
        The file breaks off; all earlier documents have been yielded.
    """
    with _opened(source, stdin) if content is None else io.BytesIO(content) as raw:
        opened = OpenedSource(
            source=source,
            raw=raw,
            batch_bytes=batch_bytes,
            keep=keep,
            progress=progress,
            encoding=encoding,
            note=note,
            check=check,
            carry=carry,
        )
        yield from FORMATS[source.format].read(opened)


def _opened(source: Source, stdin: BinaryIO | None) -> AbstractContextManager[BinaryIO]:
    """Open the file, to be closed after use; standard input is left open."""
    if source.path == STDIN:
        return nullcontext(standard_input(stdin))
    try:
        return Path(source.path).open("rb", buffering=0)
    except OSError as error:
        raise unreadable(source.name, error) from error
