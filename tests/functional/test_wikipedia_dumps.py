"""Dumps of Wikipedia, from the download to the results."""

from __future__ import annotations

import bz2
import json
import random

import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_done
from wikipedia_dumps import HEAD, TAIL, page


def prose(seed: int) -> str:
    chance = random.Random(seed)
    return " ".join(f"[[Wort {chance.randrange(5000)}|wort{chance.randrange(5000)}]]" for _ in range(120))


PAGES = [
    page("Regen", prose(1), number=1),
    page("Schnee", prose(2), number=2),
    page("Regen (Wetter)", prose(1) + " Mehr.", number=3),
    page("Niederschlag", "#WEITERLEITUNG [[Regen]]", number=4, redirect="Regen"),
]


@pytest.fixture
def multistream(tmp_path):
    """As dumps are packed: what stands before the pages, then some pages at a time."""
    parts = [HEAD, "".join(PAGES[:2]), "".join(PAGES[2:]), TAIL]
    path = tmp_path / "tiny.xml.bz2"
    path.write_bytes(b"".join(bz2.compress(part.encode()) for part in parts))
    return path


def test_near_duplicates_among_articles(tmp_path, multistream):
    done = nearkin_done("dedup", multistream, "--out", tmp_path / "d", "--write-kept")
    said = " ".join((done.out + done.err).split())
    assert "read as a dump of Wikipedia (recognised by its content)" in said
    assert "4 pages: 3 articles read; omitted: 1 redirects" in said
    documents = pq.read_table(tmp_path / "d/documents.parquet").to_pylist()
    assert {row["id"]: row["reason"] for row in documents} == {
        "Regen": "near-duplicate",
        "Schnee": "unique",
        "Regen (Wetter)": "unique",
    }
    kept = (tmp_path / "d/kept/tiny.xml.bz2.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in kept] == ["Schnee", "Regen (Wetter)"]
