"""Hot loops: arrays in, arrays out.

``compiled`` holds the numba kernels, ``plain`` their twins in Python and numpy, module for module and function for
function. Both give the same bits: the twin is the oracle of the kernel, and it serves inputs so small that starting
numba would cost more than the work.
"""

from __future__ import annotations

import importlib
from types import ModuleType

TINY_BYTES = 4096
"""Inputs up to this size are served by the plain twins: milliseconds there, and numba takes about 0.5 s to start."""


def twin(name: str, size_bytes: int) -> ModuleType:
    """The module ``name`` of kernels that serves an input of this size: the plain twin if tiny, else the compiled one.

    Examples
    --------
    >>> twin("shingles", 100).__name__
    'nearkin.kernels.plain.shingles'
    """
    floor = "plain" if size_bytes <= TINY_BYTES else "compiled"
    return importlib.import_module(f"nearkin.kernels.{floor}.{name}")
