"""A purge that is killed, or stopped by Ctrl-C, after its texts were erased and before the files were rewritten."""

from __future__ import annotations

import signal
import subprocess

import pytest

from commands import quick_python
from contract.damaged_collections import copy_filled
from contract.test_collection_purge import LEASE, SECRET, found_in
from functional.conftest import Ended, nearkin_here
from places import SomePlace

# A command that sends itself a signal just before or after it calls a method.
STRUCK = """
import importlib, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are started deaf to Ctrl-C
module, owner, name, when, number = (sys.argv.pop(1) for _ in range(5))
owner = getattr(importlib.import_module(module), owner)
function = getattr(owner, name)
def struck(*arguments, **options):
    if when == "before":
        os.kill(os.getpid(), int(number))
    try:
        return function(*arguments, **options)
    finally:
        if when == "after":
            os.kill(os.getpid(), int(number))
setattr(owner, name, struck)
from nearkin.cli.main import run
run()
"""
STORE = ("nearkin.store.store", "Store")
INDEX = ("nearkin.collection.stored.segments", "Segments", "remove_all")
MOMENTS = [(*INDEX, "before"), (*INDEX, "after"), (*STORE, "erase_freed", "before"), (*STORE, "delete_fact", "before")]

DRAFT = "An early draft of the memorandum, which nobody else has read, and which was never sent to anybody."
PIECES = [SECRET.encode()[:30], b"zebra quartz", b"umbrella", b"early draft"]


def fill(place: SomePlace) -> None:
    with place.open() as collection:
        collection.add([*((f"d{i}", LEASE.format(900 + i)) for i in range(4)), ("s", DRAFT)], wave="first")
        collection.add([("s", SECRET), ("t", "Another text of the second wave.")], wave="second")
        collection.check(SECRET)
        collection.groups()
        collection.search("umbrella")


def left_of_it(place: SomePlace) -> list[tuple[str, int]]:
    """Pieces of the texts in the files of the collection, or of its index, apart from copies that the test made."""
    return [one for one in found_in(place.cache.parent, PIECES) if not one[0].startswith("copy-")]


def struck(place: SomePlace, moment: tuple[str, ...], number: signal.Signals) -> subprocess.CompletedProcess[str]:
    own = quick_python(
        STRUCK, *moment, str(int(number)), "purge", place.address, "s", "--yes", "--cache", str(place.cache)
    )
    return subprocess.run(own, capture_output=True, text=True, timeout=120, check=False)


def fsck(place: SomePlace, *options: str) -> tuple[Ended, str]:
    ended = nearkin_here("fsck", place.address, "--cache", place.cache, *options)
    return ended, " ".join((ended.out + ended.err).split())


@pytest.mark.parametrize(
    ("moment", "number"),
    [*((moment, signal.SIGKILL) for moment in MOMENTS), (MOMENTS[2], signal.SIGINT)],
    ids=[*(f"kill -9 {when} {name}" for _, _, name, when in MOMENTS), "Ctrl-C"],
)
def test_it_is_erased_for_everyone_and_fsck_finishes(place: SomePlace, moment, number) -> None:
    copy_filled(place, fill)
    ended = struck(place, moment, number)
    told = "may still hold bytes of them. To finish, run: nearkin fsck COLLECTION\n"
    if number == signal.SIGINT:
        assert ended.returncode == 130, ended.stderr
        assert "Interrupted. The texts are erased, but the files of " in ended.stderr
        assert told in ended.stderr
    else:
        assert ended.returncode == -signal.SIGKILL, ended.stderr
    with place.open(create=False) as collection:
        assert not collection.has_document("s")
        assert collection.similar("d0", gamma=0.3).n_found == 3
        assert collection.search("umbrella").n_found == 0
    code, said = fsck(place, "--read-only")
    assert code.code == 7, said
    assert "not rebuilt files that could hold bytes of erased texts" in said
    code, said = fsck(place)
    assert code.code == 0, said
    assert "rebuilt files that could hold bytes of erased texts, as a purge had not finished" in said
    assert left_of_it(place) == []
    code, said = fsck(place, "--read-only")
    assert (code.code, "rebuilt" in said) == (0, False), said


def test_before_the_database_commits_nothing_is_erased(place: SomePlace) -> None:
    copy_filled(place, fill)
    ended = struck(place, (*STORE, "raise_generation", "after"), signal.SIGKILL)
    assert ended.returncode == -signal.SIGKILL
    assert "erased" not in ended.stderr
    with place.open(create=False) as collection:
        assert all(piece.decode() in collection.text("s") for piece in PIECES[:3])
    code, said = fsck(place, "--read-only")
    assert code.code == 0, said
