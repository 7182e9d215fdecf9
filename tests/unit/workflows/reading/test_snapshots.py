"""Sources as they were, and what is noticed of them since."""

from __future__ import annotations

import os

import pytest

from nearkin.errors import SourceError
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.snapshots import SourceSnapshot, check_unchanged, snapshots_of


def source_at(path) -> Source:
    return Source(path=str(path), name=path.name, format="jsonl", text="text", size_bytes=3)


def test_a_file_that_stays_as_it_is(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("abc")
    before = snapshots_of([source_at(path)])
    check_unchanged([source_at(path)], before)
    assert SourceSnapshot.from_stored(before[0].as_stored()) == before[0]


@pytest.mark.parametrize("change", ["longer", "later", "gone", "pipe"])
def test_whatever_happens_to_a_file_is_noticed(tmp_path, change):
    path = tmp_path / "a.jsonl"
    path.write_text("abc")
    before = snapshots_of([source_at(path)])
    if change == "longer":
        path.write_text("abcd")
        os.utime(path, ns=(before[0].changed_ns, before[0].changed_ns))
    elif change == "later":
        os.utime(path, ns=(0, 1))
    else:
        path.unlink()
    if change == "pipe":
        os.mkfifo(path)
    with pytest.raises(SourceError, match="changed while it was read"):
        check_unchanged([source_at(path)], before)


def test_what_comes_once_has_no_moment():
    assert SourceSnapshot.of(Source(path="-", name="-", format="jsonl", text="text")).changed_ns is None
