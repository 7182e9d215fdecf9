"""Where the index of a collection in PostgreSQL is cached."""

from __future__ import annotations

from pathlib import Path

import pytest

from nearkin.store.environment import usual_cache


@pytest.mark.parametrize(("xdg", "base"), [("/caches", "/caches"), ("", "/home/ada/.cache"), ("x", "/home/ada/.cache")])
def test_the_cache_is_where_xdg_says(monkeypatch, xdg, base):
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("XDG_CACHE_HOME", xdg)
    assert usual_cache() == Path(base) / "nearkin"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert usual_cache() == Path("/home/ada/.cache/nearkin")
