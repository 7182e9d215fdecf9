"""Parameters from Python that are for files are refused for documents in memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import nearkin
from nearkin.errors import ParameterError

TEXT = "the tenant shall pay the rent of nine hundred crowns on the first day of each month to the landlord"
PAIRS = [("a", TEXT), ("b", f"{TEXT} without delay")]
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
