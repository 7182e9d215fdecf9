"""Tasks of signing on a cluster, called as a cluster would call them."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from nearkin.engines.spark.layout import Block
from nearkin.errors import SourceError
from nearkin.options.signatures import SigningOptions
from nearkin.records import BitSignatures
from nearkin.runs.progress import Meter, Silent
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import resolve_sources
from nearkin.workflows.reading.identity import by_path, records_of, with_digests
from nearkin.workflows.reading.on_spark.tasks import TaskInput, reading_texts, task_blocks, task_input
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.texts import FACTS, Texts
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing.counting import collect
from nearkin.workflows.signing.on_spark import (
    COUNTED,
    FEATURES,
    SIGNED,
    AddCountsTask,
    CountFeaturesTask,
    SignedPart,
    SignInputTask,
)

RULES = ReadingRules()


RECORD = '{"id": "a", "text": "a few words of a lease"}\n'


@pytest.fixture
def files(tmp_path) -> list[str]:
    """One of documents, and a folder."""
    (tmp_path / "a.jsonl").write_text(RECORD)
    (tmp_path / "in").mkdir()
    for i in range(5):
        (tmp_path / f"in/{i}.txt").write_text(f"text {i} of a folder")
    return [str(tmp_path / "a.jsonl"), str(tmp_path / "in")]


def read(given: TaskInput) -> Texts:
    """Check an input as a task does that reads nothing."""
    with reading_texts(given, RULES) as texts:
        return texts


def tasks_of(files: list[str]) -> list[Block]:
    sources = resolve_sources(files).sources
    records = with_digests(records_of(sources), Resources(1), Meter(Silent()))
    return task_blocks(sources, "utf-8", by_path(records))


def inputs_of(files: list[str]) -> list[TaskInput]:
    return [task_input([block]) for block in tasks_of(files)]


def test_bytes_decide_if_only_the_modification_time_differs(files, tmp_path):
    """The driver and a worker have copies of a file, under one path."""
    path = tmp_path / "shared/a.jsonl"
    for machine in ("worker", "driver"):
        (tmp_path / machine).mkdir()
        (tmp_path / machine / "a.jsonl").write_text(RECORD)

    def on(machine: str) -> None:
        path.parent.unlink(missing_ok=True)
        path.parent.symlink_to(machine)

    def read_by_a_worker(content: str, changes: Callable[[], object] = lambda: None) -> None:
        on("driver")
        [given] = inputs_of([str(path)])
        on("worker")
        path.write_text(content)
        os.utime(path, ns=(given.seen[0].changed_s * 10**9,) * 2)
        with reading_texts(given, RULES):
            changes()

    read_by_a_worker(RECORD)
    with pytest.raises(SourceError, match=r"a\.jsonl is not the same file on the worker .*: its content differs\. Ev"):
        read_by_a_worker(RECORD.upper())
    with pytest.raises(SourceError, match="it changed while it was read"):
        read_by_a_worker(RECORD, lambda: os.utime(path, (2, 2)))


def test_features_are_added_up_wherever_they_meet(files):
    options = SigningOptions(method="weighted-topsig")
    tasks = tasks_of(files)
    for n_ranges in (1, 2, 7):
        made = [block for task in tasks for block in CountFeaturesTask(options, RULES, n_ranges)(task.target, [task])]
        assert {block.target for block in made} <= set(range(n_ranges))
        added = [
            block
            for target in range(n_ranges)
            for block in AddCountsTask(options.counts_fingerprint)(
                target, [one for one in made if one.target == target]
            )
        ]
        expected = collect(
            ReadingRequest(inputs=files).opened(Silent()),
            options.features,
            options.normalise,
            threads=1,
            meter=Meter(Silent()),
        )
        for found, array in zip(
            FEATURES.joined(added), (expected.hashes, expected.occurrences, expected.documents), strict=True
        ):
            assert np.array_equal(found, array)  # ranges rise, and so do hashes
        assert COUNTED.joined(added)[0].sum() == expected.n_documents == 6


def test_the_driver_takes_the_part_of_the_attempt_that_reported(files, tmp_path):
    """Attempts at a task, each with its own version of the file, write files of their own."""
    signing = SignInputTask(tmp_path / "parts", SigningOptions(), RULES, "method", None)
    signing.folder.mkdir()
    reported = []
    for content in (RECORD, RECORD * 3):
        Path(files[0]).write_text(content)
        [task] = tasks_of(files[:1])
        reported.append(SIGNED.joined([block for block in signing(0, [task]) if block.stream == SIGNED.stream]))
    assert len(list(signing.folder.iterdir())) == 2
    for [n_documents], _, [attempt] in reported:
        batches = signing.part(0, int(attempt)).read()
        assert sum(documents.num_rows for documents, _ in batches) == n_documents
    assert [int(n_documents) for [n_documents], _, _ in reported] == [1, 3]


@pytest.mark.parametrize("n_bits", [8, 64, 1024])
def test_a_part_is_read_as_it_was_written(n_bits, tmp_path):
    random = np.random.default_rng(n_bits)
    batches = []
    for n in (3, 1, 70):
        columns = [
            [f"d{i}" for i in range(n)],
            [i % 2 == 0 for i in range(n)],
            range(n),
            [None, *["bad"] * (n - 1)],
            ["file"] * n,
        ]
        arrays = [pa.array(column, field.type) for column, field in zip(columns, FACTS, strict=True)]
        packed = random.integers(0, 256, (n, n_bits // 8), np.uint8)
        signed = BitSignatures(packed, random.random(n) < 0.5, "method")
        batches.append((pa.RecordBatch.from_arrays(arrays, schema=FACTS), signed))
    part = SignedPart(tmp_path / "0.arrow", n_bits, "method")
    assert part.write(iter(batches)) == 74
    found = list(part.read())
    assert len(found) == len(batches)
    for (documents, signed), (expected, signatures) in zip(found, batches, strict=True):
        assert documents.equals(expected)
        assert np.array_equal(signed.packed, signatures.packed)
        assert np.array_equal(signed.has_features, signatures.has_features)
    assert part.write(iter(())) == 0
    assert list(part.read()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["0.arrow"]
    assert pickle.loads(pickle.dumps(part)) == part
