"""Files → the similarity index and the keys of each document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nearkin.collection.opened import chosen
from nearkin.collection.stored.key_table import BAND, EXACT, SAMPLE, keys_of
from nearkin.kernels.buffers import strings
from nearkin.runs.progress import Meter, Progress
from nearkin.stages.documents.members import place_text
from nearkin.stages.documents.normalisation import AS_IT_CAME
from nearkin.stages.signatures.similarity_index import SimilarityIndex
from nearkin.tabular import AnswerRecord
from nearkin.workflows.reading.texts import TextBatch, Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedText(AnswerRecord):
    """Numbers of a document that a repository can store as its properties.

    Parameters
    ----------
    band_keys, sample_keys
        Together with ``text_key`` the rows of ``check_keys``.
    problem
        Why the document could not be read; it has no numbers then.
    """

    hidden = ("doc_id",)
    computed = ("id=doc_id",)

    doc_id: str
    source: str
    line: int
    similarity_index: int | None = None
    text_key: int | None = None
    band_keys: tuple[int, ...] = ()
    sample_keys: tuple[int, ...] = ()
    problem: str | None = None


def index_files(texts: Texts, index: SimilarityIndex | str | None, progress: Progress) -> Iterator[IndexedText]:
    """Yield the numbers of every document, in reading order."""
    method = chosen(index) or SimilarityIndex()
    n_unreadable, n_documents, first = 0, 0, ""
    with Meter(progress).stage("index", texts.size_bytes, "bytes") as counted:
        for raw in texts.raw_batches(counted):
            for row in _indexed(texts.prepare(raw, AS_IT_CAME), texts, method):
                n_documents += 1
                if row.problem is not None:
                    n_unreadable += 1
                    first = first or f"{place_text(row.doc_id, row.source, row.line)}: {row.problem}"
                yield row
    texts.rules.check_readable(n_unreadable, n_documents, first)


def _indexed(batch: TextBatch, texts: Texts, method: SimilarityIndex) -> Iterator[IndexedText]:
    rows, prepared = batch.prepared, batch.texts.to_pylist()
    indexes, keys = method.index(strings(prepared)), keys_of(prepared)
    bounds = np.searchsorted(keys.texts, np.arange(len(prepared) + 1))
    columns = (rows[name].to_pylist() for name in ("doc_id", "line", "problem"))
    for row, (doc_id, line, problem) in enumerate(zip(*columns, strict=True)):
        source = texts.names[batch.sources[row]]
        if problem is not None:
            yield IndexedText(doc_id=doc_id, source=source, line=line, problem=problem)
            continue
        part = slice(bounds[row], bounds[row + 1])
        of = {kind: tuple(keys.values[part][keys.kinds[part] == kind].tolist()) for kind in (EXACT, BAND, SAMPLE)}
        yield IndexedText(
            doc_id=doc_id,
            source=source,
            line=line,
            similarity_index=int(indexes.values[row]) if indexes.has_value[row] else None,
            text_key=of[EXACT][0],
            band_keys=of[BAND],
            sample_keys=of[SAMPLE],
        )
