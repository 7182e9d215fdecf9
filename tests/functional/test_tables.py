"""``nearkin.dedup``: tables, frames and lists in, the same kind out."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nearkin
from functional.conftest import FAST
from nearkin.errors import DocumentError, NearkinError, ParameterError, SourceError
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


@pytest.mark.parametrize("nothing", [[], pa.table({"text": pa.array([], pa.string())}), pd.DataFrame({"text": []})])
def test_nothing(nothing):
    result = nearkin.dedup(nothing)
    assert len(result.documents) == len(result.pairs) == len(result.groups) == len(result.kept) == 0


@pytest.mark.parametrize("wrong", [b"bytes", 3, None, {"text": "x"}, [1, 2], object()])
def test_what_are_no_documents(wrong):
    with pytest.raises(ParameterError, match="must be"):
        nearkin.dedup(wrong)


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


@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": 0}, {"threshold": "0.8"}, {"threshold": True}, {"recall": 1.0}, {"shingle": "words"},
        {"measure": "cosine"}, {"group": "all"}, {"keep": "best"}, {"normalise": "stem"}, {"seed": 1.5},
        {"preset": "none"}, {"threads": -1}, {"memory": "1KB"}, {"memory": 1000},
    ],
)  # fmt: skip
def test_parameters_that_break_their_rule(wrong):
    with pytest.raises(ParameterError) as caught:
        nearkin.dedup(["a", "b"], **wrong)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, NearkinError)
    assert "Got" in str(caught.value)


def test_presets_are_starting_points():
    from nearkin.workflows.dedup.options import PRESETS

    assert set(PRESETS) == {"fineweb", "stack", "ediscovery", "contracts"}
    for name, chosen in PRESETS.items():
        parameters = nearkin.dedup([FAST], preset=name).manifest["parameters"]
        assert parameters["preset"] == name
        assert {key: parameters[key] for key in chosen} == chosen
    other = nearkin.dedup([FAST], preset="contracts", threshold=0.95).manifest["parameters"]
    assert other["threshold"] == 0.95
    assert other["shingle"] == PRESETS["contracts"]["shingle"]


def test_progress_is_told():
    told = []

    class Watcher:
        def start(self, stage, total, unit):
            told.append((stage, total, unit))

        def advance(self, n):
            told.append(n)

        def finish(self):
            told.append("done")

        def say(self, message):
            told.append(message)

    nearkin.dedup([FAST, FAST + " again", "x"], progress=Watcher())
    stages = [one for one in told if isinstance(one, tuple)]
    assert [stage for stage, _, _ in stages][:3] == ["digest inputs", "read", "exact copies"]
    assert {"sketch", "link", "verify", "group", "write"} <= {stage for stage, _, _ in stages}
    assert told.count("done") == len(stages)
    assert any("bands" in one for one in told if isinstance(one, str))
    told.clear()
    nearkin.dedup([{"id": 1, "text": FAST, "n": None}], progress=Watcher(), keep="max:n")
    said = [one for one in told if isinstance(one, str)]
    assert said[0] == "text column: 'text' (guessed from the columns id, text, n)"
    assert any("no readable number in 1 of 1 document" in one for one in said)
