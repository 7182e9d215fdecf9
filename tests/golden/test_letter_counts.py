"""Stored letter counts stay valid."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden.letter_counts import made


@pytest.mark.parametrize(
    "path", sorted(Path(__file__).parent.glob("v*/letter_counts.json")), ids=lambda p: p.parent.name
)
def test_no_count_has_changed(path: Path) -> None:
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(json.dumps(made()))
