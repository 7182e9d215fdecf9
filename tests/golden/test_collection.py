"""Results stay what they were, whichever kernels serve; and what is pinned is right, not only old."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden.collection import COLUMNS, DOCUMENTS, RUNS, collection
from golden.golden import TEXTS, made
from nearkin.kernels import choosing
from oracles.brute_force import Collection, normalised, shingles, words

FOLDERS = sorted(Path(__file__).parent.glob("v*"))


@pytest.mark.parametrize("kind", ["compiled", "plain"])
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_whichever_kernels_serve(folder, kind, monkeypatch):
    monkeypatch.setattr(choosing, "ALWAYS", kind)
    assert json.loads(json.dumps(made())) == json.loads((folder / "signatures.json").read_text("utf-8"))
    pinned = json.loads((folder / "collection.json").read_text("ascii"))
    found = collection()
    assert found.keys() == pinned.keys()
    for name, run in pinned.items():
        for part, content in run.items():
            assert found[name][part] == content, (name, part)


@pytest.mark.parametrize("name", RUNS)
def test_the_pinned_results_are_right(name):
    pinned, options = json.loads((FOLDERS[-1] / "collection.json").read_text("ascii"))[name], RUNS[name]
    unit, length = options["shingle"].split(":")
    documents = [(f"doc-{i:02d}", text) for i, text in enumerate(DOCUMENTS)]
    truth = Collection(documents, unit=unit, length=int(length)).judged(
        threshold=options["threshold"],
        measure=options.get("measure", "jaccard"),
        rule=options.get("group", "principal"),
        keep=options.get("keep", "longest"),
    )
    n_pinned = len(COLUMNS["pairs"])  # the columns of later measures come after them
    assert [tuple(pair.values()) for pair in pinned["pairs"]] == [pair[:n_pinned] for pair in truth.pairs]
    assert [(row["group"], row["copy_of"], row["reason"]) for row in pinned["documents"]] == [
        (verdict.group, verdict.copy_of, verdict.reason) for verdict in truth.documents
    ]
    assert {row["group"]: row["lowest_similarity"] for row in pinned["groups"]} == {
        group: row.lowest for group, row in truth.groups.items()
    }


def test_the_pinned_texts_are_split_as_the_brute_force_splits_them():
    pinned = json.loads((FOLDERS[-1] / "signatures.json").read_text("utf-8"))
    texts = [normalised(text) for text in TEXTS]
    assert pinned["normalised"] == texts
    assert pinned["words:1"]["n_units"] == [len(words(text)) for text in texts]
    assert pinned["chars:4"]["n_units"] == [len(text) for text in texts]
    for method in ("words:1", "words:5", "chars:4", "chars:24", "code:1", "code:5"):
        unit, length = method.split(":")
        assert pinned[method]["sizes"] == [len(shingles(text, unit, int(length))) for text in texts]


def test_different_shingles_have_different_hashes():
    pinned = json.loads((FOLDERS[-1] / "signatures.json").read_text("utf-8"))
    texts = [normalised(text) for text in TEXTS]
    hashes, grams = set(), set()
    for method in ("words:1", "words:5", "chars:4", "chars:24"):
        unit, length = method.split(":")
        hashes |= set(pinned[method]["hashes"])
        grams |= {(unit, gram) for text in texts for gram in shingles(text, unit, int(length))}
    assert len(hashes) == len(grams) > 500
