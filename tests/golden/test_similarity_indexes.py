"""Stored similarity indexes stay valid."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden.similarity_indexes import made


@pytest.mark.parametrize(
    "path", sorted(Path(__file__).parent.glob("v*/similarity_indexes.json")), ids=lambda p: p.parent.name
)
def test_no_index_has_changed(path: Path) -> None:
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(json.dumps(made()))
