"""Stream of documents in JSON Lines → an answer for each line, after its document is stored durably."""

from __future__ import annotations

import io
import time
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

from nearkin.collection.check_in.checking import expected_recall
from nearkin.collection.check_in.results import CheckAnswer, CheckInMany, CheckOptions, StreamSummary
from nearkin.collection.loads.incoming import SeenIds
from nearkin.errors import DocumentError, SourceError
from nearkin.stages.documents.normalisation import AS_IT_CAME, prepare
from nearkin.stages.documents.readers.jsonl import JsonLines
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, STOPPED, ReadingRules, reason_of, too_long
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.stages.documents.streams import ByteStream

if TYPE_CHECKING:
    from nearkin.collection.collection import Collection

_WHITE = b" \t\r\n"
MAX_LINES = 64
_READ_BYTES = 1 << 18
_BATCH_BYTES = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamColumns:
    """Keys of a line's object."""

    text: str = "text"
    doc_id: str = "id"


@dataclass(frozen=True, slots=True)
class LineAnswer:
    """Answer for one line.

    Parameters
    ----------
    is_repeated
        Whether an earlier line of the stream, whose document is stored, has the same id and text.
    """

    line: int
    doc_id: str | None
    answer: CheckAnswer
    data: bytes
    is_repeated: bool = False

    @property
    def is_kept(self) -> bool:
        """Whether the line is part of the cleaned stream."""
        return self.answer.is_kept and not self.is_repeated

    def to_dict(self) -> dict[str, object]:
        """Return the line's number and the answer, as JSON types."""
        answer = self.answer.to_dict()
        if "is_kept" in answer:
            answer["is_kept"] = self.is_kept
        return {"line": self.line, **answer, "id": self.doc_id}


@dataclass(frozen=True, slots=True)
class _ReadLine:
    """A line that is not blank: its document, or the reason why it cannot be read."""

    line: ArrivedLine
    doc_id: str | None
    text: str
    problem: str | None


def _is_repeated(row: _ReadLine, answer: CheckAnswer, seen: SeenIds) -> bool:
    """Whether an earlier line of a stream that is stored has the same id and text; if not, mark this one."""
    both = [f"{row.doc_id}\0{row.text}"]
    if answer.checked is None or (answer.is_resent and seen.has(both)[0]):
        return answer.checked is not None
    seen.mark(both)
    return False


def check_stream(
    collection: Collection,
    stream: BinaryIO,
    answered: Callable[[Sequence[LineAnswer]], None],
    *,
    options: CheckOptions,
    store: CheckInMany | None,
    columns: StreamColumns,
    rules: ReadingRules,
) -> StreamSummary:
    """Check every line of a stream, in order, and store documents on request.

    Lines that have arrived together are stored in one transaction.
    """
    started, first_problem, n_unreadable = time.perf_counter(), "", 0
    summary = StreamSummary(
        threshold=options.threshold, containment=options.containment, expected_recall=expected_recall(options)
    )
    seen = SeenIds()
    for lot in arriving_lines(stream, max_line_bytes=rules.max_document_bytes):
        rows = list(_rows(lot, columns, rules, are_stored=store is not None))
        if rules.on_error == "stop":
            rows = _until_problem(rows)
        answers = _answers(collection, rows, options, store, seen, stops=rules.on_error == "stop")
        _count(summary, answers)
        n_unreadable += sum(row.problem is not None for row in rows)
        answered(answers)
        bad = next((answer for answer in answers if answer.answer.checked is None), None)
        if bad is not None:
            place = f"line {bad.line}: {bad.answer.problem}"
            if rules.on_error == "stop":
                done = "answered" if store is None else "stored as answered"
                raise DocumentError(f"{place.removesuffix('.')}. {STOPPED} The documents before it are {done}.")
            first_problem = first_problem or place
    summary.elapsed_s = round(time.perf_counter() - started, 3)
    if n_unreadable == summary.n_documents:
        rules.check_readable(n_unreadable, summary.n_documents, first_problem)
    elif not any(summary.verdicts.values()):
        done = "checked" if store is None else "stored"
        raise SourceError(f"No document could be {done}. The first: {first_problem.removesuffix('.')}.")
    return summary


def _rows(
    lot: Iterable[ArrivedLine], columns: StreamColumns, rules: ReadingRules, *, are_stored: bool
) -> Iterator[_ReadLine]:
    lines = [line for line in lot if line.is_too_long or line.data.strip(_WHITE)]
    whole = [line.data for line in lines if not line.is_too_long]
    read = _documents(whole, text=columns.text, doc_id=columns.doc_id)
    for line in lines:
        if line.is_too_long:
            yield _ReadLine(line, None, "", str(too_long(None, rules.max_document_bytes)))
            continue
        doc_id, text, problem = next(read)
        if problem is not None and reason_of(problem) == "no such column":
            problem += "; name the key of the texts with --text"
        if problem is None and are_stored and not (doc_id or "").strip():
            problem = (
                f"the object has no key {columns.doc_id!r}, or its value is empty; an id is needed to store a document"
            )
        yield _ReadLine(line, doc_id, text, problem)


