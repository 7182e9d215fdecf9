"""The collection of the guides is the same everywhere, and what its truth says of it is true."""

from __future__ import annotations

import hashlib
import json
from itertools import combinations
from pathlib import Path

import nearkin
from generator.similarity import jaccard, shingles

SHA256 = {
    "contracts.jsonl": "a247e95516f675f43b7423e8d03e7b747a7abab54ce6b4c569e16270d3673a2e",
    "mails.jsonl": "72f2d094f6d180c0efdeed1761e949d651a27c39a50628b1faa30bded0157f1e",
    "notices.jsonl": "9bceee554185f1c4b5ef2bed255be4cd09b52fa114c5042243103f6dd289995f",
    "oddities.jsonl": "4e4078de238dd652003c655df7ab54425b5ded2d73baed072e656666a40565a2",
    "passages.jsonl": "d14e414159fbab0e82e1663ea96c2b3249f00d808d0478b31b581edb65f0a2b9",
    "truth.jsonl": "6a20aaaa740785d34100d3bdc17276fd8bc0073f67e46ba8712fae01432028c9",
}


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_bytes_are_pinned(collection: Path) -> None:
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in collection.iterdir()} == SHA256


def test_every_document_has_its_truth(collection: Path) -> None:
    truth = [line["id"] for line in _lines(collection / "truth.jsonl")]
    ids = [line["id"] for name in ("contracts", "mails", "notices") for line in _lines(collection / f"{name}.jsonl")]
    assert len(truth) == len(set(truth)) > 380
    assert set(ids) <= set(truth)


def test_strangers_are_no_near_duplicates(collection: Path) -> None:
    family = {line["id"]: line["family"] for line in _lines(collection / "truth.jsonl")}
    documents = [line for name in ("contracts", "mails", "notices") for line in _lines(collection / f"{name}.jsonl")]
    sets = {line["id"]: shingles(line["text"], 5) for line in documents}
    worst = max(jaccard(sets[a], sets[b]) for a, b in combinations(sets, 2) if family[a] != family[b])
    assert worst < 0.5


def test_copies_are_copies_and_edits_are_graded(collection: Path) -> None:
    truth = _lines(collection / "truth.jsonl")
    by_edit: dict[str, list[float]] = {}
    for line in truth:
        if line["of"]:
            by_edit.setdefault(line["edit"], []).append(float(line["jaccard_words_5"]))
    assert all(value == 1.0 for edit in ("exact copy", "retyped", "full width digits") for value in by_edit[edit])
    assert min(by_edit["signed"]) > 0.85
    assert max(by_edit["long reply"]) < 0.8


def test_nearkin_finds_what_the_definition_finds(collection: Path) -> None:
    documents = [line for name in ("contracts", "mails", "notices") for line in _lines(collection / f"{name}.jsonl")]
    result = nearkin.dedup(documents, threshold=0.6, shingle="words:5")
    found = {(pair["id_a"], pair["id_b"]): pair["jaccard"] for pair in result.pairs.to_pylist()}

    # copies are one text to Nearkin: its pairs are between texts, and from each copy to its original
    copies = {line["id"] for line in result.documents.to_pylist() if line["copy_of"] is not None}
    sets = {line["id"]: shingles(line["text"], 5) for line in documents if line["id"] not in copies}
    true = {(a, b): value for a, b in combinations(sets, 2) if (value := jaccard(sets[a], sets[b])) >= 0.6}

    between_texts = {pair: value for pair, value in found.items() if not copies & set(pair)}
    assert between_texts.keys() <= true.keys()
    assert all(abs(value - true[pair]) < 1e-12 for pair, value in between_texts.items())
    assert len(between_texts) >= 0.99 * len(true)
