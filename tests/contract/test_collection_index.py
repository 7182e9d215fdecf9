"""The index is derived: whatever happens to its files, answers stay right and it is made anew."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from contract.damaged_collections import copy_filled
from nearkin.collection.collection import Collection
from nearkin.collection.stored.segment_files import MANIFEST, Segment, save
from nearkin.records import LetterVectors
from nearkin.runs.progress import Silent
from nearkin.stages.search.ranges.segment import RangeSegment
from places import on_one_database

pytestmark = on_one_database

TEXT = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord, clause {}."
OTHER = "Once upon a time there lived {} bears in a wood, and they had porridge for breakfast every morning."


class Listener(Silent):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, message: str) -> None:
        self.said.append(message)


def some(n: int, text: str = TEXT, name: str = "d") -> list[tuple[str, str]]:
    return [(f"{name}{i}", text.format(i)) for i in range(n)]


def answers(collection: Collection) -> list[object]:
    """To a few queries by each method."""
    queries = [{"doc_id": "d0", "gamma": 0.1}, {"text": TEXT.format(7), "gamma": 0.02}]
    queries += [{"doc_id": "d1", "threshold": 0.3}, {"text": OTHER.format("three"), "threshold": 0.2}]
    told = [collection.similar(limit=1_000, **query).to_dict() for query in queries]
    return [{name: one[name] for name in ("is_answered", "n_found", "documents")} for one in told]


RIGHT: dict[str, list[object]] = {}
"""What the collection answers, by the kind of database."""


def fill(place) -> None:
    """Store two segments, and remember the answers."""
    with place.open() as collection:
        collection.add(some(40))
        collection.add(some(10, OTHER, "o"))
        assert len(segments_of(place)) == 2
        RIGHT[place.kind] = right = answers(collection)
        assert [one["n_found"] > 0 for one in right] == [True] * 4


@pytest.fixture
def filled(place):
    """A collection of two segments, a copy of one that is made once; what it answers."""
    copy_filled(place, fill)
    return place, RIGHT[place.kind]


def segments_of(place) -> list[Path]:
    return sorted(path for path in place.segments.iterdir())


def files_of(place) -> dict[str, bytes]:
    return {str(path.relative_to(place.segments)): path.read_bytes() for path in place.segments.rglob("*.*")}


DAMAGED = "is rebuilt from the database"


def check(
    place, right: list[object], *, is_told: bool | None = True, is_mended: bool = True, told: str = DAMAGED
) -> None:
    """Right answers, in spite of it; it is told that something is damaged; afterwards all is as if nothing had been."""
    listener = Listener()
    with place.open(create=False, progress=listener) as collection:
        assert answers(collection) == right
        assert is_told is None or any(told in said for said in listener.said) == is_told
        if is_mended:
            verified = collection.fsck()
            assert verified.is_whole
            assert not verified.rebuilt
            assert len(segments_of(place)) == verified.n_segments
    if is_mended:
        again = Listener()
        with place.open(create=False, progress=again) as collection:
            assert answers(collection) == right
            assert not again.said


def test_an_index_that_is_whole_is_used_as_it_is(filled):
    place, right = filled
    before = {path: path.stat().st_mtime_ns for path in place.segments.rglob("*")}
    check(place, right, is_told=False)
    assert {path: path.stat().st_mtime_ns for path in place.segments.rglob("*")} == before


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) * 2 // 3] ^= 0x10
    path.write_bytes(data)


def flipped_at_the_end(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def zeroed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def made_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


NAMES = ["counts", "rows", "blocks", "boxes", "directions", "words", "has_features"]


DAMAGES = [flipped, flipped_at_the_end, cut, emptied, zeroed, Path.unlink, made_a_folder]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_of_a_segment(filled, damage: Callable[[Path], None]):
    """Some files in turn."""
    place, right = filled
    files = sorted(path.name for path in segments_of(place)[0].iterdir())
    assert files == sorted([MANIFEST, *(f"{name}.npy" for name in NAMES)])
    for i, name in enumerate(files):
        if (i + DAMAGES.index(damage)) % 3:
            continue  # each damage is done to some of the files, and each file meets some of the damages
        damage(segments_of(place)[i % 2] / name)
        check(place, right, is_told=None if name == MANIFEST and damage is flipped_at_the_end else True)


GARBAGE = ["", "null", "[]", "5", '"x"', "{}", "{", "\0\0", '{"format": 1}', "[" * 100_000]


def test_a_manifest_that_says_something_else(filled):
    place, right = filled
    path = segments_of(place)[0] / MANIFEST
    good = json.loads(path.read_text())
    of_others = [
        good | {"made_from": good["made_from"] | {"format": 2}},
        good | {"made_from": {}},
        good | {"made_from": good["made_from"] | {"contents": "x"}},
    ]
    wrong = [good | {"files": files} for files in (None, [], "x", 5, {"counts.npy": None}, {"counts.npy": "x"})]
    for i, text in enumerate((*GARBAGE, *map(json.dumps, (*wrong, *of_others)))):
        path.write_text(text)
        check(place, right, is_mended=i % 4 == 0)


def test_things_that_lie_among_the_segments(filled):
    """What is no segment of the store's is not taken for one, and what is not ours is left alone."""
    place, right = filled
    first = segments_of(place)[0]
    for name in ("000000000010-000000000020", "000000000000-000000000999", "000000000039-000000000041", "5-3", "0-0"):
        shutil.copytree(first, place.segments / name)
    (place.segments / "notes.txt").write_text("mine")
    (place.segments / "a-b").mkdir()
    check(place, right, is_told=None, is_mended=False)
    with place.open() as collection:
        collection.opened.settle()
        assert answers(collection) == right
    assert (place.segments / "notes.txt").read_text() == "mine"


