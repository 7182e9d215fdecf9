"""The recall of finished runs, measured: what brute force says of the same documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_done, nearkin_here, run_here, write_jsonl
from nearkin.stages.search.linking import SkewedRuns
from nearkin.workflows.auditing.audit import audit
from nearkin.workflows.auditing.audited import Audited, AuditOptions
from nearkin.workflows.dedup.regrouping import regroup
from oracles.brute_force import Collection
from oracles.texts import versions

EVERYTHING = AuditOptions(sample=10**9, threads=2)
LOSSY = {"threshold": 0.6, "recall": 0.5, "shingle": "words:3"}
Pairs = set[frozenset[str]]


def planted() -> list[dict[str, object]]:
    """Long texts in families, and what is short, empty, repeated or strange."""
    texts = versions(5, n_bases=30, n_words=150, n_versions=3, max_edits=16)
    texts += ["", " \n", "!?", "one two", "One two.", "one two three four", "One, two, three, four!", *texts[::9]]
    return [{"id": f"d{i * 31 % 2003}", "text": text} for i, text in enumerate(texts)]


@pytest.fixture(scope="module")
def documents() -> list[dict[str, object]]:
    return planted()


@pytest.fixture(scope="module")
def files(documents, tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("planted")
    half = len(documents) // 2
    parts = (documents[:half], documents[half:])
    return [str(write_jsonl(folder / f"part-{i}.jsonl", part)) for i, part in enumerate(parts)]


@pytest.fixture(scope="module")
def lossy(files, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("lossy") / "out"
    run_here(files, out, **LOSSY)
    return out


def true_pairs(documents: Sequence[dict[str, object]], *, threshold: float, shingle: str, measure: str) -> Pairs:
    """By brute force: pairs of the documents that stand for their texts."""
    unit, _, length = shingle.partition(":")
    plain = Collection([(str(d["id"]), str(d["text"])) for d in documents], unit=unit, length=int(length))
    originals = plain.originals(plain.preference("longest"))
    return {frozenset({plain.id(a), plain.id(b)}) for a, b in plain.matches(originals, threshold, measure)}


def stored_pairs(out: Path) -> Pairs:
    """Those of different texts."""
    table = pq.read_table(out / "documents.parquet")
    copies = {row["row"] for row in table.to_pylist() if row["copy_of_row"] is not None}
    pairs = pq.read_table(out / "pairs.parquet", columns=["row_a", "row_b"]).to_pylist()
    names = table["name"].to_pylist()
    return {frozenset(names[row] for row in pair.values()) for pair in pairs if not copies & set(pair.values())}


def missed_pairs(audited: Audited) -> Pairs:
    return {frozenset((row["id_a"], row["id_b"])) for row in audited.missed.to_pylist()}


@pytest.mark.parametrize(
    ("measure", "threshold", "shingle"),
    [
        ("jaccard", 0.6, "words:3"),
        ("jaccard", 1.0, "words:3"),
        ("containment", 0.8, "words:2"),
    ],
)
def test_all_documents_are_brute_force(documents, files, tmp_path, measure, threshold, shingle):
    run_here(files, tmp_path / "out", measure=measure, threshold=threshold, shingle=shingle, recall=0.4)
    audited = audit(tmp_path / "out", EVERYTHING)
    truth = true_pairs(documents, threshold=threshold, shingle=shingle, measure=measure)
    found = stored_pairs(tmp_path / "out")
    assert found <= truth
    estimate = audited.estimate
    assert estimate.is_exact
    assert (estimate.n_true, estimate.n_found) == (len(truth), len(found))
    assert estimate.recall == estimate.low == estimate.high == len(found) / len(truth)
    assert missed_pairs(audited) == truth - found
    assert len(audited.missed) == len(truth - found)


def test_something_is_missed_and_predicted(lossy):
    audited = audit(lossy, EVERYTHING)
    assert 0.3 < audited.estimate.recall < 0.95
    assert audited.predicted_recall == json.loads((lossy / "manifest.json").read_text())["estimated_recall"]
    assert audited.predicted_recall == pytest.approx(audited.estimate.recall, abs=0.15)
    higher = replace(audited, predicted_recall=audited.estimate.recall + 0.01)
    assert higher.to_dict()["below_predicted"] == pytest.approx(0.01)
    assert "1.00 points above the recall" in [one.note for one in higher.facts() if one.is_warning]
    assert not any(one.is_warning for one in replace(audited, predicted_recall=audited.estimate.recall).facts())
    similarities = audited.missed["similarity"].to_pylist()
    assert similarities == sorted(similarities, reverse=True)
    assert min(similarities) >= 0.6


def test_a_pair_of_two_sampled_documents_counts_once(documents, lossy):
    truth = true_pairs(documents, threshold=0.6, shingle="words:3", measure="jaccard")
    table = pq.read_table(lossy / "documents.parquet").to_pylist()
    stands = [row["row"] for row in table if row["copy_of_row"] is None and row["reason"] != "empty"]
    for seed, n in ((0, 30), (1, 60)):
        options = AuditOptions(sample=n, seed=seed, threads=2)
        sampled = {table[row]["name"] for row in options.drawn(np.array(stands))}
        drawn = {pair for pair in truth if pair & sampled}
        assert any(pair <= sampled for pair in drawn)
        estimate = audit(lossy, options).estimate
        assert (estimate.n_true, estimate.n_found) == (len(drawn), len(drawn & stored_pairs(lossy)))
        assert estimate.recall == estimate.n_found / estimate.n_true


def test_the_seed_alone_decides_the_sample(lossy):
    one, again, other = (
        audit(lossy, AuditOptions(sample=40, seed=seed, threads=n)) for seed, n in ((3, 2), (3, 1), (4, 2))
    )
    assert (one.estimate, one.missed) == (again.estimate, again.missed)
    assert one.estimate != other.estimate


def test_a_regrouped_run(documents, lossy, tmp_path):
    out, _ = regroup(lossy, threshold=0.75, out=tmp_path / "cut", report=False)
    audited = audit(out, EVERYTHING)
    truth = true_pairs(documents, threshold=0.75, shingle="words:3", measure="jaccard")
    assert missed_pairs(audited) == truth - stored_pairs(out)
    assert "Jaccard ≥ 0.75" in audited.pairs


def test_against_another_collection(documents, tmp_path):
    """Ids are repeated in both, and texts too."""
    both = [{**one, "id": "same" if i % 10 == 0 else one["id"]} for i, one in enumerate(documents)]
    mine, theirs = both[::2], both[1::2] + both[:40:4]
    inputs = [str(write_jsonl(tmp_path / "mine.jsonl", mine))]
    against = [str(write_jsonl(tmp_path / "theirs.jsonl", theirs))]
    run_here(inputs, tmp_path / "out", against=against, **LOSSY)
    audited = audit(tmp_path / "out", EVERYTHING)
    plain = Collection([("", str(one["text"])) for one in [*mine, *theirs]], length=3)
    n_true = 0
    for a in range(len(mine)):
        alike = {
            plain.texts[b]
            for b in range(len(mine), len(plain.texts))
            if plain.texts[b] != plain.texts[a] and float(plain.likeness(a, b).jaccard) >= 0.6
        }
        n_true += len(alike) if plain.texts[a] else 0
    reported = pq.read_table(tmp_path / "out" / "pairs.parquet")
    n_copies = sum(one in plain.texts[len(mine) :] for one in plain.texts[: len(mine)] if one)
    assert audited.estimate.n_true == n_true
    assert audited.estimate.n_found == len(reported) - n_copies
    assert 0 < audited.estimate.n_missed == len(audited.missed)


def test_pairs_that_were_not_compared(tmp_path, monkeypatch):
    """A crowd under one key: the run cannot say what it missed, the audit can."""
    texts = [f"{' '.join(map(str, range(60)))} x{i} y{i % 7} z{i}" for i in range(300)]
    path = write_jsonl(tmp_path / "in.jsonl", [{"id": str(i), "text": text} for i, text in enumerate(texts)])
    monkeypatch.setattr(SkewedRuns, "affordable_pivots", lambda runs, max_pairs: 1)
    manifest = run_here([str(path)], tmp_path / "out", threshold=0.8)
    assert manifest["counts"]["pairs_not_compared"] > 0
    audited = audit(tmp_path / "out", AuditOptions(sample=50, threads=2))
    assert audited.predicted_recall is None
    assert any("did not compare" in note for note in audited.notes)
    assert audited.estimate.recall < 0.5


# -- what is refused --------------------------------------------------------------------------------------------------


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["missed.parquet", "missed.tsv", "missed.csv", "missed.jsonl"])
def test_json_and_missed(lossy, tmp_path, name):
    ended = nearkin_here("audit", lossy, "--json", "--out", tmp_path / name)
    assert ended.code == 0
    told = json.loads(ended.out)
    audited = audit(lossy)
    assert told | {"elapsed_s": 0} == audited.to_dict() | {"elapsed_s": 0}
    assert told["missed_pairs"] == len(audited.missed) > 0
    if name.endswith(".parquet"):
        assert pq.read_table(tmp_path / name) == audited.missed
    if name.endswith(".tsv"):
        first, *lines = (tmp_path / name).read_text().splitlines()
        assert first == "id_a\tid_b\tsimilarity"
        assert len(lines) == len(audited.missed)
    nearkin_done("audit", lossy, "--out", tmp_path / name, code=5)
    said = nearkin_here("audit", lossy, "--out", tmp_path / name, "--overwrite").out
    assert f"each once: {tmp_path / name}" in said
    assert "--out FILE" not in said
    nearkin_done("audit", lossy, "--out", tmp_path / name, "--overwrite", "-q")
