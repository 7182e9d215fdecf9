"""Stored signatures stay valid: what was pinned is what is made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden.golden import made


@pytest.fixture(scope="module")
def now() -> dict[str, object]:
    return json.loads(json.dumps(made()))


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("v*/signatures.json")), ids=lambda p: p.parent.name)
def test_nothing_pinned_has_changed(path: Path, now: dict[str, object]) -> None:
    pinned = json.loads(path.read_text(encoding="utf-8"))
    assert pinned.keys() == now.keys()
    for name, value in pinned.items():
        assert now[name] == value, name
