"""Decisions on pairs as version 1 stored them: they still open, and are written with the same bytes."""

from __future__ import annotations

import shutil
from pathlib import Path

from nearkin.runs.files import write_checked_json
from nearkin.runs.run import MANIFEST, digest_of
from nearkin.workflows.pairing.pairs_of_run import DECISIONS, DecisionsOfRun, PairDecision, StoredPairDecisions

GOLDEN = Path(__file__).parent / "v1" / DECISIONS
STORED = (
    PairDecision(
        left_row=0, right_row=7, left="a.txt", right="ä\t東京", state="accepted", by="ann", at="2026-11-25T08:00:00Z"
    ),
    PairDecision(left_row=2, right_row=1, left="=1+1", right="", state="rejected", by="bo", at="2026-11-25T08:00:01Z"),
)


def test_stored_decisions_open_and_are_written_alike(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("{}")
    shutil.copy(GOLDEN, tmp_path / DECISIONS)
    assert tuple(StoredPairDecisions(tmp_path).all().values()) == STORED
    again = DecisionsOfRun(run=digest_of(tmp_path / MANIFEST), decisions=STORED)
    write_checked_json(tmp_path / "again.json", again.as_stored())
    assert (tmp_path / "again.json").read_bytes() == GOLDEN.read_bytes()
