"""The same input and parameters give the same bytes, whatever the machine does meanwhile."""

from __future__ import annotations

import csv
import gzip
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import CHOSEN, TABLES, TOLD, nearkin, results, run_here, write_jsonl
from nearkin.options.dedup import Delivery
from nearkin.workflows.dedup import candidates, searching, verifying
from nearkin.workflows.reading import inputs


@pytest.fixture(scope="module")
def expected(corpus, tmp_path_factory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("expected") / "out"
    run_here(corpus, out, delivery=Delivery(report=True))
    return results(out)


def test_the_run_is_worth_comparing(expected, corpus, tmp_path):
    """Both ways of searching found something, and groups are of several kinds."""
    manifest = run_here(corpus, tmp_path / "out")
    sizes = pq.read_table(pa.BufferReader(expected["documents.parquet"]))["n_shingles"].to_numpy()
    assert ((sizes > 0) & (sizes < manifest["plan"]["exact_below"])).sum() > 100
    assert (sizes >= manifest["plan"]["exact_below"]).sum() > 100
    counts = manifest["counts"]
    assert min(counts[name] for name in ("unique", "exact_copy", "near_duplicate", "empty", "too_short")) > 0
    assert counts["pairs"] > 200
    assert counts["bridges_refused"] > 0


@pytest.mark.parametrize("threads", [1, 3])
def test_threads(expected, corpus, tmp_path, threads):
    run_here(corpus, tmp_path / "out", threads=threads, delivery=Delivery(report=threads == 3))
    same_bytes(tmp_path / "out", expected)


def test_keys_sorted_in_many_ranges_and_pairs_verified_in_many_blocks(expected, corpus, tmp_path, monkeypatch):
    """What little memory does to a large run."""
    for module in (searching, candidates):
        monkeypatch.setattr(module, "BYTES_PER_ENTRY", 256 << 10)
    monkeypatch.setattr(verifying, "_MAX_PAIRS", 50)
    run_here(corpus, tmp_path / "out", memory=256 << 20)
    same_bytes(tmp_path / "out", expected)


@pytest.mark.parametrize("seed", ["4242"])
def test_another_process_with_other_hashes_of_strings(expected, corpus, tmp_path, seed):
    arguments = ["dedup", *corpus, "--out", tmp_path / "out", *CHOSEN, "--threads", seed[0], "-q"]
    ended = nearkin(*arguments, PYTHONHASHSEED=seed)  # the report too
    ended.assert_quiet(*TOLD)
    assert ended.out == ""
    same_bytes(tmp_path / "out", expected)


def test_containment_and_components_too(corpus, tmp_path, monkeypatch):
    chosen = {"measure": "containment", "group": "component", "keep": "max:score"}
    run_here(corpus, tmp_path / "a", threads=1, **chosen)
    monkeypatch.setattr(inputs, "BATCH_BYTES", 20_000)
    for module in (searching, candidates):
        monkeypatch.setattr(module, "BYTES_PER_ENTRY", 16 << 10)
    run_here(corpus, tmp_path / "b", threads=3, memory=256 << 20, **chosen)
    assert results(tmp_path / "a") == results(tmp_path / "b")


def test_the_manifest_differs_in_time_and_memory_alone(corpus, tmp_path):
    a, b = (dict(run_here(corpus, tmp_path / name, threads=t)) for name, t in (("a", 1), ("b", 4)))
    times = [[stage.pop("elapsed_s") + stage.pop("peak_memory_bytes") for stage in m["stages"]] for m in (a, b)]
    assert len(times[0]) == len(times[1])
    assert a.pop("memory").keys() == b.pop("memory").keys()
    assert a == b
    written = json.loads((tmp_path / "b/manifest.json").read_text())
    written["stages"] = [{"name": stage["name"]} for stage in written["stages"]]
    assert all(written[name] == value for name, value in json.loads(json.dumps(b)).items())
    assert set(written.pop("files")) == {*TABLES, "exceptions.csv"}
    assert written.keys() - {"checksum", "digests", "format", "memory"} == b.keys()


def same_bytes(out: Path, expected: dict[str, bytes]) -> None:
    found = results(out)
    assert set(TABLES) <= found.keys() <= expected.keys()
    for name, data in found.items():
        assert data == expected[name], name


# -- the same documents in another wrapping ---------------------------------------------------------------------------


def as_gzip(folder: Path, records) -> Path:
    plain = write_jsonl(folder / "plain", records)
    path = folder / "all.jsonl.gz"
    path.write_bytes(gzip.compress(plain.read_bytes()))
    return path


def as_parquet(folder: Path, records) -> Path:
    path = folder / "all.parquet"
    pq.write_table(pa.Table.from_pylist(records), path, row_group_size=97)
    return path


def as_csv(folder: Path, records) -> Path:
    path = folder / "all.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["score", "text", "id"])
        writer.writeheader()
        writer.writerows(records)
    return path


def as_lines(folder: Path, records) -> Path:
    path = folder / "all.tsv"
    path.write_text("".join(f"{r['id']}\t{' '.join(str(r['text']).split())}\n" for r in records), encoding="utf-8")
    return path


def without_places(out: Path) -> dict[str, pa.Table]:
    tables = {name: pq.read_table(out / name) for name in TABLES}
    tables["documents.parquet"] = tables["documents.parquet"].drop_columns(["source", "line"])
    return tables


@pytest.mark.parametrize("wrap", [as_gzip, as_parquet, as_csv, as_lines])
def test_formats(records, tmp_path, wrap):
    if wrap is as_lines:  # which can hold no line end in a text
        records = [record | {"text": " ".join(str(record["text"]).split())} for record in records]
    run_here([str(write_jsonl(tmp_path / "all.jsonl", records))], tmp_path / "plain-out")
    run_here([str(wrap(tmp_path, records))], tmp_path / "out")
    assert without_places(tmp_path / "out") == without_places(tmp_path / "plain-out")


def test_another_order_of_documents_finds_the_same_pairs(records, tmp_path):
    """Which is the principal may differ; what is alike may not, as far as short texts go, which are all searched."""
    short = [record for record in records if len(str(record["text"])) < 400]
    run_here([str(write_jsonl(tmp_path / "a.jsonl", short))], tmp_path / "a")
    shuffled = random.Random(0).sample(short, len(short))
    run_here([str(write_jsonl(tmp_path / "b.jsonl", shuffled))], tmp_path / "b")
    text_of = {record["id"]: " ".join(str(record["text"]).casefold().split()) for record in short}
    found = []
    for name in "ab":
        pairs = pq.read_table(tmp_path / name / "pairs.parquet").to_pylist()
        found.append({(frozenset((text_of[p["id_a"]], text_of[p["id_b"]])), p["jaccard"]) for p in pairs})
    assert found[0] == found[1]
    assert len(found[0]) > 50
