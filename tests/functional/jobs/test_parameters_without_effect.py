"""Parameters from Python that have no effect, cannot be paths, or are booleans in place of numbers, are refused."""

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
    "plan": nearkin.plan,
    "plan of pairs": lambda documents, **given: nearkin.plan(documents, [*documents], **given),
}
ABOUT_FILES = {
    "file_format": "jsonl",
    "encoding": "latin-1",
    "max_document_size": "1MiB",
    "extraction_limits": {"time": 5},
    "ocr": "eng",
}
_OF_PLAN = {"max_document_size"}
JOBS_AND_PARAMETERS = [
    (job, parameter) for job in JOBS for parameter in ABOUT_FILES if "plan" not in job or parameter in _OF_PLAN
]


@pytest.mark.parametrize(("job", "parameter"), JOBS_AND_PARAMETERS)
def test_what_is_about_files_is_refused_for_documents_in_memory(job: str, parameter: str) -> None:
    with pytest.raises(ParameterError, match=f"^{parameter}: is about files"):
        JOBS[job](PAIRS, **{parameter: ABOUT_FILES[parameter]})


@pytest.mark.parametrize("job", JOBS)
def test_a_column_of_texts_without_columns_is_refused(job: str) -> None:
    for name in ("text", "id"):
        with pytest.raises(ParameterError, match=f"^{name}: names a column"):
            JOBS[job](iter(PAIRS) if "pairs" not in job else PAIRS, **{name: "body"})
    JOBS[job](DICTS, text="body", id="name")


def test_a_column_of_one_side_needs_columns_on_that_side(tmp_path: Path) -> None:
    file = tmp_path / "right.jsonl"
    file.write_text('{"name": "r", "body": "' + TEXT + '"}\n')
    for name in ("left_text", "left_id"):
        with pytest.raises(ParameterError, match=f"^{name}: names a column"):
            nearkin.pairs(PAIRS, file, right_text="body", right_id="name", **{name: "body"})
    with pytest.raises(ParameterError, match=r"^right_text: names a column"):
        nearkin.plan(file, PAIRS, left_text="body", right_text="body")
    assert len(nearkin.pairs(PAIRS, file, text="body", min_occurrences=1, encoding="latin-1").pairs) > 0


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
