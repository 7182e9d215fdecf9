"""Arguments of the Python API: flags, numbers of numpy, and values that no caller should pass."""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Callable, Hashable, Iterator
from datetime import date
from decimal import Decimal
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
        with pytest.raises(ParameterError, match="'threshold'"):
            nearkin.dedup(PAIRS, threshold=wrong)


def test_arrays_without_dimensions_are_numbers() -> None:
    plain = nearkin.dedup(PAIRS, threshold=0.5, seed=3)
    given = nearkin.dedup(PAIRS, threshold=np.array(0.5, np.float32), seed=np.array(3), report=np.array(False))
    assert given.pairs.equals(plain.pairs)
    assert given.manifest["parameters"] == plain.manifest["parameters"]
    assert nearkin.DedupOptions(threshold=np.array(0.8)) == nearkin.DedupOptions(threshold=0.8)
    assert nearkin.StreamDeduplicator(threshold=np.array(0.5), max_age=np.array(4)).max_age == 4


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


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (date(2020, 1, 2), "2020-01-02"),
        (Decimal("1.50"), "1.50"),
        (Path("a/b"), "a/b"),
        (b"caf\xe9", "caf\\xe9"),
        (np.datetime64("2020-01-02"), "2020-01-02"),
    ],
)
def test_ids_with_a_text_of_their_own_are_that_text(given: object, text: str) -> None:
    for documents in ([(given, LEASE)], [{"id": given, "text": LEASE}]):
        assert nearkin.dedup(documents).documents["id"].to_pylist() == [text]


def test_an_object_without_a_text_of_its_own_is_no_id() -> None:
    with pytest.raises(ParameterError, match="The id of a document must be a str, an int, or a value with"):
        nearkin.dedup([(object(), LEASE)])


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int16])
def test_numbers_of_numpy_in_documents_are_numbers(kind: Callable[[int], Any]) -> None:
    records = [{"id": kind(i), "text": LEASE, "date": kind(i)} for i in range(3)]
    expected = nearkin.dedup([{name: int(v) if name != "text" else v for name, v in one.items()} for one in records])
    for documents in (records, [(one["id"], one["text"]) for one in records]):
        assert nearkin.dedup(documents).documents["id"].equals(expected.documents["id"])
    latest = nearkin.dedup(records, keep="max:date").documents
    assert latest["keep"].to_pylist() == [False, False, True]


@pytest.mark.parametrize("job", [nearkin.dedup, nearkin.sign, nearkin.families])
def test_keys_of_dicts_are_strings(job: Callable[..., Any]) -> None:
    with pytest.raises(ParameterError, match=r"The keys of a dict must be strings, such as 'text'\. Got 1"):
        job([{1: "a b"}, {1: "c"}])


@pytest.mark.parametrize("table", [[{"text": LEASE}], pa.table({"text": [LEASE]})])
@pytest.mark.parametrize("parameter", ["text", "id"])
def test_the_name_of_a_column_is_a_string(table: object, parameter: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=f"'{parameter}'"):
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


@pytest.mark.parametrize("wrong", [5, True, "case", [5], [["case"]]])
def test_what_compare_ignores_is_a_list(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="'ignore' parameter"):
        nearkin.compare("one", "two", ignore=wrong)


def test_compare_takes_an_iterator() -> None:
    assert nearkin.compare("One", "one", ignore=iter(["case"])).comparison.n_ignored == 1


@pytest.mark.parametrize("wrong", [None, 5, "ab", b"ab", [("r",)], ["ab", "xy"], [("a", "b", "c")], [None]])
def test_a_stream_takes_pairs(wrong: Any) -> None:
    stream = nearkin.StreamDeduplicator()
    with pytest.raises(ParameterError, match=r"must be an iterable of \(id, text\) pairs"):
        list(stream.add_many(wrong))
    assert len(stream) == 0


@pytest.mark.parametrize("wrong", [5, "x", True])
def test_fetch_is_a_function(wrong: Any, tmp_path: Path) -> None:
    stream = nearkin.StreamDeduplicator()
    stream.save(tmp_path / "stream")
    for call in (
        nearkin.StreamDeduplicator,
        lambda fetch: nearkin.StreamDeduplicator.open(tmp_path / "stream", fetch=fetch),
    ):
        with pytest.raises(ParameterError, match="'fetch' parameter"):
            call(fetch=wrong)


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
            lambda: matter.similar("a", measure="si", tolerance=number),
        ]
        for call in calls:
            with pytest.raises(ParameterError):
                call()
