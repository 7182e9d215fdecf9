"""A run that is interrupted while it reads a folder of documents keeps what it has read, to the same bytes."""

from __future__ import annotations

import pytest

from generator import office_files as make
from nearkin.options.dedup import DedupOptions
from nearkin.runs.progress import Silent
from nearkin.runs.spool import Spool
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import resolve_sources
from nearkin.workflows.dedup.reading import read_all
from nearkin.workflows.reading import inputs
from nearkin.workflows.reading.inputs import Input, inputs_of


@pytest.fixture
def folder(tmp_path, monkeypatch) -> tuple[Input, ...]:
    """Texts, an archive and a mail of many documents, a file without text and a file that is gone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(inputs, "BATCH_BYTES", 1500)
    monkeypatch.setattr(inputs, "_FILES_AN_INPUT", 4)
    (tmp_path / "in").mkdir()
    files = {f"{at:02d}.txt": f"It was number {at}.\n".encode() * at for at in range(9)}
    files["03.zip"] = make.zipped({f"{at}.txt": f"Member {at} of an archive. " * 9 for at in range(14)})
    files["05.eml"] = make.mail({"Subject": "x"}, "It was a night. " * 30)
    files["06.pdf"] = make.pdf([f"Paragraph {at}." for at in range(60)])
    files["08.pdf"] = b""
    for name, content in files.items():
        (tmp_path / "in" / name).write_bytes(content)
    found = inputs_of(resolve_sources(["in"]).sources)
    (tmp_path / "in/04.txt").unlink()
    return found


def read(folder: tuple[Input, ...], spool: Spool):
    return read_all(folder, spool, DedupOptions(), rules=ReadingRules(), threads=1, progress=Silent())


def stored(spool: Spool) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in spool.path.iterdir()}


def test_inputs_that_were_read_before_an_interruption_are_kept(folder, tmp_path, monkeypatch) -> None:
    assert [len(one.sources) for one in folder] == [4, 4, 4, 1]
    whole = Spool(tmp_path / "whole")
    read_at_once = read(folder, whole)
    write, n_chunks, n_again = Spool.write, len(list(whole.path.glob("*.arrow"))), []
    for last in (0, n_chunks // 2, n_chunks - 1):
        spool, written = Spool(tmp_path / f"spool {last}"), list[int]()

        def write_or_end(self, part, number, batch, last=last, written=written) -> None:
            if len(written) == last:
                raise KeyboardInterrupt
            written.append(part)
            write(self, part, number, batch)

        def count(self, part, number, batch, written=written) -> None:
            written.append(part)
            write(self, part, number, batch)

        with monkeypatch.context() as patched:
            patched.setattr(Spool, "write", write_or_end)
            with pytest.raises(KeyboardInterrupt):
                read(folder, spool)
            written.clear()
            patched.setattr(Spool, "write", count)
            assert read(folder, spool) == read_at_once
        assert stored(spool) == stored(whole)
        n_again.append(len(set(written)))
    assert n_again == sorted(n_again, reverse=True)
    assert (n_again[0], n_again[-1]) == (4, 1)
