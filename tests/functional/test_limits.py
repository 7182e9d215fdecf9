"""Where the machine says no: a full disk, too many open files; and documents as large as they come."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin as package
from commands import quick_python
from functional.conftest import CHOSEN, listing, results, run_here, write_jsonl
from nearkin.errors import OutputError
from nearkin.options.dedup import Delivery
from nearkin.runs import files
from nearkin.runs.progress import Silent


@contextlib.contextmanager
def few_more_open_files(n_more: int) -> Iterator[None]:
    """Let the process open a few files beside those that tests before this one hold open, such as servers."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    already = [int(number) for number in os.listdir("/proc/self/fd")]
    free = itertools.filterfalse(set(already).__contains__, itertools.count())
    highest = next(itertools.islice(free, n_more - 1, None))  # the system gives the lowest free number
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(highest + 1, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_more_runs_than_open_files():
    """Long texts at a low threshold: hundreds of bands, and candidates in most of them."""
    chance = random.Random(1)
    texts = [" ".join(f"w{chance.randrange(10**6)}" for _ in range(1600)) for _ in range(60)]
    head = " ".join(f"h{i}" for i in range(700))  # strangers a little alike, so that bands are many
    texts = [f"{head} {text}" for text in texts]
    planted = []
    for row in range(60):
        words = texts[row].split()
        for at in chance.sample(range(700, len(words)), 150):
            words[at] = f"x{chance.randrange(10**9)}"
        planted.append((row, len(texts)))
        texts.append(" ".join(words))
    with few_more_open_files(60):
        result = package.dedup(list(enumerate(texts)), threshold=0.5, shingle="words:3")
    assert result.manifest["plan"]["bands"] > 120
    found = set(zip(result.pairs["id_a"].to_pylist(), result.pairs["id_b"].to_pylist(), strict=True))
    assert set(planted) <= found


# -- a full disk ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(corpus, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "out"
    run_here(corpus, out)
    return out


@pytest.mark.parametrize("size_bytes", [100, 60_000])
def test_files_that_may_not_grow(corpus, whole, tmp_path, size_bytes):
    """Files are cut off at some size, as on a full disk: a message, nothing whole, and a resume once there is room."""
    out = tmp_path / "out"
    arguments = ["dedup", *corpus, "--out", str(out), *CHOSEN, "--no-report", "-q"]
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size_bytes}, {size_bytes}))\n"
    code = limit + "from nearkin.cli.main import run; run()"
    ended = subprocess.run(quick_python(code, *arguments), capture_output=True, text=True, timeout=60)
    assert ended.returncode == 5, ended.stderr
    assert ended.stdout == ""
    assert ended.stderr.startswith("Error: Cannot write")
    assert len(ended.stderr.strip().splitlines()) == 1
    assert not (out / "manifest.json").exists()
    assert not list(out.rglob("*.part"))
    again = run_here(corpus, out, delivery=Delivery(report=False, resume=True))
    assert again["counts"]["documents"] == 579
    assert results(out) == results(whole)
    assert listing(out) == listing(whole)


def with_numpy(path: Path) -> None:
    np.arange(1_000_000).tofile(path)


def with_npz(path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, a=np.arange(1_000_000))


def with_arrow(path: Path) -> None:
    batch = pa.record_batch({"a": pa.array(range(100_000))})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
        writer.write_batch(batch)


def with_parquet(path: Path) -> None:
    table = pa.table({"a": pa.array(range(100_000))})
    with pq.ParquetWriter(path, table.schema) as writer:
        writer.write_table(table)


def with_text(path: Path) -> None:
    path.write_text("x" * 100_000)


def with_pwrite(path: Path) -> None:
    with path.open("rb+", buffering=0) as file:
        os.pwrite(file.fileno(), bytes(100_000), 10)


@pytest.mark.parametrize("write", [with_numpy, with_npz, with_arrow, with_parquet, with_text, with_pwrite])
def test_a_full_disk_is_called_one_whatever_library_meets_it(write):
    with pytest.raises(OutputError) as caught, files.writing(Path("results/pairs.parquet")):
        write(Path("/dev/full"))
    assert str(caught.value).startswith("Cannot write results/pairs.parquet: the disk is full")
    assert "--resume" not in str(caught.value)  # what can be resumed says it; see `Run`


# -- large documents --------------------------------------------------------------------------------------------------


def test_a_document_of_20_mb(tmp_path):
    """Beside smaller ones, one of them a part of it: found and verified like any other."""
    letters = np.full((1_200_000, 17), ord("x"), np.uint8)  # words of sixteen letters
    letters[:, 16] = ord(" ")
    letters[:, :8] = np.random.default_rng(0).integers(ord("a"), ord("z") + 1, (len(letters), 8))
    text = letters.tobytes().decode()
    assert len(text) > 20_000_000
    records = [
        {"id": "small", "text": "a small one"},
        {"id": "large", "text": text},
        {"id": "part", "text": text[: 17 * 260_000] + "changed!"},
        {"id": "copy", "text": "A small one"},
    ]
    counts = run_here([str(write_jsonl(tmp_path / "a.jsonl", records))], tmp_path / "out", measure="containment")[
        "counts"
    ]
    assert (counts["near_duplicate"], counts["exact_copy"], counts["kept"]) == (1, 1, 2)
    (near, _) = sorted(pq.read_table(tmp_path / "out/pairs.parquet").to_pylist(), key=lambda row: row["jaccard"])
    assert 0.99999 < near["containment_b_in_a"] < 1
    lengths = pq.read_table(tmp_path / "out/documents.parquet")["n_characters"].to_pylist()
    assert lengths == [len(record["text"]) for record in records]


def test_a_document_that_may_not_fit_is_named():
    said = []

    class Watcher(Silent):
        def say(self, message):
            said.append(message)

    result = package.dedup(["a " * 4_000_000, "short", "b " * 3_500_000], memory="256MiB", progress=Watcher())
    assert len(result.kept) == 3
    (told,) = [message for message in said if "--memory" in message]
    assert told.startswith("Warning: table:1 (and 1 more): a document of 8,000,000 characters")
    said.clear()
    package.dedup(["a " * 1_000_000], memory="256MiB", progress=Watcher())
    assert not any("--memory" in message for message in said)
