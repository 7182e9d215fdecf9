"""Documents of finished runs that have no ids of their own: a collection stores them under the names of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.records import Bool
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.inputs import StoredSource
from nearkin.workflows.reading.kept_documents import KeptDocuments
from nearkin.workflows.reading.texts import RawBatch


class NamedByRun(NamedTuple):
    """Documents with the names of their run.

    Parameters
    ----------
    raw : RawBatch
    are_places : bool array, shape (n_documents,), or None
        Which ids say only where the run read the document, such as ``forum.csv:2``; None for documents of no run.
    """

    raw: RawBatch
    are_places: Bool | None


def named_by_run(raw: RawBatch, sources: Sequence[Source]) -> NamedByRun:
    """Return the documents of a source; those of a run that have no id get their name in the run."""
    source = sources[raw.sources[0]]
    if not isinstance(source, StoredSource) or not isinstance(source.documents, KeptDocuments):
        return NamedByRun(raw, None)
    names, are_places = source.documents.named(raw.batch["line"])
    batch = raw.batch
    if names is not None and batch["doc_id"].null_count:
        ids = pc.coalesce(batch["doc_id"].cast(pa.large_string()), names)
        batch = pa.RecordBatch.from_arrays([ids, *batch.columns[1:]], names=batch.schema.names)
        batch = batch.replace_schema_metadata(raw.batch.schema.metadata)
    return NamedByRun(raw._replace(batch=batch), are_places)
