"""Arrays that a stage made, kept so that an interrupted run need not make them again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearkin.runs.files import published

Arrays = Mapping[str, NDArray[Any]]


def kept_arrays(path: Path, make: Callable[[], Arrays]) -> Arrays:
    """The arrays that stand at ``path``, or else those that ``make`` gives, which then stand there.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "squares.npz"
    >>> _ = kept_arrays(place, lambda: {"squares": np.arange(3) ** 2})
    >>> kept_arrays(place, dict)["squares"].tolist()
    [0, 1, 4]
    """
    if not path.exists():
        arrays = make()
        with published(path, durable=False) as aside, open(aside, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        return arrays
    with np.load(path) as stored:
        return {name: stored[name] for name in stored.files}
