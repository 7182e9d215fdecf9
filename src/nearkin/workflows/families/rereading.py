"""The texts of some documents as they came, read again: a run keeps only what it compares."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.records import I64
from nearkin.runs.progress import Progress
from nearkin.runs.spool import Chunk, Spool, texts_of
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.documents.preparing import prepare
from nearkin.workflows.dedup.files import Found
from nearkin.workflows.reading.inputs import Input, LooseFilesInput

_AS_IT_CAME = Normalisation.parse("none")
_BATCH_DOCUMENTS = 4096


@dataclass(frozen=True, slots=True)
class Originals:
    """Texts as they came.

    Parameters
    ----------
    rows : int64 array
        Of the documents, rising.
    chunks : sequence of Chunk
        Their texts, in the same order.
    """

    rows: I64
    chunks: Sequence[Chunk]

    def text(self, row: int) -> str:
        """Of one of the documents."""
        return texts_of(self.chunks, [int(np.searchsorted(self.rows, row))])[0]


def reread(found: Found, rows: I64) -> Originals:
    """Read some documents again.

    Parameters
    ----------
    found : Found
    rows : int64 array
        Rising.

    Raises
    ------
    SourceError
        A file is not what it was.
    """
    spool = Spool(found.directory.work / "originals")
    shutil.rmtree(spool.path, ignore_errors=True)  # of a run that was interrupted here
    spool.path.mkdir()
    n_read = 0
    with found.meter.stage("read again", sum(one.size_bytes for one in found.inputs), "bytes") as progress:
        for number, texts in enumerate(_texts(found, rows, progress)):
            n = len(texts)
            lengths = found.result.corpus.n_characters[rows[n_read : n_read + n]]
            if len(lengths) < n or lengths.tolist() != [len(text) for text in texts.to_pylist()]:
                raise _changed()
            spool.write(0, number, pa.record_batch([texts], names=["text"]))
            n_read += n
    if n_read != len(rows):
        raise _changed()
    return Originals(rows, spool.chunks())


def _changed() -> SourceError:
    return SourceError(
        "A file of the input changed while it was read. Run again when nothing writes to it, or on a copy."
    )


def _texts(found: Found, rows: I64, progress: Progress) -> Iterator[pa.LargeStringArray]:
    """The texts of the rows, batch by batch; files without any of them stay closed."""
    source = found.result.places.source
    first_source = 0
    for one in found.inputs:
        start, end = np.searchsorted(source, [first_source, first_source + len(one.names)])
        wanted = rows[(rows >= start) & (rows < end)]
        if len(wanted):
            yield from _of_input(one, wanted, int(start), source[wanted] - first_source, progress)
        else:
            progress.advance(one.size_bytes)
        first_source += len(one.names)


def _of_input(
    one: Input, wanted: I64, start: int, sources: Sequence[int], progress: Progress
) -> Iterator[pa.LargeStringArray]:
    if isinstance(one, LooseFilesInput):  # a document is a file: only those that are wanted are opened
        one = replace(one, sources=tuple(one.sources[i] for i in sources))
        wanted, start = np.arange(len(wanted)), 0
    for batch, _ in one.batches(progress):
        inside = wanted[(wanted >= start) & (wanted < start + batch.num_rows)]
        start += batch.num_rows
        for i in range(0, len(inside), _BATCH_DOCUMENTS):
            chosen = batch.take(pa.array(inside[i : i + _BATCH_DOCUMENTS] - (start - batch.num_rows)))
            yield prepare(chosen, _AS_IT_CAME, source_name=one.names[0])["text"]
