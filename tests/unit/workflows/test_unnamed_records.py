"""Records of a pipe without ids: whether they are refused depends on the columns, not on how they are batched."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from nearkin.collection.loads.incoming import incoming_of
from nearkin.errors import SourceError
from nearkin.stages.documents.source import Source
from nearkin.workflows.collection.adding import NamedRecords, check_has_ids
from nearkin.workflows.reading.texts import RawBatch


def test_standard_input_is_refused_if_it_has_no_column_of_ids() -> None:
    path = "-"
    check_has_ids(Source(path=path, name=path, format="jsonl", text="text", id="id"), ["id", "text"])
    with pytest.raises(SourceError, match=r"Its columns are: text\."):
        check_has_ids(Source(path=path, name=path, format="jsonl", text="text"), ["text"])


def test_a_batch_of_standard_input_without_any_id_is_a_batch_of_problems() -> None:
    path = "-"
    batch = incoming_of(["a"], ["one text"], [1], path).batch
    raw = RawBatch(
        batch.set_column(0, batch.schema.field(0), pa.nulls(1, pa.large_string())), np.zeros(1, np.int64), path
    )
    (problem,) = NamedRecords([Source(path=path, name=path, format="jsonl")]).of(raw)["problem"].to_pylist()
    assert problem.startswith("no such column: the id is missing, and a record of standard input")
