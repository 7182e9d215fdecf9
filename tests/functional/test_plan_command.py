"""``nearkin plan pairs`` and ``corpus``, from the outside."""

from __future__ import annotations

import json
import re

import pytest

from functional.conftest import nearkin_here, nearkin_json
from made_up_prose import Prose

WIKIPEDIA = ("--documents", "3.44M", "1,470,000", "--threshold", "0.3")


def planned(*arguments: object) -> dict:
    return nearkin_json("plan", *arguments)


def test_the_quickest_way_to_the_recall_and_the_two_others():
    told = planned("pairs", *WIKIPEDIA, "--recall", "0.9", "--cores", "128")
    ways = [told["chosen"], *told["alternatives"]]
    assert {way["method"] for way in ways} == {"vectors", "signatures", "window"}
    assert all(way["recall_low"] >= 0.9 for way in ways)
    assert told["chosen"]["core_s"] == min(way["core_s"] for way in ways)
    assert told["chosen"]["elapsed_s"] == pytest.approx(told["chosen"]["core_s"] / 128)
    assert (told["left"], told["right"], told["reaches_recall"]) == (3_440_000, 1_470_000, True)


def test_pairs_on_a_cluster():
    told = planned("pairs", *WIKIPEDIA, "--cores", "128", "--engine", "spark")
    sent = {one["carries"]: one["size_bytes"] for one in told["spark"]["shuffles"]}
    orders, bits = told["chosen"]["permutations"], told["chosen"]["bits"]
    assert sent["signatures, into each order"] == (3_440_000 + 1_470_000) * orders * (4 + bits // 8)
    assert told["spark"]["shuffled_bytes"] == sum(sent.values())
    every = planned("pairs", *WIKIPEDIA, "--engine", "spark", "--method", "vectors")["spark"]
    assert [one["stage"] for one in every["shuffles"]] == ["pairs"]
    assert "spark" not in planned("pairs", *WIKIPEDIA)
    ended = nearkin_here("plan", "pairs", *WIKIPEDIA, "--cores", "128", "--engine", "spark")
    assert re.search(r"cores of the cluster +128\n", ended.out)
    settings = "--conf spark.executor.cores=4 --conf spark.executor.memory=4g --conf spark.executor.memoryOverhead=3g\n"
    assert settings in ended.out


def test_a_corpus_to_clean(tmp_path):
    prose = Prose(1)
    path = tmp_path / "some.jsonl"
    path.write_text("".join(json.dumps({"text": prose.text(300)}) + "\n" for _ in range(400)), encoding="utf-8")
    told = planned("corpus", path, "--documents", "1M", "--engine", "spark", "--cores", "64")
    assert (told["documents"], told["distinct_texts"], told["sample"]["documents"]) == (1_000_000, 1_000_000, 400)
    assert told["sample"]["mean_shingles"] == pytest.approx(296, abs=1)
    assert told["plan"]["kind"] == "bands"
    sent = {one["carries"]: one["size_bytes"] for one in told["spark"]["shuffles"]}
    assert sent["keys of bands"] == 1_000_000 * 17 * told["plan"]["bands"]
    alone = planned("corpus", path)
    assert alone["documents"] == 400
    assert alone["plan"]["bands"] < told["plan"]["bands"]
    sampled = planned("corpus", path, "--measure", "containment", "--threshold", "0.9", "--engine", "spark")
    assert sampled["plan"]["kind"] == "sampling"
    ended = nearkin_here("plan", "corpus", path, "--documents", "20M", "--engine", "spark")
    said = dict(re.findall(r"^(\S.*?)  +(\S+)", ended.out, re.MULTILINE))
    assert (said["documents"], said["sample"], said["shingles of a text"]) == ("20,000,000", "400", "296")
    assert "shuffled for each pair of near-duplicates" in said
