"""One document, named on the command line."""

from __future__ import annotations

import gzip
import os
import tarfile
import threading
import zipfile
from pathlib import Path

import pytest

from nearkin.errors import SourceError
from nearkin.workflows.reading.one_text import read_one_document

TEXT = " ".join(f"word{i}" for i in range(20_000))
"""More than a pipe holds."""


def written_to(pipe: Path | int) -> threading.Thread:
    def write() -> None:
        with open(pipe, "w") as file:
            file.write(TEXT)

    writer = threading.Thread(target=write)
    writer.start()
    return writer


@pytest.mark.parametrize("name", ["pipe", "pipe.txt"])
def test_a_pipe_is_read_whole(tmp_path, name):
    os.mkfifo(tmp_path / name)
    writer = written_to(tmp_path / name)
    assert read_one_document(tmp_path / name).text == TEXT
    writer.join()


def test_a_pipe_of_the_shell_is_read_whole(tmp_path):
    ours, theirs = os.pipe()
    writer = written_to(theirs)
    assert read_one_document(Path(f"/dev/fd/{ours}")).text == TEXT
    os.close(ours)
    writer.join()


@pytest.mark.parametrize("name", ["pipe.pdf", "pipe.html", "pipe.eml"])
def test_a_pipe_with_the_name_of_a_document_is_refused_before_it_is_opened(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(SourceError, match="is a pipe, of which Nearkin reads only text"):
        read_one_document(tmp_path / name)


def test_of_several_documents_only_readable_ones_are_offered(tmp_path):
    """An archive that was cut has no list of files, or names an exception after them."""
    packed = tmp_path / "whole.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", TEXT)
    (tmp_path / "cut.zip").write_bytes(packed.read_bytes()[:-40])
    with pytest.raises(SourceError, match=r"cut\.zip: the ZIP archive is damaged: it is truncated"):
        read_one_document(tmp_path / "cut.zip")
    with tarfile.open(tmp_path / "whole.tar", "w") as tar:
        for name in ("a.txt", "b.txt", "c.txt"):
            (tmp_path / name).write_text(TEXT)
            tar.add(tmp_path / name, name)
    with tarfile.open(tmp_path / "whole.tar") as tar:
        last = tar.getmember("c.txt").offset
    (tmp_path / "cut.tar").write_bytes((tmp_path / "whole.tar").read_bytes()[:last])
    with pytest.raises(SourceError, match=r"It contains \S*cut\.tar!a\.txt, \S*cut\.tar!b\.txt\.$"):
        read_one_document(tmp_path / "cut.tar")


@pytest.mark.parametrize("n_bytes", [30, 400])
def test_a_cut_file_is_a_document_that_cannot_be_read_wherever_it_was_cut(tmp_path, n_bytes):
    """The advice of batch commands, to skip damaged files, is not for one document."""
    whole = gzip.compress(" ".join(map(str, range(10_000))).encode())
    (tmp_path / "cut.txt.gz").write_bytes(whole[:n_bytes])
    with pytest.raises(SourceError, match=r"cut\.txt\.gz: the gzip stream is truncated[^.]*\.?$") as caught:
        read_one_document(tmp_path / "cut.txt.gz")
    assert caught.value.exit_code == 3
