"""Arguments of the Python API: flags, numbers of numpy, and values that no caller should pass."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nearkin
from nearkin import results
from nearkin.errors import ParameterError
from nearkin.spark.deduplicating import dedup_result
from nearkin.spark.pairing import similar_pairs

LEASE = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord."
PAIRS = [("a", LEASE), ("b", LEASE.replace("900", "950")), ("c", "Soup and bread.")]
HUGE = 10**5000


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
FLAGS = [pytest.param(function, flag, id=f"{name} {flag}") for name, function, flag in flags()]


def test_there_are_many_flags() -> None:
    assert len(FLAGS) > 40


@pytest.mark.parametrize("wrong", ["no", 1, ""])
@pytest.mark.parametrize(("function", "flag"), FLAGS)
def test_a_flag_is_true_or_false(function: Callable[..., Any], flag: str, wrong: object) -> None:
    with pytest.raises(ParameterError, match=rf"{flag}: must be True or False. Got: {wrong!r}"):
        function(**{flag: wrong})


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    plain = nearkin.dedup(PAIRS, threshold=0.5, seed=3, threads=1)
    given = nearkin.dedup(PAIRS, threshold=np.float32(0.5), seed=np.int64(3), threads=np.uint8(1), report=np.False_)
    assert given.pairs.equals(plain.pairs)
    assert nearkin.DedupOptions(threshold=np.float32(0.8)) == nearkin.DedupOptions(threshold=0.8)
    assert nearkin.StreamDeduplicator(threshold=np.float16(0.5), max_age=np.int32(4)).threshold == 0.5
    with nearkin.Collection.open(tmp_path / "matter", create=np.True_) as matter:
        matter.add(PAIRS)
        found = matter.similar("a", threshold=np.float32(0.3), limit=np.int16(2))
        assert [one.document.doc_id for one in found.documents] == ["b"]
        assert str(found.tolerance) == str(matter.similar("a", threshold=0.3).tolerance)
    for wrong in (np.float32("nan"), np.complex64(1), np.True_, *WRONG_ARRAYS):
        with pytest.raises(ParameterError, match=r"^threshold: "):
            nearkin.dedup(PAIRS, threshold=wrong)


@pytest.mark.parametrize(
    ("given", "plain"), [(np.int64(5), 5), (np.uint8(7), 7), (np.str_("x"), "x"), (np.True_, True)]
)
def test_ids_of_numpy_are_ids_of_python(given: Hashable, plain: object, tmp_path: Path) -> None:
    stream = nearkin.StreamDeduplicator()
    stream.add(given, LEASE)
    (match,) = stream.add("b", LEASE)
    assert (type(match.doc_id), match.doc_id) == (type(plain), plain)
    stream.save(tmp_path / "stream")
    assert given in nearkin.StreamDeduplicator.open(tmp_path / "stream")


@pytest.mark.parametrize("name", ["shingle", "normalise"])
@pytest.mark.parametrize("value", [5, None, True, ["words:5"], np.array(5)])
def test_a_stream_refuses_what_is_no_rule_of_reading(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=f"{name}: must be "):
        nearkin.StreamDeduplicator(**{name: value})


@pytest.mark.parametrize("table", [[{"text": LEASE}], pa.table({"text": [LEASE]})])
@pytest.mark.parametrize("parameter", ["text", "id"])
def test_the_name_of_a_column_is_a_string(table: object, parameter: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=f"^{parameter}: "):
        nearkin.dedup(table, **{parameter: 5})
    with nearkin.Collection.open(tmp_path / "matter", create=True) as matter, pytest.raises(ParameterError):
        matter.add(table, **{parameter: 5})


@pytest.mark.parametrize("documents", [PAIRS, [LEASE], pa.array([LEASE])])
@pytest.mark.parametrize("column", [{"text": "body"}, {"id": "number"}, {"text": 5}])
def test_add_refuses_columns_of_documents_without_any(
    documents: object, column: dict[str, Any], tmp_path: Path
) -> None:
    with nearkin.Collection.open(tmp_path / "matter", create=True) as matter:
        with pytest.raises(ParameterError, match="column"):
            matter.add(documents, **column)
        assert matter.info().n_documents == 0


@pytest.mark.parametrize("wrong", [None, 5, b"x", True, ["matter"]])
def test_a_collection_has_a_place(wrong: Any) -> None:
    with pytest.raises(ParameterError, match=r"must be a directory, or postgresql://"):
        nearkin.Collection.open(wrong)
    with pytest.raises(ParameterError, match=r"Open a collection with Collection.open\(path\)"):
        nearkin.Collection(wrong)


@pytest.mark.parametrize("wrong", [["a"], None, 5, b"a"])
def test_an_id_is_a_string(wrong: Any, tmp_path: Path) -> None:
    with nearkin.Collection.open(tmp_path / "matter", create=True) as matter:
        matter.add(PAIRS)
        calls = [
            lambda: matter.has_document(wrong),
            lambda: matter.document(wrong),
            lambda: matter.text(wrong),
            lambda: matter.details(wrong),
            lambda: matter.history(wrong),
            lambda: matter.versions(wrong),
            lambda: matter.similar(wrong),
            lambda: matter.compare("a", wrong),
        ]
        for call in calls:
            with pytest.raises(ParameterError):
                call()


@pytest.mark.parametrize("number", [HUGE, -HUGE, 10**400, [HUGE]], ids=["huge", "negative", "large", "list"])
def test_a_number_that_is_too_long_to_print_is_refused(number: Any, tmp_path: Path) -> None:
    with nearkin.Collection.open(tmp_path / "matter", create=True) as matter:
        matter.add(PAIRS)
        calls = [
            lambda: nearkin.dedup(PAIRS, threshold=number),
            lambda: nearkin.dedup(PAIRS, seed=number),
            lambda: nearkin.dedup(PAIRS, memory=number),
            lambda: nearkin.dedup(PAIRS, max_unreadable=number),
            lambda: nearkin.StreamDeduplicator(threshold=number),
            lambda: nearkin.StreamDeduplicator(size=number),
            lambda: matter.similar("a", threshold=number),
            lambda: matter.similar("a", measure="index", tolerance=number),
        ]
        for call in calls:
            with pytest.raises(ParameterError):
                call()
