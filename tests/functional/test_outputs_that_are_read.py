"""`--overwrite` replaces results, never what the command reads: its input, a run, or a file of a collection."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from functional.conftest import nearkin_done, nearkin_here, write_jsonl

RENT = "The rent of {} crowns is due on the first day of each month, to the owner of the house, in cash."
INPUT = "is one of the inputs"
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a corpus, its runs, its signatures and a collection of it."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_jsonl(Path("v.jsonl"), [{"id": f"d{i}", "text": RENT.format(i // 2)} for i in range(6)])
        write_jsonl(Path("w.jsonl"), [{"id": f"e{i}", "text": RENT.format(i)} for i in range(4)])
        for name in ("p.txt", "passages"):
            Path(name).write_text("in cash\n", "utf-8")
        for command in (
            ["dedup", "v.jsonl", "--out", "run", "--no-report"],
            ["sign", "v.jsonl", "--out", "sig"],
            ["sign", "w.jsonl", "--out", "other"],
            ["add", "matter", "v.jsonl"],
        ):
            nearkin_done(*command, "-q")
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def files_in(place: Path) -> Files:
    return {str(path): path.read_bytes() for path in place.rglob("*") if path.is_file() and "-" not in path.suffix}


ARE_INPUTS = {
    "missed": "audit run --out ./v.jsonl",
    "verified": "neighbours sig --verify jaccard:.7 --out v.jsonl",
    "signatures": "neighbours sig --out sig",
    "file": "similar matter --file w.jsonl --out w.jsonl",
    "checked": "check matter w.jsonl --out w.jsonl",
    "kept": "check matter w.jsonl --jsonl --store --only-new --kept w.jsonl",
    "compared": "compare p.html w.jsonl --out p.html",
}


def refusal_of(command: str, folder: Path) -> str:
    """What a command says that may overwrite, and must not; it changes no file of the folder."""
    before = files_in(folder)
    ended = nearkin_done(*command.split(), "--overwrite", code=2)
    assert files_in(folder) == before
    return ended.err


@pytest.mark.parametrize("name", ARE_INPUTS)
def test_what_a_command_reads_is_not_replaced(name: str, place: Path) -> None:
    shutil.copy("v.jsonl", "v.svg")
    shutil.copy("p.txt", "p.html")
    assert INPUT in refusal_of(ARE_INPUTS[name], place)


ARE_INSIDE = {
    "new file in the run": ("audit run --out run/missed.tsv", "is a run"),
    "database": ("compare matter d0 d1 --out matter/new.html", "is a collection"),
    "list": ("list matter --out matter/x.csv", "is a collection"),
    "kept": ("check matter w.jsonl --jsonl --store --only-new --kept matter/x", "is a collection"),
    "run": ("dedup v.jsonl --out matter/x", "is a collection"),
}


@pytest.mark.parametrize("name", ARE_INSIDE)
def test_nothing_is_written_inside_a_collection_or_the_run_that_is_read(name: str, place: Path) -> None:
    Path("matter/segments").mkdir(exist_ok=True)
    command, why = ARE_INSIDE[name]
    before = files_in(place)
    ended = nearkin_here(*command.split(), "--overwrite")
    assert ended.code != 0
    assert f"{why}. Choose a place for" in ended.err, ended.err
    assert files_in(place) == before


def test_the_file_of_standard_input_is_not_replaced(place: Path) -> None:
    before = Path("w.jsonl").read_bytes()
    command = "check matter - --jsonl --store --only-new --kept w.jsonl --overwrite"
    with open("w.jsonl", "rb") as stdin:
        ended = _run([sys.executable, "-m", "nearkin", *command.split()], stdin)
    assert (ended.returncode, INPUT in ended.stderr.decode()) == (2, True)
    assert Path("w.jsonl").read_bytes() == before


def _run(command: Sequence[str], stdin: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, stdin=stdin, capture_output=True, check=False, timeout=60)  # type: ignore[call-overload,no-any-return]


ARE_WRITTEN = {
    "missed": "audit run --out missed.tsv",
    "neighbours, not verified": "neighbours sig --out v.jsonl",
    "default of regroup": "regroup run --threshold .9 --no-report",
    "inside the run": "regroup run --threshold .9 --no-report --out run/higher",
    "list": "list matter --out v.jsonl",
    "id that is the name of a file": "similar matter d0 --out d0.csv",
}


@pytest.mark.parametrize("name", ARE_WRITTEN)
def test_other_files_are_replaced(name: str, place: Path) -> None:
    for file in ("missed.tsv", "d0.csv"):
        Path(file).write_text("old", "utf-8")
    nearkin_done(*ARE_WRITTEN[name].split(), "--overwrite")
