"""Arguments of the Python API: flags, numbers of numpy, and values that no caller should pass."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nearkin
from nearkin import results
from nearkin.errors import ParameterError
from nearkin.spark.deduplicating import dedup_result
from nearkin.spark.pairing import similar_pairs

LEASE = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord."
PAIRS = [("a", LEASE), ("b", LEASE.replace("900", "950")), ("c", "Soup and bread.")]


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in nearkin.__all__:
        one = getattr(nearkin, name)
        if inspect.isfunction(one):
            yield name, one
        elif inspect.isclass(one) and not issubclass(one, Exception):
            yield name, one
            for method, function in inspect.getmembers(one, callable):
                if not method.startswith("_"):
                    yield f"{name}.{method}", function
    for name in ("CheckIn", "CheckInMany", "CheckOptions"):
        yield name, getattr(results, name)
    yield "spark.dedup_result", dedup_result
    yield "spark.similar_pairs", similar_pairs


def flags() -> Iterator[tuple[str, Callable[..., Any], str]]:
    for name, function in public_functions():
        for one in inspect.signature(function).parameters.values():
            if one.annotation in ("bool", bool, "bool | None"):
                yield name, function, one.name


WRONG_ARRAYS = np.array([0.5]), np.array("0.5"), np.array(0.5, object)
_DOCUMENTS = {
    "dedup": (PAIRS,), "dedup_result": (None,), "families": (PAIRS,), "passages": (PAIRS,), "threads": (".",),
    "sign": (PAIRS,), "neighbours": (".",), "evaluate": (".", PAIRS), "pairs": (PAIRS, PAIRS),
    "similar_pairs": (None, None), "plan_pairs": (9, 9),
}  # fmt: skip
FLAGS = [pytest.param(function, flag, id=f"{name} {flag}") for name, function, flag in flags()]


@pytest.mark.parametrize(("function", "flag"), FLAGS)
def test_a_flag_is_true_or_false(function: Callable[..., Any], flag: str) -> None:
    for wrong in ("no", 1):
        with pytest.raises(ParameterError, match=f"^{flag}: "):
            function(*_DOCUMENTS.get(function.__name__, ()), **{flag: wrong})


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    plain = nearkin.dedup(PAIRS, threshold=0.5, seed=3, threads=1)
    given = nearkin.dedup(PAIRS, threshold=np.float32(0.5), seed=np.int64(3), threads=np.uint8(1), report=np.False_)
    assert given.pairs.equals(plain.pairs)
    assert nearkin.StreamDeduplicator(threshold=np.float16(0.5), max_age=np.int32(4)).threshold == 0.5
    with nearkin.Collection.open(tmp_path / "matter", create=np.True_) as matter:
        matter.add(PAIRS)
        found = matter.similar("a", threshold=np.float32(0.3), limit=np.int16(2))
        assert [one.document.doc_id for one in found.documents] == ["b"]
        assert str(found.tolerance) == str(matter.similar("a", threshold=0.3).tolerance)
    for wrong in (np.float32("nan"), np.complex64(1), np.True_, *WRONG_ARRAYS):
        with pytest.raises(ParameterError, match=r"^threshold: "):
            nearkin.dedup(PAIRS, threshold=wrong)