def _until_problem(rows: Sequence[_ReadLine]) -> list[_ReadLine]:
    first = next((i for i, row in enumerate(rows) if row.problem is not None), len(rows))
    return list(rows[: first + 1])


def _answers(
    collection: Collection,
    rows: Sequence[_ReadLine],
    options: CheckOptions,
    store: CheckInMany | None,
    seen: SeenIds,
    *,
    stops: bool,
) -> list[LineAnswer]:
    good = [row for row in rows if row.problem is None]
    if store is not None:
        store = replace(store, lines=[row.line.number for row in good])
    documents = [(row.doc_id or "", row.text) for row in good]
    checked = iter(
        collection.check_many(documents, options=options, store=store, stops_at_problem=stops) if good else ()
    )
    answers = list[LineAnswer]()
    for row in rows:
        problem = CheckAnswer(doc_id=row.doc_id or "", problem=row.problem)
        answer = problem if row.problem is not None else next(checked)
        is_repeated = store is not None and _is_repeated(row, answer, seen)
        answers.append(LineAnswer(row.line.number, row.doc_id, answer, row.line.data, is_repeated))
        if stops and answer.checked is None:
            break
    return answers


def _count(summary: StreamSummary, answers: Sequence[LineAnswer]) -> None:
    for answer in answers:
        summary.n_documents += 1
        checked = answer.answer.checked
        if checked is None:
            summary.n_purged += answer.answer.is_purged
            summary.n_problems += not answer.answer.is_purged
            continue
        summary.verdicts[checked.verdict] += 1
        if checked.expected_recall_of_parts is not None:
            summary.parts.take(checked.expected_recall_of_parts)
        summary.n_hot += checked.n_hot_keys > 0 and checked.verdict != "exact"
        summary.n_kept += answer.is_kept
        summary.n_already_stored += answer.answer.is_resent
        summary.n_repeated += answer.is_repeated
        summary.n_purged += checked.is_purged
        summary.n_stored += checked.stored_as is not None and not answer.answer.is_resent


@dataclass(frozen=True, slots=True)
class ArrivedLine:
    """A line of a stream, numbered from 1, without its newline; empty if it is too long."""

    number: int
    data: bytes
    is_too_long: bool = False


def arriving_lines(
    stream: BinaryIO, *, max_lines: int = MAX_LINES, max_line_bytes: int = MAX_DOCUMENT_BYTES
) -> Iterator[list[ArrivedLine]]:
    """Yield the lines that have arrived, in batches of at most ``max_lines`` and about 4 MiB.

    A batch is yielded as soon as a line is complete and no more can be read without waiting, so a program that waits
    for its answer gets it.
    """
    parts, n_held, n_dropped, number = list[bytes](), 0, 0, 0  # of the line whose end has not arrived
    lot, n_bytes = list[ArrivedLine](), 0
    while True:
        piece = stream.read1(_READ_BYTES)  # type: ignore[attr-defined]  # every buffered binary file has it
        *whole, rest = piece.split(b"\n") if piece or not (n_held or n_dropped) else [b"", b""]
        for end in whole:
            parts.append(end)
            number += 1
            is_too_long = n_dropped + n_held + len(end) > max_line_bytes
            data = b"" if is_too_long else b"".join(parts)
            lot.append(ArrivedLine(number, data.removeprefix(BOM_UTF8) if number == 1 else data, is_too_long))
            n_bytes += len(lot[-1].data)
            parts, n_held, n_dropped = [], 0, 0
            if len(lot) == max_lines or n_bytes > _BATCH_BYTES:
                yield lot
                lot, n_bytes = [], 0
        parts.append(rest)
        n_held += len(rest)
        if n_held > max_line_bytes:
            parts, n_held, n_dropped = [], 0, n_dropped + n_held
        if lot and len(piece) < _READ_BYTES:  # nothing more is there
            yield lot
            lot, n_bytes = [], 0
        if not piece:
            return


def _documents(lines: Sequence[bytes], *, text: str, doc_id: str) -> Iterator[tuple[str | None, str, str | None]]:
    """Yield id, text and problem of each line, a JSON object with members ``text`` and ``doc_id``; no line is blank."""
    # behind a blank line no line is taken for the byte order mark of a file, which would decode all the others by it
    source = Source(path="", name="", format="jsonl", text=text, id=doc_id, max_document_bytes=1 << 40)
    opened = OpenedSource(source=source, raw=io.BytesIO(b"\n" + b"\n".join(lines)), batch_bytes=_BATCH_BYTES)
    for batch in JsonLines().read(ByteStream(opened.raw, "none"), opened):
        prepared = prepare(batch, AS_IT_CAME, source_name="")
        columns = (prepared[name].to_pylist() for name in ("doc_id", "has_id", "text", "problem"))
        for own_id, has_id, own_text, problem in zip(*columns, strict=True):
            yield own_id if has_id else None, own_text, problem
