"""A training set without the items of a benchmark: what is dropped, what is said of each item, what is refused."""

from __future__ import annotations

import functools
import json
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_here, write_jsonl
from made_up_prose import Prose
from nearkin.workflows.auditing.audit import audit
from nearkin.workflows.auditing.audited import AuditOptions

Texts = dict[str, str]


def benchmark(seed: int = 4) -> tuple[Texts, Texts]:
    """Training documents, and items of 2 to 60 words of which half stand in one or two of these."""
    prose, chance = Prose(seed), random.Random(seed)
    train = {f"t{i}": prose.text(chance.randint(60, 200)) for i in range(240)}
    train |= {f"short-{i}": prose.text(chance.randint(5, 7)) for i in range(30)}
    items = {}
    for i in range(60):
        words = prose.text(chance.choice([2, 4, 8, 15, 20, 40, 60])).split()
        items[f"q{i}"] = " ".join(words)
        for doc_id in chance.sample([f"t{i}" for i in range(240)], chance.randint(1, 2)) if i % 2 else ():
            place = chance.randint(0, 50)
            held = train[doc_id].split()
            kept = words if i % 3 else words[: max(1, len(words) * 2 // 3)]  # some stand there in part
            train[doc_id] = " ".join([*held[:place], *kept, *held[place:]])
    return train, items


@functools.cache
def grams(text: str, n: int) -> frozenset[tuple[str, ...]]:
    words = text.lower().split()
    return frozenset(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("benchmark")
    return tuple(
        write_jsonl(folder / f"{name}.jsonl", [{"id": one, "text": text} for one, text in texts.items()])
        for name, texts in zip(("train", "eval"), benchmark(), strict=True)
    )


def dropped(out: Path) -> dict[str, tuple[str, float]]:
    """Documents with the item that each was dropped for, and the share."""
    rows = pq.read_table(out / "documents.parquet").to_pylist()
    assert {row["reason"] for row in rows if not row["keep"]} <= {"overlap", "near-duplicate"}
    return {row["id"]: (row["group"], row["similarity_to_principal"]) for row in rows if not row["keep"]}


def dedup(files, out: Path, *arguments: object):
    train, items = files
    return nearkin_here("dedup", train, "--against", items, "--out", out, *arguments)


def test_a_short_item_with_a_match_still_counts_as_not_found_inside_longer_documents(tmp_path):
    longer = "Sorry, the page not found on this server may have moved to another place."
    train = write_jsonl(tmp_path / "w.jsonl", [{"id": "t1", "text": "Page not found."}, {"id": "t2", "text": longer}])
    items = write_jsonl(tmp_path / "wq.jsonl", [{"id": "q", "text": "Page not found."}])
    for drop in (["--drop", "containing"], ["--drop", "either"], ["--min-shared", "1"]):
        ended = dedup((train, items), tmp_path / "out", *drop, "--overwrite")
        assert ended.code == 0
        said = " ".join(ended.out.split())
        assert "other set 1 1 with a match" in said
        assert "too short in the other set 1 " in said, drop
        counts = json.loads((tmp_path / "out/manifest.json").read_text())["against_counts"]
        assert (counts["match"], counts["too_short"], counts["too_short_matches"]) == (1, 0, 1)
    ended = dedup((train, items), tmp_path / "out", "--drop", "contained", "--overwrite")
    assert "too short in the other set" not in ended.out, "documents of INPUT are looked for, not items"
    assert "too_short_matches" not in (tmp_path / "out/manifest.json").read_text()


@pytest.mark.parametrize("n", [1, 3])
def test_what_shares_an_n_gram_is_dropped(files, tmp_path, n):
    train, items = benchmark()
    ended = dedup(files, tmp_path / "out", "--shingle", "words:13", "--min-shared", n)
    assert ended.code == 0
    truth = {
        (doc_id, item)
        for doc_id, text in train.items()
        for item, of_item in items.items()
        if len(grams(text, 13) & grams(of_item, 13)) >= n
    }
    found = dropped(tmp_path / "out")
    assert found.keys() == {doc_id for doc_id, _ in truth}
    assert len(found) > 10
    assert all((doc_id, item) in truth for doc_id, (item, _) in found.items())
    pairs = pq.read_table(tmp_path / "out/pairs.parquet").to_pylist()
    assert {(pair["id_a"], pair["id_b"]) for pair in pairs} == truth
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert "threshold" not in manifest["parameters"]
    assert manifest["counts"]["overlap"] == len(found)
    assert manifest["plan"]["recall_at_threshold"] == 1
    audited = audit(tmp_path / "out", AuditOptions(sample=10**6))
    assert (audited.estimate.n_true, audited.estimate.n_found) == (len(truth), len(truth))
    assert f"at least {n} shared shingle" in audited.pairs
    short = {item for item, text in items.items() if len(grams(text, 13)) < n}
    told = {
        row["id"] for row in pq.read_table(tmp_path / "out/against.parquet").to_pylist() if row["result"] == "too short"
    }
    assert told == short


def test_pairs_are_counted_as_the_table_lists_them(tmp_path):
    text = Prose(1).text(40)
    texts = {"1": text, "2": text, "3": text, "4": text + " now"}
    mine = write_jsonl(tmp_path / "mine.jsonl", [{"id": name, "text": text} for name, text in texts.items()])
    part = " ".join(text.split()[:20])
    theirs = write_jsonl(tmp_path / "theirs.jsonl", [{"id": "q", "text": part}, {"id": "r", "text": text}])
    asked = ("dedup", mine, "--against", theirs, "--drop", "containing", "--no-report", "--out", tmp_path / "out")
    said = " ".join(nearkin_here(*asked).out.split())
    assert "kept 0 dropped 4" in said
    assert "exact copies 3 verified pairs 5 containment" in said
    assert len(pq.read_table(tmp_path / "out/pairs.parquet")) == 8
