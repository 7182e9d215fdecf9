"""Records of manifests: what is written is read back, and what is odd is absent."""

from __future__ import annotations

import json

import pytest

from golden.run_records import RECORDS
from nearkin.manifests.dedup import DedupManifest
from nearkin.manifests.pairs import PairsManifest
from nearkin.manifests.signing import DriftRow, SigningRecord, StatisticsRecord
from nearkin.manifests.stored import DamagedFile, InputFile
from nearkin.runs.progress import StageCost

EXPECTED = json.loads(RECORDS.read_text("utf-8"))
OF_THE_DIRECTORY = {"checksum", "digests", "files", "format"}
"""What is added to a manifest when the files of a run are there."""


def whole(manifest: dict[str, object]) -> dict[str, object]:
    """A manifest with values where the golden one says only that there are some."""
    stages = [{"name": "read", "elapsed_s": 0.5, "peak_memory_bytes": 9}]
    memory = {"limit_bytes": 1, "before_bytes": 2, "peak_bytes": 3, "longest_document_characters": 4}
    given = {"stages": stages, "made_with": {"numpy": "2"}, "memory": memory}
    text = json.dumps({name: given.get(name, value) for name, value in manifest.items()})
    found: dict[str, object] = json.loads(text.replace('"<float>"', "0.5").replace('"<int>"', "7"))
    return {name: value for name, value in found.items() if name not in OF_THE_DIRECTORY}


@pytest.mark.parametrize("name", [name for name in EXPECTED if name != "signatures"])
def test_what_is_read_is_written_again(name):
    manifest = whole(EXPECTED[name]["manifest"])
    record = (PairsManifest if name == "pairs" else DedupManifest).of(manifest)
    assert json.loads(json.dumps(record.as_stored())) == manifest
    assert record.stages == (StageCost("read", 0.5, 9),)


@pytest.mark.parametrize("odd", [None, 7, "x", [1], {"a": 1}])
def test_what_is_odd_is_absent(odd):
    manifest = dict.fromkeys(whole(EXPECTED["dedup"]["manifest"]), odd)
    record = DedupManifest.of(manifest)
    assert record.inputs == ()
    assert record.memory is None
    assert DedupManifest.of(odd) == DedupManifest.of({"nearkin": odd} if odd != "x" else {})


def test_what_signing_says_of_itself():
    record = SigningRecord(
        documents=3, signed=2, distinct_signatures=1, without_features=0, unreadable=1,
        damaged_files=(DamagedFile(path="a.gz", line=7, problem="the gzip stream is truncated"),),
        parameters={"bits": 64},
        fingerprint="words", statistics=StatisticsRecord("chars", 3, 9), drift=(DriftRow(1, 1, 1, 0.5, 0.5),),
        elapsed_s=0.5,
    )  # fmt: skip
    stored = json.loads(json.dumps(record.as_stored()))
    assert SigningRecord.of(stored) == record
    assert stored["command"] == "sign"
    assert stored["drift"] == [{"n_seen_from": 1, "n_seen_to": 1, "n_sampled": 1, "mean_share": 0.5, "high_share": 0.5}]


def test_a_part_that_must_be_there():
    manifest = whole(EXPECTED["pairs"]["manifest"])
    for name in ("left", "plan", "fingerprint"):
        with pytest.raises(TypeError, match=name):
            PairsManifest.of({**manifest, name: 7})
    with pytest.raises(KeyError, match="parameters"):
        _ = DedupManifest().options_in_words


def test_numbers_that_count_nothing():
    read = InputFile.of({"path": "a", "size_bytes": True, "n_documents": -1, "end_row": 1.5})
    assert read == InputFile(path="a")
    assert DedupManifest.of({"estimated_recall": float("nan"), "counts": {"a": 1, "b": "x"}}).counts == {"a": 1}
