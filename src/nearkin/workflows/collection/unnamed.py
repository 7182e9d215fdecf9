"""Records without ids from standard input, which have no lasting names.

They would be named after their line in every run, such as ``-:1``, and those of one day would replace those of another.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import SourceError
from nearkin.paths import STDIN
from nearkin.stages.documents.columns import listed_columns
from nearkin.stages.documents.formats import FORMATS, is_of_documents
from nearkin.stages.documents.sniffing import head_of_stdin, standard_input
from nearkin.stages.documents.source import Source
from nearkin.workflows.reading.inputs import FileInput, StoredSource
from nearkin.workflows.reading.texts import RawBatch, Texts


def refuse_unnamed(texts: Texts) -> None:
    """Refuse standard input whose format has no ids, or whose columns are visible, and of which none is the id.

    Raises
    ------
    SourceError
    """
    for one in texts.inputs:
        if not isinstance(one, FileInput) or one.source.id is not None or _has_lasting_names(one.source):
            continue
        form = FORMATS[one.source.format]
        if one.source.text is not None or not form.has_ids:
            raise _without_ids(one.source, _columns(one))


class NamedRecords:
    """Batches in which a record of standard input without an id is a problem.

    Parameters
    ----------
    sources : sequence of Source
        Files that the batches are from.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources

    def of(self, raw: RawBatch) -> pa.RecordBatch:
        """Return the batch of a source."""
        batch, source = raw.batch, self._sources[raw.sources[0]]
        if not batch["doc_id"].null_count or _has_lasting_names(source):
            return batch
        has_no_name = pc.and_(batch["doc_id"].is_null(), batch["problem"].is_null())
        is_one = np.asarray(has_no_name.to_numpy(zero_copy_only=False))
        if not is_one.any():
            return batch
        said = f"{_missing(source)}, and a record of standard input needs one: add it, or save the input to a file"
        problems = pc.if_else(pa.array(is_one), pa.scalar(said, pa.large_string()), batch["problem"])
        return batch.set_column(batch.schema.get_field_index("problem"), batch.schema.field("problem"), problems)


def check_has_ids(source: Source, names: Sequence[str]) -> None:
    """Refuse standard input without an id among its columns, which are not known before it is read.

    Raises
    ------
    SourceError
    """
    if source.id is None and FORMATS[source.format].has_columns and not _has_lasting_names(source):
        raise _without_ids(source, names)


def _has_lasting_names(source: Source) -> bool:
    """Whether a document is named after a file; one in standard input is not."""
    if isinstance(source, StoredSource) or is_of_documents(source.format):
        return True
    return source.path != STDIN


def _missing(source: Source) -> str:
    if source.id is not None:
        return f"the id is missing: no value in {listed_columns([source.id])!r}"
    return "the id is missing: nothing before the tab" if source.format == "lines" else "the id is missing"


def _columns(one: FileInput) -> Sequence[str]:
    """Return the columns of standard input, before it is read."""
    source, form = one.source, FORMATS[one.source.format]
    head = head_of_stdin(standard_input(one.stdin), one.encoding)
    sample = form.sample(head, source.delimiter)
    return () if sample is None else sample.names


def _without_ids(source: Source, columns: Sequence[str]) -> SourceError:
    form = FORMATS[source.format]
    records = "records" if form.has_ids else "lines"
    save = f"write the {records} to a file, with a new name for each delivery: its documents are named FILE:LINE."
    among = f" Its columns are: {listed_columns(columns)}." if columns else ""
    if form.has_columns:
        advice = f"Name the column of the ids with --id.{among} If there is none, {save}"
    else:
        advice = f"Put an id and a tab before each text and use --format lines, or {save}"
    return SourceError(
        f"Standard input has {records} without ids. They would be named {source.name}:1, {source.name}:2, … in every "
        f"run, so the {records} of the next run would replace these. {advice}"
    )
