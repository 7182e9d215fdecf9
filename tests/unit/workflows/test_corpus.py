"""Exact copies: equal digests, all of them, and nothing less."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.kernels import choosing
from nearkin.runs.spool import Spool
from nearkin.stages.documents.preparing import PREPARED_SCHEMA
from nearkin.workflows.dedup.corpus import EMPTY, NO_NODE, READABLE, UNREADABLE, survey


def corpus_of(folder, rows, *, n_inputs=None, per_chunk=3):
    """From (id, text, digest of four numbers, problem)."""
    spool = Spool(folder)
    for number, start in enumerate(range(0, len(rows), per_chunk)):
        some = rows[start : start + per_chunk]
        digests = pa.array([np.array(d, np.uint64).tobytes() for _, _, d, _ in some], pa.binary(32))
        columns = {
            "doc_id": [doc_id for doc_id, *_ in some],
            "text": [text for _, text, *_ in some],
            "digest": digests,
            "n_characters": [len(text) for _, text, *_ in some],
            "line": list(range(start + 1, start + 1 + len(some))),
            "problem": [problem for *_, problem in some],
            "keep_value": [None] * len(some),
            "has_id": [True] * len(some),
        }
        spool.write(0, number, pa.RecordBatch.from_pydict(columns, schema=PREPARED_SCHEMA))
    is_against = n_inputs is not None
    return survey(spool.chunks(), n_inputs if is_against else len(rows), is_against=is_against)


digests = st.tuples(*[st.integers(0, 1)] * 4)  # so that most agree in some words and differ in others


@pytest.mark.parametrize("kind", ["compiled", "plain"])
@given(st.lists(st.tuples(digests, st.sampled_from(["readable", "empty", "bad"])), max_size=25))
def test_nodes_are_the_distinct_digests_in_order_of_first_occurrence(tmp_path_factory, kind, documents):
    rows = [
        (f"d{i}", "" if kind == "empty" else "t", digest, "bad" if kind == "bad" else None)
        for i, (digest, kind) in enumerate(documents)
    ]
    choosing.ALWAYS = kind
    try:
        corpus = corpus_of(tmp_path_factory.mktemp("corpus"), rows)
    finally:
        choosing.ALWAYS = None
    first: dict[tuple[int, ...], int] = {}
    for i, (digest, kind) in enumerate(documents):
        if kind == "readable":
            first.setdefault(digest, i)
    order = list(first)
    expected = [order.index(d) if kind == "readable" else NO_NODE for d, kind in documents]
    assert corpus.node.tolist() == expected
    assert corpus.first_row.tolist() == list(first.values())
    statuses = {"readable": READABLE, "empty": EMPTY, "bad": UNREADABLE}
    assert corpus.status.tolist() == [statuses[kind] for _, kind in documents]
    assert corpus.n_nodes == len(first)


def test_sides(tmp_path):
    texts = [1, 2, 3, 2, 4, 4]
    rows = [(f"d{i}", "t", (n, 0, 0, 0), None) for i, n in enumerate(texts)]
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    assert corpus_of(folders[0], rows).sides.tolist() == [3, 3, 3, 3]
    assert corpus_of(folders[1], rows, n_inputs=3).sides.tolist() == [1, 3, 1, 2]


def test_repeated_ids_count_on_their_own_side(tmp_path):
    ids = ["a", "b", "a", "a", "b", "a", "c", "b"]
    rows = [(doc_id, "t", (i, 0, 0, 0), None) for i, doc_id in enumerate(ids)]
    corpus = corpus_of(tmp_path, rows, n_inputs=4)
    assert sorted(corpus.repeated_ids) == [(2, 0), (3, 0), (7, 4)]


def test_nothing(tmp_path):
    corpus = corpus_of(tmp_path, [])
    assert (len(corpus), corpus.n_nodes, corpus.repeated_ids) == (0, 0, ())
