"""Precision, recall and F1 of results, by counting every pair of documents one by one."""

from __future__ import annotations

import csv
import json
from itertools import combinations, product
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.csv import write_csv

import nearkin
from functional.conftest import nearkin_here
from nearkin.errors import ParameterError, SourceError

Pair = tuple[str, str]


def _texts(seed: int, prefix: str = "d") -> list[tuple[str, str]]:
    """Return documents of a few stories, some of them exact copies, others with a few words changed."""
    random = Random(seed)
    texts = []
    for story in range(6):
        words = [f"w{random.randrange(10_000)}" for _ in range(60)]
        for _ in range(random.randrange(1, 7)):
            own = list(words)
            for _ in range(random.choice([0, 0, 1, 3, 6])):
                own[random.randrange(60)] = f"x{random.randrange(100)}"
            texts.append((f"{prefix}{len(texts)}", " ".join(own), story))
    return texts  # type: ignore[return-value]


def _points(scores: dict[Pair, float], true: set[Pair], judged: set[Pair] | None, *, is_distance: bool = False):
    """Count reported and true pairs at each threshold."""
    points = []
    for threshold in sorted(set(scores.values()), reverse=not is_distance):
        sign = -1 if is_distance else 1
        reported = {pair for pair, score in scores.items() if sign * score >= sign * threshold}
        reported = reported if judged is None else reported & judged
        points.append((threshold, len(reported), len(reported & true)))
    return [one for i, one in enumerate(points) if one[1] > (points[i - 1][1] if i else 0)]


def _check(evaluation, scores: dict[Pair, float], true: set[Pair], judged=None, **more) -> None:
    """Compare an evaluation with the points counted one by one."""
    expected = _points(scores, true, judged, **more)
    assert [(one["threshold"], one["n_reported"], one["n_true"]) for one in evaluation["curve"]] == expected
    assert evaluation["n_true"] == len(true)
    f1 = []
    for (_, n_reported, n_found), one in zip(expected, evaluation["curve"], strict=True):
        precision, recall = n_found / n_reported, n_found / len(true)
        f1.append(2 * precision * recall / (precision + recall) if n_found else 0.0)
        assert (one["precision"], one["recall"]) == (precision, recall)
        assert one["f1"] == pytest.approx(f1[-1])
    assert evaluation["best"]["f1"] == pytest.approx(max(f1))
    assert evaluation["total"] == evaluation["curve"][-1]


def _pair(a: str, b: str) -> Pair:
    return (a, b) if a < b else (b, a)


def _reported(run) -> tuple[dict[Pair, float], dict[Pair, float]]:
    """Return the pairs of a run of dedup, copies expanded, and those inside its groups, with their scores."""
    rows = run.documents.to_pylist()
    text = {one["id"]: one["copy_of"] or one["id"] for one in rows}
    jaccard = {_pair(one["id_a"], one["id_b"]): one["jaccard"] for one in run.pairs.to_pylist()}
    pairs, inside = {}, {}
    for a, b in combinations(rows, 2):
        pair, texts = _pair(a["id"], b["id"]), _pair(text[a["id"]], text[b["id"]])
        score = 1.0 if texts[0] == texts[1] else jaccard.get(texts)
        if score is not None:
            pairs[pair] = score
        if a["group"] is not None and a["group"] == b["group"]:
            inside[pair] = min(a["similarity_to_principal"], b["similarity_to_principal"])
    return pairs, inside


@pytest.mark.parametrize("seed", range(2))
def test_dedup_with_copies_expanded(tmp_path: Path, seed: int) -> None:
    texts, random = _texts(seed), Random(seed)
    run = nearkin.dedup([(i, text) for i, text, _ in texts], threshold=0.3, out=tmp_path / "run")
    pairs, inside = _reported(run)
    every = [_pair(a[0], b[0]) for a, b in combinations(texts, 2)]
    listed = {one[0]: str(one[2]) for one in texts if random.random() < 0.8} | {"unknown": "0"}
    by_group = {_pair(a, b) for a, b in combinations(listed, 2) if listed[a] == listed[b]}
    judged = {_pair(a, b) for a, b in combinations(listed, 2)}
    found = nearkin.evaluate(run, {"id": list(listed), "group": list(listed.values())})
    reported, grouped = found.manifest["evaluations"]
    _check(reported, {pair: pairs[pair] for pair in pairs.keys() & judged}, by_group)
    _check(grouped, {pair: inside[pair] for pair in inside.keys() & judged}, by_group)
    assert found.manifest["n_unknown"] == 1
    true = {pair for pair in every if random.random() < 0.2}
    found = nearkin.evaluate(run, {"a": [b for _, b in true], "b": [a for a, _ in true]})
    _check(found.manifest["evaluations"][0], pairs, true)
    _check(found.manifest["evaluations"][1], inside, true)
    verdicts = {pair: random.random() < 0.5 for pair in every if random.random() < 0.5}
    columns = {"a": [a for a, _ in verdicts], "b": [b for _, b in verdicts], "match": list(verdicts.values())}
    found = nearkin.evaluate(run, columns)
    right = {pair for pair, is_true in verdicts.items() if is_true}
    _check(found.manifest["evaluations"][0], pairs, right, set(verdicts))
    _check(found.manifest["evaluations"][1], inside, right, set(verdicts))
    assert found.best_f1 == max(one["f1"] for one in found.curve.to_pylist())


