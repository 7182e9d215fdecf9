"""Passages on a cluster have the bytes of those on one machine, whatever the partitions."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from functional.conftest import results, some_records, write_jsonl
from in_process import InProcess
from nearkin.engines.local import LOCAL, Engine
from nearkin.engines.spark import stages
from nearkin.engines.spark.session import Cluster
from nearkin.errors import OutputError, ParameterError
from nearkin.options.families import PassageDelivery, PassageOptions
from nearkin.workflows.dedup.on_spark import partitions
from nearkin.workflows.passages import job, on_spark
from nearkin.workflows.passages.job import passages_files
from nearkin.workflows.reading import inputs
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources


@dataclass
class Here(InProcess):
    """Tasks in this process, as a cluster that keeps its stages until it is thrown away."""

    about = {"name": "spark"}  # noqa: RUF012


@pytest.fixture
def files(tmp_path, monkeypatch) -> tuple[list[str], list[str]]:
    """Several partitions, and two sides: some of the texts of the second are cut from the first."""
    monkeypatch.setattr(partitions, "MAX_PARTITION_BYTES", 20_000)
    monkeypatch.setattr(inputs, "BATCH_BYTES", 10_000)
    records = [{**record, "text": record["text"].replace(" ", "\n")} for record in some_records()]
    mine = [write_jsonl(tmp_path / f"mine-{i}.jsonl", records[i::3]) for i in range(3)]
    items = [{"id": f"item-{i}", "text": record["text"][:300]} for i, record in enumerate(records[::9])]
    return [*map(str, mine)], [str(write_jsonl(tmp_path / "items.jsonl", items))]


@pytest.fixture
def here(monkeypatch) -> Here:
    """What a cluster is, for `Cluster`."""
    cluster = Here()
    monkeypatch.setattr(stages, "stages_on", lambda *_: contextlib.nullcontext(cluster))
    return cluster


def found(files, out: Path, engine: Engine = LOCAL, *, against: bool = False, resume: bool = False, **options: object):
    request, others = ReadingRequest(inputs=files[0]), files[1] if against else None
    passages_files(
        request, out, PassageOptions(min_words=8, **options), delivery=PassageDelivery(report=False, resume=resume),
        against=None if others is None else request.of_other_set(others), resources=Resources(2), engine=engine,
    )  # fmt: skip
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest.get("engine") or {"name": "local"})["name"] == engine.name
    for name in ("engine", "stages", "checksum"):
        manifest.pop(name, None)
    cut = {path.name: path.read_bytes() for path in sorted((out / "cut").glob("*"))}
    return {**results(out), **cut, "manifest": manifest}


@pytest.mark.parametrize("options", [{"cut": True}, {"against": True}, {"min_lines": 8}])
def test_tasks_find_what_one_machine_finds(options, files, here, tmp_path):
    expected = found(files, tmp_path / "local", **options)
    assert expected["manifest"]["counts"]["passages"] > 0
    assert found(files, tmp_path / "spark", Cluster(), **options) == expected
    assert len(here.stages["split"].blocks) > 1


def test_a_driver_that_fails_goes_on_with_the_words_of_the_tasks(files, here, tmp_path, monkeypatch):
    def fail(*_) -> None:
        raise OutputError("The disk is full.")

    with monkeypatch.context() as broken:
        broken.setattr(job, "find_windows", fail)
        with pytest.raises(OutputError):
            found(files, tmp_path / "spark", Cluster())
    monkeypatch.setattr(on_spark, "split_partition", pytest.fail)
    assert found(files, tmp_path / "spark", Cluster(), resume=True) == found(files, tmp_path / "local")


def test_a_collection_stays_on_one_machine(here, tmp_path):
    from nearkin import Collection

    Collection.open(tmp_path / "matter", create=True).close()
    with pytest.raises(ParameterError, match="is a collection, which only one machine"):
        found(([str(tmp_path / "matter")], []), tmp_path / "out", Cluster())


@pytest.mark.soak
def test_a_cluster_finds_what_one_machine_finds(files, tmp_path, spark):
    expected = found(files, tmp_path / "local", cut=True)
    assert found(files, tmp_path / "spark", Cluster(), cut=True) == expected
