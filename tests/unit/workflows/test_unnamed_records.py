"""Records of a pipe without ids: each is a problem, however they are batched."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from nearkin.collection.loads.incoming import incoming_of
from nearkin.stages.documents.source import Source
from nearkin.workflows.collection.adding import NO_ID, named
from nearkin.workflows.reading.texts import RawBatch


def test_a_batch_of_standard_input_without_any_id_is_a_batch_of_problems() -> None:
    path = "-"
    batch = incoming_of(["a"], ["one text"], [1], path).batch
    raw = RawBatch(
        batch.set_column(0, batch.schema.field(0), pa.nulls(1, pa.large_string())), np.zeros(1, np.int64), path
    )
    source = Source(path=path, name=path, format="jsonl")
    assert named(raw, source)["problem"].to_pylist() == [NO_ID]
    assert named(raw._replace(batch=batch), source)["problem"].to_pylist() == [None]
