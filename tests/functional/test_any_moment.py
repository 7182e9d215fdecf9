"""Kills and damaged files at places that chance chooses: a few in every run of the tests, hundreds in `make soak`.

What holds is said in docs/reliability.md. A seed makes the same choices again.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import quick_command
from functional.conftest import CHOSEN, Ended, nearkin_done, nearkin_here, results, run_here
from golden.collection import DOCUMENTS
from nearkin.formats import zstd
from nearkin.options.dedup import Delivery
from prefork import KILL

PARTS = [
    [
        {"id": f"{part}-{i}", "text": f"the text of part {part} with number {i // 2} says this and that"}
        for i in range(150)
    ]
    for part in range(2)
]


def seeds(few: int, many: int) -> list[object]:
    """Numbers, of which all but a few wait for `make soak`."""
    return [pytest.param(seed, marks=[pytest.mark.soak] if seed >= few else []) for seed in range(many)]


def killed_after(delay_s: float, *arguments: str | Path) -> Ended:
    """A command that is killed, as by ``kill -9``, if it is not done by then."""
    process = subprocess.Popen(quick_command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=delay_s)
    except subprocess.TimeoutExpired:
        process.send_signal(KILL)
        out, err = process.communicate(timeout=60)
    return Ended(process.returncode, out.decode(), err.decode())


# -- killed at any moment ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(corpus, tmp_path_factory) -> dict[str, bytes]:
    """What an uninterrupted run leaves."""
    out = tmp_path_factory.mktemp("whole") / "out"
    run_here(corpus, out, delivery=Delivery(report=False, write_kept=True))
    return results(out)


@pytest.mark.parametrize("seed", seeds(1, 300))
def test_a_run_that_is_killed_again_and_again(seed, corpus, whole, tmp_path):
    """And resumed each time: in the end it has the bytes of a run that nobody touched."""
    chance, out = random.Random(seed), tmp_path / "out"
    arguments = ["dedup", *corpus, "--out", out, *CHOSEN, "--write-kept", "--no-report", "-q", "--resume"]
    for _ in range(chance.randint(1, 4)):
        killed_after(chance.uniform(0.05, 0.6), *arguments)
        if not (out / "manifest.json").exists():
            assert all(pq.read_table(path) for path in out.glob("*.parquet"))
    was_finished = any((out / name).exists() for name in ("manifest.json", ".work/results/manifest.json"))
    ended = nearkin_here(*arguments)
    assert ended.code == (5 if was_finished else 0), ended.err
    assert results(out) == whole
    assert not (out / ".work").exists()


@pytest.mark.parametrize("seed", seeds(1, 150))
def test_a_collection_whose_adding_is_killed_again_and_again(seed, place, tmp_path):
    """What was acknowledged is there, a wave is there as a whole or not at all, and all is well in the end."""
    chance = random.Random(seed)
    acknowledged = []
    for number, part in enumerate(PARTS):
        wave = tmp_path / f"wave-{number}.jsonl"
        wave.write_text("".join(json.dumps(one) + "\n" for one in part))
        arguments = ("add", place.address, wave, "--wave", wave.stem, "--cache", place.cache, "-q")
        # before the command connects, while it writes, and after it is done
        if killed_after(chance.uniform(0.05, 0.6 if place.server is None else 1.2), *arguments).code == 0:
            acknowledged.append(number)
        if acknowledged:
            with place.open(create=False) as collection:
                n_documents = {one.name: one.n_current for one in collection.info().waves}
                assert {f"wave-{one}" for one in acknowledged} <= n_documents.keys()
                assert set(n_documents.values()) == {len(part)}
        nearkin_done(*arguments)
        acknowledged.append(number)
    with place.open(create=False) as collection:
        assert collection.fsck().is_whole
        assert all(collection.text(one["id"]) == one["text"] for part in PARTS for one in part)


@pytest.mark.parametrize("seed", seeds(1, 25))
def test_checks_that_are_killed_again_and_again(seed, place, tmp_path):
    """Each document whose answer arrived is stored, once; sending the stream again stores the rest."""
    chance, stream = random.Random(seed), tmp_path / "stream.jsonl"
    texts = {one["id"]: f"{one['text']} {one['id']}" for part in PARTS for one in part}
    stream.write_text("".join(json.dumps({"id": doc_id, "text": text}) + "\n" for doc_id, text in texts.items()))
    arguments = ("check", place.address, stream, "--jsonl", "--store", "-q")
    acknowledged = set[str]()
    for delay_s in (*(chance.uniform(0.05, 0.8) for _ in range(4)), 60):
        out, _, _ = killed_after(delay_s, *arguments).out.rpartition("\n")
        acknowledged |= {answer["id"] for answer in map(json.loads, out.splitlines()) if answer["is_stored"]}
        if acknowledged:
            with place.open(create=False) as collection:
                stored = collection.documents().table["doc_id"].to_pylist()
                assert acknowledged <= set(stored) <= texts.keys()
                assert len(stored) == len(set(stored)) == collection.info().n_versions
    assert acknowledged == texts.keys()
    with place.open(create=False) as collection:
        assert collection.fsck().is_whole
        assert {doc_id: collection.text(doc_id) for doc_id in texts} == texts


DECIDING: list[tuple[str, tuple[str, ...], int]] = [
    ("tag", ("responsive=yes", "d00", "d02", "d05"), 3),
    ("tag", ("responsive=no", "d02", "d07"), 2),
    ("untag", ("responsive", "d00"), 1),
    ("never-group", ("--never-group", "d00", "d02"), 1),
    ("note", ("--note", "d05", "signed copy on paper"), 1),
    ("undo", ("2",), 2),
    ("purge", ("d03", "--yes"), 1),
]
"""The kinds of activities, what is typed for each, and how many values each changes."""


@pytest.mark.parametrize("seed", seeds(1, 100))
def test_decisions_that_are_killed_again_and_again(seed, place, tmp_path):
    """Each is there as a whole or not at all."""
    chance, cache = random.Random(seed), ("--cache", place.cache)
    with place.open() as collection:
        collection.add([(f"d{i:02d}", text) for i, text in enumerate(DOCUMENTS)])
    (tmp_path / "more.jsonl").write_text("".join(json.dumps(one) + "\n" for one in PARTS[0]))
    for done, (kind, typed, _) in enumerate(DECIDING):
        command = "decide" if typed[0].startswith("--") else kind
        arguments = (command, place.address, *typed, "-q")
        acknowledged = killed_after(chance.uniform(0.05, 0.5), *arguments).code == 0
        killed_after(chance.uniform(0.05, 0.5), "groups", place.address, "--gamma", "0.3", *cache, "-q")
        with place.open(create=False) as collection:
            log = collection.log()
            assert len(log) in ((done + 1,) if acknowledged else (done, done + 1))
            assert [(one.kind, len(one.changes)) for one in log] == [(k, n) for k, _, n in DECIDING[: len(log)]]
            current = {(one["doc_id"], one["value"]) for one in collection.tags().documents.to_pylist()}
            assert current == tags_after(len(log))
        if len(log) == done:
            nearkin_done(*arguments)
    with place.open(create=False) as collection:
        n_before = collection.info().n_documents
    killed_after(chance.uniform(0.05, 0.4), "add", place.address, tmp_path / "more.jsonl", *cache, "-q")
    with place.open(create=False) as collection:
        assert collection.info().n_documents - n_before in (0, len(PARTS[0]))
        assert collection.fsck().is_whole
        groups = collection.groups(gamma=0.3).members.to_pylist()
        of = {one["doc_id"]: one["group"] for one in groups}
        assert of.get("d00", -1) != of.get("d02", -2)
        assert not collection.has_document("d03")


def tags_after(n_activities: int) -> set[tuple[str, str]]:
    """The documents with a tag, and its values, after so many activities."""
    yes = {(one, "yes") for one in ("d00", "d02", "d05")}
    no = {("d02", "no"), ("d07", "no"), ("d05", "yes")}
    after = [set(), yes, no | {("d00", "yes")}, no, no, no, yes - {("d00", "yes")}]
    return after[min(n_activities, len(after) - 1)]


# -- damaged at any place ---------------------------------------------------------------------------------------------


def as_lines(records: list[dict[str, str]]) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in records).encode()


def as_parquet(records: list[dict[str, str]]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records), file, row_group_size=40, write_page_checksum=True)
    return file.getvalue()


def as_arrow(records: list[dict[str, str]]) -> bytes:
    table, file = pa.Table.from_pylist(records), io.BytesIO()
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, 40)
    return file.getvalue()


FORMATS: dict[str, Callable[[list[dict[str, str]]], bytes]] = {
    "a.jsonl": as_lines,
    "a.jsonl.gz": lambda records: gzip.compress(as_lines(records)),
    "a.jsonl.zst": lambda records: zstd.compress(
        as_lines(records), options={zstd.CompressionParameter.checksum_flag: True}
    ),
    "a.csv": lambda records: b"id,text\n" + b"".join(f"{one['id']},{one['text']}\n".encode() for one in records),
    "a.parquet": as_parquet,
    "a.arrow": as_arrow,
}
CODES = {0, 3, 4, 13}
"""Read; not readable; too many documents unreadable; damaged or cut off."""


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("seed", seeds(1, 100))
def test_a_damaged_file_is_read_or_refused(seed, name, tmp_path):
    """Bytes changed, a piece missing, or the end: never a traceback, and what has checksums gives no other text."""
    chance = random.Random(f"{seed} {name}")
    data = bytearray(FORMATS[name](PARTS[0]))
    kind = chance.choice(["bytes", "piece", "end"])
    at = chance.randrange(len(data))
    if kind == "bytes":
        for place in (at, chance.randrange(len(data))):
            data[place] ^= 1 << chance.randrange(8)
    elif kind == "piece":
        del data[at : at + chance.randint(1, 300)]
    else:
        del data[at:]
    path = tmp_path / name
    path.write_bytes(data)
    out = tmp_path / "out"
    ended = nearkin_here("dedup", path, "--out", out, *CHOSEN, "--write-kept", "--no-report", "-q")
    ended.assert_clean()
    assert ended.code in CODES, (kind, at, ended)
    assert (ended.code == 0) == (out / "manifest.json").exists()
    if ended.code:
        assert name in ended.err
        assert not list(out.glob("*.parquet"))
    if ended.code == 0 and name.endswith((".gz", ".zst")):  # they have checksums of all that is in them
        rows = [json.loads(line) for line in next((out / "kept").iterdir()).open("rb")] if name.endswith("l") else []
        assert all(row in PARTS[0] for row in rows)
