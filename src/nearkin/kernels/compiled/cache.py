"""Whether kernels are compiled for this machine already."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType


def is_cold(module: ModuleType) -> bool:
    """Whether numba has stored no kernel of a module: then it compiles them, which takes seconds."""
    caches = [kernel._cache for kernel in vars(module).values() if hasattr(kernel, "_cache")]
    places = [cache.cache_path for cache in caches]  # numba has this place, but not in its documentation
    name = module.__name__.rpartition(".")[2]
    return not any(any(Path(place).glob(f"{name}.*.nbi")) for place in places if place is not None)
