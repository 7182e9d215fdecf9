"""A run on disk: files that are whole or not there, its directory, its texts, its costs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from nearkin.errors import OutputError, OutputExistsError, ResumeError, RunError
from nearkin.manifests.dedup import DedupManifest
from nearkin.runs.files import published, write_checked_json
from nearkin.runs.progress import Meter, Silent
from nearkin.runs.run import JobRun, read_results
from nearkin.runs.spool import Spool, gathered, load_arrays, save_arrays, texts_of

ME = {"parameters": {"threshold": 0.8, "keep": "longest"}, "inputs": {"first": ["a", "b"]}}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# -- files -----------------------------------------------------------------------------------------------------------


def fail_half_way(path: Path, error: BaseException) -> None:
    with published(path) as aside:
        aside.write_text("half")
        raise error


def test_a_file_is_published_whole(tmp_path):
    with published(tmp_path / "a") as aside:
        aside.write_text("whole")
        assert names(tmp_path) == {aside.name}
    assert names(tmp_path) == {"a"}
    assert (tmp_path / "a").read_text() == "whole"


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(1)])
def test_one_that_failed_leaves_the_old_one(tmp_path, error):
    (tmp_path / "a").write_text("old")
    with pytest.raises(type(error)):
        fail_half_way(tmp_path / "a", error)
    assert names(tmp_path) == {"a"}
    assert (tmp_path / "a").read_text() == "old"


def test_a_changed_byte_of_kept_arrays_is_noticed(tmp_path):
    """Wherever it is: in the ZIP archive, in the header of an array, or in its numbers."""
    path = tmp_path / "x.arrow"
    arrays = {"a": np.arange(3, dtype=np.uint32), "b": np.zeros((2, 2))}
    save_arrays(path, arrays)
    data, n_noticed = path.read_bytes(), 0
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
        try:
            found = load_arrays(path)
        except RunError as refused:
            n_noticed += "x.arrow is damaged" in str(refused)
        else:
            assert found.keys() == arrays.keys()
            assert all((found[name] == arrays[name]).all() for name in arrays)
    assert n_noticed > len(data) // 2


# -- the directory ---------------------------------------------------------------------------------------------------


def begin(path: Path, *, finish: bool = False, resume: bool = False, overwrite: bool = False, **other: object) -> None:
    directory = JobRun(path)
    with directory.claimed(ME | other, resume=resume, overwrite=overwrite):
        (directory.work / "done").write_text("some work")
        if finish:
            directory.finish(DedupManifest())


def write_results(path: Path, files: dict[str, str], *, resume: bool = False, overwrite: bool = False) -> None:
    run = JobRun(path)
    with run.claimed(ME, resume=resume, overwrite=overwrite):
        for name, content in files.items():
            (run.results / name).parent.mkdir(exist_ok=True)
            (run.results / name).write_text(content)
        run.finish(DedupManifest())


def test_a_run_from_its_beginning_to_its_end(tmp_path):
    out = tmp_path / "deep" / "out"
    begin(out)
    assert names(out) == {".work"}
    begin(out, resume=True, finish=True)
    assert names(out) == {"manifest.json"}
    with pytest.raises(OutputExistsError, match="--overwrite"):
        begin(out, resume=True)
    begin(out, overwrite=True, finish=True)
    assert names(out) == {"manifest.json"}


def test_an_unfinished_run_waits_for_its_own_command(tmp_path):
    begin(tmp_path)
    with pytest.raises(OutputExistsError, match="--resume"):
        begin(tmp_path)
    with pytest.raises(ResumeError, match=r"threshold.*0\.8.*0\.9"):
        begin(tmp_path, resume=True, parameters={"threshold": 0.9, "keep": "longest"})
    with pytest.raises(ResumeError, match="against"):
        begin(tmp_path, resume=True, against={"n_files": 1})
    assert (tmp_path / ".work/done").exists()
    begin(tmp_path, overwrite=True, parameters={"threshold": 0.9})


def test_results_stay_until_there_is_something_to_replace_them(tmp_path):
    write_results(tmp_path, {"pairs.parquet": "earlier pairs", "kept/a": "earlier"})
    begin(tmp_path, overwrite=True)  # interrupted
    assert names(tmp_path) == {".work", "manifest.json", "pairs.parquet", "kept"}
    with pytest.raises(OutputExistsError, match="--resume to continue it"):
        begin(tmp_path)
    write_results(tmp_path, {"documents.parquet": "later"}, resume=True)
    assert names(tmp_path) == {"manifest.json", "documents.parquet"}


class Killed(BaseException):
    """Nothing may catch it to tidy up."""


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("other", [{}, {"parameters": {"threshold": 0.9}}], ids=["", "other"])
@pytest.mark.parametrize("n_moved", range(5))
def test_a_run_that_was_killed_while_its_results_were_moved_is_completed(tmp_path, monkeypatch, n_moved, other, resume):
    """By any command, also if results of another run were to be replaced, and if only the work was to be removed."""
    earlier, later = {"kept/a": "earlier", "pairs.tsv": "earlier"}, {"documents.parquet": "later", "kept/b": "later"}
    write_results(tmp_path, earlier)
    begin(tmp_path, overwrite=True)
    rename, remove, left = os.replace, shutil.rmtree, [n_moved]

    def cut(a: Path, b: Path) -> None:
        left[0] -= Path(a).suffix != ".part"
        if left[0] < 0:
            raise Killed
        rename(a, b)

    def cut_before_work(path: Path, **_: object) -> None:
        if path.name == ".work":
            raise Killed
        remove(path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", cut)
        patched.setattr(shutil, "rmtree", cut_before_work)
        with pytest.raises(Killed):
            write_results(tmp_path, later, resume=True)
    assert (tmp_path / ".work/done").read_text() == "some work"
    assert JobRun(tmp_path).state == ("finished" if n_moved == 4 else "moving")
    with pytest.raises(OutputExistsError, match="nothing is left to resume" if resume else "the results of a run"):
        begin(tmp_path, resume=resume, **other)
    assert names(tmp_path) == {"manifest.json", "documents.parquet", "kept"}
    assert {path.name: path.read_text() for path in (tmp_path / "kept").iterdir()} == {"b": "later"}
    assert read_results(tmp_path)["files"] == ["documents.parquet", "kept/b"]
    assert (tmp_path / "documents.parquet").read_text() == "later"


@pytest.mark.parametrize("listed", ['["../victim"]', "5", "null", '[1, ["a"], "\\u0000"]', "{}"])
def test_only_files_of_the_directory_are_removed(tmp_path, listed):
    (tmp_path / "victim").write_text("somebody's")
    out = tmp_path / "out"
    begin(out)
    (out / "manifest.json").write_text(f'{{"nearkin": "x", "command": "dedup", "files": {listed}}}')
    begin(out, overwrite=True, finish=True)
    assert (tmp_path / "victim").read_text() == "somebody's"


@pytest.mark.parametrize("listed", [["../victim"], ["{}/victim"], ["kept/../../victim"], ["linked/victim"], [1], None])
def test_a_manifest_that_lists_what_is_elsewhere_is_damaged(tmp_path, listed):
    """Also if its checksum is right; nothing is removed, and no new run begins."""
    out, victim = tmp_path / "out", tmp_path / "victim"
    victim.write_text("somebody's")
    write_results(out, {"kept/a": "earlier"})
    (out / "linked").symlink_to(tmp_path)
    files = [name.format(tmp_path) if isinstance(name, str) else name for name in listed] if listed else listed
    write_checked_json(out / "manifest.json", {"nearkin": "x", "command": "dedup", "files": files})
    with pytest.raises(RunError, match="is damaged"):
        begin(out, overwrite=True)
    assert (victim.read_text(), (out / "kept/a").read_text()) == ("somebody's", "earlier")
    assert names(out) == {"manifest.json", "kept", "linked"}


def test_states_of_a_directory(tmp_path):
    states = [JobRun(tmp_path).state]
    begin(tmp_path)
    states.append(JobRun(tmp_path).state)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputExistsError, match=r"not empty \(notes\.txt\)"):
        begin(tmp_path, overwrite=True)
    begin(tmp_path, resume=True, finish=True)
    states.append(JobRun(tmp_path).state)
    (tmp_path / "manifest.json").unlink()
    states.append(JobRun(tmp_path).state)
    assert states == ["free", "unfinished", "finished", "other files"]
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("content", ["", "{", "[]", "null"])
def test_an_identity_that_cannot_be_read_is_damaged(tmp_path, content):
    begin(tmp_path)
    (tmp_path / ".work/run.json").write_text(content)
    with pytest.raises(RunError, match=r"run\.json is damaged: .*--overwrite"):
        begin(tmp_path, resume=True)


# -- texts -----------------------------------------------------------------------------------------------------------


def test_texts_come_back_in_any_order(tmp_path):
    spool = Spool(tmp_path)
    for part, number, texts in ((0, 1, ["c"]), (1, 0, ["d", "e"]), (0, 0, ["a", "b"])):
        spool.write(part, number, pa.RecordBatch.from_pydict({"text": pa.array(texts, pa.large_string())}))
    chunks = spool.chunks()
    assert [(chunk.start, chunk.end) for chunk in chunks] == [(0, 2), (2, 3), (3, 5)]
    assert texts_of(chunks, [4, 0, 2, 2]) == ["e", "a", "c", "c"]
    assert [column.to_pylist() for column in gathered(chunks, "text")] == [["a", "b"], ["c"], ["d", "e"]]
    spool.forget(0)
    assert [chunk.column("text").to_pylist() for chunk in spool.chunks()] == [["d", "e"]]


# -- costs -----------------------------------------------------------------------------------------------------------


def test_stages_are_measured_also_when_they_fail():
    told = []

    class Watcher(Silent):
        def start(self, stage, total, unit):
            told.append((stage, total, unit))

        def finish(self):
            told.append("done")

    meter = Meter(Watcher())
    with meter.stage("one", 3, "steps"):
        pass
    with pytest.raises(ZeroDivisionError), meter.stage("two", 0, "bytes"):
        raise ZeroDivisionError
    assert told == [("one", 3, "steps"), "done", ("two", 0, "bytes")]
    assert [cost.name for cost in meter.costs] == ["one", "two"]
    assert all(cost.elapsed_s >= 0 and cost.peak_memory_bytes > 1 << 20 for cost in meter.costs)


@pytest.mark.parametrize(("place", "what"), [("file", "it"), ("file/out", "file")])
def test_a_file_is_no_directory_for_results(tmp_path, monkeypatch, place, what):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    with pytest.raises(OutputError, match=f"Cannot write {place}: {what} is a file, and --out must be a directory"):
        JobRun(Path(place))
