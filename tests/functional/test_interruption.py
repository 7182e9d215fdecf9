"""A run that is cut off at any moment leaves nothing that looks whole, and goes on to the same bytes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from commands import quick_python
from example_counts import every
from functional.conftest import CHOSEN, TOLD, Ended, listing, results, run_here
from nearkin.errors import OutputExistsError, ResumeError, RunError
from nearkin.options.dedup import Delivery
from nearkin.workflows.reading import inputs

RESUME = Delivery(report=False, resume=True, write_kept=True)
FRESH = Delivery(report=False, write_kept=True)

# A command that signals itself when it is about to give a file a certain name, or just gave it.
SUICIDE = """
import ctypes, os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are started deaf to Ctrl-C
name, when, how = sys.argv.pop(1), sys.argv.pop(1), int(sys.argv.pop(1))
from nearkin.workflows.reading import inputs
inputs.BATCH_BYTES = 120_000
rename = os.replace
def watched(a, b):
    is_it = name in str(b)
    if is_it and when == "before":
        os.kill(os.getpid(), how)
    if is_it and when == "in a callback":
        ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), how))()
        time.sleep(5)
    rename(a, b)
    if is_it and when == "after":
        os.kill(os.getpid(), how)
    if is_it and when == "sleep":
        time.sleep(how)
os.replace = watched
from nearkin.cli.main import run
run()
"""
NEVER = "no such name"


def cut_short(
    name: str, when: str, how: int, *arguments: str, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """The command above, to its end."""
    own = quick_python(SUICIDE, name, when, str(int(how)), *arguments)
    return subprocess.run(own, input=stdin, capture_output=True, timeout=120, check=False)


class PowerCut(BaseException):
    """Nothing may catch it to tidy up."""


class Cutter:
    """Stands in for ``os.replace``; at the n-th call the lights go out, and no clean-up works from then on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, n: int) -> None:
        self.n, self.is_dark, self.rename, self.unlink = n, False, os.replace, Path.unlink
        monkeypatch.setattr(os, "replace", self)
        monkeypatch.setattr(Path, "unlink", lambda path, **how: None if self.is_dark else self.unlink(path, **how))
        monkeypatch.setattr("shutil.rmtree", self._rmtree(__import__("shutil").rmtree))

    def __call__(self, a: str, b: str) -> None:
        self.n -= 1
        if self.n <= 0:
            self.is_dark = True
            raise PowerCut
        self.rename(a, b)

    def _rmtree(self, rmtree):
        return lambda *args, **how: None if self.is_dark else rmtree(*args, **how)


@pytest.fixture(scope="module")
def whole(corpus, tmp_path_factory) -> Path:
    """What an uninterrupted run leaves."""
    out = tmp_path_factory.mktemp("whole") / "out"
    run_here(corpus, out, delivery=FRESH)
    return out


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(inputs, "BATCH_BYTES", 120_000)


def assert_nothing_looks_whole(out: Path) -> None:
    assert not (out / "manifest.json").exists()
    for path in out.glob("*.parquet"):
        pq.read_table(path)  # whatever has its name is all there
    for path in out.glob("*.html"):
        assert path.read_text().rstrip().endswith("</html>")


def assert_same(out: Path, whole: Path) -> None:
    assert results(out) == results(whole)
    for path in (whole / "kept").iterdir():
        assert (out / "kept" / path.name).read_bytes() == path.read_bytes()
    assert listing(out) == listing(whole)
    counts = [json.loads((one / "manifest.json").read_text())["counts"] for one in (out, whole)]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("step", every(2, [3, 1]))
def test_cut_at_every_file(corpus, tmp_path, small_batches, step):
    """The lights go out at each file that is published, in turn; each time the run is resumed."""
    less = tmp_path / "less"
    run_here(corpus[:2], less, delivery=FRESH, recall=0.3)
    n, is_done = 0, False
    while not is_done:
        n += step
        out = tmp_path / f"out-{n}"
        with pytest.MonkeyPatch.context() as patched:
            cutter = Cutter(patched, n)
            with contextlib.suppress(PowerCut):
                run_here(corpus[:2], out, delivery=FRESH, threads=1 + n % 2, recall=0.3)
            is_done = not cutter.is_dark
        if not is_done:
            assert_nothing_looks_whole(out)
            is_moving = (out / ".work/results/manifest.json").exists()
            with pytest.raises(OutputExistsError) if is_moving else contextlib.nullcontext():
                run_here(corpus[:2], out, delivery=RESUME, recall=0.3)
        assert_same(out, less)
    assert n > 20


@pytest.mark.parametrize(
    "options",
    [{}, {"against": True}],
    ids=["", "against"],
)
def test_cut_again_and_again(corpus, tmp_path, small_batches, options):
    """Each attempt gets further than the one before."""
    if options:
        corpus, options = corpus[:2], options | ({"against": corpus[2:]} if "against" in options else {})
    out, n = tmp_path / "out", 0
    run_here(corpus, tmp_path / "whole", delivery=FRESH, **options)
    while not (out / "manifest.json").exists():
        n += 1
        assert n < 100
        with pytest.MonkeyPatch.context() as patched:
            Cutter(patched, 8 * n)
            try:
                run_here(corpus, out, delivery=RESUME, **options)
            except PowerCut:
                assert_nothing_looks_whole(out)
            except OutputExistsError:  # the results of the attempt before were only to be moved
                assert (out / "manifest.json").exists()
    assert n > 2
    assert_same(out, tmp_path / "whole")


