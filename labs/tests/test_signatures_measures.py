from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from labs.corpus import read_raw
from labs.signatures import truth as truths
from labs.signatures.drift import SMALL_DRIFT, measure_drift
from labs.signatures.methods import (
    ALL_KINDS,
    BITS,
    CUT_KINDS,
    DRIFT_BITS,
    FEATURES,
    LONGEST,
    SIMHASH_ONCE,
    WEIGHTED,
    SignedCorpus,
    cut,
    method,
    once,
    sign_all,
    snapshot_sizes,
)
from labs.signatures.published import DOCUMENTS_PER_SIGNATURE, SECONDS
from labs.signatures.retrieval import RetrievalQuality, distances_of_all_pairs, evaluate
from labs.signatures.truth import SimilarPairs, similar_pairs, word_sets
from nearkin.errors import ParameterError, SourceError
from nearkin.records import ShingleSets
from nearkin.runs.progress import Silent
from nearkin.stages.features.shingles import count_features
from nearkin.stages.signatures.statistics import GrowingStatistics, Statistics
from nearkin.stages.signatures.topsig import OnlineTopSig
from nearkin.workflows.reading.request import ReadingRequest
from oracles.texts import versions

TEXTS = pa.array(
    [*versions(5, n_bases=8, n_words=60, n_versions=3, max_edits=4), "ab", "Ünïcödé – 日本語の文章です"],
    pa.large_string(),
)


@pytest.fixture(scope="module")
def signed() -> SignedCorpus:
    return sign_all(TEXTS, threads=2, progress=Silent())


@pytest.mark.parametrize("kind", ALL_KINDS, ids=lambda kind: kind.key)
def test_shared_work_gives_the_signatures_of_each_method(signed: SignedCorpus, kind) -> None:
    counted = count_features(TEXTS, FEATURES)
    counted = once(counted) if kind.counts_once else counted
    for bits in BITS:
        alone = method(kind, bits, signed.statistics).sign(counted)
        assert np.array_equal(signed.packed[kind.key, bits], alone.packed), bits


@pytest.mark.parametrize("kind", CUT_KINDS, ids=lambda kind: kind.key)
def test_shorter_signatures_are_cut_from_the_longest(kind) -> None:
    counted = count_features(TEXTS, FEATURES)
    none = Statistics.of([])
    longest = method(kind, LONGEST, none).sign(counted).packed
    for bits in BITS:
        assert np.array_equal(cut(kind, longest, bits), method(kind, bits, none).sign(counted).packed)


def test_statistics_are_those_of_all_and_of_the_first(signed: SignedCorpus) -> None:
    counted = count_features(TEXTS, FEATURES)
    assert signed.statistics.fingerprint == Statistics.of([counted]).fingerprint
    first = Statistics.of([count_features(TEXTS.slice(0, 8), FEATURES)])
    for bits in DRIFT_BITS:
        assert np.array_equal(signed.early[8, bits], method(WEIGHTED, bits, first).sign(counted).packed)
        assert np.array_equal(
            signed.online[bits], OnlineTopSig(GrowingStatistics(counted.fingerprint), bits).sign(counted).packed
        )


def test_once_makes_sets_of_counts() -> None:
    counted = once(count_features(pa.array(["aaaaaa"], pa.large_string()), FEATURES))
    assert counted.counts.tolist() == [1]
    assert SIMHASH_ONCE.counts_once


def test_snapshots_double() -> None:
    assert snapshot_sizes(2) == (2,)
    assert snapshot_sizes(9) == (8, 9)


@pytest.mark.parametrize("large_run", [3, truths._LARGE_RUN])
def test_truth_is_what_comparing_every_pair_gives(monkeypatch: pytest.MonkeyPatch, large_run: int) -> None:
    monkeypatch.setattr(truths, "_LARGE_RUN", large_run)
    texts = pa.array([*versions(9, n_bases=12, n_words=40, n_versions=5, max_edits=8), "", "x"], pa.large_string())
    for sets, threshold in ((FEATURES.sets(texts), 0.8), (word_sets(texts), 0.7), (FEATURES.sets(texts), 1.0)):
        each = [set(sets.hashes[a:b].tolist()) for a, b in zip(sets.offsets, sets.offsets[1:])]
        wanted = {
            (i, j): len(each[i] & each[j]) / len(each[i] | each[j])
            for i, j in combinations(range(len(each)), 2)
            if each[i] and each[j]
        }
        wanted = {pair: similarity for pair, similarity in wanted.items() if similarity >= threshold}
        found = similar_pairs(sets, threshold, threads=2, progress=Silent())
        pairs = list(zip(found.left.tolist(), found.right.tolist()))
        assert pairs == sorted(wanted)
        assert found.similarity.tolist() == pytest.approx([wanted[pair] for pair in pairs])


