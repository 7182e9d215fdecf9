"""Records without ids from standard input or a pipe, which have no lasting names.

They would be named after their line in every run, such as ``-:1``, and those of one day would replace those of another.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from nearkin import _compute as pc
from nearkin.errors import Named, SourceError
from nearkin.stages.documents.columns import listed_columns
from nearkin.stages.documents.formats import FORMATS, is_of_documents
from nearkin.stages.documents.sniffing import head_of_stdin, standard_input
from nearkin.stages.documents.sources import STDIN, Source
from nearkin.workflows.reading.inputs import FileInput
from nearkin.workflows.reading.standard_input import is_pipe
from nearkin.workflows.reading.texts import RawBatch, Texts


def refuse_unnamed(texts: Texts) -> None:
    """Refuse a pipe whose columns are visible, and of which none is the id.

    Raises
    ------
    SourceError
    """
    for one in texts.inputs:
        if isinstance(one, FileInput) and one.source.text is not None and one.source.id is None and is_pipe(one.source):
            raise _without_ids(one.source, _columns(one))


def with_names(raw: RawBatch, sources: Sequence[Source]) -> pa.RecordBatch:
    """Return the batch of a source; a record of a pipe without a value in the column of its ids becomes a problem.

    Raises
    ------
    SourceError
        The records of a pipe have no ids.
    """
    batch, source = raw.batch, sources[raw.sources[0]]
    if not batch["doc_id"].null_count or is_of_documents(source.format) or not is_pipe(source):
        return batch
    has_no_name = pc.and_(batch["doc_id"].is_null(), batch["problem"].is_null())
    is_one = np.asarray(has_no_name.to_numpy(zero_copy_only=False))
    if not is_one.any():
        return batch
    if source.id is None:
        raise _without_ids(source, ())
    said = f"the id is missing: no value in {listed_columns([source.id])!r}, and a record of {_shown(source)} needs one"
    problems = pc.if_else(pa.array(is_one), pa.scalar(said, pa.large_string()), batch["problem"])
    return batch.set_column(batch.schema.get_field_index("problem"), batch.schema.field("problem"), problems)


def _columns(one: FileInput) -> Sequence[str]:
    """Return the columns of standard input before it is read; none of another pipe."""
    source = one.source
    if source.path != STDIN:
        return ()
    sample = FORMATS[source.format].sample(head_of_stdin(standard_input(one.stdin), one.encoding), source.delimiter)
    return () if sample is None else sample.names


def _without_ids(source: Source, columns: Sequence[str]) -> SourceError:
    shown, save = _shown(source), "write the records to a file, with a new name for each delivery"
    among = f" Its columns are: {listed_columns(columns)}." if columns else ""
    by_column = ("Name the column of the ids with ", Named("id"), f".{among} If there is none, {save}")
    return SourceError(
        f"{shown[0].upper()}{shown[1:]} has records without ids. They would be named {source.name}:1, {source.name}:2, "
        "… in every run, so other records would replace them. ",
        *(by_column if FORMATS[source.format].has_columns else [save.capitalize()]),
        ": its documents are named FILE:LINE.",
    )


def _shown(source: Source) -> str:
    return "standard input" if source.path == STDIN else f"the pipe {source.name}"
