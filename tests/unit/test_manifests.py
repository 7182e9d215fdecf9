"""Records of manifests: what is written is read back, and what is no record is refused."""

from __future__ import annotations

import json

import msgspec
import pytest

from golden.run_records import RECORDS
from nearkin.manifests.dedup import DedupManifest
from nearkin.manifests.pairs import PairsManifest
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
    assert record.as_stored() == manifest
    assert record.stages == (StageCost("read", 0.5, 9),)


@pytest.mark.parametrize("odd", [7, {"inputs": 5}, {"inputs": [7]}, {"counts": 7}])
def test_what_is_no_record_is_refused(odd):
    with pytest.raises(msgspec.ValidationError):
        DedupManifest.of(odd)


def test_a_part_that_must_be_there():
    manifest = whole(EXPECTED["pairs"]["manifest"])
    for name in ("left", "plan", "fingerprint"):
        with pytest.raises(msgspec.ValidationError):
            PairsManifest.of({key: value for key, value in manifest.items() if key != name})
    with pytest.raises(KeyError, match="parameters"):
        _ = DedupManifest().options_in_words
