from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.manifests.dedup import REASONS
from nearkin.reports.dedup.page import DroppedRow, MemberRow
from nearkin.runs.arrays import save_batch
from nearkin.runs.spool import Chunk
from nearkin.workflows.dedup.outcome import NO_ROW, GroupTable, Outcome
from nearkin.workflows.dedup.reporting import largest_groups, most_similar_dropped
from nearkin.workflows.dedup.row_places import Places


def places(ids: list[str]) -> Places:
    """The last document is a file of its own, the others are lines of one file."""
    n = len(ids)
    names = pa.array(ids, pa.large_string())
    return Places(
        own_ids=names,
        ids=names,
        names=names,
        source_names=["a.jsonl", ids[-1]],
        source=np.array([0] * (n - 1) + [1], np.int32),
        line=np.array([*range(1, n), 1], np.int64),
        problems={n - 1: "odd", 0: "repeated"},
    )


def outcome(principal: list[int], similarity: list[float], reason: list[str]) -> Outcome:
    rows = np.array(principal, np.uint32)
    return Outcome(
        rows,
        np.array(similarity),
        np.full(len(rows), NO_ROW),
        np.array([REASONS.index(word) for word in reason], np.uint8),
        rows == np.arange(len(rows)),
    )


def table(principal: list[int], size: list[int]) -> GroupTable:
    n = len(principal)
    zeros = np.zeros(n, np.int64)
    return GroupTable(
        principal=np.array(principal, np.uint32),
        size=np.array(size),
        lowest=np.ones(n),
        is_lowest_exact=np.ones(n, np.bool_),
        bridges_refused=zeros,
        n_exact_copies=zeros,
        n_bridges=0,
    )


def test_the_principal_comes_first_then_what_is_least_like_it() -> None:
    nowhere = int(NO_ROW)
    found = outcome(
        [1, 1, nowhere, 1, 4, 1, 4],
        [0.9, 1.0, np.nan, 0.8, 1.0, np.nan, 1.0],
        ["near-duplicate", "unique", "empty", "near-duplicate", "unique", "near-duplicate", "exact copy"],
    )

    large, small = largest_groups(table([1, 4], [4, 2]), found, places([*"abcdef", "g.txt"]))

    assert large.members == (
        MemberRow(doc_id="b", where="a.jsonl:2", similarity=1.0, reason="unique", is_principal=True),
        MemberRow(doc_id="f", where="a.jsonl:6", similarity=None, reason="near-duplicate"),
        MemberRow(doc_id="d", where="a.jsonl:4", similarity=0.8, reason="near-duplicate"),
        MemberRow(doc_id="a", where="a.jsonl:1", similarity=0.9, reason="near-duplicate"),
    )
    assert [member.where for member in small.members] == ["a.jsonl:5", "g.txt"]


def test_an_exact_copy_names_the_document_that_it_repeats() -> None:
    found = outcome([0, 0, 0], [1.0, 0.9, 0.9], ["unique", "near-duplicate", "exact copy"])
    found.copy_of[2] = 1

    (group,) = largest_groups(table([0], [3]), found, places("abc"))

    assert [member.copy_of for member in group.members] == [None, None, "b"]


def test_of_many_groups_and_members_the_first_are_listed() -> None:
    n_groups, size = 30, 40
    principal = np.repeat(np.arange(n_groups) * size, size).tolist()
    found = outcome(principal, [1.0] * len(principal), ["unique"] * len(principal))
    rows = largest_groups(
        table(principal[::size], [size] * (n_groups - 1) + [size + 1]), found, places([f"d{i}" for i in range(1200)])
    )

    assert [row.group for row in rows[:2]] == ["d1160", "d0"]
    assert len(rows) == 20
    assert {len(row.members) for row in rows} == {25}
    assert [member.doc_id for member in rows[1].members[:3]] == ["d0", "d1", "d2"]


def test_of_documents_that_another_set_has_the_most_similar_are_listed_first(tmp_path: Path) -> None:
    n, n_others = 130, 2
    texts = ["a" * 5_000, *(f"text {i}" for i in range(1, n + n_others))]
    save_batch(tmp_path / "chunk", pa.RecordBatch.from_pydict({"text": pa.array(texts, pa.large_string())}))
    found = outcome(
        [n, n + 1, 2, int(NO_ROW), *[n] * (n - 4)],
        [0.9, 1.0, 1.0, np.nan, *[0.8] * (n - 4)],
        ["near-duplicate", "exact copy", "unique", "empty", *["near-duplicate"] * (n - 4)],
    )
    names = places([f"d{i}" for i in range(n + n_others)])

    rows = most_similar_dropped(found, names, (Chunk(tmp_path / "chunk", 0, n + n_others),))

    assert [row.doc_id for row in rows] == ["d1", "d0", *(f"d{i}" for i in range(4, 102))]
    assert rows[0] == DroppedRow(
        doc_id="d1",
        where="a.jsonl:2",
        match_id="d131",
        match_where="d131",
        similarity=1.0,
        reason="exact copy",
        text="text 1",
        match_text="text 131",
    )
    assert len(rows[1].text) < 5_000
