"""`pyarrow.compute`, imported when one of its functions is first called: it takes 30 ms, and questions need none."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    import pyarrow.compute

    value = globals()[name] = getattr(pyarrow.compute, name)
    return value
