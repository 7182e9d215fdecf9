"""Parameters from Python that are for files, cannot be paths, or are booleans in place of numbers, are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import nearkin
from nearkin.errors import ParameterError
from nearkin.stages.search.bands import Bands
from nearkin.stages.signatures.minhash import MinHash

TEXT = "the tenant shall pay the rent of nine hundred crowns on the first day of each month to the landlord"
PAIRS = [("a", TEXT), ("b", f"{TEXT} without delay")]
DICTS = [{"name": doc_id, "body": text} for doc_id, text in PAIRS]
JOBS: dict[str, Callable[..., object]] = {
    "dedup": nearkin.dedup,
    "families": nearkin.families,
    "sign": nearkin.sign,
    "pairs": lambda documents, **given: nearkin.pairs(documents, [*documents], min_occurrences=1, **given),
}


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize(
    "given",
    [{"encoding": "cp1252"}, {"file_format": "csv"}, {"max_document_size": 9}, {"extraction_limits": {"time": 9}}],
)
def test_parameters_of_files_are_refused_for_documents_in_memory(job, given, tmp_path):
    with pytest.raises(ParameterError) as caught:
        JOBS[job](PAIRS, **given)
    assert [caught.value.parameter] == [*given]


def test_parameters_of_files_are_those_of_the_other_set(tmp_path):
    other = tmp_path / "other.csv"
    other.write_bytes(f"id;text\n1;{TEXT} caf\xe9\n2;{TEXT}\n".encode("latin-1"))
    found = nearkin.dedup(PAIRS, against=str(other), encoding="latin-1", file_format="csv")
    assert found.documents["reason"].to_pylist() == ["exact copy", "near-duplicate"]


@pytest.mark.parametrize("job", ["dedup", "families", "sign", "pairs"])
def test_a_path_with_a_null_character_is_refused(job: str) -> None:
    with pytest.raises(ParameterError, match=r"^out: must be a path, which cannot contain"):
        JOBS[job](PAIRS, out="a\0b")


def test_a_path_with_a_null_character_is_refused_wherever_one_is_read() -> None:
    for call in (
        lambda: nearkin.pairs(PAIRS, DICTS, table="a\0b"),
        lambda: nearkin.sign(PAIRS, statistics="a\0b", method="weighted-topsig"),
        lambda: nearkin.audit("a\0b"),
        lambda: nearkin.dedup("a\0b"),
        lambda: nearkin.dedup([Path("a\0b")]),
        lambda: nearkin.results.DedupResult.open("a\0b"),
        lambda: nearkin.dedup(PAIRS, ignore="a\0b"),
        lambda: nearkin.Collection.open("a\0b", create=True),
    ):
        with pytest.raises(nearkin.NearkinError):
            call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: nearkin.dedup(PAIRS, seed=True),
        lambda: nearkin.dedup(PAIRS, threads=True),
        lambda: nearkin.dedup(PAIRS, memory=True),
        lambda: nearkin.dedup(PAIRS, max_document_size=True),
        lambda: nearkin.sign(PAIRS, bits=True),
        lambda: nearkin.sign(PAIRS, seed=True),
        lambda: nearkin.pairs(PAIRS, DICTS, top=True),
        lambda: nearkin.pairs(PAIRS, DICTS, seed=True),
        lambda: MinHash(True),
        lambda: Bands(True, 2),
    ],
)
def test_a_boolean_is_no_number(call: Callable[[], object]) -> None:
    with pytest.raises(ParameterError, match="Got: True"):
        call()
