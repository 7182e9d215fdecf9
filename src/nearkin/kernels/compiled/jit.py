"""numba's ``njit``, which also works where compiled code cannot be cached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

Function = Callable[..., Any]


def njit(**options: Any) -> Callable[[Function], Any]:
    """Compile a kernel when it is first called.

    A variable that is passed to another kernel starts as ``np.int64(0)``: for one that starts as ``0`` numba compiles
    that kernel twice, first for the literal.
    """

    def decorate(function: Function) -> Any:
        try:
            return numba.njit(**options)(function)
        except RuntimeError:  # "cannot cache function …: no locator available"
            return numba.njit(**{name: value for name, value in options.items() if name != "cache"})(function)

    return decorate
