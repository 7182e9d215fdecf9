"""Sources as they were, and what is noticed of them since."""

from __future__ import annotations

import os

import pytest

from nearkin.errors import SourceError
from nearkin.stages.documents.sources import Source, resolve_sources
from nearkin.workflows.reading.rereading import check_unchanged, digested, seen


def source_at(path) -> Source:
    return Source(path=str(path), name=path.name, format="jsonl", text="text", size_bytes=3)


def test_a_file_that_stays_as_it_is(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("abc")
    before = [seen(source_at(path))]
    check_unchanged(before)


@pytest.mark.parametrize("change", ["longer", "later", "gone", "pipe"])
def test_whatever_happens_to_a_file_is_noticed(tmp_path, change):
    path = tmp_path / "a.jsonl"
    path.write_text("abc")
    before = [seen(source_at(path))]
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
        check_unchanged(before)


def test_what_comes_once_has_no_moment():
    assert seen(Source(path="-", name="-", format="jsonl", text="text")).changed_ns is None


@pytest.fixture
def production(tmp_path) -> Source:
    """A load file with two texts in files; one is named in another spelling, and a third is missing."""
    (tmp_path / "TEXT").mkdir()
    (tmp_path / "TEXT/a-1.txt").write_text("It was.")
    (tmp_path / "TEXT/Größe.txt").write_text("It is.")
    rows = [["DOCID", "TEXTPATH"], ["A-1", r"TEXT\A-1.TXT"], ["A-2", "TEXT/Größe.txt"], ["A-3", "TEXT/none.txt"]]
    path = tmp_path / "load.dat"
    path.write_bytes("".join("þ" + "þ\x14þ".join(row) + "þ\r\n" for row in rows).encode("cp1252"))
    return resolve_sources([str(path)]).sources[0]


def test_the_text_files_of_a_load_file_belong_to_it(production, tmp_path):
    before = digested(seen(production)).texts_sha256
    assert before is not None
    (tmp_path / "TEXT/a-1.txt").write_text("It saw.")
    assert digested(seen(production)).texts_sha256 != before