def test_neighbours_groups_and_families(tmp_path: Path) -> None:
    texts = _texts(7)
    documents = [(i, text) for i, text, _ in texts]
    truth = tmp_path / "truth.csv"
    truth.write_text("id,group\n" + "".join(f"{i},{story}\n" for i, _, story in texts))
    true = {_pair(a[0], b[0]) for a, b in combinations(texts, 2) if a[2] == b[2]}
    near = nearkin.neighbours(nearkin.sign(documents, bits=64), distance=20, out=tmp_path / "near.parquet")
    distances = {_pair(one["id_a"], one["id_b"]): one["distance"] for one in near.pairs.to_pylist()}
    told = nearkin.evaluate(tmp_path / "near.parquet", truth).manifest["evaluations"]
    _check(told[0], distances, true, is_distance=True)
    nearkin.families(documents, threshold=0.3, out=tmp_path / "families")
    with nearkin.Collection.open(tmp_path / "all", create=True) as matter:
        matter.add(documents)
    grouped = nearkin_here("groups", tmp_path / "all", "--threshold", "0.3", "--out", tmp_path / "groups.csv")
    assert grouped.code == 0
    for table, doc_id, score in (
        (tmp_path / "families" / "families.csv", "id", "similarity"),
        (tmp_path / "groups.csv", "doc_id", "jaccard"),
    ):
        rows = list(csv.DictReader(table.read_text(encoding="utf-8-sig").splitlines()))
        inside = {
            _pair(a[doc_id], b[doc_id]): min(float(a[score]), float(b[score]))
            for a, b in combinations(rows, 2)
            if a.get("group", a.get("family")) == b.get("group", b.get("family"))
        }
        (told_of_groups,) = nearkin.evaluate(table, truth).manifest["evaluations"]
        _check(told_of_groups, inside, true)


def test_pairs_of_two_corpora(tmp_path: Path) -> None:
    left, right = _texts(3, "l"), _texts(3, "r")
    run = nearkin.pairs(
        [one[:2] for one in left], [one[:2] for one in right], threshold=0.1, min_occurrences=1, out=tmp_path / "run"
    )
    cosines = {(one["left_id"], one["right_id"]): one["cosine"] for one in run.pairs.to_pylist()}
    same = {(a[0], b[0]) for a, b in product(left, right) if a[2] == b[2]}
    table = tmp_path / "truth.tsv"
    table.write_text("left\tright\n" + "".join(f"{a}\t{b}\n" for a, b in same))
    answer = nearkin_here("evaluate", tmp_path / "run", "--truth", table, "--json", "--out", tmp_path / "page.html")
    (by_pairs,) = json.loads(answer.out)["evaluations"]
    labels = {"id": [one[0] for one in left + right], "label": [one[2] for one in left + right]}
    (by_labels,) = nearkin.evaluate(run, labels).manifest["evaluations"]
    for told in (by_pairs, by_labels):
        points = _points(cosines, same, None)
        assert (told["total"]["n_reported"], told["n_true"]) == (len(cosines), len(same))
        assert told["total"]["n_true"] == points[-1][2]
        assert max(2 * true / (n + len(same)) for _, n, true in points) == pytest.approx(told["best"]["f1"])
    page = (tmp_path / "page.html").read_text()
    assert page.count('class="nk-figure"') == 2
    assert f"{by_pairs['total']['n_true']:,}</bdi></td>" in page


@pytest.mark.parametrize("text", ["id\na\n", "a,b\nc,d\n", "x,y\np,q\n", "x,y,match\na,b,perhaps\n"])
def test_a_truth_that_is_none(tmp_path: Path, text: str) -> None:
    run = nearkin.dedup([(i, f"a text about {i} and more of it {i}") for i in "abcd"], out=tmp_path / "run")
    (tmp_path / "truth.csv").write_text(text)
    with pytest.raises(SourceError):
        nearkin.evaluate(run, tmp_path / "truth.csv")
    with pytest.raises(ParameterError):
        nearkin.evaluate(tmp_path / "truth.csv", tmp_path / "truth.csv")


