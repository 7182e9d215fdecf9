"""Stored signatures of bits stay valid."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden.bit_signatures import made


@pytest.mark.parametrize(
    "path", sorted(Path(__file__).parent.glob("v*/bit_signatures.json")), ids=lambda p: p.parent.name
)
def test_no_signature_has_changed(path: Path) -> None:
    pinned, now = json.loads(path.read_text(encoding="utf-8")), json.loads(json.dumps(made()))
    assert pinned.keys() == now.keys()
    for name, value in pinned.items():
        assert now[name] == value, name
