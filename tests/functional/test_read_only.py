"""Collections on a medium that cannot be written: the same answers, and not one changed file."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from functional.conftest import nearkin_done, nearkin_here, write_jsonl
from made_up_prose import Prose
from nearkin.collection.collection import Collection
from nearkin.errors import CollectionError

PROSE = Prose(12)
TEXTS = [PROSE.text(200) for _ in range(4)]
NEAR = PROSE.altered(TEXTS[0], 3)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user of this machine can read."""
    made = Path(tempfile.mkdtemp(prefix="nearkin-read-only-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def matter(folder: Path) -> Path:
    documents = [{"id": f"d{i}", "text": text} for i, text in enumerate([*TEXTS, NEAR])]
    nearkin_done("add", folder / "matter", write_jsonl(folder / "in.jsonl", documents))
    (folder / "draft.txt").write_text(NEAR)
    return folder / "matter"


def files(place: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(place)): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in [place, *place.rglob("*")]
    }


def import_all(place: Path) -> None:
    """Import what the commands use, and compile kernels: another user may not be permitted to read these files."""
    import numba  # noqa: F401

    for one in asked(place):
        for access in ([], ["--read-only"]):
            assert nearkin_here(*one, *access).code in (0, 10)


def asked(place: Path) -> list[list[object]]:
    return [
        ["similar", place, "d0", "--gamma", "0.05"],
        ["similar", place, "--text", NEAR, "--measure", "jaccard"],
        ["check", place, place.parent / "draft.txt"],
        ["check", place, place.parent / "in.jsonl", "--jsonl", "-q"],
        ["compare", place, "d0", "d4"],
        ["versions", place, "d0"],
        ["groups", place],
        ["info", place],
        ["waves", place],
        ["audit", place, "--sample", "3"],
        ["fsck", place],
    ]


@pytest.mark.parametrize("has_index", [True, False])
def test_the_same_answers_and_no_changed_file(matter, has_index):
    if not has_index:
        shutil.rmtree(matter / "segments")
    before = files(matter)
    found = [nearkin_here(*one, "--read-only", *([] if "-q" in one else ["--json"])) for one in asked(matter)]
    assert [one.code for one in found] == [0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0]
    assert files(matter) == before
    told = nearkin_here("similar", matter, "d0", "--read-only")
    assert ("is built for this command" in told.err) == (not has_index)
    assert "for this call only" in nearkin_here("check", matter, matter.parent / "draft.txt", "--read-only").err
    assert files(matter) == before
    for one, answer in zip(asked(matter), found, strict=True):
        if "compare" in one or "waves" in one:  # nothing in these depends on the time
            assert nearkin_here(*one, "--json").out == answer.out


def test_a_folder_without_permission_to_write(matter):
    import_all(matter)
    is_root = os.geteuid() == 0  # root may write anywhere
    matter.chmod(0o555)
    if is_root:
        os.seteuid(65_534)
    try:
        ended = nearkin_here("info", matter)
        said = "To only read (similar, list, or check without --store), add --read-only."
        assert (ended.code, said in ended.err) == (7, True)
        assert [nearkin_here(*one, "--read-only").code for one in asked(matter)] == [0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0]
    finally:
        if is_root:
            os.seteuid(0)
        matter.chmod(0o755)


def test_what_another_process_writes_meanwhile_is_read_or_refused(matter):
    with Collection.open(matter) as writer:
        writer.add([("new", "A note about kites, and about the wind that carried them off.")])  # it stands in the log
        with Collection.open(matter, read_only=True) as reader:
            assert reader.has_document("new")
            writer.remove(["new"])
            assert not reader.has_document("new")
    with Collection.open(matter, read_only=True) as reader:
        assert reader.has_document("d0")
        with Collection.open(matter) as writer:
            writer.remove(["d0"])
        with pytest.raises(CollectionError, match="was changed while"):
            reader.has_document("d0")


def test_nothing_is_stored(place):
    with place.open() as collection:
        collection.add([("a", TEXTS[0])])
    with place.open(create=False, read_only=True) as collection:
        assert collection.similar("a").documents == ()
        adding, removing = (lambda: collection.add([("b", "x")])), (lambda: collection.remove(["a"]))
        for write in (adding, removing, lambda: collection.decide(principal="a")):
            with pytest.raises(CollectionError, match="read-only"):
                write()
        assert collection.has_document("a")
