"""Work of an interrupted run in which a file is damaged: `--resume` gives the right tables, or names the file."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from functional.conftest import results, run_here, write_jsonl
from nearkin.errors import RunError
from nearkin.options.dedup import Delivery
from nearkin.workflows.reading import inputs
from oracles.texts import versions

FRESH, RESUME = Delivery(report=False, write_kept=True), Delivery(report=False, write_kept=True, resume=True)
N_KEPT = 2
"""Number of kept files that are damaged: all are written again in one way."""


class PowerCut(BaseException):
    """Nothing may catch it to tidy up."""


@dataclass(frozen=True)
class Case:
    """A kind of run."""

    options: Mapping[str, object] = field(default_factory=dict)
    is_loose: bool = False

    def run(self, sources: Mapping[bool, list[str]], out: Path, delivery: Delivery) -> None:
        run_here(sources[self.is_loose], out, delivery=delivery, **self.options)


CASES = {
    "bands": Case({"recall": 0.5}),
    "containment": Case({"measure": "containment", "group": "component"}),
    "loose": Case({"recall": 0.5}, is_loose=True),
}
STAGES = (
    "spool/000000000-000000002.arrow",
    "spool/000000000.json",
    "search/sizes.arrow",
    "search/runs.json",
    "verification/shingle pairs.arrow",
    "verification/matches.arrow",
    "documents.parquet",
    "results/kept/",
    "manifest.json",
)
"""Files before which the runs are cut off."""


# -- damages ---------------------------------------------------------------------------------------------------------


def removed(path: Path) -> None:
    path.unlink()


def made_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def truncated(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    if data:
        data[len(data) // 2] ^= 4
    path.write_bytes(data)


DAMAGES = (removed, made_a_folder, emptied, truncated, flipped)


def made_a_file(path: Path) -> None:
    shutil.rmtree(path)
    path.write_bytes(b"")


OF_FOLDERS = (shutil.rmtree, made_a_file)
Damage = tuple[str, Callable[[Path], object]]


# -- runs ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> Mapping[bool, list[str]]:
    """Two files of lines, and a folder of text files."""
    folder = tmp_path_factory.mktemp("in")
    texts = versions(5, n_bases=20, n_words=60, n_versions=3, max_edits=5)
    texts += [" ".join(text.split()[:8]) for text in texts[:10]]
    rows: list[dict[str, object]] = [{"id": f"d{i:03d}", "text": text} for i, text in enumerate(texts)]
    lines = [str(write_jsonl(folder / f"{n}.jsonl", rows[n::2])) for n in range(2)]
    loose = folder / "loose"
    loose.mkdir()
    for row in rows:
        (loose / f"{row['id']}.txt").write_text(str(row["text"]))
    return {False: lines, True: [str(loose)]}


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "BATCH_BYTES", 6_000)


def cut_before(name: str, run: Callable[[], object]) -> None:
    """A run that ends, as if the power failed, before the first file with this name is complete."""
    rename = os.replace

    def cutting(a: str, b: str) -> None:
        if name in str(b):
            raise PowerCut
        rename(a, b)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "replace", cutting)
        with pytest.raises(PowerCut):
            run()


def files_of(work: Path) -> list[str]:
    names = [str(path.relative_to(work)) for path in sorted(work.rglob("*")) if path.is_file()]
    kept = [name for name in names if name.startswith("kept/")]
    return sorted(set(names).difference(kept[N_KEPT:]))


def every_damage(work: Path) -> Iterator[Damage]:
    """Each damage of each file, and of each folder."""
    folders = sorted(str(path.relative_to(work)) for path in work.rglob("*") if path.is_dir())
    return itertools.chain(
        itertools.product(files_of(work), DAMAGES),
        itertools.product(folders, OF_FOLDERS),
    )


def some_damages(work: Path) -> Iterator[Damage]:
    """One damage of each file, all damages in turn."""
    return zip(files_of(work), itertools.cycle(DAMAGES))


def refusal_of(run: Callable[[], object]) -> RunError | None:
    """What it raised, if it did."""
    try:
        run()
    except RunError as error:
        return error
    return None


def assert_right_or_refused(case: Case, sources: Mapping[bool, list[str]], out: Path, whole: Path) -> bool:
    """Resume a run; return whether it was refused, with a sentence that names the file."""
    refused = refusal_of(lambda: case.run(sources, out, RESUME))
    if refused is not None:
        told = str(refused)
        assert refused.exit_code == 5
        assert "--overwrite" in told or told.startswith("Cannot write ")
        assert f"{out}/.work/" in told or f"unfinished run in {out} cannot be resumed" in told
        return True
    assert results(out) == results(whole)
    for path in (whole / "kept").rglob("*"):
        assert path.is_dir() or (out / path.relative_to(whole)).read_bytes() == path.read_bytes()
    return False


def check_damages(
    case: Case, stage: str, damages: Callable[[Path], Iterator[Damage]], sources: Mapping[bool, list[str]], folder: Path
) -> int:
    """Cut a run off, damage it in many ways, and resume it each time; return how often that was refused."""
    whole, unfinished, out = folder / "whole", folder / "unfinished/out", folder / "copy/out"
    case.run(sources, whole, FRESH)
    cut_before(stage, lambda: case.run(sources, unfinished, FRESH))
    n_refused = 0
    for name, damage in damages(unfinished / ".work"):
        shutil.copytree(unfinished, out)
        damage(out / ".work" / name)
        try:
            n_refused += assert_right_or_refused(case, sources, out, whole)
        except BaseException as error:
            error.add_note(f"{damage.__name__}: {name}")
            raise
        shutil.rmtree(out)
    return n_refused


# -- what holds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bands", "containment"])
def test_each_file_damaged_in_one_way(name, sources, tmp_path):
    assert check_damages(CASES[name], "documents.parquet", some_damages, sources, tmp_path) > 10


@pytest.mark.soak
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", CASES)
def test_each_file_damaged_in_every_way_at_every_stage(name, stage, sources, tmp_path):
    assert check_damages(CASES[name], stage, every_damage, sources, tmp_path) > 0


KNOWN = [
    ("spool/000000000-000000001.arrow", removed, "is damaged: the run wrote this file, and it is missing"),
    ("spool/000000000-000000001.arrow", flipped, "is damaged: it is not what the run wrote"),
    ("spool", made_a_file, "is damaged: it is not what the run wrote"),
    ("search/runs.u64", removed, "is damaged: the run wrote this file, and it is missing"),
    ("search/runs.u64", made_a_folder, "is damaged: it is not what the run wrote"),
    ("search/runs.json", made_a_folder, "is damaged: it is not what the run wrote"),
    ("verification/shingle pairs.u64", removed, "is damaged: the run wrote this file, and it is missing"),
    ("verification/shingle pairs.u64", made_a_folder, "is damaged: it is not what the run wrote"),
    ("run.json", removed, "is damaged: the run wrote this file, and it is missing"),
]


def test_the_message_names_the_file(sources, tmp_path):
    case, unfinished, out = CASES["bands"], tmp_path / "unfinished/out", tmp_path / "copy/out"
    cut_before("documents.parquet", lambda: case.run(sources, unfinished, FRESH))
    for name, damage, told in KNOWN:
        shutil.copytree(unfinished, out)
        damage(out / ".work" / name)
        with pytest.raises(RunError) as refused:
            case.run(sources, out, RESUME)
        assert str(refused.value) == f"{out}/.work/{name} {told}. Run the command again with --overwrite."
        shutil.rmtree(out)
