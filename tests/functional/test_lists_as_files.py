"""`--out` of the commands that answer about documents: the whole list, in every format, the same as in JSON."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from functional.conftest import Ended, nearkin_done, nearkin_here, nearkin_json, write_jsonl

RENT = "The rent of {} crowns is due on the first day of each month, to the owner of the house, in cash."


@pytest.fixture(scope="module")
def matter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lists")
    records = [{"id": f"rent-{i}", "text": RENT.format(i)} for i in range(4)]
    later = [{"id": "rent-0", "text": RENT.format(9)}, {"id": "few", "text": "7."}, {"id": "none"}]
    place = folder / "matter"
    nearkin_done("add", place, write_jsonl(folder / "one.jsonl", records), "--wave", "one", "-q")
    nearkin_done("add", place, write_jsonl(folder / "two.jsonl", later), "--wave", "two", "-q")
    (folder / "draft.txt").write_text(RENT.format(7), "utf-8")
    return folder


COMMANDS = {
    "similar": (["similar", "{matter}", "rent-1", "--limit", "1"], "documents"),
    "versions": (["versions", "{matter}", "rent-0", "--limit", "1"], "versions"),
    "history": (["history", "{matter}", "rent-0"], "versions"),
    "list": (["list", "{matter}", "--limit", "1"], "documents"),
    "waves": (["waves", "{matter}"], None),
    "check": (["check", "{matter}", "{draft}", "--threshold", "0.3"], "documents"),
}
N_ROWS = {"similar": 3, "versions": 4, "history": 2, "list": 5, "waves": 2, "check": 4}


def ran(matter: Path, command: list[str], *more: str | Path) -> Ended:
    places = {"matter": matter / "matter", "draft": matter / "draft.txt"}
    ended = nearkin_here(*[part.format(**places) for part in command], *more)
    ended.assert_clean()
    assert ended.code in (0, 11), ended.err
    return ended


@pytest.mark.parametrize("name", COMMANDS)
def test_every_list_is_written_whole(matter: Path, tmp_path: Path, name: str) -> None:
    command, member = COMMANDS[name]
    whole = ["10" if before == "--limit" else part for before, part in zip(["", *command], command)]
    said = json.loads(ran(matter, whole, "--json").out)
    listed: list[dict[str, Any]] = said if member is None else said[member]
    out = tmp_path / f"{name}.parquet"
    assert "wrote" in ran(matter, command, "--out", out).err
    rows = pq.read_table(out).to_pylist()

    assert len(rows) == len(listed) == N_ROWS[name]
    for row, one in zip(rows, listed, strict=True):
        same = {key for key in row.keys() & one.keys() if not isinstance(one[key], list)}
        assert len(same) >= 5
        assert {key: row[key] for key in same} == {key: one[key] for key in same}
    for suffix in ("csv", "tsv", "jsonl"):
        ran(matter, command, "--out", tmp_path / f"{name}.{suffix}")
    lines = [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text("utf-8").splitlines()]
    assert lines == rows
    with open(tmp_path / f"{name}.tsv", encoding="utf-8", newline="") as file:
        assert len(list(csv.reader(file, delimiter="\t"))) == len(rows) + 1
    assert nearkin_here(*[part.format(matter=matter / "matter", draft=matter / "draft.txt") for part in command],
                        "--out", tmp_path / f"{name}.csv").code == 5  # fmt: skip


def test_all_conflicts_are_written_unless_a_maximum_is_given(tmp_path: Path) -> None:
    place, n = tmp_path / "copies", 1_003
    records = [{"id": f"copy-{i}", "text": RENT.format(1)} for i in range(n)]
    nearkin_done("add", place, write_jsonl(tmp_path / "copies.jsonl", records), "-q")
    labels = write_jsonl(tmp_path / "labels.jsonl", [{"id": f"copy-{i}", "label": str(i)} for i in range(n)])
    out = tmp_path / "all.csv"

    ended = nearkin_here("conflicts", place, labels, "--out", out)
    assert (ended.code, "conflicts not listed" in ended.out) == (0, False)
    with open(out, encoding="utf-8", newline="") as file:
        assert {row["id_a"] for row in csv.DictReader(file)} == {f"copy-{i}" for i in range(1, n)}
    for arguments, n_listed in ([], 1_000), (["--limit", "1001"], 1_001):
        said = nearkin_json("conflicts", place, labels, *arguments)
        assert (said["n_found"], len(said["conflicts"])) == (n - 1, n_listed)
