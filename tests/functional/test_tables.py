"""``nearkin.dedup``: tables, frames and lists in, the same kind out."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nearkin
from functional.conftest import FAST
from nearkin.errors import DocumentError, ParameterError, SourceError
from nearkin.results import DedupResult

RECORDS = [
    {"id": 3, "text": FAST, "stars": 1.0},
    {"id": 1, "text": FAST + " again", "stars": 5.0},
    {"id": 2, "text": "nothing like the others at all, this one", "stars": None},
    {"id": 9, "text": "", "stars": 2.0},
]


def same_as_from_records(result: DedupResult) -> None:
    expected = nearkin.dedup(RECORDS)
    for name in ("documents", "pairs", "groups"):
        assert getattr(result, name).equals(getattr(expected, name)), name
    times = [result.manifest, expected.manifest]
    assert times[0]["counts"] == times[1]["counts"]


def test_arrow():
    table = pa.Table.from_pylist(RECORDS)
    result = nearkin.dedup(table)
    same_as_from_records(result)
    assert result.kept == table.take([1, 2])
    assert result.documents["id"].type == pa.int64()


def test_pandas():
    frame = pd.DataFrame(RECORDS, index=[10, 20, 30, 40])
    before = frame.copy()
    result = nearkin.dedup(frame)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(result.kept, frame.loc[[20, 30]])
    same_as_from_records(result)
    assert result.to_pandas()["id"].tolist() == [3, 1, 2, 9]
    assert result.to_pandas("pairs")[["id_a", "id_b"]].to_numpy().tolist() == [[3, 1]]
    assert result.to_pandas("groups")["group"].tolist() == [1]


def test_polars():
    frame = pl.DataFrame(RECORDS)
    result = nearkin.dedup(frame)
    same_as_from_records(result)
    assert result.kept.equals(frame[1:3])
    assert isinstance(result.to_polars("groups"), pl.DataFrame)
    assert result.to_polars().to_dicts() == result.documents.to_pylist()


@pytest.mark.parametrize(
    "documents",
    [
        [record["text"] for record in RECORDS],
        tuple(record["text"] for record in RECORDS),
        [(str(record["id"]), record["text"]) for record in RECORDS],
        [[record["id"], record["text"]] for record in RECORDS],
        RECORDS,
        [{"text": record["text"]} for record in RECORDS],
    ],
    ids=["texts", "a tuple", "pairs", "lists", "dicts", "dicts without ids"],
)
def test_lists(documents):
    result = nearkin.dedup(documents)
    assert result.kept == type(documents)(documents[i] for i in (1, 2))
    assert result.documents["reason"].to_pylist() == ["near-duplicate", "unique", "unique", "empty"]


def test_a_generator_is_taken_or_refused_at_once():
    try:
        result = nearkin.dedup(text for text in [FAST, FAST + " again"])
    except ParameterError:
        return
    assert len(result.kept) == 1


def test_columns_are_guessed_or_named():
    rows = {"url": ["u1", "u2"], "content": [FAST, FAST.upper()], "n": [1, 2]}
    assert len(nearkin.dedup(pa.table(rows)).kept) == 1
    named = nearkin.dedup(pa.table(rows), text="url", id="n")
    assert named.documents["id"].to_pylist() == [1, 2]
    assert len(named.kept) == 2
    told = [
        (one["text"], one["id"])
        for one in (nearkin.dedup(pa.table(rows)).manifest["inputs"] + named.manifest["inputs"])
    ]
    assert told == [("content", "url"), ("url", "n")]
    with pytest.raises(SourceError, match=r"body.*url, content, n"):
        nearkin.dedup(pa.table(rows), text="body")
    with pytest.raises(SourceError, match="key"):
        nearkin.dedup(pa.table(rows), id="key")


def test_bad_documents_among_good_ones():
    documents = [FAST, None, "half \ud800", FAST + " again", b"caf\xe9"]
    with pytest.raises(
        DocumentError, match=r"^3 of 5 documents are unreadable: 60%, more than the 50% of --max-unread"
    ):
        nearkin.dedup(documents)
    result = nearkin.dedup(documents, max_unreadable="60%")
    assert result.documents["reason"].to_pylist() == [
        "near-duplicate", "unreadable", "unreadable", "unique", "unreadable",
    ]  # fmt: skip
    assert result.documents["problem"].to_pylist()[1:3] != [None, None]
    assert result.kept == [FAST + " again"]
