"""Choice between the loops compiled by numba and their plain twins."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Literal

from numpy.typing import NDArray

TINY_BYTES = 4096
"""Inputs up to this size never start numba, which takes about 0.5 s; the twins take milliseconds."""
ALWAYS: Literal["plain", "compiled"] | None = None
"""Forces one kind of loops for all inputs: for tests, and the compiled ones for a service."""
_COLD_BYTES = {
    "text": 1 << 20,
    "lines": 1 << 22,
    "shingles": 1 << 18,
    "features": 1 << 18,
    "words": 1 << 19,
    "similarity_index": 1 << 17,
    "sketch": 1 << 20,
    "linking": 1 << 18,
    "overlap": 1 << 20,
    "hashing": 1 << 18,
}
"""Input sizes that the twins of these kernels process in about 0.25 s: half the time to start numba."""
_COLD_BYTES_OF_OTHERS = 1 << 18
_COLD_S = 0.25
_START_S = 0.5
_LOAD_S = 0.05  # for one more kernel, once numba is loaded
_when_compiling: Callable[[], None] | None = None
_has_compiled = False
_spent_s = 0.0
_spent_on: dict[str, float] = {}


def is_worth_starting(work_s: float) -> bool:
    """Whether to use numba: if it is loaded, or worth loading after ``work_s`` seconds in the twins, over all calls."""
    global _spent_s
    if "numba" in sys.modules:
        return True
    _spent_s += work_s
    return _spent_s > _START_S


@contextmanager
def announcing(say: Callable[[], None]) -> Iterator[None]:
    """Call ``say`` once within the block, before kernels are compiled that numba's cache of this environment lacks."""
    global _when_compiling, _has_compiled
    before, _when_compiling, _has_compiled = _when_compiling, say, False
    try:
        yield
    finally:
        _when_compiling = before


def has_compiled() -> bool:
    """Whether the latest block of `announcing` compiled kernels that numba's cache lacked."""
    return _has_compiled


def starts_compiling() -> None:
    """Call what `announcing` gave, once: numba compiles a kernel that its cache lacks, which takes seconds."""
    global _when_compiling, _has_compiled
    say = _when_compiling
    if say is not None:
        _when_compiling, _has_compiled = None, True
        say()


def loops(name: str, size_bytes: int) -> ModuleType:
    """Choose between the compiled and the plain loops of a family for an input of this size."""
    kind = ALWAYS or ("compiled" if _is_for_compiled(name, size_bytes) else "plain")
    return importlib.import_module(f"nearkin.kernels.{kind}.{name}")  # waits if another thread is importing it


def _is_for_compiled(name: str, size_bytes: int) -> bool:
    if f"nearkin.kernels.compiled.{name}" in sys.modules:
        return True
    is_tiny = size_bytes <= TINY_BYTES
    if not is_tiny and name not in _COLD_BYTES:
        return True
    work_s = _COLD_S * size_bytes / _COLD_BYTES.get(name, _COLD_BYTES_OF_OTHERS)
    if not is_worth_starting(work_s):
        return False
    _spent_on[name] = _spent_on.get(name, 0.0) + work_s
    return not is_tiny or _spent_on[name] > _LOAD_S


def frozen(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return read-only views, so that numba compiles a loop for one signature only, whatever an array's origin."""
    views = tuple(array.view() for array in arrays)
    for view in views:
        view.flags.writeable = False
    return views