def test_a_pair_that_is_listed_twice_counts_once(tmp_path: Path) -> None:
    near = tmp_path / "near.csv"
    near.write_text("id_a,id_b,jaccard\na,b,0.5\nb,a,0.9\na,b,0.7\nc,c,1\nc,d,0.6\n")
    found = nearkin.evaluate(near, {"x": ["a", "a"], "y": ["b", "c"]})
    points = [(one["threshold"], one["n_reported"], one["n_true"]) for one in found.curve.to_pylist()]
    assert points == [(0.9, 1, 1), (0.6, 2, 1)]
    assert (found.precision, found.recall) == (0.5, 0.5)
    near.write_text("id_a,id_b,distance\na,b,5\nb,a,2\n")
    assert nearkin.evaluate(near, {"x": ["a"], "y": ["b"]}).threshold == 2


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_documents_without_a_group(tmp_path: Path, suffix: str) -> None:
    table = pa.table({"id": list("abcdef"), "group": ["1", "1", None, None, "2", "2"]})
    truth = pa.table({"id": list("abcdef"), "group": ["x", "x", None, None, None, None]})
    groups, known = tmp_path / f"groups{suffix}", tmp_path / f"truth{suffix}"
    for place, rows in ((groups, table), (known, truth)):
        if suffix == ".csv":
            write_csv(rows, place)
        else:
            pq.write_table(rows, place)
    (told,) = nearkin.evaluate(groups, known).manifest["evaluations"]
    assert (told["total"]["n_reported"], told["total"]["n_true"], told["n_true"]) == (1, 1, 1)
    (told,) = nearkin.evaluate(groups, {"x": ["a", "c"], "y": ["b", "d"]}).manifest["evaluations"]
    assert (told["total"]["n_reported"], told["total"]["n_true"], told["n_true"]) == (2, 1, 2)


def test_pairs_with_another_set_whose_ids_are_the_same(tmp_path: Path) -> None:
    """Documents of both sets are called d0, d1, …; the other set has copies of the first, and none of its own."""
    left, right = _texts(0), _texts(0)[::2] + [(f"d{i}", *one[1:]) for i, one in enumerate(_texts(0)[:4], 90)]
    right = list({one[1]: one for one in right}.values())
    documents, others = ([one[:2] for one in side] for side in (left, right))
    run = nearkin.dedup(documents, against=others, threshold=0.3, out=tmp_path / "run")
    scores = {
        (a[0], b[0]): len(one & other) / len(one | other)
        for a, b in product(left, right)
        for one, other in [[{tuple(text.split()[i : i + 5]) for i in range(56)} for text in (a[1], b[1])]]
        if len(one & other) / len(one | other) >= 0.3
    }
    same = {(a[0], b[0]) for a, b in product(left, right) if a[2] == b[2]}
    truth = {"left": [a for a, _ in same], "right": [b for _, b in same]}
    (told,) = nearkin.evaluate(run, truth).manifest["evaluations"]
    assert told["total"]["n_true"] == len(same & scores.keys())
    assert told["total"]["n_reported"] == len(scores)
    near = nearkin.neighbours(
        nearkin.sign(documents, bits=64), against=nearkin.sign(others, bits=64), distance=20, out=tmp_path / "near.csv"
    )
    ids = near.pairs.select(["id_a", "id_b", "distance"])
    write_csv(ids, tmp_path / "ids.csv")
    for table in ("near.csv", "ids.csv"):
        (told,) = nearkin.evaluate(tmp_path / table, truth).manifest["evaluations"]
        found = set(zip(ids["id_a"].to_pylist(), ids["id_b"].to_pylist(), strict=True))
        assert (told["total"]["n_reported"], told["total"]["n_true"]) == (len(found), len(found & same))


def test_inputs_are_never_replaced(tmp_path: Path) -> None:
    near, truth = tmp_path / "near.csv", tmp_path / "truth.csv"
    near.write_text("id_a,id_b\na,b\n")
    truth.write_text("x,y\na,b\n")
    before = near.read_bytes(), truth.read_bytes()
    for place in (near, truth):
        with pytest.raises(ParameterError):
            nearkin.evaluate(near, truth, out=place, overwrite=True)
    assert (near.read_bytes(), truth.read_bytes()) == before
