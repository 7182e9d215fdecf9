"""A kernel by its compiled and by its plain loops."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

from nearkin.kernels import choosing


@contextlib.contextmanager
def served_by(kind: Literal["plain", "compiled"]) -> Iterator[None]:
    """Whatever the size of the input."""
    before, choosing.ALWAYS = choosing.ALWAYS, kind
    try:
        yield
    finally:
        choosing.ALWAYS = before


def agreed(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What a kernel returns, if both kinds of loops return the same bits and leave the same in its arguments."""
    results = []
    for kind in ("compiled", "plain"):
        own = copy.deepcopy((arguments, options))
        with served_by(kind):
            results.append((function(*own[0], **own[1]), *own))
    same(*results)
    return results[0][0]


def same(ours: Any, theirs: Any) -> None:
    """Of one type, and equal bit for bit; arrays within tuples, lists and dicts too."""
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        ours, theirs = list(ours.values()), list(theirs.values())
    if isinstance(ours, tuple | list):
        for a, b in zip(ours, theirs, strict=True):
            same(a, b)
    elif isinstance(ours, np.ndarray):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    else:
        assert ours == theirs or ours is theirs
