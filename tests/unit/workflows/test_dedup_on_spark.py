"""Reading of a deduplication on a cluster: its task and its stage, called as a cluster would call them."""

from __future__ import annotations

import json
import os
import pickle
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest

from nearkin.engines.spark.layout import Block
from nearkin.errors import SourceError
from nearkin.options.dedup import DedupOptions
from nearkin.runs.spool import Spool
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import resolve_sources
from nearkin.workflows.dedup.on_spark import job as task_module
from nearkin.workflows.dedup.on_spark.job import read_input
from nearkin.workflows.dedup.reading import read_one
from nearkin.workflows.reading import inputs
from nearkin.workflows.reading.on_spark.tasks import TaskInput, task_blocks
from nearkin.workflows.reading.rereading import digested, seen

RIGHT, WRONG = ("".join(json.dumps({"text": f"{word} {i}"}) + "\n" for i in range(3)) for word in ("alpha", "omega"))


@dataclass(frozen=True)
class ReadingOfAFile:
    """File, its task, and the times at which the driver and a worker have copies of it, under one path."""

    folder: Path
    spool: Spool
    driver_s: int = 1_700_000_000
    worker_s: int = 1_700_000_500
    blocks: list[Block] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """Its path on every machine."""
        return self.folder / "shared" / "a.jsonl"

    def on(self, machine: str) -> None:
        """Let the path lead to the file of a machine; nothing is written to any file."""
        (self.folder / "shared").unlink(missing_ok=True)
        (self.folder / "shared").symlink_to(machine)

    def put(self, content: str, changed_s: int) -> None:
        """Write the file of the machine."""
        self.path.write_text(content)
        os.utime(self.path, (changed_s, changed_s))

    def given(self) -> TaskInput:
        """The input of the task, as the driver sees it."""
        self.on("driver")
        sources = resolve_sources([str(self.path)]).sources
        [block] = task_blocks([digested(seen(source)) for source in sources])
        return pickle.loads(block.data)

    def attempt(self, given: TaskInput) -> None:
        """Read it as this machine sees it."""
        block = Block("input", 0, pickle.dumps((0, given)))
        self.blocks[:] = read_input(self.spool, DedupOptions(), ReadingRules(), 0, [block])

    def texts(self) -> list[str]:
        """The texts in the spool."""
        return [text for chunk in self.spool.chunks() for text in chunk.column("text").to_pylist()]


@pytest.fixture
def reading(tmp_path) -> ReadingOfAFile:
    for name in ("spool", "driver", "worker"):
        (tmp_path / name).mkdir()
    found = ReadingOfAFile(tmp_path, Spool(tmp_path / "spool"))
    found.on("driver")
    found.put(RIGHT, found.driver_s)
    return found


@pytest.mark.parametrize("other_s", [0, 500])
def test_texts_of_a_file_that_changed_while_it_was_read_are_not_kept(other_s, reading, monkeypatch):

    def read_and_write(*args, **kwargs):
        found = read_one(*args, **kwargs)
        reading.put(WRONG, reading.driver_s + other_s)
        return found

    monkeypatch.setattr(task_module, "read_one", read_and_write)
    given = reading.given()
    reading.on("worker")
    reading.put(RIGHT, reading.driver_s)
    with pytest.raises(SourceError, match="it changed while it was read"):
        reading.attempt(given)
    assert not list(reading.spool.path.iterdir())


@pytest.mark.parametrize("machine", ["driver", "worker"])
def test_attempts_do_not_mix_versions_of_a_file(machine, reading, monkeypatch):
    """The first attempt ends in the middle; meanwhile the file changes, or the second one runs where it is another."""
    monkeypatch.setattr(inputs, "BATCH_BYTES", 10)
    given = reading.given()
    write = Spool.write

    def write_one(own: Spool, part: int, number: int, batch: pa.RecordBatch) -> None:
        if number:
            raise KeyboardInterrupt
        write(own, part, number, batch)

    with monkeypatch.context() as patched:
        patched.setattr(Spool, "write", write_one)
        with pytest.raises(KeyboardInterrupt):
            reading.attempt(given)
    reading.on(machine)
    reading.put(WRONG, reading.driver_s)
    with pytest.raises(
        SourceError, match=r"a\.jsonl is not the same file on the worker .*: its content differs\. Ever"
    ):
        reading.attempt(given)
    reading.put(RIGHT, reading.worker_s)
    reading.attempt(given)
    assert reading.texts() == ["alpha 0", "alpha 1", "alpha 2"]
    assert not list(reading.spool.path.glob(".*")), "the first attempt removed what it wrote"
