"""Tables with a very long id stay readable, and no part of the id is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from functional.conftest import nearkin_here, write_jsonl

TEXT = "The tenant pays the rent on the first day of each month, without being asked, to the landlord. " * 3


def matter_with(folder: Path, *ids: str) -> Path:
    records = [{"id": doc_id, "text": f"{TEXT} Note {place}."} for place, doc_id in enumerate(("a", *ids, "z"))]
    assert nearkin_here("add", folder / "matter", write_jsonl(folder / "r.jsonl", records), "--quiet").code == 0
    return folder / "matter"


@pytest.fixture(autouse=True)
def _has_no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")


def test_a_long_id_moves_only_its_own_row(tmp_path: Path) -> None:
    long = "x" * 1_000
    lines = nearkin_here("similar", matter_with(tmp_path, long), "a").out.splitlines()
    rows = {line.split()[-3]: line for line in lines[1:3]}
    assert rows[long].endswith(f"  {long}  wave 1")
    assert rows["z"].endswith("  z   wave 1")
    assert lines[0].index("wave") == rows["z"].index("wave")
    assert len(rows["z"]) < 60


def test_ids_of_usual_lengths_are_aligned(tmp_path: Path) -> None:
    lines = nearkin_here("similar", matter_with(tmp_path, "y" * 90), "a").out.splitlines()
    assert len({line.index("wave") for line in lines[:3]}) == 1
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize(("n", "columns"), [(1_000, "80"), (1_000, None)])
def test_no_part_of_a_long_id_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int, columns: str | None
) -> None:
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    lines = nearkin_here("similar", matter_with(tmp_path, "x" * n), "a").out.splitlines()
    assert sum(line.count("x") for line in lines if "xx" in line) == n
    assert all(len(line) <= int(columns or 10_000) for line in lines)
