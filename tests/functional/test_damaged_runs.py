"""A run whose tables were changed is refused wherever it is read: as input, as the other side, by its own commands."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_done, run_here, write_jsonl
from made_up_prose import Prose
from nearkin.formats import parquet

OUT = ("--out", "x", "-q")
COMMANDS = {
    "input": ("dedup", "run", *OUT),
    "other side": ("dedup", "in.jsonl", "--against", "run", *OUT),
    "regroup": ("regroup", "run", "--threshold", "0.8", *OUT),
    "sign": ("sign", "run", *OUT),
    "audit": ("audit", "run"),
    "corpus of a plan": ("plan", "corpus", "run"),
    "store": ("add", "matter", "run", "-q"),
}
"""Commands that read ``documents.parquet`` of a run."""


@pytest.fixture
def run(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    texts = dict(Prose(1).families(12))
    path = write_jsonl(tmp_path / "in.jsonl", [{"id": one, "text": text} for one, text in texts.items()])
    run_here([str(path)], tmp_path / "run")
    return tmp_path / "run"


def said_by(command: str) -> str:
    ended = nearkin_done(*COMMANDS[command], code=5)
    assert not Path("x").exists()
    return " ".join(ended.err.split())


def changed_ids(path: Path) -> None:
    """Write the table again, valid but with other ids."""
    table = pq.read_table(path)
    at = table.column_names.index("id")
    parquet.write_table(
        table.set_column(at, table.schema.field(at), table["id"].take([*range(len(table))][::-1])), path
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_changed_table_is_named(run, command):
    changed_ids(run / "documents.parquet")
    assert said_by(command).endswith("run is damaged: documents.parquet was changed. Run the command again.")
