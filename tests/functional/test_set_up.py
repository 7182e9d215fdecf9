"""`nearkin doctor`."""

from __future__ import annotations

import importlib.metadata

from functional.conftest import nearkin_here, nearkin_json


def test_doctor_shows_what_is_installed() -> None:
    told = nearkin_json("doctor")
    assert told["libraries"]["numpy"] == importlib.metadata.version("numpy")
    assert told["extras"]["report"]["jinja2"] == importlib.metadata.version("jinja2")
    assert told["machine"]["cores"] >= 1
    ended = nearkin_here("doctor")
    ended.assert_clean()
    for words in ("nearkin", "python", "memory", "extra spark"):
        assert words in ended.out
