"""The documents of the guides are the same everywhere, and threads of the mails are those that they were made with."""

from __future__ import annotations

import hashlib
import json
import runpy
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from docs.pages import ROOT
from nearkin.options.families import MailOptions
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.threads.job import thread_files

SHA256 = {
    "benchmark": "de5bde1decb43f70ad42e77247f4c9bb3456b4eba9d085b100d9cf83d498a3fc",
    "collection": "f5e866a147f6eb8eed4b4cf90cbc22ac6dd65331726fa30221bc4e8e876c4362",
    "mails": "c14748573004a817012aab5714c9970834e65da6c3ebd752e0879bb6d05a8288",
    "production": "7c6d35fc0338d714f8317f786794fb1d1b8ce18c4a6d58b473de465a84044108",
    "translations": "a7934f3476f7f19ad9a76f920c7a52882a9244b078374c6616c486b9210f8fac",
}


def written(name: str, folder: Path) -> Path:
    script = "generate" if name == "collection" else name
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "examples"), *sys.path])
        runpy.run_path(str(ROOT / f"examples/{script}.py"))[f"write_{name}"](folder)
    return folder


@pytest.mark.parametrize("name", SHA256)
def test_bytes_are_pinned(name: str, tmp_path: Path) -> None:
    """Whatever the pages say of them holds of these bytes."""
    written(name, tmp_path)
    told = hashlib.sha256()
    for path in sorted(path for path in tmp_path.rglob("*.*") if path.is_file()):
        told.update(path.relative_to(tmp_path).as_posix().encode() + path.read_bytes())
    assert told.hexdigest() == SHA256[name]


def test_threads_and_inclusive_mails_are_those_that_were_made(tmp_path: Path) -> None:
    mails = written("mails", tmp_path / "mails")
    inputs = [str(mails / name) for name in ("inbox.mbox", "folders", "sent")]
    thread_files(ReadingRequest(inputs=inputs), tmp_path / "out", MailOptions(), report=False)
    rows = pq.read_table(tmp_path / "out/threads.parquet").to_pylist()
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
