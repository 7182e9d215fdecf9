"""Original texts of some documents, read again, because a run keeps only normalised texts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.records import I64
from nearkin.runs.progress import Progress
from nearkin.runs.spool import Chunk, Spool, texts_of
from nearkin.stages.documents.normalisation import AS_IT_CAME
from nearkin.stages.documents.preparing import prepare
from nearkin.workflows.dedup.files import RunResult
from nearkin.workflows.reading.changed import changed_while_read
from nearkin.workflows.reading.rereading import Reread

_BATCH_DOCUMENTS = 4096


@dataclass(frozen=True, slots=True)
class Originals:
    """Original texts.

    Parameters
    ----------
    rows : int64 array
        Rows of the documents, ascending.
    chunks : sequence of Chunk
        Their texts, in the same order.
    """

    rows: I64
    chunks: Sequence[Chunk]

    def text(self, row: int) -> str:
        """Return the text of a document."""
        return texts_of(self.chunks, [int(np.searchsorted(self.rows, row))])[0]


def read_originals(found: RunResult, rows: I64) -> Originals:
    """Read some documents again.

    Parameters
    ----------
    found : RunResult
    rows : int64 array
        Ascending.

    Raises
    ------
    SourceError
        A file has changed.
    """
    spool = Spool(found.directory.work / "originals")
    shutil.rmtree(spool.path, ignore_errors=True)  # left by an interrupted run
    spool.path.mkdir()
    n_sources = sum(len(one.names) for one in found.inputs)
    again = Reread(found.inputs, np.bincount(found.result.places.source, minlength=n_sources))
    with found.meter.stage("read again", sum(one.size_bytes for one in found.inputs), "bytes") as progress:
        for number, (some, texts) in enumerate(_texts(again, rows, progress)):
            before = found.result.corpus.n_characters[some]
            again.check_lengths(some, before, pc.utf8_length(texts), told=changed_while_read)
            spool.write(0, number, pa.record_batch([texts], names=["text"]))
    return Originals(rows, spool.chunks())


def _texts(again: Reread, rows: I64, progress: Progress) -> Iterator[tuple[I64, pa.LargeStringArray]]:
    """Yield the texts of the rows, some at a time; files without any of the rows are not opened."""
    for here, batch, name in again.batches(progress, rows):
        for i in range(0, len(batch), _BATCH_DOCUMENTS):
            some = slice(i, i + _BATCH_DOCUMENTS)
            yield here[some], prepare(batch.slice(i, _BATCH_DOCUMENTS), AS_IT_CAME, source_name=name)["text"]