def test_too_many_alike_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truths, "MAX_SIMILAR", 2)
    sets = ShingleSets(np.array([7, 7, 7], np.uint64), np.array([0, 1, 2, 3]), np.ones(3, np.int64), "")
    with pytest.raises(ParameterError, match="so few that at most 2 pairs are similar"):
        similar_pairs(sets, 0.8, threads=1, progress=Silent())


def test_distances_of_all_pairs_are_counted() -> None:
    packed = np.random.default_rng(0).integers(0, 256, (300, 16), np.uint8)
    wanted = np.zeros(129, np.int64)
    for i, j in combinations(range(300), 2):
        wanted[np.bitwise_count(packed[i] ^ packed[j]).sum()] += 1
    assert np.array_equal(distances_of_all_pairs(packed, threads=2), wanted)


def test_precision_and_recall_by_hand() -> None:
    # bits apart: 0-1: 1, 0-2: 2, 1-2: 1, the fourth is far from all
    packed = np.array([[0b000], [0b001], [0b011], [0b11111000]], np.uint8)
    alike = SimilarPairs(np.array([0, 0], np.uint32), np.array([1, 2], np.uint32), np.array([0.9, 0.8]))
    (found,) = evaluate(packed, {"characters": alike})
    assert found.at(0) == RetrievalQuality(0, 0, 0, 2)
    assert (found.at(1).precision, found.at(1).recall) == (0.5, 0.5)
    assert (found.at(2).precision, found.at(2).recall) == (2 / 3, 1.0)
    assert found.best.distance == 2
    assert found.best.f1 == pytest.approx(0.8)


def test_nothing_alike_has_no_recall() -> None:
    none = SimilarPairs(np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros(0))
    (found,) = evaluate(np.array([[1], [2]], np.uint8), {"characters": none})
    assert np.isnan(found.best.recall)
    assert np.isnan(found.best.f1)
    assert np.isnan(found.at(0).precision)


def test_drift_ends_at_zero(signed: SignedCorpus) -> None:
    sets = ShingleSets(signed.sets.hashes, signed.sets.offsets, signed.sets.n_units, "")
    alike = {truths.BY_CHARACTERS: similar_pairs(sets, 0.8, threads=1, progress=Silent())}
    drifts = measure_drift(signed, np.arange(len(TEXTS)), alike, threads=1, progress=Silent())
    for bits in DRIFT_BITS:
        of = drifts.of(bits)
        assert [drift.n_documents for drift in of] == [8, 16, 32, len(TEXTS)]
        assert of[0].mean > of[1].mean > of[2].mean >= of[3].mean == 0.0
        assert drifts.n_for_small_drift(bits) == next(d.n_documents for d in of if d.mean < SMALL_DRIFT)
        assert drifts.n_for_retrieval(bits) <= len(TEXTS)
    last = [arrival for arrival in drifts.arrivals if arrival.bits == 64][-1]
    assert (last.first, last.last) == (33, len(TEXTS))
    assert last.mean < 0.1  # the last ones have nearly the statistics of all


def test_published_tables_are_whole() -> None:
    assert len(SECONDS) == len(DOCUMENTS_PER_SIGNATURE) == 4 * len(BITS)
    assert SECONDS["simple-minhash", 1024].mean == 0.929
    assert DOCUMENTS_PER_SIGNATURE["weighted-topsig", 16].deviation == 17.438


def write(path: Path, records: list[object]) -> ReadingRequest:
    path.write_text("".join(f"{r if isinstance(r, str) else json.dumps(r)}\n" for r in records), encoding="utf-8")
    return ReadingRequest(inputs=[str(path)])


def test_texts_are_raw_and_those_without_text_are_counted(tmp_path: Path) -> None:
    records = [{"text": "One  TWO\t"}, {"text": ""}, "{broken", {"text": " \n"}, {"text": "b"}, {"text": "One  TWO\t"}]
    documents = read_raw(write(tmp_path / "a.jsonl", records), 5, Silent())
    assert documents.texts.to_pylist() == ["One  TWO\t", "b", "One  TWO\t"]
    assert documents.first_with_text.tolist() == [0, 1, 0]
    assert documents.distinct.tolist() == [0, 1]
    assert (documents.n_without_text, documents.n_unreadable) == (2, 1)
    assert len(read_raw(write(tmp_path / "b.jsonl", records), 4, Silent())) == 2


@pytest.mark.parametrize("texts", [["one"], ["", " ", "\n"], ["one", ""]])
def test_fewer_than_two_texts_are_refused(tmp_path: Path, texts: list[str]) -> None:
    with pytest.raises(SourceError, match="at least 2 documents with a text"):
        read_raw(write(tmp_path / "a.jsonl", [{"text": text} for text in texts]), 10, Silent())
