"""Dedup on a real cluster, a master and two workers: the bytes of one machine, whatever dies meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contract.test_engines_dedup import Case, Records, cases, in_files, named
from functional.conftest import nearkin_here, results, write_jsonl
from nearkin.engines.local import LOCAL, Engine
from nearkin.engines.spark.session import Cluster
from nearkin.errors import SourceError
from nearkin.options.dedup import Delivery
from nearkin.runs.progress import Silent
from nearkin.workflows.dedup.files import dedup_files
from nearkin.workflows.dedup.on_spark import keying, partitions
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources

PLAIN = Delivery(report=False)
RESUME = Delivery(report=False, resume=True)
MANY_HOMES = """
from nearkin.workflows.dedup.on_spark import partitions
partitions.MIN_PARTITION_BYTES = 1
from nearkin.cli.main import run
run()
"""


class Stages(Silent):
    """Remembers the stages that began, and does something when a certain one does."""

    def __init__(self, name: str = "", then: Callable[[], object] = lambda: None) -> None:
        self.begun: list[str] = []
        self._name, self._then = name, then

    def start(self, stage: str, total: int, unit: str) -> None:
        self.begun.append(stage)
        if stage == self._name:
            self._then()


def in_many_files(case: Case, n: int = 6) -> Case:
    """A file is read by one task, and lies in one partition."""

    def cut(files: Sequence[Records]) -> list[Records]:
        n_parts = max(1, n // max(len(files), 1))
        return [part for records in files for part in (in_files(records, n_parts) if records else [records])]

    return replace(case, files=cut(case.files), against=cut(case.against))


def some_of_every_kind(n_files: int) -> Case:
    """A third of them: each task of a cluster takes long, however little it does."""
    case = cases()["of every kind"]
    return in_many_files(replace(case, files=case.files[:1]), n_files)


def found(
    case: Case,
    folder: Path,
    out: Path,
    *,
    engine: Engine = LOCAL,
    delivery: Delivery = PLAIN,
    progress: Silent | None = None,
) -> dict[str, object]:
    """What a run leaves, and what its manifest says beside what it took."""
    mine, theirs = written(case, folder)
    request = ReadingRequest(inputs=mine)
    dedup_files(
        request,
        out,
        case.chosen(),
        against=request.of_other_set(theirs) if theirs else None,
        delivery=delivery,
        resources=Resources(2),
        progress=progress,
        engine=engine,
    )
    assert not (out / ".work").exists()
    return left_in(out)


def written(case: Case, folder: Path) -> tuple[list[str], list[str]]:
    """The paths of both collections; they are written once, for when they were changed is looked at."""
    place = folder / "in"
    if not place.exists():
        place.mkdir()
        case.written(place)
    return tuple(sorted(map(str, place.glob(f"{name}-*"))) for name in ("mine", "theirs"))


def left_in(out: Path) -> dict[str, object]:
    told = json.loads((out / "manifest.json").read_text())
    for name in ("engine", "stages", "memory", "checksum"):  # what it took, and the checksum that covers it
        told.pop(name, None)
    kept = {path.name: path.read_bytes() for path in sorted((out / "kept").glob("*"))}
    return {**results(out), **kept, "manifest": told}


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@pytest.fixture
def small(monkeypatch) -> None:
    """Several partitions, and several places to meet: what the driver decides for a large corpus."""
    monkeypatch.setattr(partitions, "MAX_PARTITION_BYTES", 20_000)
    monkeypatch.setattr(keying, "MEETING_BYTES", 40_000)


# -- the same bytes ---------------------------------------------------------------------------------------------------

# Their tasks are the same as those of one process, where every case is tried: here they are pickled and sent. Those of
# documents of every kind are sent by the tests below, which run the command, and kill a worker in the middle.
ON_A_CLUSTER = (
    "of every kind", "against another collection", "no document", "containment", "all equal", "broken records",
)  # fmt: skip


@pytest.mark.soak
@pytest.mark.parametrize("name", ON_A_CLUSTER)
def test_a_cluster_finds_what_one_machine_finds(name, tmp_path, spark, small):
    case = cases()[name]
    if name != "broken records":  # a file in which only a number is called a text is refused
        case = in_many_files(case)
    expected = found(case, tmp_path, tmp_path / "local")
    assert found(case, tmp_path, tmp_path / "spark", engine=Cluster()) == expected


@pytest.mark.soak
def test_a_document_of_20_megabytes(tmp_path, spark, small):
    """And one that is nearly the same, in another partition: what travels of it is larger than any block should be."""
    words = [f"w{i:05}" for i in np.random.default_rng(1).integers(0, 90_000, 2_900_000).tolist()]
    long = " ".join(words)
    assert len(long) > 20e6
    few = named([" ".join(words[i : i + 60]) for i in range(0, 3_000, 50)])
    case = Case([few[:30], [{"id": "long", "text": long}], few[30:], [{"id": "longer", "text": long + " more"}]])
    expected = found(case, tmp_path, tmp_path / "local")
    assert expected["manifest"]["counts"]["near_duplicate"] == 1
    assert found(case, tmp_path, tmp_path / "spark", engine=Cluster()) == expected


# -- what dies meanwhile ----------------------------------------------------------------------------------------------


def n_executors(spark) -> int:
    """As far as the driver knows, which is one of those that are counted."""
    return len(spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) - 1


@pytest.fixture
def whole_again(cluster, spark) -> Iterator[None]:
    """A worker that the test killed comes back, and its executor."""
    yield
    cluster.start_worker(0)
    wait_until(lambda: n_executors(spark) == 2, "the executor does not come back")


class Killer(threading.Thread):
    """Kills a worker once some of the tasks of a stage are done, and not all."""

    def __init__(self, cluster, spark, work: Path) -> None:
        super().__init__(daemon=True)
        self.cluster, self.spark, self.work = cluster, spark, work
        self.n_done = self.n_lost = 0
        self.killed_at = 0.0
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            wait_until(lambda: len(self.done()) >= 2, "no task ends")
            self.n_lost = len(self.cluster.executors(0))
            self.cluster.kill_worker(0)
            wait_until(lambda: n_executors(self.spark) == 1, "the driver does not know of its loss")
            self.killed_at, self.n_done = time.time(), len(self.done())
        except BaseException as error:  # noqa: BLE001  # asserted on in the test
            self.error = error

    def done(self) -> list[Path]:
        """What tasks of the stage wrote."""
        return list((self.work / "keys").glob("sizes-*.arrow"))


@pytest.mark.slow
def test_the_command_while_a_worker_dies(tmp_path, cluster, spark, small, whole_again, monkeypatch):
    """With relative paths, for workers run elsewhere; names that mean a pattern to Spark; other columns in a set."""
    case = some_of_every_kind(8)
    written(case, tmp_path)
    texts_of = [one["text"] for one in case.files[0][:9]]
    write_jsonl(tmp_path / "bench.jsonl", [{"q": i, "a": "x", "question": text} for i, text in enumerate(texts_of)])
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    killer = Killer(cluster, spark, tmp_path / "spark [1]{2}*/.work")
    for engine in ("local", "spark"):
        if engine == "spark":
            killer.start()
        ended = nearkin_here(
            "dedup", "../in", "--against", "../bench.jsonl", "--against-text", "question", "--against-id", "q",
            "--out", f"../{engine} [1]{{2}}*", "--engine", engine, "--write-kept", "-q",
        )  # fmt: skip
        ended.assert_clean()
        assert ended.code == 0, ended.err
    killer.join()
    assert killer.error is None
    assert killer.n_lost > 0, "an executor and its Python"
    assert 2 <= killer.n_done <= 8, "of as many partitions"
    local, spark_ = (left_in(tmp_path / f"{engine} [1]{{2}}*") for engine in ("local", "spark"))
    local.pop("report.html")
    spark_.pop("report.html")  # it tells how long everything took
    assert spark_ == local
    assert local["manifest"]["counts"]["dropped"] >= 7
    assert not list((tmp_path / "elsewhere").iterdir())


def command(case: Case, folder: Path, cluster, *more: str) -> list[str]:
    """`nearkin dedup` on the cluster, with many partitions."""
    mine, _ = written(case, folder)
    settings = cluster.settings | {"spark.default.parallelism": "1"}
    conf = [part for pair in settings.items() for part in ("--conf", "=".join(pair))]
    return [
        sys.executable, "-c", MANY_HOMES, "dedup", *mine, "--out", str(folder / "spark"), "--engine", "spark",
        "--shingle", "words:3", "--threshold", "0.8", "--no-report", "-q", "--master", cluster.url, *conf, *more,
    ]  # fmt: skip


def kept_stages(out: Path) -> dict[str, int]:
    """When each was finished."""
    return {path.parent.name: path.stat().st_mtime_ns for path in out.glob(".work/stages/*/_SUCCESS")}


def is_over(application: dict[str, object]) -> bool:
    """Whether it is of a driver that is gone; that of the tests themselves goes on."""
    return application["name"] == "tests" or application["state"] != "RUNNING"


@pytest.fixture
def cut(tmp_path, cluster, monkeypatch) -> Case:
    """The case of a run in ``spark`` whose driver was killed after its first stages."""
    monkeypatch.setattr(partitions, "MIN_PARTITION_BYTES", 1)
    case = some_of_every_kind(6)  # so that there could be more partitions than there were
    out = tmp_path / "spark"
    process = subprocess.Popen(command(case, tmp_path, cluster), stderr=subprocess.PIPE)
    try:
        wait_until(lambda: process.poll() is not None or "bands" in kept_stages(out), "no stage ends")
        assert process.poll() is None, process.stderr.read().decode()
    finally:
        process.kill()
        process.communicate()
    # its Java, and tasks that had begun, go on for a while: what is copied meanwhile would be of no moment
    wait_until(lambda: all(is_over(one) for one in cluster.applications()), "the application goes on")
    assert {"read", "bands"} <= kept_stages(out).keys()
    assert "matches" not in kept_stages(out)
    assert not (out / "manifest.json").exists()
    return case


@pytest.mark.slow
def test_a_driver_that_is_killed(tmp_path, spark, cut):
    """The run goes on where it was, though the cluster has grown; on another engine it does not."""
    out = tmp_path / "spark"
    n_partitions = len(list((out / ".work/texts").iterdir()))
    assert n_partitions < 6, "as many as on the larger cluster"
    mine, _ = written(cut, tmp_path)
    arguments = ["dedup", *mine, "--shingle", "words:3", "--threshold", "0.8", "--no-report", "--resume", "--out", out]
    refused = nearkin_here(*arguments)
    assert refused.code == 5
    assert "engine was spark and is now local" in refused.err
    refused.assert_clean()

    before = kept_stages(out)
    assert spark.sparkContext.defaultParallelism == 2
    shutil.copytree(out, tmp_path / "again")  # in another place, with more tasks at a time
    stages = Stages()
    went_on = found(cut, tmp_path, tmp_path / "again", engine=Cluster(), delivery=RESUME, progress=stages)
    assert not before.keys() & set(stages.begun)
    assert went_on == found(cut, tmp_path, tmp_path / "local")


# -- files that are not what they were --------------------------------------------------------------------------------


def test_files_that_a_worker_does_not_see(tmp_path, spark, monkeypatch):
    """A path that leads elsewhere in every process."""
    (tmp_path / "in.jsonl").write_text('{"id": "a", "text": "one"}\n')
    monkeypatch.chdir(tmp_path)
    ended = nearkin_here("dedup", "/proc/self/cwd/in.jsonl", "--out", "out", "--engine", "spark")
    ended.assert_clean()
    assert ended.code == 3
    assert "in.jsonl is not the same file on the worker" in ended.err
    assert "it does not exist. Every worker must see the input as the driver does" in ended.err


def test_a_file_that_changes(tmp_path, spark):
    """To other bytes behind the size and the time of before."""
    case = cases()["files without documents"]
    path = Path(written(case, tmp_path)[0][1])
    before, seen = path.read_text(), path.stat()

    def change() -> None:
        path.write_text(before.swapcase())
        os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))

    rule = "is not the same file on the worker .*: its content differs.* nothing may write to it"
    with pytest.raises(SourceError, match=rule) as caught:
        dedup_files(
            ReadingRequest(inputs=[str(path)]), tmp_path / "out", case.chosen(), delivery=PLAIN, resources=Resources(2),
            progress=Stages("read", change), engine=Cluster(),
        )  # fmt: skip
    assert "Traceback" not in str(caught.value)
    assert not (tmp_path / "out/manifest.json").exists()
