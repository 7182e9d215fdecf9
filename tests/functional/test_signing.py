"""Documents to signatures to neighbours, as a user goes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import Ended, nearkin_here, nearkin_json, write_jsonl
from nearkin.options.signatures import METHODS
from nearkin.stages.signatures.statistics import Statistics
from oracles import plain_signatures as plain
from oracles.texts import versions

EMPTY, BAD = 7, 9
WEIGHTED = ("--method", "weighted-topsig", "--bits", "64")


@pytest.fixture(scope="module")
def load(tmp_path_factory) -> Path:
    """Versions of some texts, one without text, one that cannot be read."""
    texts = versions(3, n_bases=30, n_words=120, n_versions=4, max_edits=4)
    records = [{"id": f"d{i}", "text": text} for i, text in enumerate(texts)]
    records[EMPTY]["text"] = ""
    records[BAD]["text"] = 5
    return write_jsonl(tmp_path_factory.mktemp("load") / "load.jsonl", records)


def texts_of(load: Path) -> list[str]:
    texts = [json.loads(line)["text"] for line in load.read_text().splitlines()]
    return [text if isinstance(text, str) else "" for text in texts]


def sign(load: Path | str, out: Path, *options: str | Path) -> Ended:
    ended = nearkin_here("sign", load, "--out", out, "-q", *options)
    ended.assert_clean()
    return ended


def hexes(path: Path) -> list[str]:
    return [value.hex() for value in pq.read_table(path)["signature"].to_pylist()]


def distances(path: Path) -> dict[tuple[int, int], int]:
    """Every pair of documents with features, by hand."""
    table = pq.read_table(path)
    bits = np.unpackbits(np.array([list(s) for s in table["signature"].to_pylist()], np.uint8), axis=1)
    rows = [i for i, has in enumerate(table["has_features"].to_pylist()) if has]
    return {(a, b): int((bits[a] != bits[b]).sum()) for a in rows for b in rows if a < b}


def pairs(path: Path) -> dict[tuple[int, int], int]:
    return {(int(r["id_a"][1:]), int(r["id_b"][1:])): r["distance"] for r in pq.read_table(path).to_pylist()}


def test_signatures_are_those_of_the_definition(load, tmp_path):
    texts = texts_of(load)
    assert sign(load, tmp_path / "sig", "--method", "simhash", "--bits", "32").code == 0
    expected = [plain.simhash(text, 4, 32) if text else "0" * 8 for text in texts]
    assert hexes(tmp_path / "sig") == expected
    table = pq.read_table(tmp_path / "sig")
    assert table["id"].to_pylist() == [f"d{i}" for i in range(len(texts))]
    assert [i for i, has in enumerate(table["has_features"].to_pylist()) if not has] == [EMPTY, BAD]
    assert "a number" in table["problem"][BAD].as_py()
    assert table["problem"].null_count == len(texts) - 1


@pytest.mark.parametrize("method", METHODS)
def test_neighbours_are_all_there_are(load, tmp_path, method):
    distance = 12
    sign(load, tmp_path / "sig", "--method", method)
    ended = nearkin_here("neighbours", tmp_path / "sig", "--distance", str(distance), "--out", tmp_path / "p", "--json")
    near = {pair: d for pair, d in distances(tmp_path / "sig").items() if d <= distance}
    assert pairs(tmp_path / "p") == near
    told = json.loads(ended.out)
    assert told["n_pairs"] == told["n_written"] == len(near)
    assert told["n_documents"] - told["n_signed"] == 2


@pytest.mark.parametrize("options", [(), ("--bits", "32"), WEIGHTED])
def test_the_distance_is_the_best_for_these_texts(load, tmp_path, options):
    """Against all pairs of distinct signatures, and the sets of character 4-grams of their texts."""
    sign(load, tmp_path / "sig", *options)
    told = nearkin_json("neighbours", tmp_path / "sig", "--out", tmp_path / "p")
    signatures, grams = hexes(tmp_path / "sig"), [grams_of(text, 4) for text in texts_of(load)]
    every = distances(tmp_path / "sig")
    firsts = {signatures.index(one) for one in signatures}
    near = {pair: d for pair, d in every.items() if firsts.issuperset(pair)}
    true = {(a, b) for a, b in near if 5 * len(grams[a] & grams[b]) >= 4 * len(grams[a] | grams[b])}
    scores = {}
    for distance in set(near.values()):
        within = {pair for pair, d in near.items() if d <= distance}
        scores[distance] = 2 * len(within & true) / (len(within) + len(true)), len(within)
    best = max(scores, key=lambda distance: scores[distance])
    sample = told["sample"]
    assert (told["distance"], sample["best"]["threshold"]) == (best, best)
    assert sample["n_true"] == 2 * len(true)  # each pair at both of its documents
    assert sample["best"]["f1"] == pytest.approx(scores[best][0])
    for one in sample["points"]:
        within = {pair for pair, d in near.items() if d <= one["threshold"]}
        assert one["precision"] == pytest.approx(len(within & true) / len(within))
        assert one["recall"] == pytest.approx(len(within & true) / len(true))
    assert pairs(tmp_path / "p") == {p: d for p, d in every.items() if d <= best}


def grams_of(text: str, n: int) -> set[str]:
    return {text[i : i + n] for i in range(len(text) - n + 1)} or {text}


def alike(folder: Path, n_pairs: int) -> Path:
    """Pairs of documents whose sets of words have a Jaccard similarity of 80 / 100."""
    words, records = np.random.default_rng(3).permutation(40_000), []
    for i in range(n_pairs):
        own = [f"w{number}" for number in words[100 * i : 100 * i + 100]]
        records += [{"id": f"{i}a", "text": " ".join(own[:90])}, {"id": f"{i}b", "text": " ".join(own[:80] + own[90:])}]
    return write_jsonl(folder / "alike.jsonl", records)


def test_the_expected_recall_is_the_recall_that_is_reached(tmp_path):
    load = alike(tmp_path, n_pairs=300)
    sign(load, tmp_path / "sig", "--bits", "64", "--features", "words:1")
    ended = nearkin_here("neighbours", tmp_path / "sig", "--distance", "6", "--out", tmp_path / "p", "--json")
    told = json.loads(ended.out)["expected"]
    assert (told["similarity"], told["is_measured"]) == (0.8, False)
    assert told["low"] == told["high"]
    found = {(row["id_a"], row["id_b"]) for row in pq.read_table(tmp_path / "p").to_pylist()}
    n_found = sum((f"{i}a", f"{i}b") in found for i in range(300))
    assert n_found / 300 == pytest.approx(told["low"], abs=0.09)  # about three standard deviations


def test_verified_neighbours_are_those_of_dedup(load, tmp_path):
    """At a distance that leaves nobody out, what is verified is what an exhaustive search would report."""
    sign(load, tmp_path / "sig")
    options = ("--distance", "255", "--verify", "jaccard:0.5", "--shingle", "words:2")
    nearkin_here("neighbours", tmp_path / "sig", *options, "--out", tmp_path / "p", "-q").assert_done()
    found = pq.read_table(tmp_path / "p").to_pylist()
    nearkin_here(
        "dedup", load, "--out", tmp_path / "d", "--threshold", "0.5", "--shingle", "words:2", "--no-report", "-q"
    )
    expected = pq.read_table(tmp_path / "d/pairs.parquet").to_pylist()
    keys = ("id_a", "id_b", "jaccard", "containment_a_in_b", "containment_b_in_a")
    assert [[row[key] for key in keys] for row in found] == [[row[key] for key in keys] for row in expected]
    assert len(found) > 20


def test_equal_signatures_by_their_first(tmp_path):
    texts = ["the lease of the house at the lane", "another text about a boat on a lake"]
    load = write_jsonl(tmp_path / "in.jsonl", [{"id": f"d{i}", "text": texts[i % 2]} for i in range(9)])
    sign(load, tmp_path / "sig")
    for distance, name in ((3, "p"), (255, "q")):
        nearkin.neighbours(tmp_path / "sig", equal="first", distance=distance, out=tmp_path / name)
    assert pairs(tmp_path / "p") == {(i % 2, i): 0 for i in range(2, 9)}
    apart = distances(tmp_path / "sig")[0, 1]
    assert pairs(tmp_path / "q") == {(i % 2, i): 0 for i in range(2, 9)} | {(0, 1): apart}


def test_statistics_merged_are_those_of_both(load, tmp_path):
    lines = load.read_text().splitlines(keepends=True)
    parts = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for i, part in enumerate(parts):
        part.write_text("".join(lines[i::2]))
        nearkin_here("statistics", part, "--out", f"{part}.stats", "-q").assert_done()
    whole, both = tmp_path / "whole.stats", tmp_path / "both.stats"
    ended = nearkin_here("statistics", load, "--out", whole, "--json")
    nearkin_here("statistics", "merge", *(f"{part}.stats" for part in parts), "--out", both, "-q").assert_done()
    assert (
        Statistics.load(whole).fingerprint == Statistics.load(both).fingerprint == json.loads(ended.out)["fingerprint"]
    )
    sign(load, tmp_path / "counted", *WEIGHTED)
    sign(load, tmp_path / "given", *WEIGHTED, "--statistics", both)
    assert (tmp_path / "counted").read_bytes() == (tmp_path / "given").read_bytes()
    grams = [gram for text in texts_of(load) for gram in plain.grams(text, 4)]
    assert Statistics.load(whole).n_occurrences == len(grams)
    assert len(Statistics.load(whole).hashes) == len(set(grams))


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 3, 400])
def test_files_that_are_cut_short(load, tmp_path, size):
    sign(load, tmp_path / "sig")
    nearkin_here("statistics", load, "--out", tmp_path / "stats", "-q")
    for name, command in (("sig", ("neighbours",)), ("stats", ("sign", load, *WEIGHTED, "--statistics"))):
        cut = tmp_path / f"{name}-{size}"
        cut.write_bytes((tmp_path / name).read_bytes()[:size])
        ended = nearkin_here(*command, cut, "--out", tmp_path / "x", "-q")
        ended.assert_clean()
        assert (ended.code, str(cut) in ended.err) == (3, True)


def test_neighbours_in_another_file(load, tmp_path):
    """Of two halves against each other, the pairs are those that lie across."""
    lines = load.read_text().splitlines(keepends=True)
    for i in range(2):
        (tmp_path / f"{i}.jsonl").write_text("".join(lines[75 * i : 75 * i + 75]))
        sign(tmp_path / f"{i}.jsonl", tmp_path / f"{i}.sig")
    sign(load, tmp_path / "sig")
    options = ("--distance", "60", "--out", tmp_path / "p", "-q", "--overwrite")
    nearkin_here("neighbours", tmp_path / "0.sig", "--against", tmp_path / "1.sig", *options).assert_done()
    expected = {p: d for p, d in distances(tmp_path / "sig").items() if d <= 60 and p[0] < 75 <= p[1]}
    assert pairs(tmp_path / "p") == expected
    assert len(expected) > 10
    verify = ("--verify", "jaccard:0.9", "--shingle", "words:2")
    nearkin_here("neighbours", tmp_path / "0.sig", "--against", tmp_path / "1.sig", *options, *verify).assert_done()
    across = {(r["id_a"], r["id_b"], r["jaccard"]) for r in pq.read_table(tmp_path / "p").to_pylist()}
    nearkin_here("neighbours", tmp_path / "sig", *options, *verify).assert_done()
    whole = pq.read_table(tmp_path / "p").to_pylist()
    inside = [r for r in whole if int(r["id_a"][1:]) < 75 <= int(r["id_b"][1:])]
    assert across == {(r["id_a"], r["id_b"], r["jaccard"]) for r in inside}
    assert 0 < len(across) < len(expected)
