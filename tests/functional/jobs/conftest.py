"""Documents that the functions of ``nearkin`` and its commands read."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import FAST, nearkin_here, write_jsonl
from translated_corpus import TranslatedCorpus, translated_corpus

LEASE = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord at his house."
TEXTS = [FAST, FAST + " again", "nothing like the others, this one"]
RECORDS = [{"id": i, "text": text} for i, text in enumerate(TEXTS)]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents with ids, some similar."""
    records = [
        {"id": f"d{i}", "text": f"{LEASE} Number {i % 7} of the {i % 5} houses.{' Signed by both.' * (i % 2)}"}
        for i in range(40)
    ]
    others = [f"{i * i} and {i} are numbers, and so is {i + 17}, of which none is prime" for i in range(20)]
    records += [{"id": f"x{i}", "text": text} for i, text in enumerate(others)]
    return write_jsonl(tmp_path_factory.mktemp("texts") / "texts.jsonl", records)


@pytest.fixture(scope="module")
def bilingual(tmp_path_factory: pytest.TempPathFactory) -> TranslatedCorpus:
    return translated_corpus(tmp_path_factory.mktemp("bilingual"), n=60)


def records_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def ran(*arguments: str | Path) -> None:
    ended = nearkin_here(*arguments)
    assert ended.code == 0, ended.err


def table(path: Path) -> pa.Table:
    return pq.ParquetFile(path).read()
