"""The example mails are the same everywhere, and their threads are those that they were made with."""

from __future__ import annotations

import hashlib
import json
import runpy
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from docs.pages import ROOT
from nearkin.options.families import MailOptions
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.threads.job import thread_files

SHA256 = "c14748573004a817012aab5714c9970834e65da6c3ebd752e0879bb6d05a8288"


@pytest.fixture(scope="module")
def mails(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mails")
    runpy.run_path(str(ROOT / "examples/mails.py"))["write_mails"](folder)
    return folder


@pytest.fixture(scope="module")
def rows(mails: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    out = tmp_path_factory.mktemp("threads") / "out"
    inputs = [str(mails / name) for name in ("inbox.mbox", "folders", "sent")]
    thread_files(ReadingRequest(inputs=inputs), out, MailOptions(), report=False)
    return pq.read_table(out / "threads.parquet").to_pylist()


def test_bytes_are_pinned(mails: Path) -> None:
    told = hashlib.sha256()
    for path in sorted(path for path in mails.rglob("*") if path.is_file()):
        told.update(path.relative_to(mails).as_posix().encode() + path.read_bytes())
    assert told.hexdigest() == SHA256


def test_threads_and_inclusive_mails_are_those_that_were_made(mails: Path, rows: list[dict[str, object]]) -> None:
    lines = (mails / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    truth = {line["message_id"]: line for line in map(json.loads, lines)}
    assert {row["message_id"] for row in rows} == set(truth)
    threads: dict[int, set[object]] = {}
    for row in rows:
        made = truth[row["message_id"]]
        threads.setdefault(made["thread"], set()).add(row["thread"])
        assert row["is_missing"] is made["is_missing"]
        if not row["is_missing"]:
            assert row["parent_message_id"] == made["answers"], made
            by_others = ("subject", "another mail") if made["headers"] == "none" else ("headers",)
            assert row["linked_by"] in (by_others if made["answers"] else (None,)), made
        elif row["linked_by"] == "another mail":
            assert row["parent_message_id"] == made["answers"], made
        if row["is_duplicate_spare"]:
            assert made["is_sent_twice"]
        elif not row["is_missing"]:
            assert row["reason"] == made["reason"], made
    assert all(len(found) == 1 for found in threads.values())
    assert len({number for found in threads.values() for number in found}) == len(threads)
    n_spares = sum(row["is_duplicate_spare"] is True for row in rows)
    assert n_spares == sum(line["is_sent_twice"] for line in truth.values()) > 0
    assert {row["reason"] for row in rows} == {None, "message", "attachment"}


def test_a_mail_that_is_not_inclusive_is_in_one_that_is(rows: list[dict[str, object]]) -> None:
    by_name = {row["name"]: row for row in rows}
    for row in rows:
        if row["is_inclusive"] is False:
            holder = by_name[row["included_in"]]
            assert holder["is_inclusive"]
            assert holder["thread"] == row["thread"]
        else:
            assert row["included_in"] is None
