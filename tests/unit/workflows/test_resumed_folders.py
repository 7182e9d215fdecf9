"""A run that is interrupted while it reads a folder of documents keeps what it has read, to the same bytes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from generator import office_files as make
from nearkin.runs.progress import Silent
from nearkin.runs.spool import Spool
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import resolve_sources
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.reading import BeginningRead, read_one
from nearkin.workflows.reading import extracting, inputs
from nearkin.workflows.reading.inputs import LooseFilesInput


class Said(Silent):
    def __init__(self) -> None:
        self.messages, self.n_bytes = list[str](), 0

    def say(self, message: str) -> None:
        self.messages.append(message)

    def advance(self, n: int) -> None:
        self.n_bytes += n


@pytest.fixture
def folder(tmp_path, monkeypatch) -> LooseFilesInput:
    """Texts, an archive and a mail of many documents, a file without text and a file that is gone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(inputs, "BATCH_BYTES", 1500)
    (tmp_path / "in").mkdir()
    files = {f"{at:02d}.txt": f"It was number {at}.\n".encode() * at for at in range(9)}
    files["03.zip"] = make.zipped({f"{at}.txt": f"Member {at} of an archive. " * 9 for at in range(14)})
    files["05.eml"] = make.mail({"Subject": "x"}, "It was a night. " * 30)
    files["06.pdf"] = make.pdf([f"Paragraph {at}." for at in range(60)])
    files["08.pdf"] = b""
    for name, content in files.items():
        (tmp_path / "in" / name).write_bytes(content)
    found = LooseFilesInput(resolve_sources(["in"]).sources)
    (tmp_path / "in/04.txt").unlink()
    return found


def read(one: LooseFilesInput, spool: Spool, said: Said):
    """Read the folder as the second input, after one of three files."""
    spool.path.mkdir(exist_ok=True)
    earlier = replace(one, sources=one.sources[:3])
    rules = ReadingRules()
    read_one(0, 0, earlier, spool, DedupOptions(), rules=rules, threads=1, progress=Silent())
    return read_one(1, 3, one, spool, DedupOptions(), rules=rules, threads=1, progress=said)


def so_far(one: LooseFilesInput, spool: Spool) -> int:
    return BeginningRead.of(1, 3, one, spool).n_files


def stored(spool: Spool) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in spool.path.iterdir()}


def test_what_was_read_before_an_interruption_at_any_chunk_is_kept(folder, tmp_path, monkeypatch) -> None:
    whole, told = Spool(tmp_path / "whole"), Said()
    read_at_once = read(folder, whole, told)
    n_chunks = len(list(whole.path.glob("000000001-*.arrow")))
    assert n_chunks > 4
    assert read_at_once.n_documents == sum(one.n_documents for one in whole.chunks()) - 3
    write, looked_into = Spool.write, extracting._looked_into
    n_files_again = []
    for last in range(n_chunks):
        spool = Spool(tmp_path / f"spool {last}")

        def write_or_end(self, part, number, batch, last=last) -> None:
            if (part, number) == (1, last):
                raise KeyboardInterrupt
            write(self, part, number, batch)

        monkeypatch.setattr(Spool, "write", write_or_end)
        with pytest.raises(KeyboardInterrupt):
            read(folder, spool, Said())
        monkeypatch.setattr(Spool, "write", write)
        n_read = so_far(folder, spool)

        again: list[str] = []
        monkeypatch.setattr(
            extracting, "_looked_into", lambda one, again=again: again.append(one.name) or looked_into(one)
        )
        said = Said()
        assert read(folder, spool, said) == read_at_once
        monkeypatch.setattr(extracting, "_looked_into", looked_into)
        assert stored(spool) == stored(whole)
        assert said.messages == told.messages
        assert told.n_bytes <= said.n_bytes <= folder.size_bytes  # a file that is gone counts once it is passed over
        assert again == list(folder.names[n_read:])
        n_files_again.append(len(again))
    assert n_files_again == sorted(n_files_again, reverse=True)
    assert n_files_again[0] == len(folder.names) > 2 * n_files_again[-1]
