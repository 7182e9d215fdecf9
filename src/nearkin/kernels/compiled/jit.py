"""numba's ``njit``, which goes on where compiled code cannot be kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

Function = Callable[..., Any]


def njit(**options: Any) -> Callable[[Function], Any]:
    """Compile a kernel when it is first called.

    With ``cache=True`` its code is kept beside the module or in the user's folder of caches. Where neither can be
    written, as in some containers, it is compiled anew by each process instead of not at all.
    """

    def decorate(function: Function) -> Any:
        try:
            return numba.njit(**options)(function)
        except RuntimeError:  # "cannot cache function …: no locator available"
            return numba.njit(**{name: value for name, value in options.items() if name != "cache"})(function)

    return decorate
