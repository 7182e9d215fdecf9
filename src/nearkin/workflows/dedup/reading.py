"""Sources → spool: read each document once, check, normalise, digest and store it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.records import I64
from nearkin.runs.files import read_checked_json, write_checked_json
from nearkin.runs.progress import Progress, Silent
from nearkin.runs.spool import Spool
from nearkin.stages.documents.ids import IdKind
from nearkin.stages.documents.preparing import prepare, visible_lengths
from nearkin.stages.documents.rules import ReadingRules
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.reading.inputs import Input
from nearkin.workflows.reading.problems import stop_at_problem

SOURCE_COLUMN = "source"


@dataclass(frozen=True, slots=True)
class InputRead:
    """Result of reading one input.

    Parameters
    ----------
    n_documents : int
    id_kind : IdKind
    """

    n_documents: int
    id_kind: IdKind


def read_all(
    inputs: Sequence[Input],
    spool: Spool,
    options: DedupOptions,
    *,
    rules: ReadingRules,
    threads: int,
    progress: Progress,
) -> tuple[InputRead, ...]:
    """Read every input into the spool, except what an interrupted run has already read.

    Raises
    ------
    DocumentError
        A document cannot be read, and the rules stop the run.
    TruncatedInputError
        A file is damaged, and the rules do not allow the part before the damage to be used.
    """
    spool.path.mkdir(exist_ok=True)
    found, first_source = [], 0
    for index, one in enumerate(inputs):
        found.append(
            read_one(index, first_source, one, spool, options, rules=rules, threads=threads, progress=progress)
        )
        first_source += len(one.names)
    return tuple(found)


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
    """Read one input into the spool, unless it is there already.

    Parameters
    ----------
    index : int
        Number of the input in the run.
    first_source : int
        Number of its first source among those of the run.
    """
    mark = spool.mark(index)
    if mark.exists():
        progress.advance(one.size_bytes)
        stored = read_checked_json(mark)
        for message in stored["said"]:
            progress.say(message)
        return InputRead(stored["n_documents"], IdKind(stored["id_kind"]))

    if not one.can_be_read_again:  # a pipe gives other data than the earlier run read from it
        spool.forget(index)

    def spool_batch(numbered: tuple[int, tuple[pa.RecordBatch, I64 | int]]) -> None:
        number, (batch, source) = numbered
        if spool.place(index, number).exists():
            return
        prepared = prepare_to_choose(batch, options, source_name=one.names[0])
        if rules.on_error == "stop":
            stop_at_problem(prepared, lambda row: one.names[int(np.broadcast_to(source, batch.num_rows)[row])])
        sources = np.broadcast_to(np.asarray(source, np.int32) + np.int32(first_source), batch.num_rows)
        spool.write(index, number, prepared.append_column(SOURCE_COLUMN, pa.array(sources)))

    seen, heard = _Seen(), _Heard(progress)
    for _ in map_ordered(spool_batch, enumerate(seen.through(one.batches(heard))), threads=threads):
        pass
    read = InputRead(seen.n_documents, seen.id_kind)
    write_checked_json(mark, {**asdict(read), "said": heard.said}, durable=False)
    return read


def prepare_to_choose(batch: pa.RecordBatch, options: DedupOptions, *, source_name: str) -> pa.RecordBatch:
    """Prepare a batch; if ``--keep`` compares lengths, they are the values to keep by.

    Earlier versions left these values null.
    """
    prepared = prepare(batch, options.normalise, source_name=source_name)
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


class _Seen:
    """Observer of the batches that pass."""

    def __init__(self) -> None:
        self.n_documents = 0
        self.id_kind = IdKind.NONE

    def through(
        self, batches: Iterable[tuple[pa.RecordBatch, I64 | int]]
    ) -> Iterator[tuple[pa.RecordBatch, I64 | int]]:
        for batch, source in batches:
            if not batch.num_rows:
                continue
            self.n_documents += batch.num_rows
            self.id_kind = max(self.id_kind, IdKind.of(batch["doc_id"]))
            yield batch, source
