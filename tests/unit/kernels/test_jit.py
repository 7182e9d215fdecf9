"""Kernels where compiled code cannot be kept."""

from __future__ import annotations

import pytest
from numba.core.caching import CacheImpl

from nearkin.kernels.compiled.basics import njit


def test_a_kernel_is_compiled_where_it_cannot_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])

    @njit(cache=True, nogil=True)
    def double(x: int) -> int:
        return 2 * x

    assert double(21) == 42
