"""Hot loops: arrays in, arrays out.

``compiled`` holds the numba kernels, ``plain`` their twins in Python and numpy, module for module and function for
function. Both give the same bits: the twin is the oracle of the kernel, and it serves inputs so small that starting
numba would cost more than the work.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

TINY_BYTES = 4096
"""Inputs up to this size are served by the plain twins: milliseconds there, and numba takes about 0.5 s to start.

Below 0 no input is.
"""
_COLD_BYTES = {"letters": 1 << 20, "text": 1 << 20, "shingles": 1 << 18, "features": 1 << 18, "units": 1 << 18}
"""As much as the twins of these kernels do in about 0.25 s: half of what it takes to start numba."""
_COLD_S = 0.25
_START_S = 0.5
_spent_s = 0.0


def is_worth_starting(work_s: float) -> bool:
    """Whether numba is to serve what twins would take so long for: if it is loaded, or is worth loading by now.

    A command about one document ends before numba would have started; a process that goes on asking soon starts it.
    At the worst twins and the start take twice as long together as the better of the two alone.

    Parameters
    ----------
    work_s : float
        Seconds that the twins take; they are added up over all calls.
    """
    global _spent_s
    if "numba" in sys.modules:
        return True
    _spent_s += work_s
    return _spent_s > _START_S


def twin(name: str, size_bytes: int) -> ModuleType:
    """The module ``name`` of kernels that serves an input of this size: the plain twin if tiny, else the compiled one.

    Examples
    --------
    >>> twin("shingles", 100).__name__
    'nearkin.kernels.plain.shingles'
    """
    is_plain = size_bytes <= TINY_BYTES
    if not is_plain and name in _COLD_BYTES and TINY_BYTES >= 0:
        is_plain = not is_worth_starting(_COLD_S * size_bytes / _COLD_BYTES[name])
    return importlib.import_module(f"nearkin.kernels.{'plain' if is_plain else 'compiled'}.{name}")
