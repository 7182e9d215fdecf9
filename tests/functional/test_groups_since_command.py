"""`nearkin groups --since`, as a user gives it: a table, JSON and files; without write access."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_done, nearkin_here, write_jsonl

RENT = "The rent of {} crowns is due on the first day of each month, and the tenant pays it to the owner of the house."
NOTE = "A note about {} that was written long after the first wave had been read by everybody who works here."


@pytest.fixture(scope="module")
def matter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two waves with groups after each, and a third that was not grouped."""
    folder = tmp_path_factory.mktemp("since")
    waves = {
        "march": {"lease": RENT.format(900), "copy": RENT.format(900), "draft": RENT.format("nine hundred")},
        "april": {"late": RENT.format(950), "kites": NOTE.format("kites"), "boats": NOTE.format("boats")},
        "may": {"later": RENT.format(975)},
    }
    for wave, texts in waves.items():
        if wave == "april":
            nearkin_done("remove", folder / "matter", "copy")
        documents = [{"id": doc_id, "text": text} for doc_id, text in texts.items()]
        nearkin_done("add", folder / "matter", write_jsonl(folder / f"{wave}.jsonl", documents), "--wave", wave)
        assert wave == "may" or nearkin_here("groups", folder / "matter").code == 0
    return folder / "matter"


def test_json_and_files(matter: Path, tmp_path: Path) -> None:
    table, sheet = tmp_path / "changes.parquet", tmp_path / "changes.csv"
    ended = nearkin_here("groups", matter, "--since", "march", "--json", "--out", table)
    told = json.loads(ended.out)
    assert (told["wave"], told["n_groups"], told["n_groups_were"], told["n_not_grouped"]) == ("march", 2, 1, 1)
    assert [(one["number"], one["new"], one["removed"]) for one in told["changes"]] == [
        (1, ["late"], ["copy"]),
        (2, ["boats", "kites"], []),
    ]
    assert nearkin_here("groups", matter, "--since", "march", "--out", sheet).err.endswith(
        f"wrote 4 changes to {sheet}\n"
    )
    rows = pq.read_table(table).to_pylist()
    assert [(row["group"], row["group_was"], row["doc_id"], row["change"]) for row in rows] == [
        (None, 1, "copy", "removed"),
        (1, None, "late", "new"),
        (2, None, "boats", "new"),
        (2, None, "kites", "new"),
    ]
    with sheet.open(encoding="utf-8", newline="") as file:
        assert [row["doc_id"] for row in csv.DictReader(file)] == ["copy", "late", "boats", "kites"]
