"""The kind of ids is that of the whole column, wherever batches end and whatever rows cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin.stages.documents.normalisation import Normalisation, prepare
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.rows import IdKind, given_ids
from nearkin.stages.documents.sources import Source

BROKEN = "broken"
ids = st.none() | st.just(BROKEN) | st.integers(-(2**63), 2**63 - 1) | st.sampled_from(["x", "007", "1.5", "é"])
mostly_integers = st.none() | st.just(BROKEN) | st.integers(-9, 2**63 - 1)
columns = st.lists(mostly_integers, max_size=12) | st.lists(ids, max_size=12)


def written(path: Path, suffix: str, column: list[object]) -> Source:
    lines = {
        "jsonl": ['{"id": 1, "te' if one == BROKEN else json.dumps({"id": one, "text": "t"}) for one in column],
        "csv": ["id,text", *("1,a,b" if one == BROKEN else f"{'' if one is None else one},t" for one in column)],
        "lines": ["no tab" if one == BROKEN else f"{'' if one is None else one}\tt" for one in column],
    }[suffix]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    has_columns = suffix != "lines"
    text, id_column = ("text", "id") if has_columns else (None, None)
    return Source(
        path=str(path),
        name="in",
        format=suffix,
        text=text,
        id=id_column,
        size_bytes=path.stat().st_size,
        delimiter="," if suffix == "csv" else None,
    )


def expected_kind(column: list[object]) -> IdKind:
    there = [one for one in column if one not in (None, BROKEN)]
    if not there:
        return IdKind.NONE
    return IdKind.INTEGERS if all(isinstance(one, int) for one in there) else IdKind.STRINGS


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "lines"])
@pytest.mark.parametrize("batch_bytes", [1, 40, 1 << 20])
@given(column=columns)
@settings(deadline=None, max_examples=examples(40))
def test_the_kind_is_that_of_all_ids_that_are_there(tmp_path_factory, suffix, batch_bytes, column):
    path = tmp_path_factory.mktemp("ids") / "in"
    source = written(path, suffix, column)
    batches = list(read_batches(source, batch_bytes=batch_bytes))
    kind = IdKind.joint(IdKind.of(batch["doc_id"]) for batch in batches)
    assert kind == expected_kind(column)
    found = []
    for batch in batches:
        prepared = prepare(batch, Normalisation(), source_name="in")
        found += given_ids(prepared["doc_id"], prepared["has_id"], kind).to_pylist()
    first = 2 if suffix == "csv" else 1
    if kind == IdKind.NONE:
        assert found == [f"in:{line}" for line in range(first, first + len(column))]
        return
    there = [None if one in (None, BROKEN) else one for one in column]
    assert found == (there if kind == IdKind.INTEGERS else [None if one is None else str(one) for one in there])
