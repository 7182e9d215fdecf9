"""Sources → spool: read each document once, check, normalise, digest and store it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.records import I64
from nearkin.runs.arrays import mapped_batch
from nearkin.runs.files import make_work_folder, read_work_json, write_work_json
from nearkin.runs.progress import Progress, Silent
from nearkin.runs.spool import Spool
from nearkin.stages.documents.ids import IdKind
from nearkin.stages.documents.preparing import prepare, visible_lengths
from nearkin.stages.documents.rules import ReadingRules
from nearkin.wording import restored
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.reading.inputs import Input, LooseFilesInput
from nearkin.workflows.reading.texts import stop_at_problem

SOURCE_COLUMN = "source"
_NOTED = ("id_kind", "said")
"""Names in the note of a chunk."""


@dataclass(frozen=True, slots=True)
class InputRead:
    """Result of reading one input.

    Parameters
    ----------
    n_documents : int
    id_kind : IdKind
    n_chunks : int
    """

    n_documents: int
    id_kind: IdKind
    n_chunks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginningRead:
    """Beginning of an input that an interrupted run has stored in the spool.

    Parameters
    ----------
    n_chunks : int
    n_files : int
        Number of files before that of the last stored document.
    n_of_next : int
        Number of stored documents of that file, which may have more.
    n_documents : int
    id_kind : IdKind
    said : tuple of str
        Messages about the stored documents.
    """

    n_chunks: int = 0
    n_files: int = 0
    n_of_next: int = 0
    n_documents: int = 0
    id_kind: IdKind = IdKind.NONE
    said: tuple[str, ...] = ()

    @classmethod
    def of(cls, index: int, first_source: int, one: Input, spool: Spool) -> BeginningRead:
        """Return what the spool has of an input; only of documents in files of their own, which take long to extract.

        Other files are read again, because where a chunk ends in them is not known.
        """
        if not isinstance(one, LooseFilesInput):
            return cls()
        notes: list[Mapping[str, Any]] = []
        while (note := spool.note(index, len(notes))).exists() and spool.place(index, len(notes)).exists():
            notes.append(read_work_json(note, _NOTED))
        sources = [mapped_batch(spool.place(index, number))[SOURCE_COLUMN].to_numpy() for number in range(len(notes))]
        if not sources:
            return cls()
        last, n_of_next = int(sources[-1][-1]), 0
        for column in reversed(sources):
            n_here = int((column == last).sum())
            n_of_next += n_here
            if n_here < len(column):
                break
        return cls(
            n_chunks=len(notes),
            n_files=last - first_source,
            n_of_next=n_of_next,
            n_documents=sum(map(len, sources)),
            id_kind=IdKind.joint(note["id_kind"] for note in notes),
            said=tuple(restored(message) for note in notes for message in note["said"]),
        )

    def rest_of(self, one: Input) -> Input:
        """Return the input without this beginning."""
        if not isinstance(one, LooseFilesInput):
            return one
        return replace(one, n_files_done=self.n_files, n_documents_done=self.n_of_next)


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
    RunError
        Work of an interrupted run is damaged.
    """
    is_begun = spool.path.is_dir() and any(spool.path.iterdir())
    make_work_folder(spool.path)
    found, first_source = [], 0
    for index, one in enumerate(inputs):
        read = read_one(index, first_source, one, spool, options, rules=rules, threads=threads, progress=progress)
        spool.check(index, read.n_chunks, read.n_documents)
        found.append(read)
        first_source += len(one.names)
    if not is_begun:  # otherwise an interrupted run has read some of the texts
        options.normalise.ignored.say_not_found(progress.say)
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
    """Read one input into the spool, except what is there already.

    Of documents in files of their own, a note is written before each chunk: the kind of its ids, and what was said
    while it was read. A run that was interrupted continues after the last chunk.

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
        stored = read_work_json(mark, ("n_documents", "n_chunks", *_NOTED))
        for message in stored["said"]:
            progress.say(restored(message))
        return InputRead(stored["n_documents"], IdKind(stored["id_kind"]), stored["n_chunks"])

    def spool_batch(numbered: tuple[int, tuple[pa.RecordBatch, I64 | int, Mapping[str, object]]]) -> None:
        number, (batch, source, note) = numbered
        if isinstance(one, LooseFilesInput):
            write_work_json(spool.note(index, number), note)
        if spool.place(index, number).exists():
            return
        prepared = prepare_to_choose(batch, options, source_name=one.names[0])
        if rules.on_error == "stop":
            stop_at_problem(prepared, lambda row: one.names[int(np.broadcast_to(source, batch.num_rows)[row])])
        sources = np.broadcast_to(np.asarray(source, np.int32) + np.int32(first_source), batch.num_rows)
        spool.write(index, number, prepared.append_column(SOURCE_COLUMN, pa.array(sources)))

    before, heard = BeginningRead.of(index, first_source, one, spool), _Heard(progress)
    for message in before.said:
        heard.say(message)
    seen = _Seen(before, heard)
    batches = seen.through(before.rest_of(one).batches(heard))
    n_chunks = before.n_chunks
    for _ in map_ordered(spool_batch, enumerate(batches, before.n_chunks), threads=threads):
        n_chunks += 1
    read = InputRead(seen.n_documents, seen.id_kind, n_chunks)
    write_work_json(mark, {**asdict(read), "said": heard.said})
    return read


def prepare_to_choose(batch: pa.RecordBatch, options: DedupOptions, *, source_name: str) -> pa.RecordBatch:
    """Prepare a batch; if ``--keep`` compares lengths, they are the values to keep by."""
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
    """Observer of the batches that pass, which notes what is known of each."""

    def __init__(self, before: BeginningRead, heard: _Heard) -> None:
        self.n_documents = before.n_documents
        self.id_kind = before.id_kind
        self._heard = heard
        self._n_noted = len(heard.said)

    def through(
        self, batches: Iterable[tuple[pa.RecordBatch, I64 | int]]
    ) -> Iterator[tuple[pa.RecordBatch, I64 | int, Mapping[str, object]]]:
        for batch, source in batches:
            if not batch.num_rows:
                continue
            kind = IdKind.of(batch["doc_id"])
            self.n_documents += batch.num_rows
            self.id_kind = max(self.id_kind, kind)
            said = self._heard.said[self._n_noted :]
            self._n_noted += len(said)
            yield batch, source, {"id_kind": kind, "said": said}