def test_a_store_put_back_from_an_older_copy(place):
    """Newer segments lie there; then other documents come, as many as there were."""
    with place.open() as collection:
        collection.add(some(20))
        right_then = answers(collection)
    copy = place.copy_store()
    with place.open() as collection:
        collection.add(some(20, OTHER, "o"))
        collection.add(some(10, OTHER + "!", "p"))
    place.put_back(copy)
    with place.open() as collection:
        assert answers(collection) == right_then
        assert collection.info().n_documents == 20
    place.put_back(copy)
    with place.open() as collection:
        collection.add(some(20, TEXT + " And more.", "q"))
        collection.add(some(10, TEXT + " Or less.", "r"))
        right = answers(collection)
        found = collection.similar("d0", gamma=0.3, limit=100)
        assert {one.document.doc_id[0] for one in found.documents} == {"d", "q", "r"}
        assert collection.fsck().rebuilt == ()
    shutil.rmtree(place.segments)
    with place.open() as collection:
        assert answers(collection) == right


def test_a_segment_that_says_what_the_store_does_not(filled):
    """Its checksums are right, and it is wrong: fsck compares it with the store, and makes it again."""
    place, right = filled
    first, second = segments_of(place)
    made_from = json.loads((second / MANIFEST).read_text())["made_from"]
    counts = np.array(np.load(first / "counts.npy")[:10])
    nothing = np.zeros(10, np.int64)
    vectors = LetterVectors(counts, np.ones(10, bool), nothing, nothing, "letters")
    words = np.load(second / "words.npy")
    shutil.rmtree(second)
    save(Segment(40, 50, lambda: RangeSegment.build(vectors), words, np.ones(10, bool)), place.segments, made_from)
    with place.open() as collection:
        assert len(collection.fsck().rebuilt) == 1
    check(place, right, is_told=None)


# -- where nothing can be written -------------------------------------------------------------------------------------


def check_in_memory(place, right: list[object]) -> None:
    listener = Listener()
    with place.open(progress=listener) as collection:
        assert answers(collection) == right
        n_told = sum(said.startswith("Warning: ") and "stays in memory" in said for said in listener.said)
        assert n_told >= 1
        assert answers(collection) == right
        assert sum("stays in memory" in said for said in listener.said) == n_told  # it is made once, and held
        collection.add([("new", TEXT.format("0 and a half"))])
        assert "new" in [one.document.doc_id for one in collection.similar("d0", gamma=0.3, limit=100).documents]


@pytest.mark.parametrize("what", ["a file", "a link to nowhere"])
def test_a_place_where_no_index_can_be(filled, what):
    place, right = filled
    folder = place.segments
    shutil.rmtree(folder)
    if what == "a file":
        folder.write_text("")
    else:
        folder.symlink_to("/proc/nowhere/at/all")
    check_in_memory(place, right)


def test_an_index_on_a_full_disk(filled, tmp_path):
    place, right = filled
    folder = place.segments
    shutil.rmtree(folder)
    with small_disk(folder, "64k"):
        check_in_memory(place, right)
        assert not list(folder.rglob("*.part"))


@contextlib.contextmanager
def small_disk(folder: Path, size: str):
    """A disk of its own at a folder, where that may be made."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a disk of its own can be mounted by root only")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