@pytest.mark.parametrize(
    ("name", "when"),
    [
        ("000000001-000000001.arrow", "before"),
        ("search/run-000000001", "after"),
        ("results/kept/part-1", "before"),
    ],
)
def test_killed(corpus, whole, tmp_path, small_batches, name, when):
    """kill -9, as a process of its own: nothing is tidied up."""
    out = tmp_path / "out"
    arguments = ["dedup", *corpus, "--out", str(out), *CHOSEN, "--write-kept", "--no-report", "-q"]
    killed = cut_short(name, when, signal.SIGKILL, *arguments)
    assert killed.returncode == -signal.SIGKILL
    assert_nothing_looks_whole(out)
    run_here(corpus, out, delivery=RESUME)
    assert_same(out, whole)


@pytest.mark.parametrize(
    ("how", "name", "when"),
    [
        (signal.SIGINT, "000000000-000000001.arrow", "before"),
        (signal.SIGINT, "pairs.parquet", "in a callback"),
        (signal.SIGTERM, "manifest.json", "in a callback"),
    ],
)
def test_interrupted(corpus, whole, tmp_path, how, name, when):
    """Ctrl-C and the polite kill, also in a function that C code calls: exit code, hint, no traceback, no half file."""
    out = tmp_path / "out"
    arguments = ["dedup", *corpus, "--out", str(out), *CHOSEN, "--write-kept", "--no-report"]
    stopped = cut_short(name, when, how, *arguments)
    assert stopped.returncode == 130
    assert b"--resume" in stopped.stderr
    assert b"Traceback" not in stopped.stderr
    assert stopped.stdout == b""
    assert_nothing_looks_whole(out)
    assert not list(out.rglob("*.part"))
    resumed = cut_short(NEVER, "before", how, *arguments, "--resume", "-q")
    Ended(resumed.returncode, "", resumed.stderr.decode()).assert_quiet(*TOLD)
    assert_same(out, whole)


# -- what a run may go on with ---------------------------------------------------------------------------------------


@pytest.fixture
def unfinished(corpus, tmp_path, small_batches) -> Path:
    out = tmp_path / "unfinished"
    with pytest.MonkeyPatch.context() as patched:
        Cutter(patched, 16)
        with pytest.raises(PowerCut):
            run_here(corpus, out, delivery=FRESH)
    return out


def test_other_input_is_refused_by_name(corpus, unfinished):
    for others in (corpus[:2], [*corpus[:2], corpus[0]]):
        with pytest.raises(ResumeError, match="inputs "):
            run_here(others, unfinished, delivery=RESUME)
    with pytest.raises(ResumeError, match="against "):
        run_here(corpus, unfinished, delivery=RESUME, against=corpus[:1])


def test_a_kept_corpus_half_in_its_place_is_completed(corpus, whole, tmp_path):
    arguments = ["dedup", *corpus, "--out", str(tmp_path / "out"), *CHOSEN, "--no-report", "-q"]
    first = sorted(path.name for path in (whole / "kept").iterdir())[0]
    cut_short(f"out/kept/{first}", "after", signal.SIGKILL, *arguments, "--write-kept")
    assert not (tmp_path / "out/manifest.json").exists()
    assert cut_short(NEVER, "after", 9, *arguments, "--resume").returncode == 5
    assert_same(tmp_path / "out", whole)


# -- two at once, and what is not ours -------------------------------------------------------------------------------


def test_two_runs_in_one_directory(corpus, whole, tmp_path):
    out = tmp_path / "out"
    arguments = ["dedup", *corpus, "--out", str(out), *CHOSEN, "--write-kept", "--no-report", "-q"]
    own = quick_python(SUICIDE, "sizes.arrow", "sleep", "2")
    first = subprocess.Popen([*own, *arguments], stderr=subprocess.PIPE)
    while not list(out.glob(".work/spool/*")):
        assert first.poll() is None
        time.sleep(0.02)
    for how in ({}, {"resume": True}, {"overwrite": True}):
        with pytest.raises(RunError, match="Another run is writing"):
            run_here(corpus, out, delivery=Delivery(report=False, **how))
    assert first.wait(60) == 0
    assert_same(out, whole)


def test_overwriting_removes_what_a_run_wrote_and_nothing_else(corpus, whole, tmp_path):
    out = tmp_path / "out"
    run_here(corpus, out, delivery=FRESH)
    mine = [out / "notes.txt", out / "kept/mine.txt", out / "kept/deep/er.txt", out / "other.parquet"]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    run_here(corpus[:1], out, delivery=Delivery(report=False, overwrite=True))
    assert [path.read_text() for path in mine] == ["mine"] * 4
    kept = {path.name for path in (out / "kept").iterdir()}
    assert kept == {"mine.txt", "deep"}  # what the first run kept is gone: the second kept nothing
    assert json.loads((out / "manifest.json").read_text())["counts"]["documents"] < 579
