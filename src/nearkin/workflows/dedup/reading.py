"""Inputs → spool: read each document once, check, normalise, digest and store it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.options.dedup import DedupOptions
from nearkin.records import DOCUMENTS_SCHEMA, I64
from nearkin.runs.files import make_work_folder, read_work_json, write_checked_json
from nearkin.runs.progress import Progress, Silent
from nearkin.runs.spool import Spool
from nearkin.stages.documents.normalisation import prepare, visible_lengths
from nearkin.stages.documents.rows import IdKind
from nearkin.stages.documents.rules import ReadingRules
from nearkin.wording import restored
from nearkin.workflows.reading.inputs import Input
from nearkin.workflows.reading.texts import stop_at_problem

SOURCE_COLUMN = "source"


@dataclass(frozen=True, slots=True)
class InputRead:
    """Result of reading one input."""

    n_documents: int
    id_kind: IdKind
    n_chunks: int


def read_all(
    inputs: Sequence[Input],
    spool: Spool,
    options: DedupOptions,
    *,
    rules: ReadingRules,
    threads: int,
    progress: Progress,
) -> tuple[InputRead, ...]:
    """Read every input into the spool, except those that an interrupted run has read."""
    is_begun = spool.path.is_dir() and any(spool.path.iterdir())
    make_work_folder(spool.path)
    reads, first_source = list[InputRead](), 0
    for index, part in enumerate(inputs):
        read = read_one(index, first_source, part, spool, options, rules=rules, threads=threads, progress=progress)
        spool.check(index, read.n_chunks, read.n_documents)
        reads.append(read)
        first_source += len(part.sources)
    if not is_begun:  # otherwise an interrupted run has read some of the texts
        options.normalise.ignored.say_not_found(progress.say)
    return tuple(reads)


def read_one(
    index: int,
    first_source: int,
    one: Input,
    spool: Spool,
    options: DedupOptions,
    *,
    rules: ReadingRules,
    threads: int,
    progress: Progress,
) -> InputRead:
    """Read one input into the spool, unless an interrupted run has read all of it."""
    mark = spool.mark(index)
    if mark.exists():
        progress.advance(one.size_bytes)
        stored = read_work_json(mark)
        for message in stored["said"]:
            progress.say(restored(message))
        return InputRead(stored["n_documents"], IdKind(stored["id_kind"]), stored["n_chunks"])
    spool.forget(index)
    heard, n_documents, n_chunks, id_kind = _Heard(progress), 0, 0, IdKind.NONE

    def numbered() -> Iterator[tuple[int, pa.RecordBatch, I64]]:
        nonlocal n_documents, n_chunks, id_kind
        for number, (batch, sources) in enumerate(one.batches(heard)):
            n_documents, n_chunks = n_documents + batch.num_rows, number + 1
            id_kind = max(id_kind, IdKind.of(batch["doc_id"]))
            yield number, batch, sources

    def spool_batch(item: tuple[int, pa.RecordBatch, I64]) -> None:
        number, batch, sources = item
        prepared = prepare_to_choose(batch, options, source_name=one.source.name)
        if rules.on_error == "stop":
            stop_at_problem(prepared, lambda row: one.names[sources[row]])
        prepared = prepared.append_column(SOURCE_COLUMN, pa.array(sources + first_source, pa.int32()))
        for name in batch.schema.names[len(DOCUMENTS_SCHEMA) :]:  # carried columns
            prepared = prepared.append_column(name, batch[name])
        spool.write(index, number, prepared)

    for _ in map_ordered(spool_batch, numbered(), threads=threads):
        pass
    read = InputRead(n_documents, id_kind, n_chunks)
    write_checked_json(mark, {**asdict(read), "said": heard.said}, durable=False)
    return read


def prepare_to_choose(batch: pa.RecordBatch, options: DedupOptions, *, source_name: str) -> pa.RecordBatch:
    """Prepare a batch; if ``--keep`` compares lengths, they are the values to keep by."""
    prepared = prepare(batch, options.normalise, source_name=source_name, with_cased=options.looks_for_names)
    if not options.keep.is_by_length:
        return prepared
    lengths = visible_lengths(prepared["text"], is_collapsed=options.normalise.space).cast(pa.float64())
    return prepared.set_column(prepared.schema.get_field_index("keep_value"), "keep_value", lengths)


class _Heard(Silent):
    """Pass on progress and messages, and remember the messages, so that a resumed run can repeat them."""

    def __init__(self, progress: Progress) -> None:
        self.said: list[str] = []
        self._progress = progress

    def advance(self, n: int) -> None:
        self._progress.advance(n)

    def say(self, message: str) -> None:
        self.said.append(message)
        self._progress.say(message)
