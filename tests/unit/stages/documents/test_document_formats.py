"""A format of files that are one document each, added as CONTRIBUTING says."""

from __future__ import annotations

import gzip
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from nearkin.errors import DocumentError
from nearkin.runs.progress import Silent
from nearkin.stages.documents import formats
from nearkin.stages.documents.formats.whole_file import WholeFile
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.sources import resolve_sources
from nearkin.workflows.dedup.kept_corpus import write_kept
from nearkin.workflows.reading.inputs import LooseFilesInput

SPOKEN = "1\n00:00:01,000 --> 00:00:02,000\nGood morning.\n\n2\n00:00:03,000 --> 00:00:04,000\nIt is raining: ö.\n"


class Captions(WholeFile):
    """Subtitles: a number, a time, then what is spoken."""

    name = "captions"
    hint = listed = in_words = "subtitles"
    suffixes = (".srt",)

    def text_of(self, content: str) -> str:
        spoken = []
        for cue in re.split(r"\n\s*\n", content.replace("\r\n", "\n").strip()):
            number, time, *lines = cue.split("\n")
            if not number.isdigit() or "-->" not in time:
                raise DocumentError(f"cue {len(spoken) + 1} has no number and time.")
            spoken.append(" ".join(lines))
        return "\n".join(spoken)


@pytest.fixture
def captions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of them; the format is in the registry."""
    form = Captions()
    monkeypatch.setitem(formats.FORMATS, form.name, form)
    monkeypatch.setitem(formats.FORMAT_OF_SUFFIX, ".srt", form.name)
    packed = gzip.compress(SPOKEN.encode())
    for name, data in {
        "a.srt": SPOKEN.encode(),
        "b.srt": b"\xef\xbb\xbf" + SPOKEN.replace("\n", "\r\n").encode(),
        "c.srt": SPOKEN.encode("utf-16"),
        "d.srt.gz": packed,
        "e.srt": packed,
        "f.srt": b"good morning\nwithout a number\n",
        "g.srt": packed[:-12],
        "h.srt": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n",
        "i.srt": SPOKEN.encode("latin-1"),
        "j.srt": SPOKEN.replace("Good morning.", "<html><body>Good</body></html>").encode(),
        "k.srt": SPOKEN.encode("utf-16")[:-1],
    }.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def test_texts_are_what_the_format_makes_of_files_and_all_else_is_a_problem(captions: Path) -> None:
    sources = resolve_sources([str(captions)]).sources
    rows = {
        Path(row["doc_id"]).name: row["text"] or row["problem"]
        for source in sources
        for batch in read_batches(source)
        for row in batch.to_pylist()
    }
    text = "Good morning.\nIt is raining: ö.".encode()
    assert {name: rows[name] for name in ("a.srt", "b.srt", "c.srt", "d.srt.gz", "e.srt")} == dict.fromkeys(
        ("a.srt", "b.srt", "c.srt", "d.srt.gz", "e.srt"), text
    )
    assert rows["f.srt"] == "damaged: cue 1 has no number and time"
    assert rows["g.srt"] == "damaged: the gzip stream is truncated"
    assert "PDF" in rows["h.srt"]
    assert "wrong encoding: not valid UTF-8" in rows["i.srt"]
    assert rows["j.srt"].startswith(b"<html>")
    assert rows["k.srt"].startswith("damaged: ")
    (latin,) = read_batches(sources[8], encoding="latin-1")
    assert latin["text"].to_pylist() == [text]


def test_kept_files_are_the_same_bytes(captions: Path, tmp_path: Path) -> None:
    sources = resolve_sources([str(captions)]).sources
    written = write_kept(sources, lambda _: np.ones(2, np.bool_), tmp_path / "out")
    for source, copy in zip(sources, written.values(), strict=True):
        assert copy.read_bytes() == Path(source.path).read_bytes()


def test_a_problem_of_a_format_is_one_of_its_document(captions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Captions, content: str) -> str:
        raise DocumentError("no subtitles.")

    monkeypatch.setattr(Captions, "text_of", refuse)
    source = resolve_sources([str(captions / "a.srt"), str(captions / "b.srt")]).sources[0]
    assert [batch["problem"].to_pylist() for batch in read_batches(source)] == [["damaged: no subtitles"]]


def test_a_few_files_of_a_format_beside_tables_are_documents(captions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = captions / "beside a table"
    folder.mkdir()
    (folder / "a.csv").write_text("id,text\n1,Good morning\n", "utf-8")
    (folder / "b.ini").write_text(SPOKEN, "utf-8")
    assert [Path(one.path).name for one in resolve_sources([str(folder)]).sources] == ["a.csv"]
    monkeypatch.setitem(formats.FORMAT_OF_SUFFIX, ".ini", "captions")
    assert [one.format for one in resolve_sources([str(folder)]).sources] == ["file", "captions"]


def test_files_without_a_suffix_and_members_of_archives(captions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Captions, "is_begun_by", lambda self, head: head.data.startswith(b"1\n00:"))
    folder = captions / "mixed"
    folder.mkdir()
    with zipfile.ZipFile(folder / "box.zip", "w") as archive:
        archive.writestr("a.srt", SPOKEN)
        archive.writestr("bad.srt", "good morning\nto all")
        archive.writestr("note.txt", SPOKEN)
    for name, data in {"plain": SPOKEN, "note.txt": SPOKEN, "letter": "Good morning."}.items():
        (folder / name).write_text(data, "utf-8")
    (folder / "wide").write_bytes(SPOKEN.encode("utf-16"))
    found = {
        row["doc_id"]: row["text"].decode() if row["problem"] is None else row["problem"]
        for batch, _ in LooseFilesInput(resolve_sources([str(folder)]).sources).batches(Silent())
        for row in batch.to_pylist()
    }
    text = "Good morning.\nIt is raining: ö."
    assert found == {
        "box.zip!a.srt": text, "box.zip!bad.srt": "damaged: cue 1 has no number and time", "box.zip!note.txt": SPOKEN,
        "plain": text, "note.txt": SPOKEN, "letter": "Good morning.", "wide": text,
    }  # fmt: skip
