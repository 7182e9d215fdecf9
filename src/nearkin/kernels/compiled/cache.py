"""Whether the kernels are compiled for this machine already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nearkin.kernels.compiled import cosines, grouping, letters, split_words, text


def is_cold() -> bool:
    """True if numba has nothing stored of the first kernel of a run or of the last: then it compiles, for seconds."""
    return _is_missing(text.fold_many) or (_is_missing(grouping.unite) and _is_missing(grouping.assign_principals))


def is_cold_for_texts() -> bool:
    """The same for what is worked out of each text of a collection."""
    return _is_missing(text.fold_many) or _is_missing(letters.count_many)


def is_cold_for_pairs() -> bool:
    """The same for pairs of two collections, which may end before a kernel of signatures is needed."""
    return _is_missing(split_words.split_many) or _is_missing(cosines.near_many)


def _is_missing(kernel: Any) -> bool:
    place = kernel._cache.cache_path  # numba has this place, but not in its documentation
    if place is None:  # nothing can be kept on this machine: it compiles every time
        return True
    folder = Path(place)
    name = kernel.py_func.__qualname__
    return not any(folder.glob(f"{kernel.py_func.__module__.rpartition('.')[2]}.{name}-*.nbi"))
